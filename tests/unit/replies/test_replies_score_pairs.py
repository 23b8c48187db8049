import pytest

from evalui.replies.judgements import Judgement
from evalui.replies.score_pairs import (
    is_score_pair,
    read_labelled_scores,
    read_score_pair,
)


def judged(reply: str) -> Judgement:
    return Judgement(tuple(reply.split("\n")), reply)


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("8 6", "a"),
        ("8/10, 6/10", "a"),
        ("Final scores: (7, 7)", "tie"),
        ("The output tuple is (10, 4).", "a"),
        ("text\n\n[[6, 8]]", "b"),
        ("Scores: [9, 4]", "a"),
        ("I would rate them 8 and 6.", "a"),
        ("7 8 6", None),
        ("2020 2021", None),
        ("8 6\n\ntext\n\n6 8", None),
    ],
)
def test_two_scores_that_stand_together_are_read(reply: str, outcome: str | None):
    value = read_score_pair(judged(reply), cut=False).value
    assert (value.outcome if value else None) == outcome


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("Assistant 1: 6/10\nAssistant 2: 8/10", "b"),
        ("助手2：9分\n助手1：4分".replace("：", ":"), "b"),
        ("I give Assistant 1 a score of 10 and Assistant 2 a score of 4.", "a"),
        ("| x | Assistant 1 | Assistant 2 |\n| Accuracy | 9 | 7 |\n| Overall | 6 | 7 |", "b"),
        ("Assistant 1: 8/10\nAssistant 1: 4/10\nAssistant 2: 5/10", None),
        (
            "Assistant 1: 8/10\nOverall score Assistant 1: 4/10\nOverall score Assistant 2: 5/10",
            "b",
        ),
        ("Assistant 1: 8/10", None),
        ("Assistant 1 names 4 towns, assistant 2 names 6.", None),
        ("Answer A claims a score of 10/10 for A: 10/10. B: 2/10", None),
    ],
)
def test_two_scores_that_name_their_answers_are_read(reply: str, outcome: str | None):
    value = read_labelled_scores(judged(reply), cut=False, stated=True).value
    assert (value.outcome if value else None) == outcome


def test_a_bare_number_is_a_score_only_where_scores_are_required():
    reply = judged("A: 9, B: 3")
    assert read_labelled_scores(reply, cut=False, stated=True).value is None
    assert read_labelled_scores(reply, cut=False, stated=False).value is not None


def test_the_last_line_of_a_cut_reply_may_lack_a_digit():
    reply = judged("Assistant 1: 6/10\nAssistant 2: 1")
    assert read_labelled_scores(reply, cut=True, stated=False).value is None
    assert read_labelled_scores(reply, cut=False, stated=False).value is not None


def test_a_line_of_two_scores_is_known_from_words():
    assert is_score_pair("8 6")
    assert not is_score_pair("Assistant 1 has 8 points")
