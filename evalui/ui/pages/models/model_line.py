"""What the line of a model says: its state, what there is to know of it, and its last test."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast
from urllib.parse import urlsplit, urlunsplit

from evalui.messages import Messages
from evalui.models.base import ModelEntry, traits_of
from evalui.models.catalog import ModelState
from evalui.models.memory_estimate import Footprint
from evalui.models.user_catalog import has_key
from evalui.modes import MODES
from evalui.report.numbers import dollars
from evalui.runs.worker.model_tests import CHOICE_SAMPLE, OPEN_SAMPLE, AbilityTest, ModelTestRow
from evalui.types import Ability
from evalui.ui.components.format import amount, duration, format_time
from evalui.ui.model_labels import (
    ABILITIES,
    model_abilities,
    model_about,
    model_notes,
    room_words,
)
from evalui.ui.pages.models.model_row import ModelRow

_MIN_TOKENS = 8  # a shorter reply is no measure of the speed
_MAX_ANSWER_LENGTH = 400  # characters of a reply


@dataclass(frozen=True, slots=True)
class IdentityLine:
    """A line of what a model is and where: `mono` is a path or an address."""

    text: str
    mono: str = ""
    warning: str = ""


def model_line(t: Messages, model: ModelRow, may_edit: bool) -> dict[str, Any]:
    """What "models/line.html" shows of a model beside its `ModelRow`."""
    kind, word = model.condition
    checked_at = model.status.checked_at
    return {
        "model": model,
        "tags": [t("catalog.added")] * model.added
        + [t("catalog.tuned")] * bool(model.entry.adapter),
        "about": _about(t, model),
        "able": model_abilities(t, model.state) if model.usable and model.state else "",
        "state": (kind, t(word)),
        "identity": [*_identity(t, model)],
        "memory": _memory(t, model, model.footprint) if model.footprint else None,
        "speed": _speed(t, model),
        "price": _full_price(t, model.entry),
        "advice": _advice(model, may_edit),
        "probed": _clock(t, checked_at) if model.remote and checked_at else "",
        "tested": _last_test(t, model),
    }


def _last_test(t: Messages, model: ModelRow) -> dict[str, Any] | None:
    """What the last test found; that something worked would contradict that it cannot be used."""
    test = model.test
    if test is None or (not model.usable and test.ability_tests):
        return None
    return _test_result(t, test)


def _about(t: Messages, model: ModelRow) -> str:
    if model.entry.names_teams:
        return t("catalog.names_teams")
    if model.status.pending or model.state is None:
        return ""
    free = None if model.is_loaded else model.free_bytes
    return model_about(t, model.state, room_words(t, model.footprint, free))


def _identity(t: Messages, model: ModelRow) -> Iterator[IdentityLine]:
    """What it is and where: notes, backend and path, settings, address, key, adapter and base."""
    entry, notes = model.entry, model_notes(t, model.entry)
    backend = t(f"backend.{entry.backend}") if f"backend.{entry.backend}" in t else entry.backend
    if notes and notes != _about(t, model):
        yield IdentityLine(notes)
    if not traits_of(entry).rule_based:
        yield IdentityLine(f"{backend} · ", _place(entry.path))
    if settings := _settings(t, entry):
        yield IdentityLine(t("list.comma").join(settings))
    for address in _addresses(entry):
        yield _address(t, model, address)
    if has_key(entry):
        yield IdentityLine(t("catalog.keyed"))
    if entry.adapter:
        yield IdentityLine(f"{t('catalog.adapter')} ", _place(entry.adapter))
        base = model.base
        yield IdentityLine(t("catalog.base", name=base.name) if base else t("catalog.no_base"))
    for missing in _missing_abilities(t, model):
        yield IdentityLine(missing)


def _place(path: str) -> str:
    """A hub id, or the end of a path: where the server keeps its files is not shown."""
    return "/".join(("…", *path.rsplit("/", 2)[1:])) if path.startswith("/") else path


def _settings(t: Messages, entry: ModelEntry) -> list[str]:
    """How the model is loaded and queried, as far as the catalog decides it."""
    settings = [
        entry.revision and t("catalog.revision", name=entry.revision),
        entry.dtype if entry.dtype != "auto" else "",
        entry.device if entry.device != "auto" else "",
        t("catalog.chat") if entry.chat else "",
        t("catalog.longest", n=f"{entry.max_length:,}") if entry.max_length else "",
    ]
    return [word for word in settings if word]


def _address(t: Messages, model: ModelRow, address: str) -> IdentityLine:
    """An address, or the sentence why it alone cannot be used, which names it."""
    state = model.state
    why = state.unavailable_addresses.get(address, "") if state and not state.problem else ""
    return IdentityLine("", warning=t.translate(why)) if why else IdentityLine("", _public(address))


def _addresses(entry: ModelEntry) -> list[str]:
    """The addresses that are texts; of anything else the model's state shows what is wrong."""
    option: Any = entry.options.get("base_urls") or entry.options.get("base_url")
    addresses = cast("list[Any]", option) if isinstance(option, list) else [option]
    return [address for address in addresses if isinstance(address, str) and address]


def _public(address: str) -> str:
    """Scheme, host, port and path: what stands around them may be a password or a key."""
    try:
        parts = urlsplit(address)
    except ValueError:  # half an IPv6 address
        return "…"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _missing_abilities(t: Messages, model: ModelRow) -> list[str]:
    if not model.usable or model.state is None:
        return []
    # Nobody lacks decisions: they are another way to choose.
    missing = {*ABILITIES} - model.state.abilities - {"decide"}
    return [
        t("catalog.lacks", what=t(f"ability.{each}"), why=_missing_reason(t, model.state, each))
        for each in ABILITIES
        if each in missing
    ] + _blindness(t, model.state)


def _blindness(t: Messages, state: ModelState) -> list[str]:
    """Why it sees no pictures, where its backend knows."""
    if state.sees_pictures:
        return []
    what = t("ability.pictures")
    reasons = dict.fromkeys(map(t.translate, state.text_only.values()))
    return [t("catalog.lacks", what=what, why=why) for why in reasons]


def _missing_reason(t: Messages, state: ModelState, ability: Ability) -> str:
    if reason := state.missing_reasons.get(ability):
        return t.translate(reason)
    return t(f"catalog.lacks_{ability}")


def _memory(t: Messages, model: ModelRow, needed: Footprint) -> dict[str, Any]:
    """What it takes and whether there is room; beside what is loaded, what is free says nothing."""
    size, free = amount(needed.total), model.free_bytes
    is_known = free is not None and not model.is_loaded
    is_tight = is_known and not model.fits
    room = "too_large" if is_tight else "fits" if is_known else "about"
    return {
        "is_tight": is_tight,
        "room": t(f"catalog.{room}", size=size, free=amount(free or 0)),
        "parts": t(
            "catalog.made_of",
            weights=amount(needed.weights),
            dtype=needed.dtype,
            cache=amount(needed.cache),
            tokens=f"{needed.tokens:,}",
        ),
        "most": t(
            "catalog.at_most", size=amount(needed.peak), tokens=f"{needed.max_input_tokens:,}"
        )
        if needed.max_input_tokens > needed.tokens
        else "",
    }


def _speed(t: Messages, model: ModelRow) -> str:
    rates = [
        t(
            "catalog.rate",
            n=f"{rate:,.3g}" if rate < 1000 else f"{rate:,.0f}",
            mode=t(f"mode.{mode}_short"),
        )
        for mode, rate in model.speeds.items()
        if f"mode.{mode}_short" in t
    ]
    return t("list.comma").join(rates)


def _full_price(t: Messages, entry: ModelEntry) -> str:
    if not entry.input_price and not entry.output_price:
        return ""
    return t("catalog.prices", read=dollars(entry.input_price), written=dollars(entry.output_price))


def _advice(model: ModelRow, may_edit: bool) -> str:
    if model.is_away:
        return "catalog.away_about"
    if not may_edit:
        return "catalog.mend_other"
    return "catalog.mend_added" if model.added else "catalog.mend"


def _clock(t: Messages, at: float) -> str:
    """To the second, so that a new probe is seen to have changed something."""
    then, now = datetime.fromtimestamp(at).astimezone(), datetime.now().astimezone()
    return f"{then:%H:%M:%S}" if then.date() == now.date() else format_time(t, at)


def _test_result(t: Messages, test: ModelTestRow) -> dict[str, Any] | None:
    """The finished test, as "models/test.html" draws it; None while it is on its way."""
    if test.is_pending:
        return None
    return {
        "when": format_time(t, test.finished or test.created),
        "error": t.translate(test.error) if test.error and not test.ability_tests else "",
        "loaded": _seconds(t, test.load_s or 0.0),
        "abilities": [_ability(t, ability_test) for ability_test in test.ability_tests],
        "notes": [t.translate(note) for note in test.notes],
        "questions": _questions(test),
    }


def _seconds(t: Messages, spent: float) -> str:
    """ "0.4 s" while it is short, then as other times."""
    if spent >= 10:
        return duration(t, spent)
    return t("time.seconds", n=f"{spent:.1f}" if spent >= 0.1 else f"{spent:.2f}")


def _questions(test: ModelTestRow) -> str:
    written = {ability_test.ability == "generate" for ability_test in test.ability_tests}
    questions = (
        CHOICE_SAMPLE.question if False in written else "",
        OPEN_SAMPLE.question if True in written else "",
    )
    return " ".join(question for question in questions if question)


def _ability(t: Messages, test: AbilityTest) -> dict[str, str]:
    """One ability: its mark shows whether it works, the words whether the answer is right."""
    word = t("tried.judge") if _judges(test) else t(f"ability.{test.ability}")
    if test.problem:
        return {"kind": "bad", "word": word, "problem": t.translate(test.problem)}
    answer = test.answer.strip()
    written = test.ability == "generate"
    return {
        "kind": "ok" if answer else "na",
        "word": word,
        "problem": "",
        "letter": "" if written else test.answer,
        "reply": answer[:_MAX_ANSWER_LENGTH] + "…" * (len(answer) > _MAX_ANSWER_LENGTH)
        if written
        else "",
        "about": t("tried.blank") if written else _correctness(t, test),
        "speed": _measured_speed(t, test),
    }


def _judges(ability_test: AbilityTest) -> bool:
    mode = ability_test.mode
    return mode in MODES and MODES[mode].gives == "verdicts"


def _correctness(t: Messages, test: AbilityTest) -> str:
    """Whether a letter is right, and how sure the model was of it."""
    if not test.answer:
        return t("tried.tie")
    key = "tried.right" if test.correct else "tried.wrong"
    if test.probability is None:
        return t(key)
    return t(f"{key}_sure", share=f"{100 * test.probability:.3g}")


def _measured_speed(t: Messages, ability_test: AbilityTest) -> str:
    spent = max(ability_test.seconds, 1e-4)
    requests = t.count("tried.asked", ability_test.requests, time=_seconds(t, ability_test.seconds))
    if ability_test.ability == "generate":
        if ability_test.tokens < _MIN_TOKENS:
            return requests
        return t(
            "tried.tokens", n=f"{ability_test.tokens / spent:,.0f}", tokens=ability_test.tokens
        )
    return t("tried.rate", n=f"{ability_test.requests / spent:,.3g}", asked=requests)
