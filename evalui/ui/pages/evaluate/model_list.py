"""The models to choose from, in groups: on this server, endpoints, then what only demonstrates."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evalui.app.models_service import Hardware, ModelsService, group_of
from evalui.messages import Messages
from evalui.models.base import ModelEntry
from evalui.models.catalog import ModelState, base_of
from evalui.models.endpoint.limits import external_hosts, shown_host
from evalui.models.memory_estimate import Footprint
from evalui.report.html import Html
from evalui.settings import Settings
from evalui.ui.components.form import Form, field_values
from evalui.ui.components.templates import fill
from evalui.ui.model_labels import (
    demo_about,
    group_about,
    model_abilities,
    model_about,
    model_notes,
    room_words,
)
from evalui.ui.pages.evaluate.choices import Choice, ChoiceGroup, choice_list

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


def model_list(
    t: Messages, models: Sequence[OfferedModel], form: Form, *, may_add: bool = True
) -> Html:
    """One row for each model, with what it can do or why it cannot be chosen.

    Where there is none but demonstrations, whoever `may_add` one is shown the way.
    """
    chosen = field_values(form, "models")
    able = [model for model in models if not model.entry.judges_only]
    own = [model for model in able if model.group != "demo"]
    groups = {
        name: [model for model in able if model.group == name]
        for name in ("here", "endpoints", "demo")
    }
    opened = not any(model.can_run for model in own)
    opened = opened or any(model.entry.name in chosen for model in groups["demo"])
    count = sum(model.entry.name in chosen and model.can_run for model in able)
    return choice_list(
        "models",
        [
            ChoiceGroup(
                [row for model in members for row in _rows(t, model, able, chosen)],
                name,
                t(f"models.{name}"),
                demo_about(t, [model.entry for model in members])
                if name == "demo"
                else group_about(t, [model.state for model in members]),
                folded=name == "demo",
                opened=opened,
            )
            for name, members in groups.items()
        ],
        chosen,
        title=t("models.title"),
        count=t("choose.of", n=count, total=len(able)),
        find=t("models.find") if len(able) >= _SEARCHED_FROM else "",
        note="" if own else _no_own_model(t, may_add=may_add),
    )


def remote_destinations(
    t: Messages, catalog: Mapping[str, ModelEntry], form: Form, settings: Settings
) -> list[str]:
    """A sentence for each model and judge chosen that is sent texts elsewhere; none if all stay."""
    judges = field_values(form, "judging.judges") if "yes" in field_values(form, "judging") else ()
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


def _no_own_model(t: Messages, *, may_add: bool) -> Html:
    word = t("models.none_own" if may_add else "models.none_here")
    return fill("evaluate/no_own_model.html", word=word, add=t("models.add_own") if may_add else "")


def _rows(
    t: Messages, model: OfferedModel, models: Sequence[OfferedModel], chosen: Sequence[str]
) -> Iterator[Choice]:
    """The row of a model; below a tuned one that is chosen its base, to be compared with it."""
    name, is_off = model.entry.name, not model.can_run
    base = base_of(model.entry, [other.entry for other in models if other.can_run])
    with_base = base.name if base and not is_off and name in chosen else ""
    room = room_words(t, model.needs, model.free if model.total else None)
    yield Choice(
        name,
        name,
        model_about(t, model.state, room),
        _able(t, model),
        off=is_off,
        title=model_notes(t, model.entry),
        beside=t("preselected.with_base_on", name=with_base) if with_base in chosen else "",
    )
    if with_base and with_base not in chosen:
        yield Choice(with_base, t("preselected.with_base", name=with_base))


def _able(t: Messages, model: OfferedModel) -> str:
    if model.can_run:
        return model_abilities(t, model.state)
    return t("catalog.away" if model.state.is_endpoint_down else "models.cannot")


def _cluster_host(t: Messages, settings: Settings) -> Iterator[str]:
    """An address is that of a cluster which may have machines of its own; "" starts one here."""
    if settings.engine == "ray" and settings.ray_address:
        yield t("away.cluster", host=shown_host(settings.ray_address))
