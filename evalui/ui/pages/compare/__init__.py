"""The Compare page: models of one or several runs on the same questions, paired.

Its whole state is the address: the cells, the measure, the pair, and the question that is open.
"""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import islice
from typing import Any

import gradio as gr

from evalui.app.comparisons import (
    comparison_facts,
    first_comparable_cells,
    notes_on,
    share_comparison,
    signatures_of,
)
from evalui.app.service import AppService
from evalui.messages import Messages
from evalui.report.analyses.comparison import Comparison, comparison_blocks, measure_words
from evalui.report.html import Html
from evalui.report.render.page import render_block
from evalui.ui.blocks import show
from evalui.ui.components.listing import markup, remark, title
from evalui.ui.components.recent_runs import recent_runs
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
from evalui.ui.pages.compare.question import PairView, contender_name
from evalui.ui.pages.compare.questions import (
    filter_words,
    pair_words,
    question_list,
    show_questions,
)
from evalui.ui.screen import Screen
from evalui.ui.sharing.links import SharedPage, share_button
from evalui.ui.sharing.panel import link_panel

_NAME = "compare"
_RECENT = 10  # runs


def page(screen: Screen) -> None:
    """The comparison of an address; until there is one, what can be chosen."""
    service, t = screen.service, screen.t
    shown = read_shown(service, t, screen.form)
    shared = shared_page(service, shown)
    with gr.Column(elem_classes="page document compare-page"):
        if shown.compared is None or shared is None:
            _show_beginning(screen, shown)
            return
        markup(_runline(screen, shown, shown.compared, shared), elem_classes="ev")
        link_panel(screen, shared, partial(_share, shown))
        _show_choice(screen, shown)
        blocks = comparison_blocks(
            t,
            shown.compared,
            shown.pair,
            notes=notes_on(t, shown.able, shown.refused),
            address=lambda each: f"compare?{shown.query.with_pair(each.key).address}",
            more=ways_to_statistics(t, shown.able, shown.compared),
            coverage_at="" if screen.value("coverage") else _coverage_address(shown),
        )
        show(t, blocks, scope=_NAME)
        if view := shown.pair_view(service, t):
            _show_pair(screen, view)
        markup(render_block(signatures_of(shown.able)), elem_classes="ev")


def _coverage_address(shown: Shown) -> str:
    """Where the two are compared at equal coverage."""
    return f"compare?{shown.query.address}&coverage=1#coverage"


def _show_beginning(screen: Screen, shown: Shown) -> None:
    """What the page is for and what is wrong; the newest runs, each of which is a beginning."""
    t, service, offered = screen.t, screen.service, shown.choice.offered
    head = fill(
        "compare/head.html",
        t=t,
        problem=shown.problem,
        notes=notes_on(t, (), shown.refused),
        nothing=not offered,
    )
    markup(head, elem_classes="ev")
    if offered and not shown.choice.runs:
        able = (offer.run for offer in offered if len(first_comparable_cells([offer])) > 1)
        runs = recent_runs(t, islice(able, _RECENT), service.owner, place=_NAME)
        if runs:
            markup(fill("compare/recent.html", t=t, runs=runs), elem_classes="ev")
    if offered:
        _show_choice(screen, shown)


def _runline(screen: Screen, shown: Shown, compared: Comparison, page: SharedPage) -> Html:
    """What is compared, and the way to share it."""
    t = screen.t
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
        facts=comparison_facts(t, shown.able, compared),
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
        share=share_button(screen.service, t, page, cls="btn pri"),
    )


def _share(shown: Shown, service: AppService, days: int) -> None:
    ids = [each.row.id for each in shown.able]
    share_comparison(service, ids, shown.query.measure, days, shown.query.pair)


def _show_choice(screen: Screen, shown: Shown) -> None:
    """The lists of what is compared by what, and what is to be done next."""
    t, choice, query = screen.t, shown.choice, shown.query
    label = t("compare.runs" if choice.runs else "compare.several")
    with gr.Column(elem_classes="compare-choice"):
        _pick(
            screen,
            "runs",
            partial(gr.Dropdown, multiselect=True, label=label, elem_classes="field"),
            run_words(t, choice.offered),
            [offer.run.id for offer in choice.runs],
            partial(with_runs, choice, query),
        )
        groups, measures = group_words(t, choice.groups), _measures(t, shown)
        if len(groups) > 1 or len(measures) > 1:
            with gr.Row(elem_classes="fields pickers"):
                if len(groups) > 1:
                    make, chosen = _list(t("compare.group")), str(choice.group[0].id)
                    _pick(screen, "group", make, groups, chosen, partial(with_group, choice, query))
                if len(measures) > 1:
                    make, chosen = _list(t("compare.measure")), query.measure
                    chosen = chosen or next(iter(measures))
                    _pick(screen, "measure", make, measures, chosen, query.with_measure)
        if choice.group:
            _pick(
                screen,
                "models",
                partial(gr.CheckboxGroup, label=t("compare.models"), elem_classes="models"),
                model_words(choice, screen.service.models.baselines()),
                [*map(str, choice.picked)],
                partial(with_models, choice, query),
            )
        if hint := choice_hint(t, choice):
            remark(hint)


def _measures(t: Messages, shown: Shown) -> Mapping[str, str]:
    names = shown.compared.measures if shown.compared else ()
    return {name: measure_words(t, f"compare.measure_of.{name}", name) for name in names}


def _show_pair(screen: Screen, view: PairView) -> None:
    """The questions on which two differ, those of one side or all, and the one that is open."""
    t, query, listed = screen.t, view.query, question_list(view)
    with gr.Column(elem_classes="card compare-card"):
        with gr.Row(elem_classes="compare-questions-head"):
            title(t.count("compare.list.title", len(listed.every)))
            make = partial(
                gr.Radio, show_label=False, label=t("compare.show"), elem_classes="segments"
            )
            _pick(screen, "only", make, filter_words(listed), query.only, query.with_only)
        pairs = pair_words(t, view.compared)
        if len(pairs) > 1:
            with gr.Row(elem_classes="fields pickers"):
                _pick(
                    screen, "pair", _list(t("compare.pair")), pairs, view.pair.key, query.with_pair
                )
        show_questions(listed)


def _list(label: str) -> Callable[..., Any]:
    return partial(gr.Dropdown, label=label, elem_classes="field")


def _pick(
    screen: Screen,
    name: str,
    make: Callable[..., Any],
    words: Mapping[str, str],
    chosen: str | list[str],
    lead: Callable[[Any], CompareQuery],
) -> None:
    """A list that leads to the address that `lead` gives for what is chosen in it.

    It stays the same while the page is drawn anew, and keeps the focus.
    """
    field = make(
        [(word, value) for value, word in words.items()],
        value=chosen,
        interactive=True,
        key=(_NAME, name),
        preserved_by_key=[],
    )

    def picked(service: AppService, value: Any) -> str:
        del service  # who may see the page may look at another part of it
        return f"?{lead(value).address}"

    # Of quick presses the last has what all have chosen; the key lets it find its listener.
    settings = {"trigger_mode": "always_last", "key": (_NAME, name, "input")}
    screen.on(field.input, picked, field, screen.place, **settings)
