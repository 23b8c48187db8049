"""The Compare page: models of one or several runs on the same questions, paired.

Its whole state is the address: the cells, the measure, the pair, and the question that is open. The
pickers are fixed; the document and the list of questions are drawn by `gr.render`.
"""

from typing import Any

import gradio as gr

from evalui.app.comparisons import (
    comparison_address,
    comparison_facts,
    notes_on,
    share_comparison,
    signatures_of,
)
from evalui.app.service import AppService
from evalui.app.sharing import withdraw
from evalui.errors import SpecError
from evalui.report.analyses.comparison import comparison_blocks, measure_words
from evalui.report.html import Html
from evalui.report.render.page import render_block
from evalui.ui.blocks import show
from evalui.ui.components.action import Action
from evalui.ui.components.address import address, happening, opens, query_of, read_query
from evalui.ui.components.fold import folds
from evalui.ui.components.form import Form
from evalui.ui.components.listing import bar, markup
from evalui.ui.components.pickers import Pickers, Words
from evalui.ui.components.pressed_list import PressedList, read_pressed
from evalui.ui.components.recent_runs import recent_runs
from evalui.ui.components.row_steps import row_steps
from evalui.ui.components.templates import fill
from evalui.ui.pages.compare.choice import (
    choice_hint,
    group_words,
    model_words,
    run_words,
    with_group,
    with_models,
    with_runs,
)
from evalui.ui.pages.compare.comparing import Shown, read_shown, shared_page, ways_to_statistics
from evalui.ui.pages.compare.query import CompareQuery
from evalui.ui.pages.compare.question import contender_name
from evalui.ui.pages.compare.questions import (
    filter_words,
    pair_words,
    question_list,
    show_questions,
)
from evalui.ui.pages.context import DRAWING, EVENTS, PageContext
from evalui.ui.sharing.links import share_button
from evalui.ui.sharing.panel import LinkPanel, chosen_days, tried

Updates = dict[Any, Any]
_NAME = "compare"
_RECENT = 10  # runs


def make_page(context: PageContext) -> None:
    """The page, where Gradio is to draw it."""
    ComparePage(context).wire()


class ComparePage:
    """Its components, and what changes them."""

    def __init__(self, context: PageContext) -> None:
        t = context.t
        self.context = context
        self.address = address(f"{t(f'tab.{_NAME}')} · {t('app.name')}", t.language)
        self.bar = bar()
        folds()
        row_steps(".compare-list li", "question")
        with gr.Column(elem_classes="page document compare-page"):
            self.head = markup(elem_classes="ev compare-head")
            self.sharing = LinkPanel(t)
            with gr.Column(visible=False, elem_classes="compare-choice") as self.choice:
                runs = gr.Dropdown(
                    [], multiselect=True, label=t("compare.runs"), elem_classes="field"
                )
                self.runs = PressedList(runs)
                self.pickers = Pickers(
                    {"group": t("compare.group"), "measure": t("compare.measure")}
                )
                models = gr.CheckboxGroup([], label=t("compare.models"), elem_classes="models")
                self.models = PressedList(models)
                self.hint = markup(elem_classes="ev")
            self.recent = markup(elem_classes="ev")
            # What the page shows by now: the server keeps nothing of a visitor.
            self.query = gr.Textbox(visible="hidden", elem_classes="hidden-field")
            drawing: dict[str, Any] = {
                "inputs": [self.query],
                "triggers": [happening(self.address, "open")],
                # "always_last" of two with one trigger would ask for each other without end.
                "trigger_mode": "multiple",
            }
            gr.render(**drawing, **DRAWING)(self._draw)
            with gr.Column(visible=False, elem_classes="card compare-card") as self.questions:
                with gr.Row(elem_classes="compare-questions-head"):
                    self.title = markup(elem_classes="ev")
                    self.only = gr.Radio(
                        [], show_label=False, label=t("compare.show"), elem_classes="segments"
                    )
                self.pairs = Pickers({"pair": t("compare.pair")})
                gr.render(**drawing, **DRAWING)(self._draw_questions)
            self.signatures = markup(elem_classes="ev")

    def wire(self) -> None:
        """Say what happens on which event."""
        held, panel = [self.runs.held, self.models.held], self.sharing.outputs
        self.address.open(
            self._open,
            held,
            [
                *(self.bar, self.query, self.head, self.choice, *self.runs.outputs),
                *(*self.pickers.outputs, *self.models.outputs, self.hint, self.recent),
                self.questions,
                *(self.title, self.only, *self.pairs.outputs, self.signatures, *panel),
            ],
            api_name=f"{_NAME}_open",
            trigger_mode="multiple",
            **EVENTS,
        )
        group, measure = self.pickers.lists.values()
        for name, field, pick in (
            ("runs", self.runs.field, self._pick_runs),
            ("group", group, self._pick_group),
            ("models", self.models.field, self._pick_models),
            ("measure", measure, self._pick_measure),
            ("pair", self.pairs.lists["pair"], self._pick_pair),
            ("only", self.only, self._pick_only),
        ):
            field.input(
                pick,
                [self.query, field],
                [self.query, *held, self.address],  # the last asks with what the others hold
                api_name=f"{_NAME}_{name}",
                trigger_mode="always_last",  # of quick presses
                **EVENTS,
            )
        self.sharing.make.click(
            self._share,
            [self.query, self.sharing.days],
            panel,
            api_name=f"{_NAME}_share",
            **EVENTS,
        )
        self.sharing.links.act(
            self._act_on_link,
            self.query,
            panel,
            api_name=f"{_NAME}_link",
            trigger_mode="multiple",
            **EVENTS,
        )

    # ------------------------------------------------------------ what an address shows

    def _open(
        self, event: gr.EventData, request: gr.Request, runs: object, models: object
    ) -> Updates:
        """What stands around the comparison of an address; `runs` and `models` tell what the lists
        of them hold.
        """
        service, query, t = self.context.service(request), query_of(event), self.context.t
        form = read_query(query)
        shown = read_shown(service, t, form)
        return {
            self.bar: self.context.bar(service, _NAME, form),
            self.query: query,
            self.head: self._head(service, shown),
            **self.runs.shown(
                run_words(t, shown.choice.offered),
                [offer.run.id for offer in shown.choice.runs],
                query=query,
                held=runs,
            ),
            **self.models.shown(
                model_words(shown.choice, service.models.baselines()),
                map(str, shown.choice.picked),
                query=query,
                held=models,
            ),
            **self._chosen(shown),
            self.recent: self._recent(service, shown),
            **self._listed(service, shown),
            **self._shared(service, shown, form),
            self.signatures: render_block(signatures_of(shown.able))
            if shown.compared
            else Html(""),
        }

    def _head(self, service: AppService, shown: Shown) -> Html:
        """What is compared and the way to share it, or what the page is for and what is wrong."""
        t, page = self.context.t, shared_page(service, shown)
        if shown.compared is None or page is None:
            return fill(
                "compare/head.html",
                t=t,
                problem=shown.problem,
                notes=notes_on(t, (), shown.refused),
                nothing=not shown.choice.offered,
            )
        runs = {
            each.contender.run: {
                "name": each.contender.run_name,
                "href": f"results?run={each.contender.run}",
            }
            for each in shown.able
        }
        several = len(runs) > 1
        return fill(
            "compare/runline.html",
            dataset=shown.able[0].row.cell.dataset,
            facts=comparison_facts(t, shown.able, shown.compared),
            run=None if several else next(iter(runs.values())),
            models=[
                (
                    contender_name(each.contender),
                    # A name that already tells the run of two cells of one model says it once.
                    runs[each.contender.run]
                    if several and each.contender.run_name not in each.contender.name
                    else None,
                )
                for each in shown.able
            ],
            share=share_button(service, t, page, cls="btn pri"),
        )

    def _recent(self, service: AppService, shown: Shown) -> Html:
        """The newest runs, each of which is a choice to begin with; none once some are chosen."""
        offered, t = shown.choice.offered, self.context.t
        if shown.choice.runs or not offered:
            return Html("")
        newest = [offer.run for offer in offered[:_RECENT]]
        runs = recent_runs(t, newest, service.owner, place=_NAME)
        return fill("compare/recent.html", t=t, runs=runs)

    def _chosen(self, shown: Shown) -> Updates:
        """What else can be chosen, and what is to be done next."""
        t, choice = self.context.t, shown.choice
        groups = group_words(t, choice.groups)
        pickers = {
            "group": Words(groups, str(choice.group[0].id)) if len(groups) > 1 else None,
            "measure": self._measures(shown),
        }
        hint = choice_hint(t, choice)
        return {
            self.choice: gr.update(visible=bool(choice.offered)),
            **self.pickers.shown({name: each for name, each in pickers.items() if each}),
            self.hint: fill("compare/remark.html", text=hint) if hint else Html(""),
        }

    def _measures(self, shown: Shown) -> Words | None:
        compared, t = shown.compared, self.context.t
        if compared is None or len(compared.measures) < 2:
            return None
        words = {
            name: measure_words(t, f"compare.measure_of.{name}", name) for name in compared.measures
        }
        return Words(words, compared.measure)

    def _listed(self, service: AppService, shown: Shown) -> Updates:
        """The head of the list of questions, and what it can be filtered by."""
        t, view = self.context.t, shown.pair_view(service, self.context.t)
        if view is None:
            return {self.questions: gr.update(visible=False), **self.pairs.shown({})}
        listed = question_list(view)
        pairs = pair_words(t, view.compared)
        several = {"pair": Words(pairs, view.pair.key)} if len(pairs) > 1 else {}
        title = t.count("compare.list.title", len(listed.every))
        words = filter_words(listed)
        return {
            self.questions: gr.update(visible=True),
            self.title: fill("compare/questions_head.html", title=title),
            self.only: gr.update(
                choices=[(word, id_) for id_, word in words.items()], value=view.query.only
            ),
            **self.pairs.shown(several),
        }

    def _shared(self, service: AppService, shown: Shown, form: Form) -> Updates:
        page = shared_page(service, shown)
        return self.sharing.shown(service, page, form) if page else self.sharing.hidden()

    def _draw(self, query: object, event: gr.EventData, request: gr.Request) -> None:
        """The comparison of an address."""
        service, t = self.context.service(request), self.context.t
        form = read_query(query_of(event) or query)
        shown = read_shown(service, t, form)
        if shown.compared is None:
            return
        blocks = comparison_blocks(
            t,
            shown.compared,
            shown.pair,
            notes=notes_on(t, shown.able, shown.refused),
            address=lambda each: f"compare?{shown.query.with_pair(each.key).address}",
            more=ways_to_statistics(t, shown.able, shown.compared),
        )
        show(t, blocks, scope=_NAME)

    def _draw_questions(self, query: object, event: gr.EventData, request: gr.Request) -> None:
        """The questions on which the pair of an address differs, and the one that is open."""
        service, t = self.context.service(request), self.context.t
        shown = read_shown(service, t, read_query(query_of(event) or query))
        if view := shown.pair_view(service, t):
            show_questions(question_list(view))

    # ------------------------------------------------------------ what changes

    def _now(self, request: gr.Request, query: object) -> tuple[AppService, Shown, Form]:
        service, form = self.context.service(request), read_query(query)
        return service, read_shown(service, self.context.t, form), form

    def _pick_runs(self, request: gr.Request, query: object, values: object) -> Updates:
        _, shown, _ = self._now(request, query)
        wanted, offered = read_pressed(values), shown.choice.offered
        to = with_runs(shown.choice, shown.query, wanted)
        words = run_words(self.context.t, offered)
        known = [each for each in wanted if each in words]
        return self._to(to) | self.runs.pressed(words, known, to.address)

    def _pick_group(self, request: gr.Request, query: object, value: object) -> Updates:
        _, shown, _ = self._now(request, query)
        return self._to(with_group(shown.choice, shown.query, str(value)))

    def _pick_models(self, request: gr.Request, query: object, values: object) -> Updates:
        service, shown, _ = self._now(request, query)
        wanted = read_pressed(values)
        to = with_models(shown.choice, shown.query, wanted)
        if to is shown.query:
            return self._to(to) | {self.models.held: ""}  # it shows again what there was
        words = model_words(shown.choice, service.models.baselines())
        return self._to(to) | self.models.pressed(words, wanted, to.address)

    def _pick_measure(self, request: gr.Request, query: object, value: object) -> Updates:
        _, shown, _ = self._now(request, query)
        return self._to(shown.query.with_measure(str(value)))

    def _pick_pair(self, request: gr.Request, query: object, value: object) -> Updates:
        _, shown, _ = self._now(request, query)
        return self._to(shown.query.with_pair(str(value)))

    def _pick_only(self, request: gr.Request, query: object, value: object) -> Updates:
        _, shown, _ = self._now(request, query)
        return self._to(shown.query.with_only(str(value)))

    def _to(self, query: CompareQuery) -> Updates:
        """What leads to another address; the next press starts from there at once."""
        return {self.address: opens(query.address), self.query: query.address}

    def _share(self, request: gr.Request, query: object, days: object) -> Updates:
        """The panel after a link was made, or with why it was not."""
        service, shown, form = self._changed(request, query)
        ids = [each.row.id for each in shown.able]
        measure, pair = shown.query.measure, shown.query.pair
        problem = tried(lambda: share_comparison(service, ids, measure, chosen_days(days), pair))
        return self._shared(service, shown, form) | self.sharing.after(problem)

    def _act_on_link(self, event: gr.EventData, request: gr.Request, query: object) -> Updates:
        """The panel after a button of the list of links."""
        service, shown, form = self._changed(request, query)
        action = Action.read(event._data)  # pyright: ignore[reportPrivateUsage] # no other name
        assert shown.compared is not None, "something is compared"
        at = comparison_address(shown.compared)
        problem = tried(lambda: withdraw(service, action.value("link"), at))
        return self._shared(service, shown, form) | self.sharing.after(problem)

    def _changed(self, request: gr.Request, query: object) -> tuple[AppService, Shown, Form]:
        """The comparison whose links are to be changed.

        Raises:
            NotAllowed: the person may change nothing, or not each of its runs.
            SpecError: nothing is compared.
        """
        service, shown, form = self._now(request, query)
        service.require("start")
        if shown.compared is None:
            raise SpecError("compare-gone")
        for run_id in dict.fromkeys(each.contender.run for each in shown.able):
            service.require("change", run_id)
        return service, shown, form
