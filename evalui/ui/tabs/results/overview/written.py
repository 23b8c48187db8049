"""Results, Overview: what written answers came to, and what judges said of them."""

from collections.abc import Sequence

from evalui.messages import Messages
from evalui.report.analyses.arena.figures import Arena
from evalui.report.analyses.arena.narrative import battles_by, standings_title
from evalui.report.analyses.judge import judge_notes, order_consistency
from evalui.report.analyses.open_answers.document import rating_titles
from evalui.report.html import Child, Html, div, el, join
from evalui.report.html import span as inline
from evalui.types import CellResult
from evalui.ui.components.widgets import card, note
from evalui.ui.tabs.results.overview.open import open_below, open_top
from evalui.ui.tabs.results.run_view import RunView


def written_answers(view: RunView) -> Html:
    """Judges first, then the figures of the texts, then all there is."""
    t, answers, baselines = view.t, view.answers, view.baselines
    rules, arenas = view.service.scripted(), view.report.arenas
    top = open_top(t, answers, view.report.results, baselines=baselines, alone=not view.has_choices)
    return div(
        judging_summary(t, view.run.id, arenas, rule_based=rules),
        rating_summary(t, view.report.results, rule_based=rules),
        top,
        open_below(t, answers, baselines=baselines, rule_based=rules),
        cls="stack",
    )


def rating_summary(
    t: Messages, results: Sequence[CellResult], *, rule_based: frozenset[str]
) -> Html | None:
    """The ratings of each judge of single answers, dataset by dataset; None without ratings."""
    datasets = dict.fromkeys(result.cell.dataset for result in results)
    cards = [
        card(
            el("h2", dataset, cls="meta") if len(datasets) > 1 else None,
            *(el("h2", title) for title in titles),
        )
        for dataset in datasets
        if (
            titles := rating_titles(
                [result for result in results if result.cell.dataset == dataset],
                t.language,
                rule_based=rule_based,
            )
        )
    ]
    return div(*cards, cls="stack first") if cards else None


def judging_summary(
    t: Messages, run_id: str, arenas: Sequence[Arena], *, rule_based: frozenset[str]
) -> Html | None:
    """For each dataset the sentence on top of its arena, and the gravest thing to know of it.

    None without a verdict; a panel stands for its judges.
    """
    if not any(arena.done for arena in arenas):
        return None
    first: dict[str, int] = {}
    for place, arena in enumerate(arenas):
        if arena.battles:
            first.setdefault(arena.dataset, place)
    several = len({arena.dataset for arena in arenas}) > 1
    cards = [
        card(
            el("h2", arenas[place].dataset, cls="meta") if several else None,
            el("h2", standings_title(arenas[place], t.language)),
            *_about(t, arenas[place], rule_based),
            arena_link(t, run_id, place),
        )
        for place in first.values()
    ]
    return div(*(cards or [arena_link(t, run_id, 0)]), cls="stack first")


def arena_link(t: Messages, run_id: str, place: int) -> Html:
    """The way to the arena of that place, with every verdict of a judge."""
    address = f"?run={run_id}&tab=arena&arena={place}"
    return div(
        inline(t("open.judged"), cls="dim"),
        " ",
        el("a", t("open.arena"), href=address, cls="btn"),
        cls="arena-link gap",
    )


def _about(t: Messages, arena: Arena, rule_based: frozenset[str]) -> list[Child]:
    """Who judged, and one thing to know: a warning, else how steady the judge is."""
    lines: list[Child] = [
        el("p", battles_by(arena, t.language, rule_based=rule_based), cls="meta gap-s")
    ]
    notes = [n for n in judge_notes(arena, t.language, rule_based=rule_based) if n.level != "info"]
    steady = order_consistency(arena, t.language)
    if notes:
        lines.append(div(note(notes[0].level, notes[0].text), cls="gap-s"))
    elif steady:
        lines.append(el("p", join(el("b", steady.headline), " ", steady.explanation), cls="gap-s"))
    return lines
