"""Results, Overview: the sentence, the lead table, and what folds below it."""

from evalui.report.analyses.chosen_metrics import chosen_blocks
from evalui.report.analyses.imported import IMPORTED
from evalui.report.analyses.overview.document import overview_blocks
from evalui.report.analyses.overview.standing import standings
from evalui.report.analyses.published import PUBLISHED
from evalui.report.analyses.summary_groups import SUMMARY_GROUPS
from evalui.report.blocks import Block, Headline
from evalui.report.compile import added_blocks
from evalui.report.html import Child, Html, div, el
from evalui.report.render.page import render_blocks
from evalui.ui.components.form import PANEL, Form, field_value
from evalui.ui.components.fragment import Action
from evalui.ui.sharing.links import share_button
from evalui.ui.tabs.arena.arena_view import OpenRunView, open_overview, part_switch, shown_blocks
from evalui.ui.tabs.results.run_view import RunView
from evalui.ui.tabs.results.sharing import change, panel, shared_page


def render(view: RunView, form: Form) -> Html:
    """The overview of a run, of written answers the part that the address names.

    `mode` is the one that ranks, `all` shows every model, `sort` orders the table of every figure.
    """
    if not view.has_choices:
        written = OpenRunView(view.service, view.t, view.run.id, form)
        blocks = _with_added(view, shown_blocks(written))
        return div(part_switch(written, "overview"), answer_page(view, blocks, form))
    blocks = overview_blocks(
        list(view.summaries.values()),
        view.language,
        baselines=view.baselines,
        left_out=view.report.left_out,
        places=view.places,
        mode=field_value(form, "mode"),
        all_models=bool(field_value(form, "all")),
        sort=field_value(form, "sort"),
    )
    choices = {summary.cell.dataset for summary in view.summaries.values()}
    blocks = (blocks[0], *chosen_blocks(view.report, view.language, choices), *blocks[1:])
    guessing = all(
        each.guessing for each in standings(list(view.summaries.values()), baselines=view.baselines)
    )
    page = answer_page(view, _with_added(view, blocks), form, guessing=guessing)
    if not view.answers:
        return page
    written = OpenRunView(view.service, view.t, view.run.id, form)
    return div(page, el("h2", written.part.dataset, cls="gap"), open_overview(written))


def act(view: RunView, action: Action) -> Html:
    """The same after a click in the panel of who else may see the run."""
    return render(change(view, action), action.form)


def _with_added(view: RunView, blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """The blocks with what is known of imported answers, and what analyses of other packages say,
    before the signature, their last.
    """
    added = added_blocks(view.report, view.language).values()
    imported = IMPORTED.blocks(view.report, view.language) if IMPORTED.speaks(view.report) else ()
    return (
        *blocks[:-1],
        *SUMMARY_GROUPS.blocks(view.report, view.language),
        *imported,
        *PUBLISHED.blocks(view.report, view.language),
        *(block for each in added for block in each),
        blocks[-1],
    )


def answer_page(
    view: RunView, blocks: tuple[Block, ...], form: Form, *, guessing: bool = False
) -> Html:
    """Blocks of a run whose headline has its buttons beside it."""
    first, rest = blocks[0], blocks[1:]
    assert isinstance(first, Headline), "a run opens with its verdict"
    return div(
        div(
            render_blocks([first]),
            div(*_next(view), *_buttons(view, guessing=guessing, opened=PANEL in form), cls="acts"),
            cls="answer",
        ),
        panel(view, form),
        div(render_blocks(rest), cls="blocks"),
    )


def _buttons(view: RunView, *, guessing: bool, opened: bool) -> list[Child]:
    """Export and Share, whose panel has the next step once it is `opened`; where nothing beats
    guessing, the answers come first.
    """
    t = view.t
    export = el("a", t("do.export"), href=view.address("report"), cls="btn")
    cls = "btn" if guessing or opened else "btn pri"
    share = share_button(view.service, t, shared_page(view), cls=cls)
    read = el("a", t("do.read"), href=view.address("samples"), cls="btn pri")
    return [export, share, read if guessing else None]


def _next(view: RunView) -> list[Child]:
    t, run = view.t, view.run.id
    compare = el("a", t("do.compare"), href=f"?tab=compare&run={run}", cls="btn quiet")
    repeat = el("a", t("do.repeat"), href=f"?again={run}", cls="btn quiet")
    return [compare, repeat if view.service.may_repeat(view.run) else None]
