"""Runs of multiple choice in each situation that the first page has a sentence for."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

from bias_examples import Pick, as_sure, calibrated, cell_result, decided, fond, halting, right

from evalui.report.analyses.overview import overview_blocks
from evalui.report.blocks import Block, Places
from evalui.scoring.cell_summary import Summary, summarise
from evalui.scoring.choice.answer_format import ReadingMetrics
from evalui.types import CellState, Interval, Language, LeftOut, Pattern

LATE, EARLY, BASE = "Qwen2.5-7B-Instruct", "demo-early", "always-A"
LEFT_OUT = (LeftOut("rows", "ceval", rows=3), LeftOut("open-modes", "ceval", mode="judge"))


def first(question: int, order: int, target: int) -> int:
    """A, whatever is asked."""
    del question, order, target
    return 0


def blind(shift: int) -> Pick:
    """Right on one question in four in each order, as who guesses."""
    return lambda question, order, target: (target + (question + order + shift) % 4) % 4


def mute(share: int) -> Pick:
    """Right, but for one question in `share`, whose replies cannot be read."""
    return lambda question, _, target: None if question % share == 0 else target


def losing(question: int, order: int, target: int) -> int:
    """Right as written; in other orders only on every second question."""
    return target if order == 0 or question % 2 else (target + 1) % 4


def summary(
    pick: Pick,
    model: str,
    *,
    dataset: str = "ceval",
    mode: str = "generation",
    n: int = 240,
    pattern: Pattern = "circular",
    state: CellState = "done",
    left: int = 0,
    subjects: int = 1,
) -> Summary:
    """One cell; `left` of its answers are still to come."""
    signature = f"{dataset}@1|mode:{mode}|prompt:p|rule:tolerant|n:{n}|shots:0"
    made = cell_result(
        pick,
        n=n,
        model=model,
        mode=mode,
        pattern=pattern,
        signature=signature,
        subjects=subjects,
        state=state,
    )
    trials = made.trials[: len(made.trials) - left]
    cell = replace(made.cell, dataset=dataset)
    return summarise(replace(made, cell=cell, trials=trials))


def impossible(model: str, *, mode: str = "cloze") -> Summary:
    """A cell that cannot run."""
    made = summary(right, model, mode=mode, n=4)
    why = f"{model} cannot do this mode: it gives no probability of a text."
    return Summary(made.cell, "impossible", why, 240, 0, 240)


def three() -> list[Summary]:
    """One wins, one loses half of its answers when options move, one always says A."""
    return [
        summary(halting(5), LATE, subjects=4),
        summary(losing, EARLY, subjects=4),
        summary(first, BASE, subjects=4),
    ]


_RUNS: Mapping[str, Callable[[], Sequence[Summary]]] = {
    "winner": three,
    "winner in two modes": lambda: [
        *three(),
        summary(halting(4), LATE, mode="cloze", pattern="origin"),
        summary(fond, EARLY, mode="cloze", pattern="origin"),
        impossible(BASE),
    ],
    "another order": lambda: [
        summary(halting(3), LATE),
        summary(losing, EARLY),
        summary(fond, LATE, mode="cloze", pattern="origin"),
        summary(halting(9), EARLY, mode="cloze", pattern="origin"),
    ],
    "tie": lambda: [summary(halting(5), LATE), summary(halting(6), EARLY), summary(first, BASE)],
    "tie of many": lambda: [summary(halting(5), f"model-{n}") for n in range(6)],
    "nobody": lambda: [summary(blind(0), LATE), summary(blind(1), EARLY), summary(first, BASE)],
    "one model": lambda: [summary(losing, LATE)],
    "one model in one order": lambda: [summary(halting(3), LATE, pattern="origin")],
    "few": lambda: [summary(right, LATE, n=12), summary(fond, EARLY, n=12)],
    "unreadable": lambda: [summary(mute(1), LATE), summary(halting(3), EARLY)],
    "some unreadable": lambda: [
        summary(mute(20), LATE),
        summary(fond, EARLY),
        summary(mute(30), "third"),
    ],
    "unfinished": lambda: [
        summary(right, LATE, left=300, state="running"),
        summary(fond, EARLY, left=960, state="waiting"),
    ],
    "nothing": lambda: [summary(right, LATE, left=960, state="failed")],
    "other questions": lambda: [summary(right, LATE), summary(fond, EARLY, n=200)],
    "two datasets": lambda: [
        summary(halting(5), LATE),
        summary(losing, EARLY),
        summary(halting(5), LATE, dataset="cmmlu"),
        summary(losing, EARLY, dataset="cmmlu"),
    ],
    "four modes": lambda: [
        summary(pick, model, mode=mode, pattern="origin")
        for mode in ("generation", "multiple_choice", "cloze", "few_shot")
        for model, pick in ((LATE, right), (EARLY, fond))
    ],
    "many models": lambda: [
        summary(halting(n + 2), f"model-{n:02d}", n=120, subjects=3) for n in range(14)
    ],
    "decisions": lambda: [
        summarise(decided(calibrated, n=400, model=LATE)),
        summarise(decided(lambda *at: as_sure(0.9, fond(*at)), n=400, model=EARLY)),
    ],
    "with rules": lambda: [
        with_strict(summary(right, LATE), 0.0),
        with_strict(summary(halting(2), EARLY), 1.0),
    ],
}


@cache
def _made(name: str) -> Sequence[Summary]:
    return _RUNS[name]()


class Runs(Mapping[str, Sequence[Summary]]):
    """The cells of each run by its name, worked out where they are first looked up."""

    def __getitem__(self, name: str) -> Sequence[Summary]:
        return _made(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_RUNS)

    def __len__(self) -> int:
        return len(_RUNS)


RUNS = Runs()
PLACES = Places("k3f")


def with_strict(made: Summary, share: float) -> Summary:
    """The same read by a second rule, which gives it `share` right."""
    accuracy = made.accuracy
    assert accuracy is not None
    tolerant = ReadingMetrics(accuracy, Interval(0.0, 0.0, 0.0, made.n), 0, {})
    strict = Interval(share, share, share, made.n)
    lost = Interval(1 - share, 1 - share, 1 - share, made.n)
    readings = {"tolerant": tolerant, "strict": ReadingMetrics(strict, lost, 0, {})}
    return replace(made, readings=readings, format=None)


def page(name: str, language: Language, *, places: Places | None = PLACES) -> tuple[Block, ...]:
    """The overview of one of `RUNS`."""
    return overview_blocks(RUNS[name], language, baselines={BASE}, left_out=LEFT_OUT, places=places)
