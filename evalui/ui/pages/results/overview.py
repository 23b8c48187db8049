"""Results, Overview: the sentence, the lead table, and what folds below it."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalui.app.open_run_view import OpenRunView, part_document
from evalui.app.results import may_repeat
from evalui.app.run_view import RunView
from evalui.app.sharing import run_address
from evalui.report.analyses.chosen_metrics import chosen_blocks
from evalui.report.analyses.cost import replies_blocks
from evalui.report.analyses.groups import SUMMARY_GROUPS
from evalui.report.analyses.imported import IMPORTED
from evalui.report.analyses.overview import overview_blocks
from evalui.report.analyses.published import PUBLISHED
from evalui.report.analyses.verdict import standings
from evalui.report.blocks import Block, Headline
from evalui.report.compile import added_blocks
from evalui.report.html import Html
from evalui.report.render.page import render_headline
from evalui.ui.blocks import show
from evalui.ui.components.form import PANEL, Form, field_value
from evalui.ui.components.listing import markup
from evalui.ui.components.templates import fill
from evalui.ui.sharing.links import SharedPage, share_button


@dataclass(frozen=True, slots=True)
class Overview:
    """The document of a run, which opens with its verdict, and below it that of written answers.

    `guessing`: no model beats it. `written` is the part of the written answers that the address
    names: beside multiple choice a document of its own, else the one of the run.
    """

    blocks: tuple[Block, ...]
    guessing: bool = False
    written: OpenRunView | None = None
    is_judged: bool = False

    @property
    def headline(self) -> Headline:
        """The verdict."""
        first = self.blocks[0]
        assert isinstance(first, Headline), "a run opens with its verdict"
        return first


def overview(view: RunView, form: Form) -> Overview:
    """The overview of a run, of written answers the part that the address names.

    `mode` is the one that ranks, `all` shows every model, `sort` orders the table of every figure.
    """
    part = field_value(form, "arena")
    if not view.has_choices:
        written = OpenRunView(view.service, view.t, view.run.id, part)
        return Overview(_with_added(view, part_document(written)), written=written, is_judged=True)
    summaries = list(view.summaries.values())
    guessing = all(each.guessing for each in standings(summaries, baselines=view.baselines))
    blocks = overview_blocks(
        summaries,
        view.language,
        baselines=view.baselines,
        left_out=view.report.left_out,
        changes=view.report.changes,
        places=view.places_with_steps if guessing else view.places,
        mode=field_value(form, "mode"),
        all_models=bool(field_value(form, "all")),
        sort=field_value(form, "sort"),
    )
    choices = {summary.cell.dataset for summary in summaries}
    blocks = (blocks[0], *chosen_blocks(view.report, view.language, choices), *blocks[1:])
    written = OpenRunView(view.service, view.t, view.run.id, part) if view.answers else None
    return Overview(_with_added(view, blocks), guessing, written)


def top(view: RunView, form: Form) -> Html:
    """The verdict with its buttons beside it, below the switch of parts of a judged run."""
    shown = overview(view, form)
    switch = parts(shown.written) if shown.written and shown.is_judged else None
    t, page = view.t, shared_page(view)
    is_plain = shown.guessing or PANEL in form  # the next step is another one
    return fill(
        "results/answer.html",
        t=t,
        switch=switch,
        headline=render_headline(shown.headline),
        compare=f"compare?run={view.run.id}",
        repeat=f"evaluate?again={view.run.id}" if may_repeat(view.service, view.run) else "",
        export=view.address("report"),
        share=share_button(view.service, t, page, cls="btn" if is_plain else "btn pri"),
        read=view.address("samples") if shown.guessing else "",
    )


def draw(view: RunView, form: Form) -> None:
    """What stands below the verdict."""
    shown = overview(view, form)
    show(view.t, shown.blocks[1:], scope="overview")
    if shown.written and not shown.is_judged:
        dataset, links = shown.written.part.dataset, parts(shown.written)
        head = fill("results/written_head.html", dataset=dataset, parts=links)
        markup(head, elem_classes="ev")
        document = part_document(shown.written)
        show(view.t, document, scope="written", suffix="-written", titled=True)


def parts(written: OpenRunView) -> Html | None:
    """Links to the parts of the run that can be shown; None for one alone."""
    links: Sequence[tuple[str, str, bool]] = written.links("overview")
    if not links:
        return None
    return fill("results/parts.html", label=written.t("arena.judge"), links=links)


def shared_page(view: RunView) -> SharedPage:
    """The page of a run as it is shared."""
    run_id = view.run.id
    return SharedPage([view.run], run_address(run_id), view.address("overview"), f"../r/{run_id}")


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
        *(replies_blocks(view.report, view.language) if view.has_choices else ()),
        *(block for each in added for block in each),
        blocks[-1],
    )
