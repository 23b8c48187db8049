"""The Models page's catalog: each model with its abilities, size, speed, price and last test."""

from collections.abc import Sequence
from typing import Any, cast
from urllib.parse import urlsplit, urlunsplit

from evalui.messages import Messages
from evalui.models.base import ModelEntry, traits_of
from evalui.models.catalog import ModelState
from evalui.models.memory_estimate import Footprint
from evalui.report.html import Child, Html, div, el, join, span
from evalui.report.numbers import dollars
from evalui.runs.worker.model_tests import CHOICE_SAMPLE, OPEN_SAMPLE, AbilityTest, ModelTestRow
from evalui.types import Ability
from evalui.ui.components.format import amount, duration, format_time
from evalui.ui.components.widgets import chips, note, status, titled
from evalui.ui.tabs.evaluate.model_choice import ABILITIES
from evalui.ui.tabs.models.row_actions import ModelRow, RowContext, problem_note, state_column

_MIN_TOKENS = 8  # a shorter reply is no measure of the speed
_MAX_ANSWER_LENGTH = 400  # characters of a reply


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


def _rule_based_models(t: Messages, models: Sequence[ModelRow], context: RowContext) -> Html:
    rows = el("ul", *(_row(t, model, context) for model in models), cls="models-list")
    return titled(
        t("catalog.ruled"),
        el("p", t("catalog.ruled_about"), cls="dim"),
        el("details", el("summary", t.count("catalog.show_ruled", len(models))), rows, cls="gap-s"),
        cls="ruled",
    )


def _row(t: Messages, model: ModelRow, context: RowContext) -> Html:
    result = test_result(t, model.test) if model.test else None
    return el(
        "li",
        div(
            _identity(t, model),
            div(_facts(t, model), problem_note(t, model, context)),
            state_column(t, model, context),
            cls="model",
        ),
        result,
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
    if reason := state.missing_reasons.get(ability):
        return t.translate(reason)
    return t(f"catalog.lacks_{ability}")


def _facts(t: Messages, model: ModelRow) -> Html | None:
    pairs = [
        (t("catalog.size"), _size(t, model)),
        (t("catalog.memory"), _memory(t, model)),
        (t("catalog.speed"), _speed(t, model)),
        (t("catalog.price"), _price(t, model.entry)),
    ]
    facts = [join(el("dt", word), el("dd", fact)) for word, fact in pairs if fact]
    return el("dl", *facts, cls="facts") if facts else None


def _size(t: Messages, model: ModelRow) -> str:
    parameters = model.state.entry.parameters if model.state else model.entry.parameters
    if not parameters:
        return ""
    if parameters < 1e9:
        return t("models.parameters", n=f"{parameters / 1e6:.3g}")
    return t("catalog.billions", n=f"{parameters / 1e9:.3g}")


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
        _fits(t, model, estimate),
        div(parts, cls="meta"),
        div(most, cls="meta") if estimate.max_input_tokens > estimate.tokens else None,
    )


def _fits(t: Messages, model: ModelRow, estimate: Footprint) -> Html:
    size = amount(estimate.total)
    if model.free_bytes is None or (
        model.worker and model.worker.row.has_loaded_model
    ):  # what is free is beside it
        return div(t("catalog.about", size=size))
    if model.fits:
        return div(t("catalog.fits", size=size))
    return div(status("warn", t("catalog.too_large", size=size, free=amount(model.free_bytes))))


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


def _price(t: Messages, entry: ModelEntry) -> str:
    if not entry.input_price and not entry.output_price:
        return ""
    return t("catalog.prices", read=dollars(entry.input_price), written=dollars(entry.output_price))


def test_result(t: Messages, test: ModelTestRow) -> Html | None:
    """The finished test below its model; None while it is on its way."""
    if test.is_pending:
        return None
    when = format_time(t, test.finished or test.created)
    if test.error and not test.ability_tests:
        return div(
            note("bad", t("tried.failed", when=when), " ", t.translate(test.error)), cls="tried"
        )
    loaded = t("tried.loaded", time=seconds(t, test.load_s or 0.0))
    return div(
        div(el("b", t("tried.title", when=when)), span(loaded, cls="meta"), cls="tried-h"),
        div(*(_ability(t, ability_test) for ability_test in test.ability_tests), cls="abilities"),
        *(div(t.translate(note_), cls="meta") for note_ in test.notes),
        div(t("tried.questions", asked=_questions(test)), cls="meta"),
        cls="tried",
    )


def seconds(t: Messages, spent: float) -> str:
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


def _ability(t: Messages, ability_test: AbilityTest) -> Html:
    """One ability: its mark shows whether it works, the words whether the answer is right."""
    word = (
        t("tried.judge") if ability_test.mode == "judge" else t(f"ability.{ability_test.ability}")
    )
    if ability_test.problem:
        return div(status("bad", word), div(t.translate(ability_test.problem), cls="bad"))
    return div(
        status("ok" if ability_test.answer.strip() else "na", word),
        _answer(t, ability_test),
        div(_measured_speed(t, ability_test), cls="meta"),
    )


def _answer(t: Messages, ability_test: AbilityTest) -> Html:
    if ability_test.ability == "generate":
        answer = ability_test.answer.strip()
        cut = answer[:_MAX_ANSWER_LENGTH] + ("…" if len(answer) > _MAX_ANSWER_LENGTH else "")
        return div(cut or t("tried.blank"), cls="quoted" if cut else "dim")
    if not ability_test.answer:
        return div(t("tried.tie"), cls="dim")
    key = "tried.right" if ability_test.correct else "tried.wrong"
    if ability_test.probability is None:
        return div(el("b", ability_test.answer), " ", span(t(key), cls="dim"))
    sure = t(f"{key}_sure", share=f"{100 * ability_test.probability:.3g}")
    return div(el("b", ability_test.answer), " ", span(sure, cls="dim"))


def _measured_speed(t: Messages, ability_test: AbilityTest) -> str:
    spent = max(ability_test.seconds, 1e-4)
    requests = t.count("tried.asked", ability_test.requests, time=seconds(t, ability_test.seconds))
    if ability_test.ability == "generate":
        if ability_test.tokens < _MIN_TOKENS:
            return requests
        return t(
            "tried.tokens", n=f"{ability_test.tokens / spent:,.0f}", tokens=ability_test.tokens
        )
    return t("tried.rate", n=f"{ability_test.requests / spent:,.3g}", asked=requests)
