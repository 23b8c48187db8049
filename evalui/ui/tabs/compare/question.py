"""Compare, one question: every order or answer of two contenders."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self
from urllib.parse import urlencode

from evalui.app.questions import AnsweringModel
from evalui.messages import Messages
from evalui.report.analyses.arena.narrative import format_fraction
from evalui.report.analyses.comparison.figures import (
    FIGURES,
    Comparison,
    Contender,
    PairComparison,
)
from evalui.report.analyses.comparison.findings import measure_words
from evalui.report.html import Html, div, el, join, span
from evalui.report.icons import model_name
from evalui.runs.database.connection import Database
from evalui.runs.database.trials import read_trials_of
from evalui.types import Sample, Variant
from evalui.ui.components.format import source
from evalui.ui.components.option_table import (
    OptionColumn,
    TableFoot,
    column,
    fixed_note,
    long_replies,
    option_legend,
    option_table,
    order_label,
    outcome_cell,
    reply_cell,
)
from evalui.ui.components.texts import closest_reference, diff_texts, marked
from evalui.ui.components.widgets import copy_button
from evalui.ui.tabs.compare.query import CompareQuery


@dataclass(frozen=True, slots=True)
class PairView:
    """Two of a comparison whose questions are looked at; `models` are theirs by contender id.

    What they answered to a question is read from the store when it is looked at.
    """

    t: Messages
    database: Database
    compared: Comparison
    pair: PairComparison
    query: CompareQuery
    models: Mapping[str, AnsweringModel]

    @property
    def both(self) -> tuple[Contender, Contender]:
        """The two, the one that is ahead first."""
        return (self.pair.first, self.pair.second)

    def on_question(self, sample: Sample) -> Self:
        """The same with what the two answered to a question."""
        models = {each.id: self.models[each.id] for each in self.both}
        return replace(
            self,
            models={
                id_: model.with_trials(read_trials_of(self.database, model.row.id, sample.id))
                for id_, model in models.items()
            },
        )


def question_detail(view: PairView, sample: Sample) -> Html:
    """One question with everything both answered."""
    address = f"?{view.query.with_question(sample.id).address}"
    view = view.on_question(sample)
    return div(
        div(
            span(source(view.t, sample, sample.subject), cls="meta"),
            copy_button(view.t, address, cls="link"),
            cls="source",
        ),
        el("p", sample.question, cls="qtext"),
        _written(view, sample) if view.compared.written else _options(view, sample),
        div(*(_link(view.t, each, sample) for each in view.both), cls="links gap-s"),
        cls="compare-detail",
    )


def contender_name(contender: Contender) -> Html:
    """A contender with its marker."""
    return model_name(contender.name, contender.place, contender.baseline)


def _options(view: PairView, sample: Sample) -> Html:
    """One table of both if there is one order, else a table of its orders for each."""
    orders = list(
        dict.fromkeys(trial.variant for each in view.both for trial in view.models[each.id].trials)
    )
    if len(orders) == 1:
        columns = [_column(view, each, orders[0], each.name) for each in view.both]
        tables = [_table(view.t, sample, columns)]
    else:
        tables = [_orders_table(view, each, sample, orders) for each in view.both]
    return join(fixed_note(view.t, sample), *tables)


def _orders_table(
    view: PairView, contender: Contender, sample: Sample, orders: Sequence[Variant]
) -> Html:
    pattern = view.compared.results[0].cell.pattern
    columns = [
        _column(view, contender, variant, order_label(view.t, pattern, variant, place))
        for place, variant in enumerate(orders)
    ]
    return div(el("h3", contender_name(contender)), _table(view.t, sample, columns), cls="sec")


def _column(view: PairView, contender: Contender, variant: Variant, label: str) -> OptionColumn:
    model = view.models[contender.id]
    head = contender_name(contender) if label == contender.name else label
    return column(head, label, model, model.trial(variant))


def _table(t: Messages, sample: Sample, columns: Sequence[OptionColumn]) -> Html:
    feet = [
        TableFoot(t("question.outcome"), [outcome_cell(t, each) for each in columns]),
        TableFoot(t("question.reply_rule"), [reply_cell(t, each) for each in columns]),
    ]
    return join(
        option_table(t, sample, columns, [foot for foot in feet if any(foot.cells)]),
        option_legend(t, columns),
        long_replies(t, columns),
    )


def _written(view: PairView, sample: Sample) -> Html:
    """The reference once, and both answers below it with what the reference does not contain."""
    t = view.t
    references = [div(el("b", t("answer.reference")), _text(text)) for text in sample.references]
    answers = [
        div(
            div(
                contender_name(each),
                span(_closeness(view, each, sample), cls="meta"),
                cls="who",
            ),
            _marked_answer(t, sample.references, _answer(view.models[each.id])),
            cls="side",
        )
        for each in view.both
    ]
    return join(
        *references,
        div(*answers, cls="sides gap-s"),
        el("p", t("compare.question.legend"), cls="meta gap-s"),
    )


def _answer(model: AnsweringModel) -> str:
    trials = model.trials
    return "\n\n".join(trials[0].turns or (trials[0].reply or "",)) if trials else ""


def _closeness(view: PairView, contender: Contender, sample: Sample) -> str:
    value = view.compared.values[contender.id].get(sample.id)
    figure = FIGURES.get(view.compared.measure, view.compared.measure)
    name = measure_words(view.t, f"figure.{figure}", figure)
    return f"{name} {format_fraction(value)}" if value is not None else ""


def _marked_answer(t: Messages, references: Sequence[str], text: str) -> Html:
    if not text.strip():
        return el("p", t("answer.blank"), cls="dim")
    if not references:
        return _text(text)
    diff = diff_texts(references[closest_reference(references, text)], text)
    return el("p", marked(diff.reply, "ins"), cls="text")


def _text(text: str) -> Html:
    return el("p", text, cls="text")


def _link(t: Messages, contender: Contender, sample: Sample) -> Html:
    address = {
        "run": contender.run,
        "sub": "samples",
        "cell": contender.id,
        "q": sample.id,
    }
    words = t("compare.question.prompt_link", name=contender.name)
    return el("a", words, href=f"results?{urlencode(address)}")
