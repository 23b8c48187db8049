"""Results, Overview: the sentence, the lead table, and what folds below it."""

from collections.abc import Iterator, Sequence
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
from evalui.report.render.page import render_blocks, render_headline
from evalui.ui.blocks import show
from evalui.ui.components.form import PANEL, Form, field_value
from evalui.ui.components.listing import markup
from evalui.ui.components.templates import fill
from evalui.ui.pages.results.sharing import sharing_panel
from evalui.ui.screen import Screen
from evalui.ui.sharing.links import SharedPage, share_button


@dataclass(frozen=True, slots=True)
class Overview:
    """The document of a run, which opens with its verdict, and below it that of written answers.

    `guessing`: no model beats it. `written` is the part of the written answers that the address
    names, and `apart` its document where there is multiple choice, too.
    """

    blocks: tuple[Block, ...]
    guessing: bool = False
    written: OpenRunView | None = None
    apart: tuple[Block, ...] = ()

    @property
    def headline(self) -> Headline:
        """The verdict."""
        first = self.blocks[0]
        assert isinstance(first, Headline), "a run opens with its verdict"
        return first

    @property
    def parts(self) -> Sequence[tuple[str, str, bool]]:
        """Word and address of each part of the written answers, and whether it is shown."""
        return self.written.links("overview") if self.written else ()


def overview(view: RunView, form: Form) -> Overview:
    """The overview of a run, of written answers the part that the address names.

    `mode` is the one that ranks, `all` shows every model, `sort` orders the table of every figure.
    """
    part = field_value(form, "arena")
    if not view.has_choices:
        written = OpenRunView(view.service, view.t, view.run.id, part)
        return Overview(_with_added(view, part_document(written)), written=written)
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
    blocks = _with_added(view, blocks)
    if not view.answers:
        return Overview(blocks, guessing)
    written = OpenRunView(view.service, view.t, view.run.id, part)
    return Overview(blocks, guessing, written, apart=part_document(written))


def draw(screen: Screen, view: RunView) -> None:
    """The verdict, who else may see the run, and the document; of a live run the figures so far."""
    shown, page, t = overview(view, screen.form), _shared_page(view), view.t
    if shown.parts or not view.is_live:
        markup(_answer(view, screen.form, shown, page), elem_classes="ev", key="answer")
    sharing_panel(screen, view, page)
    show(t, shown.blocks[1:], scope="overview")
    if document := shown.apart:
        markup(_written_head(shown), elem_classes="ev")
        show(t, document, scope="written", suffix="-written", titled=True)
    if not view.is_live:
        markup(_steps(view, shown, page), elem_classes="ev", key="steps")


def first(view: RunView, form: Form) -> Iterator[Html]:
    """The same as markup, without the panel."""
    shown, page = overview(view, form), _shared_page(view)
    yield _answer(view, form, shown, page)
    yield render_blocks(shown.blocks[1:])
    if document := shown.apart:
        yield _written_head(shown)
        yield render_blocks(document, suffix="-written", titled=True)
    yield _steps(view, shown, page)


def _answer(view: RunView, form: Form, shown: Overview, page: SharedPage) -> Html:
    """The verdict with its buttons beside it, below the switch of parts of a judged run."""
    cls = "btn" if PANEL in form else "btn pri"  # where the panel is open, the next step is in it
    return fill(
        "results/answer.html",
        t=view.t,
        parts=() if shown.apart else shown.parts,
        headline="" if view.is_live else render_headline(shown.headline),
        export=view.address("report"),
        share=share_button(view.service, view.t, page, cls=cls),
        read=view.address("samples") if shown.guessing else "",
    )


def _written_head(shown: Overview) -> Html:
    assert shown.written, "it is drawn apart"
    dataset = shown.written.part.dataset
    return fill("results/written_head.html", t=shown.written.t, dataset=dataset, parts=shown.parts)


def _steps(view: RunView, shown: Overview, page: SharedPage) -> Html:
    """What else can be done with a run."""
    return fill(
        "results/steps.html",
        t=view.t,
        run=view.run.id,
        repeats=may_repeat(view.service, view.run),
        share=share_button(view.service, view.t, page, cls="link") if shown.guessing else "",
    )


def _shared_page(view: RunView) -> SharedPage:
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
