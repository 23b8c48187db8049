"""The row of a model: a line with its state, and below it what there is to know and to do."""

from datetime import datetime
from typing import Any, cast
from urllib.parse import urlencode, urlsplit, urlunsplit

from evalui.app.models_service import WorkerView
from evalui.messages import Messages
from evalui.models.base import ModelEntry, traits_of
from evalui.models.catalog import ModelState
from evalui.models.memory_estimate import Footprint
from evalui.models.user_catalog import has_key
from evalui.report.html import Child, Html, div, el, join, span
from evalui.report.numbers import dollars
from evalui.types import Ability
from evalui.ui.components.format import amount, format_time
from evalui.ui.components.widgets import button, definitions, link_button, status
from evalui.ui.model_labels import (
    ABILITIES,
    model_abilities,
    model_about,
    model_notes,
    room_words,
)
from evalui.ui.pages.models.model_row import ModelRow, RowContext
from evalui.ui.pages.models.test_result import test_result


def model_line(t: Messages, model: ModelRow, context: RowContext) -> Html:
    """The line of a model, which unfolds."""
    entry = model.entry
    tags = [t("catalog.added")] * model.added + [t("catalog.tuned")] * bool(entry.adapter)
    kind, word = model.condition
    able = model_abilities(t, model.state) if model.usable and model.state else ""
    line = el(
        "summary",
        span(el("h3", entry.name), *(span(tag, cls="chip on") for tag in tags), cls="model-name"),
        span(_about(t, model), cls="meta about"),
        span(able, cls="meta able"),
        status(kind, t(word)),
    )
    inside = div(
        div(
            div(*_identity(t, model)),
            div(_facts(t, model)),
            cls="facts-row",
        ),
        *_state_lines(t, model, context),
        div(*_actions(t, model, context), cls="acts"),
        _question(t, model) if model.added and context.may_edit else None,
        _last_test(t, model),
        cls="in",
    )
    return el(
        "li",
        el("details", line, inside),
        data_key=entry.name,
        cls=None if model.usable else "off",
    )


def _last_test(t: Messages, model: ModelRow) -> Html | None:
    """What the last test found; that something worked would contradict that it cannot be used."""
    test = model.test
    if test is None or (not model.usable and test.ability_tests):
        return None
    return test_result(t, test)


def _about(t: Messages, model: ModelRow) -> str:
    if model.status.pending or model.state is None:
        return ""
    free = None if model.is_loaded else model.free_bytes
    return model_about(t, model.state, room_words(t, model.footprint, free))


def _identity(t: Messages, model: ModelRow) -> list[Html]:
    """What it is and where: notes, backend and path, settings, address, key, adapter and base."""
    entry, notes = model.entry, model_notes(t, model.entry)
    backend = t(f"backend.{entry.backend}") if f"backend.{entry.backend}" in t else entry.backend
    lines: list[Child] = ["" if notes == _about(t, model) else notes]
    if not traits_of(entry).rule_based:
        lines.append(join(backend, " · ", span(_place(entry.path), cls="mono")))
    lines.append(t("list.comma").join(_settings(t, entry)))
    lines += [_address(t, model, address) for address in _addresses(entry)]
    if has_key(entry):
        lines.append(t("catalog.keyed"))
    if entry.adapter:
        lines.append(join(t("catalog.adapter"), " ", span(_place(entry.adapter), cls="mono")))
        base = model.base
        lines.append(t("catalog.base", name=base.name) if base else t("catalog.no_base"))
    return [div(line, cls="path") for line in [*lines, *_missing_abilities(t, model)] if line]


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


def _address(t: Messages, model: ModelRow, address: str) -> Html:
    """An address, or the sentence why it alone cannot be used, which names it."""
    why = (
        model.state.unavailable_addresses.get(address, "")
        if model.state and not model.state.problem
        else ""
    )
    return span(t.translate(why), cls="warn") if why else span(_public(address), cls="mono")


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
    missing: list[Ability] = [each for each in ABILITIES if each not in model.state.abilities]
    return [
        t("catalog.lacks", what=t(f"ability.{each}"), why=_missing_reason(t, model.state, each))
        for each in missing
    ]


def _missing_reason(t: Messages, state: ModelState, ability: Ability) -> str:
    if reason := state.missing_reasons.get(ability):
        return t.translate(reason)
    return t(f"catalog.lacks_{ability}")


def _facts(t: Messages, model: ModelRow) -> Html | None:
    pairs = [
        (t("catalog.memory"), _memory(t, model)),
        (t("catalog.speed"), _speed(t, model)),
        (t("catalog.price"), _full_price(t, model.entry)),
    ]
    return definitions((word, fact) for word, fact in pairs if fact)


def _room(t: Messages, model: ModelRow, estimate: Footprint) -> Child:
    """What it takes and whether there is room; beside what is loaded, what is free says nothing."""
    size = amount(estimate.total)
    if model.free_bytes is None or model.is_loaded:
        return t("catalog.about", size=size)
    if model.fits:
        return t("catalog.fits", size=size)
    return status("warn", t("catalog.too_large", size=size, free=amount(model.free_bytes)))


def _memory(t: Messages, model: ModelRow) -> Html | None:
    estimate = model.footprint
    if estimate is None:
        return None
    parts = t(
        "catalog.made_of",
        weights=amount(estimate.weights),
        dtype=estimate.dtype,
        cache=amount(estimate.cache),
        tokens=f"{estimate.tokens:,}",
    )
    most = t("catalog.at_most", size=amount(estimate.peak), tokens=f"{estimate.max_input_tokens:,}")
    return join(
        _room(t, model, estimate),
        div(parts, cls="meta"),
        div(most, cls="meta") if estimate.max_input_tokens > estimate.tokens else None,
    )


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


def _state_lines(t: Messages, model: ModelRow, context: RowContext) -> list[Html]:
    """What there is to say of the state: what helps, who has it, what it waits for, and since."""
    lines: list[Child] = [
        None if model.usable or model.state is None else t(_advice(model, context)),
        t("catalog.tight_about") if model.usable and not model.fits else None,
        _worker_link(t, model.worker) if model.worker else None,
        context.wait_sentence if model.test_is_pending and not model.worker else None,
        t("catalog.asked_at", when=_clock(t, model.status.checked_at))
        if model.remote and model.status.checked_at
        else None,
    ]
    return [div(line, cls="meta") for line in lines if line]


def _advice(model: ModelRow, context: RowContext) -> str:
    if model.is_away:
        return "catalog.away_about"
    if not context.may_edit:
        return "catalog.mend_other"
    return "catalog.mend_added" if model.added else "catalog.mend"


def _clock(t: Messages, at: float) -> str:
    """To the second, so that a new probe is seen to have changed something."""
    then, now = datetime.fromtimestamp(at).astimezone(), datetime.now().astimezone()
    return f"{then:%H:%M:%S}" if then.date() == now.date() else format_time(t, at)


def _worker_link(t: Messages, worker: WorkerView) -> Html:
    work = (
        el("a", worker.run_name, href=f"runs?run={worker.row.run}")
        if worker.row.run
        else t("device.tries")
    )
    # The machine's name adds nothing where there is one machine.
    return join(t("device.worker", name=worker.row.name.rpartition(":")[2]), " · ", work)


def _actions(t: Messages, model: ModelRow, context: RowContext) -> list[Html | None]:
    name = model.entry.name
    editable = model.added and context.may_edit
    again = t("catalog.ask_again" if model.remote else "catalog.look_again")
    edit = urlencode({"edit": name})
    return [
        button(t("catalog.test"), "test", data_model=name)
        if context.may_test and model.usable and not model.test_is_pending
        else None,
        button(again, "again", data_model=name)
        if not model.status.pending and (model.remote or not model.usable)
        else None,
        _compare(t, model),
        el("a", t("catalog.edit"), href=f"models?{edit}", cls="btn") if editable else None,
        link_button(t("file.remove"), "ask") if editable else None,
    ]


def _question(t: Messages, model: ModelRow) -> Html:
    """What is asked before an added model is removed, in place of its buttons."""
    sure = span(t(f"catalog.remove_sure{'_endpoint' * model.remote}"), cls="meta")
    yes = button(t("catalog.remove_yes"), "remove", data_model=model.entry.name)
    no = button(t("runs.keep"), "keep", cls="quiet")
    return div(sure, yes, no, cls="acts", data_question=True, hidden=True)


def _compare(t: Messages, model: ModelRow) -> Html | None:
    if not model.base or not model.usable:
        return None
    names = [("models", model.base.name), ("models", model.entry.name)]
    address = urlencode([("tab", "evaluate"), *names])
    return el("a", t("catalog.compare"), href=f"?{address}", cls="btn")
