"""The Models page's catalog: each model with its state, abilities, size, speed and price."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlencode, urlsplit, urlunsplit

from evalui.models.base import ModelEntry
from evalui.models.catalog import REMOTE, ModelState
from evalui.models.footprint import Footprint
from evalui.runs.model_trials import TrialRow
from evalui.types import Ability
from evalui.ui.choose import ABILITIES
from evalui.ui.figures import dollars
from evalui.ui.html import Child, Html, div, el, join, span
from evalui.ui.models_devices import amount, worker_words
from evalui.ui.models_shelf import Seat
from evalui.ui.models_trial import outcome
from evalui.ui.text import Text
from evalui.ui.widgets import button, chips, link_button, status, titled


@dataclass(frozen=True, slots=True)
class Listed:
    """One model of the catalog with everything its row tells.

    `state` is None while the model is being asked. `free` are bytes where it would be loaded.
    `seat` is the worker that has it, `base` what it was tuned from. `added`: on this page.
    """

    entry: ModelEntry
    state: ModelState | None
    trial: TrialRow | None
    footprint: Footprint | None
    free: int
    speeds: Mapping[str, float]
    seat: Seat | None
    base: ModelEntry | None
    added: bool

    @property
    def usable(self) -> bool:
        """Whether nothing is known against it."""
        return self.state is not None and not self.state.problem

    @property
    def local(self) -> bool:
        """Whether it computes on this server."""
        return self.entry.backend not in (*REMOTE, "scripted")


@dataclass(frozen=True, slots=True)
class Around:
    """What the rows share: what a trial waits for, who may edit, and which removal is asked.

    `waits` is the sentence of a trial that is queued.
    """

    waits: str
    may_edit: bool
    asking: str = ""


def catalog_cards(t: Text, models: Sequence[Listed], around: Around) -> Html:
    """The models, and folded below them those that only follow a rule."""
    own = [model for model in models if model.entry.backend != "scripted"]
    ruled = [model for model in models if model.entry.backend == "scripted"]
    ready = sum(model.usable for model in own)
    list_ = el("ul", *(_row(t, model, around) for model in own), cls="models-list")
    empty = div(el("p", t("catalog.none_about"), cls="dim"), cls="empty")
    return join(
        titled(
            t("catalog.title"),
            list_ if own else empty,
            aside=t("catalog.ready", n=ready, total=len(own)) if own else None,
        ),
        _ruled(t, ruled, around) if ruled else None,
    )


def _ruled(t: Text, models: Sequence[Listed], around: Around) -> Html:
    rows = el("ul", *(_row(t, model, around) for model in models), cls="models-list")
    return titled(
        t("catalog.ruled"),
        el("p", t("catalog.ruled_about"), cls="dim"),
        el("details", el("summary", t.count("catalog.show_ruled", len(models))), rows, cls="gap-s"),
        cls="ruled",
    )


def _row(t: Text, model: Listed, around: Around) -> Html:
    found = outcome(t, model.trial) if model.trial else None
    return el(
        "li",
        div(_identity(t, model), _facts(t, model), _state(t, model, around), cls="model"),
        found,
    )


def _identity(t: Text, model: Listed) -> Html:
    entry = model.entry
    about = entry.options.get("notes_zh", entry.notes) if t.language == "zh" else entry.notes
    tags = [t("catalog.added")] * model.added + [t("catalog.tuned")] * bool(entry.adapter)
    return div(
        div(el("h3", entry.name), *(span(tag, cls="chip on") for tag in tags), cls="model-name"),
        div(str(about), cls="dim") if about else None,
        *(div(line, cls="meta path") for line in _places(t, model)),
        _abilities(t, model),
    )


def _places(t: Text, model: Listed) -> list[Child]:
    """Where the model is: backend and path, adapter and base, address."""
    entry = model.entry
    backend = t(f"backend.{entry.backend}") if f"backend.{entry.backend}" in t else entry.backend
    if entry.backend == "scripted":
        return []
    lines: list[Child] = [
        join(backend, " · ", span(entry.path, cls="mono")),
        t("list.comma").join(_settings(t, entry)),
    ]
    lines += [_address(t, model, address) for address in _addresses(entry)]
    if entry.adapter:
        lines.append(join(t("catalog.adapter"), " ", span(entry.adapter, cls="mono")))
        base = model.base
        lines.append(t("catalog.base", name=base.name) if base else t("catalog.no_base"))
    return [line for line in lines if line]


def _settings(t: Text, entry: ModelEntry) -> list[str]:
    """What the catalog decides of how the model is loaded and asked."""
    told = [
        entry.revision and t("catalog.revision", name=entry.revision),
        entry.dtype if entry.dtype != "auto" else "",
        entry.device if entry.device != "auto" else "",
        t("catalog.chat") if entry.chat else "",
        t("catalog.longest", n=f"{entry.max_length:,}") if entry.max_length else "",
    ]
    return [word for word in told if word]


def _address(t: Text, model: Listed, address: str) -> Html:
    """An address, or the sentence why it alone cannot be used, which names it."""
    why = model.state.down.get(address, "") if model.state and not model.state.problem else ""
    return span(t.told(why), cls="warn") if why else span(_public(address), cls="mono")


def _addresses(entry: ModelEntry) -> list[str]:
    """The addresses that are texts; of anything else the model's state says what is wrong."""
    told: Any = entry.options.get("base_urls") or entry.options.get("base_url")
    found = cast("list[Any]", told) if isinstance(told, list) else [told]
    return [address for address in found if isinstance(address, str) and address]


def _public(address: str) -> str:
    """Scheme, host, port and path: what stands around them may be a password or a key."""
    try:
        parts = urlsplit(address)
    except ValueError:  # half an IPv6 address
        return "…"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _abilities(t: Text, model: Listed) -> Html | None:
    if not model.usable or model.state is None:
        return None
    has = model.state.abilities
    marks = [(t(f"ability.{each}"), "" if each in has else "no") for each in ABILITIES]
    lacks = [(each, _lack(t, model.state, each)) for each in ABILITIES if each not in has]
    return join(
        chips(marks),
        *(div(t("catalog.lacks", what=t(f"ability.{a}"), why=why), cls="meta") for a, why in lacks),
    )


def _lack(t: Text, state: ModelState, ability: Ability) -> str:
    if told := state.lacks.get(ability):
        return t.told(told)
    return t(f"catalog.lacks_{ability}")


def _facts(t: Text, model: Listed) -> Html:
    pairs = [
        (t("catalog.size"), _size(t, model)),
        (t("catalog.memory"), _memory(t, model)),
        (t("catalog.speed"), _speed(t, model)),
        (t("catalog.price"), _price(t, model.entry)),
    ]
    return el(
        "dl", *(join(el("dt", word), el("dd", told)) for word, told in pairs if told), cls="facts"
    )


def _size(t: Text, model: Listed) -> str:
    parameters = model.state.entry.parameters if model.state else model.entry.parameters
    if not parameters:
        return ""
    if parameters < 1e9:
        return t("models.parameters", n=f"{parameters / 1e6:.3g}")
    return t("catalog.billions", n=f"{parameters / 1e9:.3g}")


def _memory(t: Text, model: Listed) -> Html | None:
    found = model.footprint
    if found is None:
        return None
    made = t(
        "catalog.made_of",
        weights=amount(found.weights),
        dtype=found.dtype,
        cache=amount(found.cache),
        tokens=f"{found.tokens:,}",
    )
    most = t("catalog.at_most", size=amount(found.most), tokens=f"{found.longest:,}")
    return join(
        _fits(t, model, found),
        div(made, cls="meta"),
        div(most, cls="meta") if found.longest > found.tokens else None,
    )


def _fits(t: Text, model: Listed, found: Footprint) -> Html:
    size = amount(found.total)
    if model.seat and model.seat.row.holds:  # what is free then is free beside it
        return div(t("catalog.about", size=size))
    if found.total <= model.free:
        return div(t("catalog.fits", size=size))
    return div(status("warn", t("catalog.too_large", size=size, free=amount(model.free))))


def _speed(t: Text, model: Listed) -> str:
    told = [
        t(
            "catalog.rate",
            n=f"{rate:,.3g}" if rate < 1000 else f"{rate:,.0f}",
            mode=t(f"mode.{mode}_short"),
        )
        for mode, rate in model.speeds.items()
        if f"mode.{mode}_short" in t
    ]
    return t("list.comma").join(told)


def _price(t: Text, entry: ModelEntry) -> str:
    if not entry.input_price and not entry.output_price:
        return ""
    return t("catalog.prices", read=dollars(entry.input_price), written=dollars(entry.output_price))


def _state(t: Text, model: Listed, around: Around) -> Html:
    return div(
        div(*_told(t, model), cls="told-state"),
        div(*_actions(t, model, around), cls="acts"),
        cls="model-state",
    )


def _told(t: Text, model: Listed) -> list[Child]:
    entry, seat = model.entry, model.seat
    if model.state is None:
        return [status("go", t("catalog.asked")), div(t("catalog.asked_about"), cls="meta")]
    if model.state.problem:
        return [
            status("bad", t("catalog.problem")),
            div(t.told(model.state.problem), cls="meta why"),
        ]
    if seat and seat.row.holds and model.local:
        return [status("ok", t("catalog.loaded")), div(_where(t, seat), cls="meta")]
    if seat:
        word = "catalog.in_use" if seat.row.holds else "catalog.loading"
        return [status("go", t(word)), div(_where(t, seat), cls="meta")]
    if entry.backend in REMOTE:
        if model.trial and model.trial.state == "failed":
            return [status("warn", t("catalog.silent"))]  # what was found out may be older
        return [status("ok", t("catalog.answers"))]
    if model.local and not Path(entry.path).is_absolute():
        return [status("na", t("catalog.hub")), div(t("catalog.hub_about"), cls="meta")]
    return [status("ok", t("catalog.loadable" if model.local else "catalog.always"))]


def _where(t: Text, seat: Seat) -> Html:
    work = (
        el("a", seat.run_name, href=f"?run={seat.row.run}&tab=runs")
        if seat.row.run
        else t("device.tries")
    )
    return join(worker_words(t, seat), " · ", work)


def _actions(t: Text, model: Listed, around: Around) -> list[Html | None]:
    name, trial = model.entry.name, model.trial
    if around.asking == name:
        return [
            div(t("catalog.remove_sure"), cls="meta"),
            button(t("catalog.remove_yes"), "remove", data_model=name),
            button(t("runs.keep"), "keep", cls="quiet"),
        ]
    live = trial is not None and trial.live
    return [
        _waiting(t, trial, around) if live and trial and not model.seat else None,
        None if live or not model.usable else button(t("catalog.test"), "test", data_model=name),
        _compare(t, model),
        link_button(t("file.remove"), "ask", data_model=name)
        if model.added and around.may_edit
        else None,
    ]


def _waiting(t: Text, trial: TrialRow, around: Around) -> Html:
    if trial.state == "running":
        return div(status("go", t("tried.running")))
    return div(status("na", t("tried.queued")), div(around.waits, cls="meta"))


def _compare(t: Text, model: Listed) -> Html | None:
    if not model.base or not model.usable:
        return None
    address = "?" + urlencode(
        [("tab", "evaluate"), ("models", model.base.name), ("models", model.entry.name)]
    )
    return el("a", t("catalog.compare"), href=address, cls="btn")
