"""The models to choose from, in groups: on this server, endpoints, then what only demonstrates."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evalui.app.models_service import Hardware, ModelsService, group_of
from evalui.messages import Messages
from evalui.models.base import ModelEntry
from evalui.models.catalog import ModelState, base_of
from evalui.models.endpoint.http.addresses import external_hosts, shown_host
from evalui.models.memory_estimate import Footprint
from evalui.report.html import Html, div, el, join, span
from evalui.settings import Settings
from evalui.ui.components.form import Form, field_value, field_values
from evalui.ui.components.widgets import search_field
from evalui.ui.model_labels import (
    model_abilities,
    model_about,
    model_notes,
    room_words,
)
from evalui.ui.tabs.evaluate.rows import choice_row, demo_group, list_card, model_group

_SEARCHED_FROM = 8  # models, from which on they can be searched


@dataclass(frozen=True, slots=True)
class OfferedModel:
    """A model at choice. `needs` is its memory and `free`, `total` that of its device, in bytes.

    `needs` is None where it is not known, or where nothing is loaded.
    """

    state: ModelState
    needs: Footprint | None = None
    free: int = 0
    total: int = 0

    @property
    def entry(self) -> ModelEntry:
        """What the catalog says of it."""
        return self.state.entry

    @property
    def fits(self) -> bool:
        """Whether its device is large enough, as far as that is known."""
        return not self.needs or not self.total or self.needs.total <= self.total

    @property
    def can_run(self) -> bool:
        """Whether it can be chosen."""
        return self.fits and not self.state.problem

    @property
    def group(self) -> str:
        """The group it stands in: `here`, `endpoints` or `demo`."""
        return group_of(self.entry)


def offered_models(service: ModelsService) -> list[OfferedModel]:
    """Every model of the catalog, in its order."""
    hardware = service.hardware()
    return [_offer(service, state, hardware) for state in service.states()]


def _offer(service: ModelsService, state: ModelState, hardware: Hardware) -> OfferedModel:
    needs = service.footprint(state, hardware)
    if needs is None:
        return OfferedModel(state)
    free, total = hardware.free(state.entry), hardware.total(state.entry)
    return OfferedModel(state, needs, free, total)


def models_card(
    t: Messages,
    models: Sequence[OfferedModel],
    form: Form,
    answers: Html | None,
    *,
    may_add: bool = True,
) -> Html:
    """One row for each model, with what it can do or why it cannot be chosen; then `answers`.

    Where there is none but demonstrations, whoever `may_add` one is shown the way.
    """
    chosen, wanted = field_values(form, "models"), field_value(form, "find").strip().casefold()
    able = [model for model in models if not model.entry.judges_only]
    groups = {
        group: [model for model in able if model.group == group]
        for group in ("here", "endpoints", "demo")
    }
    rows = {
        group: [_row(t, model, able, chosen, wanted) for model in members]
        for group, members in groups.items()
    }
    own = [model for model in (*groups["here"], *groups["endpoints"]) if model.can_run]
    opened = not own or any(_matches(model, wanted) for model in groups["demo"] if wanted)
    opened = opened or any(model.entry.name in chosen for model in groups["demo"])
    count = sum(model.entry.name in chosen and model.can_run for model in able)
    return list_card(
        t("models.title"),
        join(
            span(t("choose.of", n=count, total=len(able)), cls="meta"),
            search_field("find", field_value(form, "find"), t("models.find"))
            if len(able) >= _SEARCHED_FROM
            else None,
        ),
        *(
            model_group(t, name, [model.state for model in groups[name]], rows[name])
            for name in ("here", "endpoints")
        ),
        None if groups["here"] or groups["endpoints"] else _no_own_model(t, may_add=may_add),
        demo_group(t, [model.entry for model in groups["demo"]], rows["demo"], opened=opened),
        answers,
        cls="models",
    )


def preselected(t: Messages, names: Sequence[str]) -> Html:
    """Which models an address chooses, stated until there is a file."""
    return div(t("preselected.chosen", names=t("list.comma").join(names)), cls="preselected meta")


def remote_destinations(
    t: Messages, catalog: Mapping[str, ModelEntry], form: Form, settings: Settings
) -> list[str]:
    """A sentence for each model and judge chosen that is sent texts elsewhere; none if all stay."""
    judges = field_values(form, "judges") if "yes" in field_values(form, "judging") else ()
    models = [name for name in field_values(form, "models") if name not in judges]
    names = {"sends": models, "judges": judges}
    sentences = [
        t(f"away.{key}", name=name, hosts=t("list.comma").join(hosts))
        for key, chosen in names.items()
        for name in chosen
        if name in catalog and (hosts := external_hosts(catalog[name]))
    ]
    return [*sentences, *_cluster_host(t, settings)]


def remote_hosts_of(t: Messages, entry: ModelEntry) -> str:
    """The hosts that a judge at choice sends questions and answers to, "" if they stay here."""
    hosts = external_hosts(entry)
    return t("away.judged_to", hosts=t("list.comma").join(hosts)) if hosts else ""


def _matches(model: OfferedModel, wanted: str) -> bool:
    return wanted in model.entry.name.casefold()


def _no_own_model(t: Messages, *, may_add: bool) -> Html:
    if not may_add:
        return el("p", t("models.none_here"), cls="dim none-own")
    link = el("a", t("models.add_own"), href="models")
    return el("p", t("models.none_own"), " ", link, cls="dim none-own")


def _row(
    t: Messages,
    model: OfferedModel,
    models: Sequence[OfferedModel],
    chosen: Collection[str],
    wanted: str,
) -> Html:
    name = model.entry.name
    room = room_words(t, model.needs, model.free if model.total else None)
    row = choice_row(
        "models",
        name,
        name,
        model_about(t, model.state, room),
        _able(t, model),
        on=name in chosen,
        off=not model.can_run,
        hidden=not _matches(model, wanted),
        title=model_notes(t, model.entry),
    )
    return join(row, _with_base(t, model, models, chosen))


def _able(t: Messages, model: OfferedModel) -> str:
    if model.can_run:
        return model_abilities(t, model.state)
    return t("catalog.away" if model.state.is_endpoint_down else "models.cannot")


def _with_base(
    t: Messages, model: OfferedModel, models: Sequence[OfferedModel], chosen: Collection[str]
) -> Html | None:
    """Below a tuned model that is chosen: its base, to be compared with it in the same run."""
    base = base_of(model.entry, [other.entry for other in models if other.can_run])
    if base is None or not model.can_run or model.entry.name not in chosen:
        return None
    if base.name in chosen:
        return div(t("preselected.with_base_on", name=base.name), cls="meta with-base")
    word = t("preselected.with_base", name=base.name)
    return choice_row("models", base.name, word, on=False)


def _cluster_host(t: Messages, settings: Settings) -> Iterator[str]:
    """An address is that of a cluster which may have machines of its own; "" starts one here."""
    if settings.engine == "ray" and settings.ray_address:
        yield t("away.cluster", host=shown_host(settings.ray_address))
