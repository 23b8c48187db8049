from dataclasses import replace

import pytest

from evalui.report.analyses.overview import order_loss_title
from evalui.scoring.cell_summary import Summary
from evalui.types import Cell, Interval


def _share(value: float, n: int = 240, half: float = 0.06) -> Interval:
    return Interval(value, max(0.0, value - half), min(1.0, value + half), n)


def _summary(
    model: str = "m", accuracy: float = 0.6, robust: float | None = None, n: int = 240, **cell: str
) -> Summary:
    described = Cell(
        cell.get("dataset", "d"),
        model,
        "generation",
        cell.get("label", "generation"),
        "circular",
        "",
    )
    plain = Summary(described, "done", "", n, n, n, n=n, accuracy=_share(accuracy, n), chance=0.25)
    if robust is None:
        return plain
    gap = accuracy - robust
    return replace(
        plain,
        robust=_share(robust, n),
        order_sensitivity=_share(gap, n),
        lost_with_order=gap / accuracy,
    )


@pytest.mark.parametrize(
    ("summaries", "title"),
    [
        ([], ""),
        ([replace(_summary(), accuracy=None)], ""),
        ([_summary(robust=None)], ""),
        ([_summary(accuracy=0.30, robust=0.1)], ""),  # not above guessing: nothing to lose
        ([_summary(robust=0.36)], "m loses about 4 in 10 of its right answers when options move"),
        ([_summary(robust=0.6)], "m loses at most 1 in 20 of its right answers when options move"),
        ([_summary(robust=0.558)], "m loses about 1 in 10 of its right answers when options move"),
        ([_summary(robust=0.0)], "m loses all its right answers when options move"),
        ([_summary(robust=0.01)], "m loses nearly all its right answers when options move"),
        (
            [_summary("x", 0.7, 0.69), _summary("y", 0.6, 0.3)],
            "y loses about 5 in 10 of its right answers when options move",
        ),
        (
            [_summary("x", 0.7, 0.69), _summary("y", 0.6, 0.58)],
            "No model loses over 1 in 20 right answers when options move",
        ),
        (
            # A guesser has nothing to lose and is not spoken of.
            [_summary("x", 0.7, 0.35), _summary("y", 0.25, 0.0)],
            "x loses about 5 in 10 of its right answers when options move",
        ),
    ],
)  # fmt: skip
def test_the_title_says_what_is_lost_with_the_order(summaries: list[Summary], title: str):
    assert order_loss_title(summaries, "en") == title


@pytest.mark.parametrize(
    ("robust", "title"),
    [
        (0.36, "选项换个顺序，m 的正确答案约丢掉四成"),
        (0.48, "选项换个顺序，m 的正确答案约丢掉两成"),
        (0.0, "选项换个顺序，m 的正确答案全部丢掉"),
    ],
)
def test_chinese_counts_losses_in_tenths(robust: float, title: str):
    assert order_loss_title([_summary(robust=robust)], "zh") == title
