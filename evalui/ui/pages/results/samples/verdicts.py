"""What judges said of the answers to one question, each verdict with a link to its duel."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from evalui.messages import Messages
from evalui.report.html import Html
from evalui.scoring.arena.verdicts import judge_verdicts
from evalui.store.question_pages import JudgedQuestion
from evalui.types import Verdict
from evalui.ui.components.templates import fill


@dataclass(frozen=True, slots=True)
class _PairVerdict:
    """What a judge said of a pair, in one text for all orders."""

    judge: str
    left: str
    right: str
    winners: str
    href: str


def verdict_section(
    t: Messages, run: str, judged: Sequence[JudgedQuestion], arenas: Mapping[int, int]
) -> Html | str:
    """Each pair once, with the winners it had; empty where nothing was compared."""
    rows = [
        row
        for each in judged
        if each.cell in arenas
        for row in _rows(t, run, each, arenas[each.cell])
    ]
    return fill("questions/verdicts.html", t=t, rows=rows) if rows else ""


def _rows(t: Messages, run: str, judged: JudgedQuestion, arena: int) -> list[_PairVerdict]:
    pairs: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in judge_verdicts(judged.trials, judged.names, judged.judge):
        sides = sorted((verdict.duel.model_a, verdict.duel.model_b), key=judged.names.index)
        pairs.setdefault((sides[0], sides[1]), []).append(verdict)
    return [
        _PairVerdict(
            judged.judge,
            left,
            right,
            t("list.semicolon").join(_winner(t, verdict) for verdict in showings),
            _link(run, arena, f"{showings[0].duel.sample_id}|{left}|{right}"),
        )
        for (left, right), showings in pairs.items()
    ]


def _winner(t: Messages, verdict: Verdict) -> str:
    if verdict.outcome in ("a", "b"):
        duel = verdict.duel
        return t("samples.wins", model=duel.model_a if verdict.outcome == "a" else duel.model_b)
    if verdict.outcome is None:
        return t("samples.unjudged") if verdict.unreferenced else t("outcome.unreadable")
    return t(f"samples.{verdict.outcome}")


def _link(run: str, arena: int, duel: str) -> str:
    return "results?" + urlencode({"run": run, "sub": "duels", "arena": arena, "duel": duel})
