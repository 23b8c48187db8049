"""One multiple-choice question in full: what every model took in every order, and the prompt."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalui.messages import Messages
from evalui.report.html import Child, Html, div, el, join, span
from evalui.runs.database.question_pages import SentPrompt
from evalui.runs.spec import ModeSpec
from evalui.scoring.choice.permutations import variant_label
from evalui.types import Pattern, Sample, Trial, Variant
from evalui.ui.components.format import short_id, source
from evalui.ui.components.widgets import (
    card,
    copy_button,
    labelled,
    note,
    segments,
    select,
    status,
    table,
)
from evalui.ui.tabs.results.samples.address import MAX_ORDERS, Columns, SamplesAddress
from evalui.ui.tabs.results.samples.answering import AnsweringModel, outcome_of
from evalui.ui.tabs.results.samples.findings import models_finding, orders_finding
from evalui.ui.tabs.results.samples.listing import marks_svg
from evalui.ui.tabs.results.samples.options import (
    OUTCOME_KINDS,
    PHONE_COLUMNS,
    OptionColumn,
    TableFoot,
    column,
    is_long,
    option_table,
    other_rules_cell,
    outcome_cell,
    picked_letter,
    reply_cell,
    rule_columns,
)
from evalui.ui.tabs.results.samples.prompt import sent_prompt

_MANY_ORDERS = 5  # from here on an order is picked from a list, not from buttons


@dataclass(frozen=True, slots=True)
class OpenedQuestion:
    """A question as the reader shows it.

    `orders` are those in which its options are shown, `order` the place of the chosen one; `models`
    all models of its mode with their trials, `chosen` the one that is looked at.
    """

    sample: Sample
    address: SamplesAddress
    models: tuple[AnsweringModel, ...]
    chosen: AnsweringModel
    orders: tuple[Variant, ...]
    order: int
    sent: SentPrompt | None = None

    @property
    def pattern(self) -> Pattern:
        """The pattern of the orders."""
        return self.chosen.row.cell.pattern

    @property
    def mode(self) -> ModeSpec:
        """The mode in which it was answered."""
        return ModeSpec.model_validate_json(self.chosen.row.plan)

    def order_labels(self, t: Messages) -> tuple[str, ...]:
        """What the orders are called."""
        return tuple(
            order_label(t, self.pattern, variant, place)
            for place, variant in enumerate(self.orders)
        )


def question_card(t: Messages, opened: OpenedQuestion) -> Html:
    """The reader of one question."""
    sample, by_models = opened.sample, opened.address.by == "models"
    return card(
        question_head(t, sample, opened.address),
        el("p", sample.question, cls="qtext"),
        fixed_note(t, sample),
        _by_models(t, opened) if by_models else _by_orders(t, opened),
        _explanation(t, sample),
        _prompt_section(t, opened),
        cls="qa",
    )


def question_head(t: Messages, sample: Sample, address: SamplesAddress) -> Html:
    """Its id, where it comes from, its address, and a button that copies that."""
    link = address.permalink
    return div(
        el("h2", t("question.title", id=short_id(sample.id))),
        span(source(t, sample, sample.subject), cls="meta"),
        span(f"/{link.partition('?')[0]}", cls="mono dim path"),
        copy_button(t, f"../{link}"),
        cls="q-head",
    )


def fixed_note(t: Messages, sample: Sample) -> Html | None:
    """Why a question is presented in the order as written only."""
    return (
        div(note("warn", t(f"question.{sample.fixed_reason}")), cls="gap-s")
        if sample.fixed_reason
        else None
    )


def order_label(t: Messages, pattern: Pattern, variant: Variant, place: int) -> str:
    """What an order of the options is called; `place` is that among all orders and repeats."""
    if variant.repeat:
        order = order_label(t, pattern, variant.order, place % max(1, len(variant.permutation)))
        return t("order.reply", n=variant.repeat + 1, order=order)
    if variant.is_origin:
        return t("order.origin")
    if pattern == "circular":
        return t("order.shifted", n=place)
    return t("order.label", label=variant_label(variant))


def model_picker(t: Messages, opened: OpenedQuestion) -> Html:
    """The model that is looked at, with its marker; the others are a click away."""
    names, chosen = {str(each.row.id): each.name for each in opened.models}, opened.chosen
    sign = span(chosen.name_with_marker, cls="sign", aria_hidden="true")
    picker = select("cell", names, str(chosen.row.id), aria_label=t("samples.model"))
    return el("label", sign, picker, cls="inp answerer")


def _by_orders(t: Messages, opened: OpenedQuestion) -> Html:
    """What one model took in each order; of one order, what it took under each rule."""
    model, labels = opened.chosen, opened.order_labels(t)
    origin = model.trial(opened.orders[0])
    columns = (
        rule_columns(t, model, origin)
        if origin and len(opened.orders) == 1 and len(origin.scores) > 1
        else tuple(
            column(label, label, model, model.trial(variant))
            for label, variant in _window(opened, list(zip(labels, opened.orders, strict=True)))
        )
    )
    return join(
        _tools(t, opened, model_picker(t, opened), orders_finding(t, model.trials), "orders"),
        _other_orders(t, opened),
        option_table(t, opened.sample, columns, _feet(t, columns)),
        option_legend(t, columns),
        long_replies(t, columns),
        _every_model(t, opened, labels),
    )


def _by_models(t: Messages, opened: OpenedQuestion) -> Html:
    """What each model took in one order."""
    variant, label = opened.orders[opened.order], opened.order_labels(t)[opened.order]
    columns = tuple(
        column(model.name_with_marker, model.name, model, model.trial(variant))
        for model in opened.models
    )
    finding = models_finding(t, opened.models, variant, label)
    return join(
        _tools(t, opened, _order_picker(t, opened), finding, "models"),
        option_table(t, opened.sample, columns, _feet(t, columns, opened)),
        option_legend(t, columns, models=True),
        long_replies(t, columns),
    )


def _tools(
    t: Messages, opened: OpenedQuestion, picker: Html | None, finding: str, by: Columns
) -> Html:
    address = opened.address
    views: tuple[Columns, ...] = ("orders", "models")
    links = ((t(f"samples.by_{name}"), address.to(by=name).href, name == by) for name in views)
    return div(picker, el("b", finding, cls="finding"), segments(links), cls="tools")


def _order_picker(t: Messages, opened: OpenedQuestion) -> Html | None:
    if len(opened.orders) < 2:
        return None
    words = {str(place): label for place, label in enumerate(opened.order_labels(t))}
    return labelled(t("samples.order"), select("order", words, str(opened.order)))


def _window(opened: OpenedQuestion, orders: list[tuple[str, Variant]]) -> list[tuple[str, Variant]]:
    """The orders that stand beside each other: those around the chosen one, if there are many."""
    start = opened.order // MAX_ORDERS * MAX_ORDERS
    return orders[start : start + MAX_ORDERS]


def _other_orders(t: Messages, opened: OpenedQuestion) -> Html | None:
    n = len(opened.orders)
    if n <= MAX_ORDERS:
        return None
    starts = range(0, n, MAX_ORDERS)
    words = {
        str(start): t("samples.orders_range", first=start + 1, last=min(start + MAX_ORDERS, n), n=n)
        for start in starts
    }
    start = opened.order // MAX_ORDERS * MAX_ORDERS
    return div(labelled(t("samples.order"), select("order", words, str(start))), cls="gap-s")


def _feet(
    t: Messages, columns: Sequence[OptionColumn], opened: OpenedQuestion | None = None
) -> list[TableFoot]:
    """The rows below the options; those without contents are left out."""
    several = bool(opened) and len(opened.orders) > 1
    by_rules = any(each.trial and each.reading != each.trial.reading for each in columns)
    outcome = t("question.outcome")
    if opened and several:
        outcome = " · ".join((outcome, opened.order_labels(t)[opened.order]))
    feet = [
        TableFoot(outcome, [outcome_cell(t, each) for each in columns]),
        TableFoot(
            t("question.in_orders", n=len(opened.orders) if opened else 0),
            [_in_orders(t, each.model) if several else None for each in columns],
        ),
        TableFoot(t("question.reply_rule"), [reply_cell(t, each) for each in columns]),
        TableFoot(
            t("question.other_rules"),
            [None if by_rules else other_rules_cell(t, each) for each in columns],
        ),
    ]
    return [foot for foot in feet if any(foot.cells)]


def _in_orders(t: Messages, model: AnsweringModel) -> Html | None:
    if not model.trials:
        return None
    right, n = sum(trial.correct is True for trial in model.trials), len(model.trials)
    if any(trial.variant.repeat for trial in model.trials):
        words = t("samples.of_replies", right=right, n=n)
    else:
        words = t("samples.all_orders") if right == n else t("samples.of_orders", right=right, n=n)
    marks = marks_svg(t, [outcome_of(trial) for trial in model.trials])
    return join(marks, " ", span(words, cls="meta"))


def option_legend(t: Messages, columns: Sequence[OptionColumn], *, models: bool = False) -> Html:
    """How to read the cells of a table of options."""
    shares, scores = (any(each.shares for each in columns), any(each.scores for each in columns))
    bare = any(each.trial and not each.shares and not each.scores for each in columns)
    no_shares = t("question.no_shares_models") if models else t("question.no_shares")
    return div(
        span(span("A", cls="l"), " ", t("question.picked"), cls="pc pick"),
        span(t("question.shares")) if shares else None,
        span(t("question.scores")) if scores else span(t("question.letter")),
        span(no_shares) if bare else None,
        cls="legend meta",
    )


def thoughts_of(t: Messages, trial: Trial) -> Html | None:
    """What the model thought before it replied, folded: no part of the answer."""
    if not trial.thoughts:
        return None
    shown = el("pre", trial.thoughts, cls="reply-whole")
    return el("details", el("summary", t("answer.thoughts")), shown, cls="gap thoughts")


def long_replies(t: Messages, columns: Sequence[OptionColumn]) -> Html | None:
    """Replies that are too long for the table, in full, and thoughts apart from them."""
    thinking = any(each.trial and each.trial.thoughts for each in columns)
    if not thinking and not any(is_long(each.trial) for each in columns):
        return None
    texts = [
        div(
            el("b", each.head),
            el("pre", each.trial.reply),
            thoughts_of(t, each.trial),
            cls="reply-whole",
        )
        for each in columns
        if each.trial and each.trial.reply is not None
    ]
    return div(el("h3", t("question.replies")), div(*texts, cls="replies"), cls="sec")


def _every_model(t: Messages, opened: OpenedQuestion, labels: Sequence[str]) -> Html | None:
    """Which option each model took in each order."""
    if len(opened.models) < 2:
        return None
    orders = _window(opened, list(zip(labels, opened.orders, strict=True)))
    rows: list[list[Child]] = [
        [
            el(
                "a",
                model.name_with_marker,
                href=opened.address.to(cell=str(model.row.id)).href,
                aria_current="true" if model == opened.chosen else None,
            ),
            *(_taken(t, model.trial(variant)) for _, variant in orders),
        ]
        for model in opened.models
    ]
    heads = [span(t("samples.model"), cls="hidden"), *(label for label, _ in orders)]
    return div(
        el("h2", t("samples.every_model")),
        el("p", t("samples.every_model_about"), cls="meta"),
        table(heads, rows, cls="pickt wide" if len(orders) > PHONE_COLUMNS else "pickt"),
        cls="sec",
    )


def _taken(t: Messages, trial: Trial | None) -> Html:
    if trial is None:
        return span("–", cls="meta")
    outcome = outcome_of(trial)
    word = picked_letter(trial) or t(f"outcome.{outcome}")
    spoken = span(t(f"outcome.{outcome}"), cls="hidden") if picked_letter(trial) else None
    return status(OUTCOME_KINDS[outcome], join(word, spoken, separator=" "))


def _explanation(t: Messages, sample: Sample) -> Html | None:
    text = sample.metadata.get("explanation", "")
    if not text:
        return None
    return div(el("h2", t("question.explanation")), el("p", text, cls="dim text"), cls="sec")


def _prompt_section(t: Messages, opened: OpenedQuestion) -> Html | None:
    if opened.sent is None:
        return None
    return div(
        div(el("h2", t("question.prompt")), _prompt_orders(t, opened), cls="card-h"),
        sent_prompt(t, opened.sent, opened.mode.shots, opened.sample.subject),
        cls="sec",
    )


def _prompt_orders(t: Messages, opened: OpenedQuestion) -> Html | None:
    """The orders to choose from; where the table has a picker of its own, that serves both."""
    if len(opened.orders) < 2 or opened.address.by == "models":
        return None
    labels = opened.order_labels(t)
    if len(labels) < _MANY_ORDERS:
        return segments(
            (label, opened.address.to(order=place).href, place == opened.order)
            for place, label in enumerate(labels)
        )
    if len(labels) > MAX_ORDERS:
        return span(labels[opened.order], cls="meta")
    return _order_picker(t, opened)
