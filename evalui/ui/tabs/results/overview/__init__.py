"""Results, Overview: the sentence, the lead table, and what folds below it."""

from evalui.messages import Messages
from evalui.report.analyses.overview.document import overview_blocks
from evalui.report.analyses.overview.standing import standings
from evalui.report.blocks import Block, Headline
from evalui.report.compile import added_blocks
from evalui.report.html import Child, Html, div, el
from evalui.report.render.page import render_blocks
from evalui.ui.components.form import Form, field_value
from evalui.ui.tabs.arena.arena_view import OpenRunView, open_overview, part_switch, shown_blocks
from evalui.ui.tabs.results.run_view import RunView


def render(view: RunView, form: Form) -> Html:
    """The overview of a run, of written answers the part that the address names.

    `mode` is the one that ranks, `all` shows every model, `sort` orders the table of every figure.
    """
    if not view.has_choices:
        written = OpenRunView(view.service, view.t, view.run.id, form)
        blocks = _with_added(view, shown_blocks(written))
        return div(part_switch(written, "overview"), answer_page(view, blocks))
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
    guessing = all(
        each.guessing for each in standings(list(view.summaries.values()), baselines=view.baselines)
    )
    page = answer_page(view, _with_added(view, blocks), guessing=guessing)
    if not view.answers:
        return page
    written = OpenRunView(view.service, view.t, view.run.id, form)
    return div(page, el("h2", written.part.dataset, cls="gap"), open_overview(written))


def _with_added(view: RunView, blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """The blocks with what analyses of other packages say before the signature, their last."""
    added = added_blocks(view.report, view.language).values()
    return (*blocks[:-1], *(block for each in added for block in each), blocks[-1])


def answer_page(view: RunView, blocks: tuple[Block, ...], *, guessing: bool = False) -> Html:
    """Blocks of a run whose headline has its buttons beside it."""
    first, rest = blocks[0], blocks[1:]
    assert isinstance(first, Headline), "a run opens with its verdict"
    return div(
        div(
            render_blocks([first]),
            div(*_next(view), *_buttons(view, guessing=guessing), cls="acts"),
            cls="answer",
        ),
        div(render_blocks(rest), cls="blocks"),
    )


def _buttons(view: RunView, *, guessing: bool) -> list[Child]:
    """Export and Copy link; where nothing beats guessing, the answers come first."""
    t = view.t
    export = el("a", t("do.export"), href=view.address("report"), cls="btn")
    if guessing:
        return [export, el("a", t("do.read"), href=view.address("samples"), cls="btn pri")]
    return [export, share_button(t, view.run.id)]


def share_button(t: Messages, run_id: str) -> Html:
    """Copies the short address of a run."""
    return el(
        "button",
        t("do.share"),
        type="button",
        cls="btn pri",
        data_copy=f"../r/{run_id}",
        data_done=t("do.copied"),
    )


def _next(view: RunView) -> list[Child]:
    t, run = view.t, view.run.id
    return [
        el("a", t("do.compare"), href=f"?tab=compare&run={run}", cls="btn quiet"),
        el("a", t("do.repeat"), href=f"?again={run}", cls="btn quiet"),
    ]
