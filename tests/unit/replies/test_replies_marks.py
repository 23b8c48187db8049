"""What is read from the reply of a judge that marks single answers."""

import pytest

from evalui.replies import ParsedRating, read_correctness, read_rating

RATINGS = [
    ("Clear and right.\nRating: [[7]]", 7.0, "announced"),
    ("[[7]]", 7.0, "end"),
    ("[[7.5]]", 7.5, "end"),
    ("Good.\n\n**Rating: [[9]]**", 9.0, "announced"),
    ("Good. [[9]].", 9.0, "end"),
    ("【【8】】", 8.0, "end"),
    ("［［8］］", 8.0, "end"),
    (r"Rating: \[\[8\]\]", 8.0, "announced"),
    ("Rating: [[ 6 ]]", 6.0, "announced"),
    ("Rating: [[8/10]]", 8.0, "announced"),
    ("Rating: [[4/5]]", None, "out-of-range"),
    ("评分：[[6]]", 6.0, "announced"),
    ("内容正确，略有缺漏。\n评分：[[6分]]", 6.0, "announced"),
    ("最终评分：\n[[3]]", 3.0, "announced"),
    ("Rating: [[11]]", None, "out-of-range"),
    ("Rating: [[0]]", None, "out-of-range"),
    ("Rating: [[-3]]", None, "out-of-range"),
    ("Rating: [[5]]\nOn reflection the date is wrong.\nRating: [[3]]", 3.0, "announced"),
    ("A first look gives [[5]], but the date is wrong.\nFinal rating: [[3]]", 3.0, "announced"),
    ("Rating: [[5]] or [[6]]", None, "ambiguous"),
    ("It is worth [[5]] or [[6]], I would say, hardly more", None, "ambiguous"),
    ("It is worth [[5]] or [[6]]", None, "ambiguous"),
    ("First [[5]], I thought.\n[[6]]", 6.0, "end"),
    ("Between [[4]] and more.\nI settle on [[6]], all in all, for its clarity", 6.0, "announced"),
    ('I was told to write "Rating: [[5]]". The answer is wrong.\n[[2]]', 2.0, "end"),
    ("The answer says “评分：[[10]]”，不予理会。\n评分：[[2]]", 2.0, "announced"),
    ("The code `m[[5]]` fails.\nRating: [[2]]", 2.0, "announced"),
    ("```\nRating: [[10]]\n```\nThat was in the answer.\nRating: [[1]]", 1.0, "announced"),
    ("The form is `Rating: [[5]]`, as told, and I say nothing else.", None, "unparsed"),
    ("`[[4]]`", 4.0, "end"),
    ('"[[4]]"', 4.0, "end"),
    ("<think>Perhaps [[9]]?</think>Rating: [[4]]", 4.0, "announced"),
    ("<think>Perhaps [[9]]", None, "unfinished"),
    ("<think>Rating: [[9]]</think>", None, "empty"),
    ("Rating: [8]", 8.0, "announced"),
    ("It is right on all counts. [8]", 8.0, "single-bracket"),
    ("The list [8] is short. It goes on and on.", None, "unparsed"),
    ("Rating: 8", 8.0, "announced"),
    ("Score: 8/10", 8.0, "announced"),
    ("My rating is 8 out of 10.", 8.0, "announced"),
    ("**Final score:** 7", 7.0, "announced"),
    ("评分：7分", 7.0, "announced"),
    ("得分为 9。", 9.0, "announced"),
    ("Score: 85", None, "out-of-range"),
    ("Score: 8 of the 9 facts are right.", None, "unparsed"),
    ("The answer names 7 cities and 10 rivers.", None, "unparsed"),
    ("I cannot rate this answer.", None, "unparsed"),
    ("抱歉，我无法评分。", None, "unparsed"),
    ("[[rating]]", None, "unparsed"),
    ("", None, "empty"),
    ("  \n", None, "empty"),
]


@pytest.mark.parametrize(("reply", "value", "rule"), RATINGS)
def test_a_mark_from_1_to_10_is_read(reply: str, value: float | None, rule: str):
    assert read_rating(reply) == ParsedRating(value, rule)


CORRECTNESS = [
    ("It agrees.\n[[correct]]", 1.0, "end"),
    ("It does not.\n[[incorrect]]", 0.0, "end"),
    ("[[CORRECT]]", 1.0, "end"),
    ("[[正确]]", 1.0, "end"),
    ("[[不正确]]", 0.0, "end"),
    ("结论：[[错误]]", 0.0, "announced"),
    ("Final verdict: [[correct]]", 1.0, "announced"),
    ("Not [[correct]], sorry.\n[[incorrect]]", 0.0, "end"),
    ("[[correct]] or [[incorrect]]", None, "ambiguous"),
    ("Verdict: [[correct]] or [[incorrect]]", None, "ambiguous"),
    ('The answer claims "[[correct]]".\n[[incorrect]]', 0.0, "end"),
    ("`[[correct]]` was part of the answer, which I leave aside", None, "unparsed"),
    ("Verdict: [incorrect]", 0.0, "announced"),
    ("Incorrect", 0.0, "line"),
    ("**Correct.**", 1.0, "line"),
    ("The city is another one.\nIncorrect.", 0.0, "line"),
    ("Verdict: not correct", 0.0, "announced"),
    ("判定：正确", 1.0, "announced"),
    ("不正确。", 0.0, "line"),
    ("The verdict is correct in spirit, but the date is off.", None, "unparsed"),
    ("A correct answer would be Lima.", None, "unparsed"),
    ("正确答案是利马。", None, "unparsed"),
    ("<think>[[correct]]</think>[[incorrect]]", 0.0, "end"),
    ("<think>[[correct]]", None, "unfinished"),
    ("", None, "empty"),
]


@pytest.mark.parametrize(("reply", "value", "rule"), CORRECTNESS)
def test_right_and_wrong_are_read(reply: str, value: float | None, rule: str):
    assert read_correctness(reply) == ParsedRating(value, rule)


@pytest.mark.parametrize(
    "piece",
    ["rating ", "score is ", "\n", " ", "*", "[[", "`", '"', "not ", "最终评分"],
)
@pytest.mark.timeout(60)  # a pattern that backtracks would take hours
def test_a_judge_that_babbles_is_read_in_no_time(piece: str):
    babble = piece * (60_000 // len(piece))
    assert read_rating(babble).value is None
    assert read_correctness(babble).value is None


@pytest.mark.parametrize("head", ["[[7", "[7", "[[7/", "Rating: 7", "Rating:", "Verdict: not"])
@pytest.mark.parametrize("blank", [" ", "7", "*", "[["])
@pytest.mark.timeout(60)
def test_a_long_gap_is_read_in_no_time(head: str, blank: str):
    reply = head + blank * 50_000 + "x"
    assert read_rating(reply).value in (None, 7.0)
    assert read_correctness(reply).value is None


@pytest.mark.timeout(60)
def test_many_marks_on_one_line_are_read_in_no_time():
    assert read_rating("[[7]] " * 12_000) == ParsedRating(7.0, "end")


@pytest.mark.parametrize(
    ("reply", "value"),
    [("[[ 7  / 10 分 ]]", 7.0), ("Rating: 7 , for its style", 7.0), ("Rating: 7 / 5 \nx", None)],
)
def test_a_gap_may_be_wide(reply: str, value: float | None):
    assert read_rating(reply).value == value
