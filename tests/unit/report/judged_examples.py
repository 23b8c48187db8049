"""Runs of written answers as a page shows them, by what each of them shows."""

from collections.abc import Callable, Mapping
from functools import cache

from arena_examples import judged, swept
from open_examples import (
    answers_result,
    judge_result,
    judged_run,
    rating_result,
    votes,
)

from evalui.report.analyses.base import Figures, OpenContext, Report
from evalui.report.analyses.open_answers import open_parts, part_blocks
from evalui.report.blocks import Block
from evalui.report.compile import compile_report
from evalui.scoring.arena.figures import Arena
from evalui.types import CellResult, Language, Outcome, Verdict

_HIGH, _LOW = [9.0, 8.0, 9.0, 8.0] * 3, [3.0, 4.0, 3.0, 4.0] * 3


def _sways(number: int, first: str, second: str) -> Outcome | None:
    """Every third verdict is for the answer shown first."""
    if number % 3 == 0:
        return "a"
    return "a" if (first, second) in (("late", "early"), ("late", "weak")) else "b"


def _even(number: int, first: str, second: str) -> Outcome | None:
    """`late` and `early` win alike; both mostly beat `weak`."""
    names = sorted((first, second))
    if names == ["early", "late"]:
        better = names[number % 2]
    else:
        better = "weak" if number % 8 == 7 else next(n for n in names if n != "weak")
    return "a" if first == better else "b"


def _results(decide: Callable[..., Outcome | None], **made: object) -> list[CellResult]:
    return judged_run(n=24, decide=decide, **made)  # type: ignore[arg-type]


def _run(results: list[CellResult], people: tuple[Verdict, ...] = ()) -> Report:
    return compile_report("Run", results, votes={"open-qa": people} if people else {})


def report_of(found: Arena) -> Report:
    """The report of a run of which only the judge's figures are known."""
    figures = Figures(())
    figures.arenas = (found,)
    return Report("Run", (), figures)


RUNS: Mapping[str, Callable[[], Report]] = {
    "one winner": lambda: _run(judged_run(n=24)),
    "a tie at the top": lambda: _run(_results(_even)),
    "a judge that sways": lambda: _run(_results(_sways)),
    "a panel": lambda: _run(judged_run(n=24, judges=("one", "two"))),
    "people who vote": lambda: _run(judged_run(), (*votes("ann"), *votes("bob"))),
    "five models": lambda: report_of(
        judged({f"model-{i}": 1200.0 - 80 * i for i in range(5)}, n=40)
    ),
    "no finite rating": lambda: report_of(swept()),
    "few questions": lambda: _run(judged_run(n=6)),
    "one order": lambda: _run(judged_run(n=24, orders="single")),
    "verdicts to come": lambda: _run([judge_result(n=24, done=40)]),
    "nothing readable": lambda: _run([judge_result(decide=lambda *_: None)]),
    "marks of a judge": lambda: _run(
        [
            *(answers_result(name) for name in ("early", "late")),
            rating_result({"early": _LOW, "late": _HIGH}),
        ]
    ),
    "references alone": lambda: _run([answers_result(name) for name in ("late", "early", "weak")]),
    "one model": lambda: _run([answers_result("late")]),
    "answers to come": lambda: _run([answers_result("late", done=5)]),
}


@cache
def run_of(name: str) -> Report:
    """A run of `RUNS`, worked out once."""
    return RUNS[name]()


def page(name: str, language: Language, *, place: int = 0) -> tuple[Block, ...]:
    """What the page of a run of `RUNS` shows, in its first part if no other."""
    run = run_of(name)
    context = OpenContext(language, run.answerers)
    return tuple(part_blocks(run, open_parts(run)[place], context))
