import pytest

from evalui.report.analyses.position_bias import picks_subtitle, picks_title, recall_title
from evalui.scoring.bias.counts import PositionTable
from evalui.scoring.cell_summary import summarise
from evalui.types import Interval

LANGUAGES = ("en", "zh")


def _share(value: float, n: int = 240, half: float = 0.06) -> Interval:
    return Interval(value, max(0.0, value - half), min(1.0, value + half), n)


def _table(counts: tuple[tuple[int, ...], ...], unreadable: tuple[int, ...] | None = None):
    size = len(counts)
    unreadable = unreadable or (0,) * size
    total = sum(map(sum, counts))
    golds = [sum(row) + missed for row, missed in zip(counts, unreadable, strict=True)]
    picks = [sum(column) for column in zip(*counts, strict=True)]
    return PositionTable(
        n_options=size,
        n_questions=sum(golds),
        n_trials=sum(golds),
        counts=counts,
        unreadable=unreadable,
        tied=(0,) * size,
        recalls=tuple(
            _share(counts[gold][gold] / asked, asked) if asked else None
            for gold, asked in enumerate(golds)
        ),
        shares=tuple(_share(pick / total) if total else None for pick in picks),
        rstd=13.74,
    )


@pytest.mark.parametrize(
    ("counts", "english", "chinese"),
    [
        (
            ((8, 1, 1), (5, 4, 1), (5, 1, 4)),
            "Picks A 60 % of the time where 33.3 % is fair",
            "选 A 的比例为 60 %，公平值 33.3 %",
        ),
        (
            # As written only: the answers themselves are not spread evenly.
            ((18, 1, 1), (1, 4, 0), (1, 0, 4)),
            "Picks A 67 % of the time; the right answer stands there 66.7 %",
            "选 A 的比例为 67 %，正确答案在此的比例为 66.7 %",
        ),
        (((5, 0), (5, 0)), "Picks A in all 10 readable replies", "10 条可读回答全部选 A"),
        (((5, 0), (0, 5)), "No position is picked most often", "没有哪个位置被选得最多"),
        (((0, 0), (0, 0)), "No answer names a position", "没有一条回答选出位置"),
    ],
)
def test_picks_are_told_beside_what_is_fair(counts, english: str, chinese: str):
    assert picks_title(_table(counts), "en") == english
    assert picks_title(_table(counts), "zh") == chinese


def test_the_heat_maps_subtitle_counts_its_rows_only_if_they_are_equal():
    even, uneven = _table(((8, 2), (4, 5)), (0, 1)), _table(((8, 2), (4, 5)))
    assert "10 answers" in picks_subtitle(even, "en")
    assert "10" not in picks_subtitle(uneven, "en")


@pytest.mark.parametrize(
    ("counts", "english", "chinese"),
    [
        (
            ((7, 3), (6, 4)),
            "Right answers found most at A (70 %), least at B (40 %)",
            "正确答案在 A 处最常被找到（70 %），在 B 处最少（40 %）",
        ),
        (
            ((7, 3, 0), (6, 4, 0), (6, 0, 4)),
            "Right answers found most at A (70 %), least at B and C (40 %)",
            "正确答案在 A 处最常被找到（70 %），在 B、C 处最少（40 %）",
        ),
        (
            ((5, 5), (5, 5)),
            "Right answers are found equally often at every position (50 %)",
            "正确答案在每个位置被找到的比例相同（50 %）",
        ),
        (((0, 0), (0, 0)), "No right answers to count yet", "还没有可统计的正确答案"),
    ],
)
def test_recall_is_told_by_its_extremes(counts, english: str, chinese: str):
    assert recall_title(_table(counts), "en") == english
    assert recall_title(_table(counts), "zh") == chinese


def test_three_letters_are_listed_with_a_comma():
    table = _table(((9, 1, 0, 0), (6, 4, 0, 0), (6, 0, 4, 0), (6, 0, 0, 4)))
    assert "B, C and D" in recall_title(table, "en")


@pytest.mark.parametrize("language", LANGUAGES)
def test_titles_follow_from_a_real_cell(make_result, language):
    picks = {f"q{number}": "right" for number in range(40)}
    summary = summarise(make_result(picks))
    assert picks_title(summary.positions[0], language)
