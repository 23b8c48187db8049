"""The Models page's catalog: each model with its state, abilities, size, speed and price."""

from collections.abc import Sequence
from typing import Any, cast
from urllib.parse import urlsplit, urlunsplit

from evalui.messages import Messages
from evalui.models.base import ModelEntry, traits_of
from evalui.models.catalog import ModelState
from evalui.models.memory_estimate import Footprint
from evalui.report.numbers import dollars
from evalui.types import Ability
from evalui.ui.components.html import Child, Html, div, el, join, span
from evalui.ui.components.widgets import chips, status, titled
from evalui.ui.tabs.evaluate.model_choice import ABILITIES
from evalui.ui.tabs.models.devices import amount
from evalui.ui.tabs.models.model_test import test_result
from evalui.ui.tabs.models.row_actions import problem_note, state_column
from evalui.ui.tabs.models.rows import ModelRow, RowContext


def catalog_cards(t: Messages, models: Sequence[ModelRow], context: RowContext) -> Html:
    """The models, and folded below them those that only follow a rule."""
    own = [model for model in models if not traits_of(model.entry).rule_based]
    ruled = [model for model in models if traits_of(model.entry).rule_based]
    list_ = el("ul", *(_row(t, model, context) for model in own), cls="models-list")
    empty = div(el("p", t("catalog.none_about"), cls="dim"), cls="empty")
    return join(
        titled(
            t("catalog.title"),
            list_ if own else empty,
            aside=_count(t, own) if own else None,
        ),
        _rule_based_models(t, ruled, context) if ruled else None,
    )


def _count(t: Messages, models: Sequence[ModelRow]) -> str:
    ready = sum(model.usable for model in models)
    away = sum(model.state is not None and model.state.is_endpoint_down for model in models)
    key = "catalog.ready_away" if away else "catalog.ready"
    return t(key, n=ready, total=len(models), away=away)


def _rule_based_models(t: Messages, models: Sequence[ModelRow], around: RowContext) -> Html:
    rows = el("ul", *(_row(t, model, around) for model in models), cls="models-list")
    return titled(
        t("catalog.ruled"),
        el("p", t("catalog.ruled_about"), cls="dim"),
        el("details", el("summary", t.count("catalog.show_ruled", len(models))), rows, cls="gap-s"),
        cls="ruled",
    )


def _row(t: Messages, model: ModelRow, around: RowContext) -> Html:
    found = test_result(t, model.test) if model.test else None
    return el(
        "li",
        div(
            _identity(t, model),
            div(_facts(t, model), problem_note(t, model, around)),
            state_column(t, model, around),
            cls="model",
        ),
        found,
    )


def _identity(t: Messages, model: ModelRow) -> Html:
    entry = model.entry
    about = entry.options.get("notes_zh", entry.notes) if t.language == "zh" else entry.notes
    tags = [t("catalog.added")] * model.added + [t("catalog.tuned")] * bool(entry.adapter)
    return div(
        div(el("h3", entry.name), *(span(tag, cls="chip on") for tag in tags), cls="model-name"),
        div(str(about), cls="dim") if about else None,
        *(div(line, cls="meta path") for line in _places(t, model)),
        _abilities(t, model),
    )


def _places(t: Messages, model: ModelRow) -> list[Child]:
    """Where the model is: backend and path, adapter and base, address."""
    entry = model.entry
    backend = t(f"backend.{entry.backend}") if f"backend.{entry.backend}" in t else entry.backend
    if traits_of(entry).rule_based:
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


def _settings(t: Messages, entry: ModelEntry) -> list[str]:
    """What the catalog decides of how the model is loaded and asked."""
    told = [
        entry.revision and t("catalog.revision", name=entry.revision),
        entry.dtype if entry.dtype != "auto" else "",
        entry.device if entry.device != "auto" else "",
        t("catalog.chat") if entry.chat else "",
        t("catalog.longest", n=f"{entry.max_length:,}") if entry.max_length else "",
    ]
    return [word for word in told if word]


def _address(t: Messages, model: ModelRow, address: str) -> Html:
    """An address, or the sentence why it alone cannot be used, which names it."""
    why = (
        model.state.unavailable_addresses.get(address, "")
        if model.state and not model.state.problem
        else ""
    )
    return span(t.translate(why), cls="warn") if why else span(_public(address), cls="mono")


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


def _abilities(t: Messages, model: ModelRow) -> Html | None:
    if not model.usable or model.state is None:
        return None
    has = model.state.abilities
    marks = [(t(f"ability.{each}"), "" if each in has else "no") for each in ABILITIES]
    lacks = [(each, _missing_reason(t, model.state, each)) for each in ABILITIES if each not in has]
    return join(
        chips(marks),
        *(div(t("catalog.lacks", what=t(f"ability.{a}"), why=why), cls="meta") for a, why in lacks),
    )


def _missing_reason(t: Messages, state: ModelState, ability: Ability) -> str:
    if told := state.missing_reasons.get(ability):
        return t.translate(told)
    return t(f"catalog.lacks_{ability}")


def _facts(t: Messages, model: ModelRow) -> Html | None:
    pairs = [
        (t("catalog.size"), _size(t, model)),
        (t("catalog.memory"), _memory(t, model)),
        (t("catalog.speed"), _speed(t, model)),
        (t("catalog.price"), _price(t, model.entry)),
    ]
    told = [join(el("dt", word), el("dd", fact)) for word, fact in pairs if fact]
    return el("dl", *told, cls="facts") if told else None


def _size(t: Messages, model: ModelRow) -> str:
    parameters = model.state.entry.parameters if model.state else model.entry.parameters
    if not parameters:
        return ""
    if parameters < 1e9:
        return t("models.parameters", n=f"{parameters / 1e6:.3g}")
    return t("catalog.billions", n=f"{parameters / 1e9:.3g}")


def _memory(t: Messages, model: ModelRow) -> Html | None:
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
    most = t("catalog.at_most", size=amount(found.peak), tokens=f"{found.max_input_tokens:,}")
    return join(
        _fits(t, model, found),
        div(made, cls="meta"),
        div(most, cls="meta") if found.max_input_tokens > found.tokens else None,
    )


def _fits(t: Messages, model: ModelRow, found: Footprint) -> Html:
    size = amount(found.total)
    if model.free_bytes is None or (
        model.worker and model.worker.row.has_loaded_model
    ):  # what is free is beside it
        return div(t("catalog.about", size=size))
    if model.fits:
        return div(t("catalog.fits", size=size))
    return div(status("warn", t("catalog.too_large", size=size, free=amount(model.free_bytes))))


def _speed(t: Messages, model: ModelRow) -> str:
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


def _price(t: Messages, entry: ModelEntry) -> str:
    if not entry.input_price and not entry.output_price:
        return ""
    return t("catalog.prices", read=dollars(entry.input_price), written=dollars(entry.output_price))
