import pytest

from evalui.replies import read_verdict


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
    assert read_verdict("scores", reply).outcome == outcome


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("Assistant 1: 6/10\nAssistant 2: 8/10", "b"),
        ("助手2：9分\n助手1：4分", "b"),
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
    assert read_verdict("mtbench", reply).outcome == outcome


def test_a_bare_number_is_a_score_only_where_scores_are_required():
    assert read_verdict("mtbench", "A: 9, B: 3").outcome is None
    assert read_verdict("scores", "A: 9, B: 3").outcome == "a"


def test_the_last_line_of_a_cut_reply_may_lack_a_digit():
    reply = "Assistant 1: 6/10\nAssistant 2: 1"
    assert read_verdict("scores", reply, finish_reason="length").outcome is None
    assert read_verdict("scores", reply).outcome == "a"


def test_a_line_of_two_scores_is_known_from_words():
    quoted = "Both are fair.\n\n```\n{}\n```"
    assert read_verdict("scores", quoted.format("8 6")).outcome == "a"
    assert read_verdict("scores", quoted.format("Assistant 1 has 8 points")).outcome is None
