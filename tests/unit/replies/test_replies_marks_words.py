"""What of a judge's words is a mark, and what is none, beside the corpus of replies."""

import pytest

from evalui.replies import ParsedRating, read_correctness, read_rating

MARKS = [
    ("Rating: [[7]]", 7.0),
    ("7", 7.0),
    ("7/10", 7.0),
    ("**8/10**", 8.0),
    ("Rating: 7 out of 10", 7.0),
    ("My rating: 7.5/10.", 7.5),
    ("I'd give it an 8.", 8.0),
    ("I would rate this answer 6 out of 10.", 6.0),
    ("I rate this 6/10 because it is short.", 6.0),
    ("Score: 4 (mostly wrong)", 4.0),
    ("Score: 4 - mostly wrong", 4.0),
    ("得分：8", 8.0),
    ("评分：8 分", 8.0),
    ("我给 8 分。", 8.0),
    ("打分：7", 7.0),
    ("总分：9/10", 9.0),
    ("综合评分为 7 分。", 7.0),
    ("最终得分是 6。", 6.0),
    ('{"rating": 8}', 8.0),
    ('```json\n{"score": 8, "reason": "ok"}\n```', 8.0),
    ("\\boxed{8}", 8.0),
    ("Rating: 7-8", None),
    ("Rating: 7 or 8", None),
    ("Rating: 7, maybe 8", 7.0),
    ("Between 6 and 7.", None),
    ("Rating: 70", None),
    ("Rating: 3/5", None),
    ("Rating: 85%", None),
    ("Rating: [[x]]", None),
    ("A perfect answer would get [[10]]; this one gets [[4]].", 4.0),
    ("If it had sources, I would give it a 9.", None),
    ("The answer claims it deserves 10/10.", None),
    ("回答自称应得 10 分。", None),
    ("The answer rates itself [[10]].", None),
    ('The answer ends with "Rating: [[10]]".\n\nRating: [[2]]', 2.0),
    ("Accuracy: 8\nClarity: 6\nOverall: 7", 7.0),
    ("Accuracy: 8\nClarity: 6", None),
    ("准确性：8\n清晰度：6\n总分：7", 7.0),
    ("It has 10 steps and 3 errors.", None),
    ("Rating: [[5]]\n\nRating: [[7]]", None),
    ("Rating: [[5]]\nOn reflection, Rating: [[7]]", 7.0),
    ("Not a 10, but a solid 8.", None),
    ("Rating: ten", 10.0),
    ("Rating: 0", None),
    ("Rating: -3", None),
    ("Rating: 10/10", 10.0),
    ("Rating: 7/10. It could have been 9/10 with sources.", 7.0),
    ("1. Accuracy: fine\n2. Clarity: fine\n3. Rating: 8", 8.0),
    ("该回答应得 7 分", 7.0),
    ("给这个回答打 7 分。", 7.0),
    ("满分10分，打6分。", 6.0),
    ("The rating is 7.", 7.0),
    ("Final score - 6", 6.0),
    ("Rating = 6", 6.0),
    ("Rating: **6**", 6.0),
    ("Rating: `6`", 6.0),
    ('Rating: "6"', 6.0),
    ("评分：【7】", 7.0),
    ("The answer deserves a 7.", 7.0),
    ("This deserves a score of 7/10.", 7.0),
    ("Overall: good.", None),
    ("Score 7", 7.0),
    ("评为 7 分", 7.0),
    ("扣 3 分", None),
    ("Rating: 7/10 for style, 4/10 for accuracy", None),
    ("Accuracy: [[8]]\nClarity: [[6]]", None),
    ("满分 5 分，我给 4 分。", None),
    ("评分：8 分（满分 10 分）", 8.0),
    ("评分：4 分（满分 5 分）", None),
    ("I give it 8 points out of 10.", 8.0),
    ("8 points", 8.0),
    ("Rating: [[7]] out of [[10]]", 7.0),
    ("Rating: [[7]]/[[10]]", 7.0),
    ("Rating: 7/10, clarity 9/10", 7.0),
    ("评分：7，其中准确性 8 分", 7.0),
    ("准确性评分：8\n清晰度评分：6", None),
    ("Accuracy rating: 8", None),
    ("I deduct 2 points.", None),
    ("Starting from 10, I deduct 2 for style: 8.", None),
    ("10 - 2 = 8", None),
    ("综合评价：8分", 8.0),
    ("总体评价：良好，7 分", None),
    ("最后得分：[[7]]", 7.0),
    ("本回答可以得 8 分。", 8.0),
    ("我认为可以打 8 分。", 8.0),
    ("给 8 分", 8.0),
    ("得 8 分", 8.0),
    ("Rating: [[seven]]", 7.0),
    ("[[7/10]]", 7.0),
    ("Rating:7", 7.0),
    ("rating:[[7]]", 7.0),
    ("RATING: 7", 7.0),
    ("Final rating: [[7]]\n\nRating: [[7]]", 7.0),
    ("Rating: [[10]] would be too high; [[8]] it is.", 8.0),
    ("Rating: 7\nThe rubric says 10 is perfect.", 7.0),
    ("The score of the game was 3-2.", None),
    ("The user's score is 8.", None),
    ("It got a rating of 8 on IMDb.", None),
    ("The answer's rating of the film is 9/10.", None),
    ("**Rating:** [[6]]", 6.0),
    ("Rating: *6*", 6.0),
    ("Mark: 6", 6.0),
    ("Grade: 6", 6.0),
    ("Points: 6", 6.0),
    ("Note: 6", None),
    ("Rating: 6.", 6.0),
    ("Rating: ６", 6.0),
    ('{"rating": "8/10"}', 8.0),
    ("{'rating': 8}", 8.0),
    ('{"rating": 11}', None),
    ('{"accuracy": 8, "clarity": 6}', None),
    ("<rating>8</rating>", 8.0),
    ("<score>8</score>", 8.0),
    ("评分：八", 8.0),
    ("评分：十分", 10.0),
    ("打八分", 8.0),
    ("七分", 7.0),
    ("The answer says: Rating: [[10]]\n\nIt is wrong.\n\nRating: [[1]]", 1.0),
    ("The answer says: Rating: [[10]]", None),
    ("> Rating: [[10]]\n\nNonsense.", None),
    ("回答里写着“评分：[[10]]”。", None),
    ("回答要求给 10 分。", None),
    ("The answer asks for a rating of 10. I give it 2.", 2.0),
    ('The answer ends: "I rate myself [[10]]"\nRating: [[3]]', 3.0),
    ("`Rating: [[10]]` is part of the answer.", None),
]


@pytest.mark.parametrize(("reply", "mark"), MARKS)
def test_a_mark_is_read_in_any_dress_and_nothing_else_is(reply: str, mark: float | None):
    assert read_rating(reply).value == mark


WORDS = [
    ("这个回答并不正确。", 0.0),
    ("Correct.", 1.0),
    ("incorrect", 0.0),
    ("The answer is correct.", 1.0),
    ("The answer is incorrect because it names Porto.", 0.0),
    ("Verdict: Incorrect", 0.0),
    ("[[正确]]", 1.0),
    ("回答正确。", 1.0),
    ("回答错误。", 0.0),
    ("回答是错误的。", 0.0),
    ("结论：不正确", 0.0),
    ("判定：正确", 1.0),
    ("partially correct", None),
    ("The answer is partially correct.", None),
    ("基本正确", None),
    ('{"verdict": "incorrect"}', 0.0),
    ('{"correct": true}', 1.0),
    ("The reference answer is correct.", None),
    ("[[correct]] [[incorrect]]", None),
    ("The correct answer is Lisbon.", None),
    ("If the unit were metres, it would be [[correct]].", None),
    ("The answer says it is [[correct]].", None),
    ("I mark it as incorrect.", 0.0),
    ("Result: correct", 1.0),
    ("判断：错误", 0.0),
    ("错误", 0.0),
    ("对", 1.0),
    ("The response is right.", 1.0),
    ("It is not [[correct]].", None),
    ("The answer is wrong: 9, not 8.", 0.0),
    ("This is correct.", 1.0),
    ("The assistant's answer is incorrect and not helpful.", 0.0),
    ("正确答案是 8，回答是 9。", None),
    ("回答与参考答案一致。\n\n正确", 1.0),
    ("\\boxed{correct}", 1.0),
    ("The answer is correct, but the reasoning is wrong.", None),
    ("Correct answer, wrong reasoning.", None),
    ("[[correct]] — same city.", 1.0),
    ("判定为错误。", 0.0),
    ("判定：[[错误]]", 0.0),
    ("该回答不正确。", 0.0),
    ("这个回答是对的。", 1.0),
    ("不对", 0.0),
    ("否", None),
    ("yes", None),
    ("Is it correct? No.", None),
    ("Not correct.", 0.0),
    ("incorrect, since 9 != 8", 0.0),
    ("The response is correct and complete.", 1.0),
    ("答案错误，应为 8。", 0.0),
    ("与参考答案一致，因此正确。", 1.0),
    ("Therefore [[incorrect]].", 0.0),
    ("It agrees with the reference, so it is correct.", 1.0),
    ("[[Correct]]\n\n[[Incorrect]]", None),
    ("Final verdict: [[incorrect]]\nThe answer would be [[correct]] if it said 8.", 0.0),
    ("The answer claims to be correct.", None),
    ("mostly correct", None),
    ("结论：部分正确", None),
    ("The first half is correct.", None),
    ('{"result": "incorrect"}', 0.0),
    ('The answer says "[[correct]]".', None),
    ("回答末尾写着 [[correct]]，但结果错误。\n\n[[incorrect]]", 0.0),
    ("The response claims that it is correct.", None),
    ("> [[correct]]", None),
]


@pytest.mark.parametrize(("reply", "value"), WORDS)
def test_right_and_wrong_are_read_in_any_words(reply: str, value: float | None):
    assert read_correctness(reply).value == value


@pytest.mark.parametrize(
    ("reply", "mark"),
    [
        ("Feedback: good evidence. [RESULT] 4", 4.0),
        ("Rating: 4/5", 4.0),
        ("Rating: 4/10", None),
        ("Rating: [[7]]", None),
        ("满分 5 分，我给 4 分。", 4.0),
        ('{"score": 3}', 3.0),
    ],
)
def test_a_mark_of_another_scale_is_read_where_the_rubric_has_it(reply: str, mark: float | None):
    assert read_rating(reply, scale=(1.0, 5.0)).value == mark


CRITERIA = ("accuracy", "clarity")


@pytest.mark.parametrize(
    "reply",
    [
        "Accuracy: 7\nClarity: 9",
        "- **Accuracy**: 7/10\n- **Clarity**: [[9]]",
        "| Criterion | Mark |\n|---|---|\n| Accuracy | 7 |\n| Clarity | 9 |",
        '{"accuracy": 7, "clarity": 9}',
        '{"marks": {"Accuracy": 7, "Clarity": "9/10"}}',
        "Accuracy 7/10, clarity 9/10.",
    ],
)
def test_marks_of_criteria_are_read_by_name_and_their_mean_is_the_rating(reply: str):
    marks = {"accuracy": 7.0, "clarity": 9.0}
    assert read_rating(reply, criteria=CRITERIA) == ParsedRating(8.0, "criteria", marks)
    assert read_rating(reply).value is None


def test_an_overall_mark_is_the_rating_and_not_the_mean():
    read = read_rating("准确性：7\n清楚：9\n总分：6", criteria=("准确性", "清楚"))
    assert read == ParsedRating(6.0, "announced", {"准确性": 7.0, "清楚": 9.0})


@pytest.mark.parametrize("reply", ["Accuracy: 7", "Accuracy: 7\nAccuracy: 8\nClarity: 9"])
def test_a_missing_or_contradictory_mark_leaves_the_rating_unread(reply: str):
    read = read_rating(reply, criteria=CRITERIA)
    assert read.value is None
    assert len(read.marks) == 1


@pytest.mark.parametrize(
    ("reply", "mark", "rule"),
    [
        ("Rating: [[7]]\nBecause it", 7.0, "announced"),
        ("Good so far, so perhaps a", None, "cut"),
        ("The answer is right.\nRating: 1", None, "cut"),
        ("The answer is right.\nRating: [[1", None, "cut"),
        ("The answer is right.\nRating: [[1]]", 1.0, "announced"),
    ],
)
def test_a_mark_that_may_be_cut_in_two_is_unread(reply: str, mark: float | None, rule: str):
    assert read_rating(reply, finish_reason="length") == ParsedRating(mark, rule)
