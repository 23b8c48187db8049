"""Compare, one question: every order or answer of two contenders, as components."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import gradio as gr

from evalui.app.questions import AnsweringModel
from evalui.app.service import AppService
from evalui.messages import Messages
from evalui.report.analyses.comparison import (
    FIGURES,
    Comparison,
    Contender,
    PairComparison,
    measure_words,
)
from evalui.report.blocks import Places
from evalui.report.html import Html
from evalui.report.numbers import format_fraction
from evalui.report.words import in_words
from evalui.store.trials import read_trials_of
from evalui.types import Sample, Variant
from evalui.ui.components.format import source
from evalui.ui.components.listing import markup
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
from evalui.ui.components.pictures import Pictures
from evalui.ui.components.templates import fill
from evalui.ui.components.texts import closest_reference, diff_texts, marked
from evalui.ui.components.widgets import model_name
from evalui.ui.pages.compare.query import CompareQuery


@dataclass(frozen=True, slots=True)
class PairView:
    """Two of a comparison whose questions are looked at; `models` are theirs by contender id.

    What they answered to a question is read from the store when it is looked at.
    """

    t: Messages
    service: AppService
    compared: Comparison
    pair: PairComparison
    query: CompareQuery
    models: Mapping[str, AnsweringModel]

    @property
    def both(self) -> tuple[Contender, Contender]:
        """The two, the one that is ahead first."""
        return (self.pair.first, self.pair.second)

    def pictures(self, sample: Sample) -> Pictures:
        """Those of a question, which the two have in common."""
        return Pictures.of_run(self.t, self.service, self.pair.first.run, sample.id)

    def on_question(self, sample: Sample) -> Self:
        """The same with what the two answered to a question."""
        models = {each.id: self.models[each.id] for each in self.both}
        return replace(
            self,
            models={
                id_: model.with_trials(
                    read_trials_of(self.service.database, model.row.id, sample.id)
                )
                for id_, model in models.items()
            },
        )


def show_question(view: PairView, sample: Sample) -> None:
    """Make the components of one question with everything both answered."""
    address = f"compare?{view.query.with_question(sample.id).address}"
    view = view.on_question(sample)
    t = view.t
    with gr.Column(elem_classes="compare-detail", **_kept("detail")):
        markup(
            fill(
                "compare/question.html",
                t=t,
                source=source(t, sample, sample.subject),
                address=address,
                question=view.pictures(sample).shown(sample.question),
                fixed=fixed_note(t, sample) or "",
            ),
            elem_classes="ev",
            **_kept("question"),
        )
        if view.compared.written:
            markup(_written(view, sample), elem_classes="ev", **_kept("answers"))
        else:
            for place, table in enumerate(_tables(view, sample)):
                markup(table, elem_classes="ev", **_kept(f"table-{place}"))
        links = [
            (t("compare.question.prompt_link", name=each.name), _samples(each, sample))
            for each in view.both
        ]
        markup(fill("compare/links.html", links=links), elem_classes="ev", **_kept("links"))


def contender_name(contender: Contender) -> Html:
    """A contender with its marker."""
    return model_name(contender.name, contender.place, contender.baseline)


def _kept(name: str) -> dict[str, Any]:
    """The key of a component, whose place the next one of its name takes."""
    return {"key": ("question", name), "preserved_by_key": []}


def _tables(view: PairView, sample: Sample) -> list[Html]:
    """One table of both if there is one order, else a table of its orders for each."""
    orders = list(
        dict.fromkeys(trial.variant for each in view.both for trial in view.models[each.id].trials)
    )
    if len(orders) == 1:
        columns = [_column(view, each, orders[0], each.name) for each in view.both]
        return [_table(view, sample, columns)]
    pattern = view.compared.results[0].cell.pattern
    labels = [order_label(view.t, pattern, each, place) for place, each in enumerate(orders)]
    return [
        _table(
            view,
            sample,
            [
                _column(view, each, variant, label)
                for label, variant in zip(labels, orders, strict=True)
            ],
            contender_name(each),
        )
        for each in view.both
    ]


def _column(view: PairView, contender: Contender, variant: Variant, label: str) -> OptionColumn:
    model = view.models[contender.id]
    head = contender_name(contender) if label == contender.name else label
    return column(head, label, model, model.trial(variant))


def _table(
    view: PairView, sample: Sample, columns: Sequence[OptionColumn], head: Html | None = None
) -> Html:
    t = view.t
    feet = [
        TableFoot(t("question.outcome"), [outcome_cell(t, each) for each in columns]),
        TableFoot(t("question.reply_rule"), [reply_cell(t, each) for each in columns]),
    ]
    return fill(
        "compare/options.html",
        head=head,
        table=option_table(
            t,
            sample,
            view.pictures(sample),
            columns,
            [foot for foot in feet if any(foot.cells)],
        ),
        legend=option_legend(t, columns),
        replies=long_replies(t, columns) or "",
    )


def _written(view: PairView, sample: Sample) -> Html:
    """The reference once, and both answers below it with what the reference does not contain."""
    sides = [
        {
            "name": contender_name(each),
            "closeness": _closeness(view, each, sample),
            "text": _marked_answer(sample.references, _answer(view.models[each.id])),
        }
        for each in view.both
    ]
    return fill(
        "compare/answers.html",
        t=view.t,
        references=[in_words(text, view.t.language) for text in sample.references],
        sides=sides,
    )


def _answer(model: AnsweringModel) -> str:
    trials = model.trials
    return "\n\n".join(trials[0].turns or (trials[0].reply or "",)) if trials else ""


def _closeness(view: PairView, contender: Contender, sample: Sample) -> str:
    value = view.compared.values[contender.id].get(sample.id)
    figure = FIGURES.get(view.compared.measure, view.compared.measure)
    name = measure_words(view.t, f"figure.{figure}", figure)
    return f"{name} {format_fraction(value)}" if value is not None else ""


def _marked_answer(references: Sequence[str], text: str) -> Html | str:
    """The text with what the closest reference does not have marked; "" of a blank one."""
    if not text.strip() or not references:
        return text.strip() and text
    return marked(diff_texts(references[closest_reference(references, text)], text).reply, "ins")


def _samples(contender: Contender, sample: Sample) -> str:
    """The address of the question in the results of a contender's run."""
    return Places(contender.run).view("samples", cell=contender.id, q=sample.id)
