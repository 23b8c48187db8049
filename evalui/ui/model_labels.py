"""What a line about a model says, in the list to choose from as in the catalog."""

from collections.abc import Sequence

from evalui.app.models_service import group_of, is_from_hub
from evalui.messages import Messages
from evalui.models.base import ModelEntry, traits_of
from evalui.models.catalog import ModelState
from evalui.models.endpoint.limits import external_hosts
from evalui.models.memory_estimate import Footprint
from evalui.report.numbers import dollars
from evalui.types import Ability
from evalui.ui.components.format import amount

ABILITIES: tuple[Ability, ...] = ("next_token", "loglik", "generate", "decide")


def model_notes(t: Messages, entry: ModelEntry) -> str:
    """What the catalog says of the model in a sentence, "" if nothing."""
    return str(entry.options.get("notes_zh", entry.notes) if t.language == "zh" else entry.notes)


def model_about(t: Messages, state: ModelState, room: str) -> str:
    """Why it cannot be used; else its size and `room`, or where it is, and its price."""
    entry = state.entry
    notes = model_notes(t, entry)
    if state.problem:
        return t.translate(state.problem)
    if group_of(entry) == "demo" and notes:
        return notes
    hosts = t("list.comma").join(external_hosts(entry))
    parts = (
        _size(t, entry.parameters),
        room,
        t("catalog.hub_about") if is_from_hub(entry) else "",
        hosts or (t("catalog.this_machine") if traits_of(entry).remote else ""),
        t("models.price", n=dollars(entry.input_price)) if entry.input_price else "",
    )
    return " · ".join(part for part in parts if part) or notes


def room_words(t: Messages, footprint: Footprint | None, free: int | None) -> str:
    """Whether it fits into `free` bytes, "" where that is not known."""
    if footprint is None or free is None:
        return ""
    if footprint.total <= free:
        return t("models.fits")
    return t("models.needs", size=amount(footprint.total), free=amount(free))


def model_abilities(t: Messages, state: ModelState) -> str:
    """What it can do: "letters · texts · replies"; a schema is a way to reply, never missed."""
    able = [t(f"ability.{each}") for each in (*ABILITIES, "schema") if each in state.abilities]
    sees = state.sees_pictures and not traits_of(state.entry).rule_based  # a rule looks at none
    able += [t("ability.pictures")] * sees
    return t("models.only", what=able[0]) if len(able) == 1 else " · ".join(able)


def group_about(t: Messages, states: Sequence[ModelState | None]) -> str:
    """How many models a group has, and how many of them cannot be reached."""
    away = sum(state is not None and state.is_endpoint_down for state in states)
    near = len(states) - away
    return t("models.out_of_reach", n=near, away=away) if away else str(near)


def demo_about(t: Messages, entries: Sequence[ModelEntry]) -> str:
    """How many small models and baselines there are to demonstrate with."""
    baselines = sum(entry.baseline for entry in entries)
    parts = (
        t.count("models.small", len(entries) - baselines) if len(entries) > baselines else "",
        t.count("models.baselines", baselines) if baselines else "",
    )
    return t("list.comma").join(part for part in parts if part)


def _size(t: Messages, parameters: int) -> str:
    if not parameters:
        return ""
    if parameters < 1e9:
        return t("catalog.millions", n=f"{parameters / 1e6:.3g}")
    return t("catalog.billions", n=f"{parameters / 1e9:.3g}")
