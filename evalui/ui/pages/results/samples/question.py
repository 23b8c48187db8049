"""One multiple-choice question in full: what every model took in every order, and the prompt."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalui.app.questions import AnsweringModel, OpenedQuestion, outcome_of
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.types import Sample, Trial, Variant
from evalui.ui.components.format import short_id, source
from evalui.ui.components.option_table import (
    OUTCOME_KINDS,
    PHONE_COLUMNS,
    OptionColumn,
    TableFoot,
    column,
    fixed_note,
    long_replies,
    marks,
    option_legend,
    option_table,
    order_label,
    other_rules_cell,
    outcome_cell,
    picked_letter,
    reply_cell,
    rule_columns,
)
from evalui.ui.components.pictures import Pictures
from evalui.ui.components.templates import fill, macro
from evalui.ui.components.widgets import model_name
from evalui.ui.pages.results.samples.address import MAX_ORDERS, Columns, SamplesAddress
from evalui.ui.pages.results.samples.findings import models_finding, orders_finding
from evalui.ui.pages.results.samples.prompt import sent_prompt

_MANY_ORDERS = 5  # from here on an order is picked from a list, not from buttons


@dataclass(frozen=True, slots=True)
class _Pick:
    """What a model took in one order: its letter in the file, else what became of it.

    `spoken` says for readers what the icon shows.
    """

    kind: str
    word: str
    spoken: str


@dataclass(frozen=True, slots=True)
class _EveryModel:
    """A row for each model with its picks; `heads` are the orders."""

    heads: Sequence[str]
    rows: Sequence[tuple[AnsweringModel, str, bool, Sequence[_Pick | None]]]
    is_wide: bool


def question_in_full(
    t: Messages, opened: OpenedQuestion, address: SamplesAddress, pictures: Pictures
) -> Html:
    """What the reader shows of a question; `address` is its own."""
    sample, labels = opened.sample, _order_labels(t, opened)
    by_models = address.by == "models"
    columns = _models(opened) if by_models else _orders(t, opened, labels)
    feet = _feet(t, columns, opened, labels[opened.order] if by_models else "")
    every_model = None if by_models else _every_model(t, opened, address, labels)
    picker = (
        _order_menu(t, opened, address, labels) if by_models else model_menu(t, opened, address)
    )
    variant = opened.orders[opened.order]
    finding = (
        models_finding(t, opened.models, variant, labels[opened.order])
        if by_models
        else orders_finding(t, opened.chosen.trials)
    )
    return fill(
        "questions/question.html",
        t=t,
        sample=sample,
        pictures=pictures,
        head=question_head(t, sample, address),
        note=fixed_note(t, sample),
        tools=_tools(t, address, picker, finding),
        other_orders="" if by_models else _other_orders(t, opened, address),
        table=option_table(t, sample, pictures, columns, feet),
        legend=option_legend(t, columns, models=by_models),
        replies=long_replies(t, columns),
        every_model=every_model,
        explanation=sample.metadata.get("explanation", ""),
        prompt=sent_prompt(t, opened.sent, opened.mode.shots, sample.subject, pictures)
        if opened.sent
        else "",
        prompt_orders="" if by_models else _prompt_orders(t, opened, address, labels),
    )


def question_head(t: Messages, sample: Sample, address: SamplesAddress) -> Html:
    """Its id, where it comes from, its address, and a button that copies that."""
    link = address.permalink
    return fill(
        "questions/head.html",
        t=t,
        id=short_id(sample.id),
        source=source(t, sample, sample.subject),
        path=f"/{link.partition('?')[0]}",
        address=f"../{link}",
    )


def model_menu(t: Messages, opened: OpenedQuestion, address: SamplesAddress) -> Html:
    """The model that is looked at, with its marker; the others are a click away."""
    links = [
        (
            model_name(each.name, each.place, each.baseline),
            address.to(cell=str(each.row.id)).href,
            each == opened.chosen,
        )
        for each in opened.models
    ]
    return _menu(t("samples.model"), links, opened.chosen.name)


def _menu(
    label: str, links: Sequence[tuple[Html | str, str, bool]], chosen: str, *, named: bool = False
) -> Html:
    """Links below the word of the current one; `named` shows the label beside it."""
    shown = next((word for word, _, current in links if current), chosen)
    return fill(
        "questions/menu.html",
        label=label,
        label_shown=named,
        chosen=chosen,
        shown=shown,
        links=links,
    )


def _tools(t: Messages, address: SamplesAddress, picker: Html | str, finding: str) -> Html:
    views: tuple[Columns, ...] = ("orders", "models")
    links = [
        (t(f"samples.by_{name}"), address.to(by=name).href, name == address.by) for name in views
    ]
    switch = macro("results/parts.html", "switch", t("samples.columns"), links)
    return macro("questions/cells.html", "tools", picker, finding, switch)


def _order_labels(t: Messages, opened: OpenedQuestion) -> tuple[str, ...]:
    return tuple(
        order_label(t, opened.pattern, variant, place)
        for place, variant in enumerate(opened.orders)
    )


def _orders(t: Messages, opened: OpenedQuestion, labels: Sequence[str]) -> tuple[OptionColumn, ...]:
    """What one model took in each order; of one order, what it took under each rule."""
    model = opened.chosen
    origin = model.trial(opened.orders[0])
    if origin and len(opened.orders) == 1 and len(origin.scores) > 1:
        return rule_columns(t, model, origin)
    return tuple(
        column(label, label, model, model.trial(variant))
        for label, variant in _window(opened, labels)
    )


def _models(opened: OpenedQuestion) -> tuple[OptionColumn, ...]:
    """What each model took in one order."""
    variant = opened.orders[opened.order]
    return tuple(
        column(
            model_name(model.name, model.place, model.baseline),
            model.name,
            model,
            model.trial(variant),
        )
        for model in opened.models
    )


def _window(opened: OpenedQuestion, labels: Sequence[str]) -> list[tuple[str, Variant]]:
    """The orders that stand beside each other: those around the chosen one, if there are many."""
    start = opened.order // MAX_ORDERS * MAX_ORDERS
    return list(zip(labels, opened.orders, strict=True))[start : start + MAX_ORDERS]


def _order_menu(
    t: Messages, opened: OpenedQuestion, address: SamplesAddress, labels: Sequence[str]
) -> Html | str:
    if len(opened.orders) < 2:
        return ""
    links = [
        (label, address.to(order=place).href, place == opened.order)
        for place, label in enumerate(labels)
    ]
    return _menu(t("samples.order"), links, labels[opened.order], named=True)


def _other_orders(t: Messages, opened: OpenedQuestion, address: SamplesAddress) -> Html | str:
    n = len(opened.orders)
    if n <= MAX_ORDERS:
        return ""
    starts = range(0, n, MAX_ORDERS)
    shown = opened.order // MAX_ORDERS * MAX_ORDERS
    links = [
        (
            t("samples.orders_range", first=start + 1, last=min(start + MAX_ORDERS, n), n=n),
            address.to(order=start).href,
            start == shown,
        )
        for start in starts
    ]
    chosen = next(word for word, _, current in links if current)
    return _menu(t("samples.order"), links, chosen, named=True)


def _feet(
    t: Messages, columns: Sequence[OptionColumn], opened: OpenedQuestion, order: str
) -> list[TableFoot]:
    """The rows below the options; those without contents are left out.

    `order` is the label of the one that several models are compared in, else "".
    """
    several = bool(order) and len(opened.orders) > 1
    by_rules = any(each.trial and each.reading != each.trial.reading for each in columns)
    outcome = t("question.outcome")
    feet = [
        TableFoot(
            " · ".join((outcome, order)) if several else outcome,
            [outcome_cell(t, each) for each in columns],
        ),
        TableFoot(
            t("question.in_orders", n=len(opened.orders)),
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
    drawn = marks(t, [outcome_of(trial) for trial in model.trials])
    return macro("questions/cells.html", "in_orders", drawn, words)


def _every_model(
    t: Messages, opened: OpenedQuestion, address: SamplesAddress, labels: Sequence[str]
) -> _EveryModel | None:
    """Which option each model took in each order."""
    if len(opened.models) < 2:
        return None
    orders = _window(opened, labels)
    rows = [
        (
            model,
            address.to(cell=str(model.row.id)).href,
            model == opened.chosen,
            [_taken(t, model.trial(variant)) for _, variant in orders],
        )
        for model in opened.models
    ]
    return _EveryModel([label for label, _ in orders], rows, len(orders) > PHONE_COLUMNS)


def _taken(t: Messages, trial: Trial | None) -> _Pick | None:
    if trial is None:
        return None
    outcome, letter = outcome_of(trial), picked_letter(trial)
    word = t(f"outcome.{outcome}")
    return _Pick(OUTCOME_KINDS[outcome], letter or word, word if letter else "")


def _prompt_orders(
    t: Messages, opened: OpenedQuestion, address: SamplesAddress, labels: Sequence[str]
) -> Html | str:
    """The orders to choose from; where the table has a picker of its own, that serves both."""
    if len(opened.orders) < 2:
        return ""
    if len(labels) < _MANY_ORDERS:
        links = [
            (label, address.to(order=place).href, place == opened.order)
            for place, label in enumerate(labels)
        ]
        return macro("results/parts.html", "switch", t("samples.order"), links)
    if len(labels) > MAX_ORDERS:
        return macro("questions/cells.html", "missing", labels[opened.order])
    return _order_menu(t, opened, address, labels)
