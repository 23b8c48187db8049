"""Answers compared by a judge, a panel or people: the verdict, the standings, what folds below."""

from collections.abc import Iterator, Mapping, Sequence

from evalui.messages import localized
from evalui.report.analyses.arena.findings import (
    arena_verdict,
    duels_finding,
    groups_finding,
)
from evalui.report.analyses.arena.narrative import groups_title, matrix_subtitle, matrix_title
from evalui.report.analyses.arena.standings import standings_card
from evalui.report.analyses.arena.tables import (
    figure_blocks,
    group_table,
    groups_left_out,
    pair_table,
)
from evalui.report.analyses.arena.trust import trust_blocks
from evalui.report.analyses.base import OpenContext
from evalui.report.analyses.judge import judge_notes, judged_headline, trust_finding
from evalui.report.analyses.open_answers.document import (
    figures_finding,
    text_card,
    text_figures,
)
from evalui.report.analyses.open_answers.notes import know_details
from evalui.report.blocks import NONE, Block, ChartBlock, Details, Headline, Paragraph
from evalui.report.charts.arena import rates_chart, rates_note, win_matrix
from evalui.report.numbers import signed
from evalui.scoring.answer_summary import AnswerSummary
from evalui.scoring.arena.agreement import RaterAgreement
from evalui.scoring.arena.figures import PEOPLE, Arena
from evalui.scoring.arena.figures import Headline as RatedBy
from evalui.scoring.arena.question_groups import (
    MIN_GROUP_QUESTIONS,
    Grouping,
    battles_by_group,
    question_groups,
)
from evalui.scoring.pairs import AnswerPair

_PICTURES: Mapping[RatedBy, str] = {"bradley_terry": "ratings", "elo": "elo"}


def judged_blocks(
    arena: Arena,
    context: OpenContext,
    *,
    answers: Sequence[AnswerSummary] = (),
    pairs: Sequence[AnswerPair] = (),
    people: RaterAgreement | None = None,
    suffix: str = "",
) -> Iterator[Block]:
    """One judge of one dataset: verdict, standings, text figures second, and folded sections.

    `answers` and `pairs` are those of the dataset, `people` is how far the judge and most people
    agree. `suffix` tells the pictures of several arenas apart.
    """
    language = context.language
    verdict = arena_verdict(arena, language)
    yield judged_headline(arena, verdict, language, rule_based=context.rules)
    if arena.standings:
        yield standings_card(
            arena, context, context.file(f"{_PICTURES[arena.headline]}{suffix}.png")
        )
    measured = any(summary.means for summary in answers)
    if measured:
        yield text_card(answers, pairs, context)
    yield _trust(arena, people, context)
    if arena.standings:
        yield from _standing_details(arena, context, suffix)
        yield Details(
            "every-figure",
            localized("every.name", language),
            localized("figures-arena", language, said=figures_finding(answers, language))
            if measured
            else localized("figures-scores", language),
            (
                *figure_blocks(arena, context),
                *(text_figures(answers, pairs, context) if answers else ()),
            ),
        )
    notes = judge_notes(arena, language, rule_based=context.rules)
    yield from know_details(notes, answers, context)


def pooled_blocks(arena: Arena, context: OpenContext) -> Iterator[Block]:
    """Several runs as one arena, see `pool_arenas`: verdict, standings, who beats whom, groups."""
    language = context.language
    yield Headline(arena_verdict(arena, language))
    yield standings_card(arena, context, "")
    yield from _standing_details(arena, context.without_pictures(), "")


def _trust(arena: Arena, people: RaterAgreement | None, context: OpenContext) -> Details:
    language = context.language
    return Details(
        "trust",
        localized("votes-trust" if arena.by == PEOPLE else "judge-trust", language),
        trust_finding(arena, people, language, rule_based=context.rules),
        tuple(trust_blocks(arena, people, language)),
    )


def _standing_details(arena: Arena, context: OpenContext, suffix: str) -> Iterator[Details]:
    language = context.language
    chart = ChartBlock(
        context.file(f"win_matrix{suffix}.png"),
        matrix_title(arena, language),
        win_matrix(arena, language),
        matrix_subtitle(arena, language, rule_based=context.rules),
    )
    yield Details(
        "who-beats-whom",
        localized("matrix", language),
        duels_finding(arena, language),
        (chart, pair_table(arena, context)),
    )
    if finding := groups_finding(arena, language):
        yield Details(
            "by-group",
            localized("by-group", language),
            finding,
            tuple(_groups(arena, context, suffix)),
        )


def _groups(arena: Arena, context: OpenContext, suffix: str) -> Iterator[Block]:
    language = context.language
    groupings: tuple[Grouping, ...] = ("language", "capability")
    for grouping in groupings:
        table = group_table(arena, grouping, context)
        if table is None:
            continue
        if title := groups_title(question_groups(arena, grouping), grouping, language):
            yield Paragraph(title, strong=True)
        yield table
    yield Paragraph(localized("groups-about", language, few=MIN_GROUP_QUESTIONS), small=True)
    yield from groups_left_out(len(question_groups(arena)), language)
    files: Mapping[Grouping, str] = {
        "capability": f"by_capa{suffix}.png",
        "language": f"by_lang{suffix}.png",
    }
    for grouping, file in files.items():
        if battles_by_group(arena, grouping):
            yield ChartBlock(
                context.file(file),
                localized(f"rates-{grouping}", language),
                rates_chart(arena, grouping, language),
                rates_note(arena, grouping, language, rule_based=context.rules),
            )


def kappa(agreed: RaterAgreement) -> str:
    """Kappa with its range: "0.31 (0.09 … 0.54)"."""
    value = agreed.kappa
    if value is None:
        return NONE
    if value.low is None or value.high is None:
        return signed(value.value, 2)
    return f"{signed(value.value, 2)} ({signed(value.low, 2)} … {signed(value.high, 2)})"
