"""What judges said of the answers to one question, each verdict with a link to its duel."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from evalui.messages import Messages
from evalui.report.html import Child, Html, div, el, span
from evalui.runs.database.question_pages import JudgedQuestion
from evalui.runs.database.records import CellRow
from evalui.runs.spec import ModeSpec
from evalui.scoring.arena.verdicts import judge_verdicts
from evalui.types import Verdict
from evalui.ui.components.widgets import table


def arena_places(cells: Sequence[CellRow]) -> dict[int, int]:
    """The place among a run's arenas of each judge's cell, by its id.

    Several judges of one dataset have a panel's arena before their own; marks of single answers
    have none.
    """
    groups: dict[tuple[str, str], list[int]] = {}
    for row in cells:
        judging = ModeSpec.model_validate_json(row.plan).judging
        if judging and not judging.rates_single:
            groups.setdefault((row.cell.dataset, row.cell.label), []).append(row.id)
    places, first = dict[int, int](), 0
    for group in groups.values():
        first += len(group) > 1
        places |= {id_: first + place for place, id_ in enumerate(group)}
        first += len(group)
    return places


def verdict_section(
    t: Messages, run: str, judged: Sequence[JudgedQuestion], arenas: Mapping[int, int]
) -> Html | None:
    """Each pair once, with the winners it had; None where nothing was compared."""
    rows = [
        row
        for each in judged
        if each.cell in arenas
        for row in _rows(t, run, each, arenas[each.cell])
    ]
    if not rows:
        return None
    duel = span(t("samples.see_duel"), cls="hidden")
    heads = [t("samples.judge"), t("samples.pair"), t("samples.verdict"), duel]
    return div(el("h2", t("samples.verdicts")), table(heads, rows), cls="sec")


def _rows(t: Messages, run: str, judged: JudgedQuestion, arena: int) -> list[list[Child]]:
    pairs: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in judge_verdicts(judged.trials, judged.names, judged.judge):
        sides = sorted((verdict.duel.model_a, verdict.duel.model_b), key=judged.names.index)
        pairs.setdefault((sides[0], sides[1]), []).append(verdict)
    return [
        [
            judged.judge,
            t("samples.versus", left=left, right=right),
            t("list.semicolon").join(_winner(t, verdict) for verdict in showings),
            _link(t, run, arena, f"{showings[0].duel.sample_id}|{left}|{right}"),
        ]
        for (left, right), showings in pairs.items()
    ]


def _winner(t: Messages, verdict: Verdict) -> str:
    if verdict.outcome in ("a", "b"):
        duel = verdict.duel
        return t("samples.wins", model=duel.model_a if verdict.outcome == "a" else duel.model_b)
    if verdict.outcome is None:
        return t("samples.unjudged") if verdict.unreferenced else t("outcome.unreadable")
    return t(f"samples.{verdict.outcome}")


def _link(t: Messages, run: str, arena: int, duel: str) -> Html:
    address = {"run": run, "tab": "results", "sub": "duels", "arena": arena, "duel": duel}
    return el("a", t("samples.see_duel"), href=f"?{urlencode(address)}")
