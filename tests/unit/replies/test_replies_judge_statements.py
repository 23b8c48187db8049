import pytest

from evalui.replies import ParsedRating, read_rating, read_verdict
from evalui.replies.judge_statements import (
    ChosenVerdict,
    JudgeStatement,
    Rank,
    VerdictLabel,
)
from evalui.replies.judgements import Judgement


def test_a_stronger_place_has_a_lower_rank():
    assert sorted(Rank, reverse=True)[-1] is Rank.LINE
    assert Rank.LINE < Rank.ALONE < Rank.ANNOUNCED < Rank.END < Rank.LAST_LINE < Rank.STATED


@pytest.mark.parametrize(
    ("reply", "mark", "rule"),
    [
        # a line that is nothing but the mark before words, first or last
        ("Rating: 7\nI thought the score is 9.", 7.0, "announced"),
        ("I thought the score is 9.\nRating: 7", 7.0, "announced"),
        ("7\nThe score is not bad.", 7.0, "line"),
        # an announcement before a marker
        (
            "Its [[9]] steps are right, so my rating is 7 because of style, as [[9]] shows.",
            7.0,
            "x",
        ),
        # equal rank: the last one if it revises, or alone is final
        ("Rating: 7\n\nRating: 8", None, "ambiguous"),
        ("Rating: 7\n\nRating: 7", 7.0, "announced"),
        ("Rating: 7\n\nFinal rating: 8", 8.0, "announced"),
        ("Final rating: 7\n\nRating: 8", None, "ambiguous"),
        ("Rating: 7\n\nI was wrong.\n\nRating: 8", 8.0, "announced"),
        # a change of mind in words behind a line
        ("Rating: 7\n\nOn reflection, my rating is 8 for its style.", 8.0, "announced"),
        ("Rating: 7\n\nWait: on reflection my rating is 8.", 8.0, "announced"),
        ("Rating: 7\n\nSo my final rating is 8.", 8.0, "announced"),
        ("Rating: 7\n\nSumming up, my final rating is 8.", None, "ambiguous"),
    ],
)
def test_the_strongest_statement_counts(reply: str, mark: float | None, rule: str):
    read = read_rating(reply)
    assert read == ParsedRating(mark, read.rule if rule == "x" else rule)


def test_headings_of_sections_are_no_verdicts():
    sections = "Answer A\n\nIt is long.\n\nAnswer B\n\nIt is short."
    assert read_verdict("compass", sections).outcome is None
    assert read_verdict("compass", f"{sections}\n\nVerdict\n\nAnswer B").outcome == "b"


def test_values_compare_by_what_they_hold():
    assert VerdictLabel(1.0, 3) == VerdictLabel(1.0, 3)
    assert JudgeStatement(1.0, Rank.LINE, 0, "line") != JudgeStatement(2.0, Rank.LINE, 0, "line")
    assert ChosenVerdict(None, "cut").line is None
    assert Judgement(("a",), "a").lines == ("a",)
