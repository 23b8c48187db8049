"""Two models on the same questions whose difference is known, because it was put in."""

from evalui.proportions import wilson_interval
from evalui.scoring.cell_summary import Summary
from evalui.types import Cell


def summary(model: str, values: list[bool], *, chance: float = 0.25) -> Summary:
    """A cell of one order with these outcomes."""
    n = len(values)
    cell = Cell("d", model, "generation", "generation", "origin", f"d@1|mode:generation|n:{n}")
    outcomes = {f"q{i}": float(value) for i, value in enumerate(values)}
    return Summary(
        cell,
        "done",
        "",
        n,
        n,
        n,
        n=n,
        accuracy=wilson_interval(sum(values), n),
        chance=chance,
        outcomes={"accuracy": outcomes},
    )


def two(both: int, first: int, second: int, neither: int) -> list[Summary]:
    """Two models by the number of questions that both, only one, or none got right."""
    parts = ((both, True, True), (first, True, False), (second, False, True))
    rows = [(one, other) for k, one, other in (*parts, (neither, False, False)) for _ in range(k)]
    return [summary("a", [one for one, _ in rows]), summary("b", [other for _, other in rows])]


# 4.9 points of 245 questions, p = .03, although only 6.4 points are found 8 times in 10.
KNOWING = (130, 22, 10, 83)
LEVEL = (130, 20, 12, 83)
GUESSING = (48, 22, 10, 165)
