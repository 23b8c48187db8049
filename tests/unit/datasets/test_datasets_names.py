"""The lexicon of heads, and series of them."""

import pytest

from evalui.datasets.names import find_series, fold_head, is_known_name, read_head


@pytest.mark.parametrize(
    ("head", "folded"),
    [
        ("option_a", "optiona"),
        ("optionA", "optiona"),
        (" Option A ", "optiona"),
        ("ＯＰＴＩＯＮ－Ａ", "optiona"),
        ("选项（Ａ）", "选项a"),
        ("题目（必填）", "题目"),
        ("Question - max 120 characters", "question"),
        ("Correct Answer", "correctanswer"),
        ("answerKey", "answerkey"),
        ("", ""),
    ],
)
def test_case_width_separators_and_remarks_do_not_matter(head: str, folded: str) -> None:
    assert fold_head(head) == folded


@pytest.mark.parametrize(
    ("head", "role"),
    [
        ("题干", "question"),
        ("Question Stem", "question"),
        ("correct_answer", "answer"),
        ("标准答案", "answer"),
        ("材料", "passage"),
        ("解析", "explanation"),
        ("序号", "id"),
        ("Record ID", "id"),
        ("subject_name", "subject"),
        ("incorrect_answers", "distractor"),
        ("data", ""),
        ("answer0", ""),
    ],
)
def test_the_lexicon_knows_the_names_of_roles(head: str, role: str) -> None:
    assert read_head(head).role == role


def test_the_surest_name_of_a_role_has_the_lowest_rank() -> None:
    assert read_head("answer").rank < read_head("label").rank < read_head("output").rank


@pytest.mark.parametrize(
    "headers",
    [
        ["option_a", "option_b", "option_c"],
        ["optionA", "optionB", "optionC"],
        ["opa", "opb", "opc"],
        ["A选项", "B选项", "C选项"],
        ["选项1", "选项2", "选项3"],
        ["选项一", "选项二", "选项三"],
        ["选项甲", "选项乙", "选项丙"],
        ["answer0", "answer1", "answer2"],
        ["ending0", "ending1", "ending2"],
        ["Option 1", "Option 2", "Option 3"],
        ["choice_1_text", "choice_2_text", "choice_3_text"],
        ["Ａ", "Ｂ", "Ｃ"],
        ["sol1", "sol2", "sol3"],
        ["(A)", "(B)", "(C)"],
    ],
)
def test_heads_of_options_are_a_series(headers: list[str]) -> None:
    (series,) = find_series(["id", *headers[1:], headers[0], "answer"])
    assert series.columns == (3, 1, 2)
    assert series.names_options


def test_a_series_begins_at_its_first_letter_or_number_and_has_no_gap() -> None:
    (letters,) = find_series(["A", "B", "D", "n", "x"])
    assert letters.columns == (0, 1)
    assert find_series(["id", "n", "x", "data", "sent2", "sent3"]) == ()


def test_heads_of_wrong_options_are_another_series() -> None:
    (series,) = find_series(["Incorrect Answer 1", "Incorrect Answer 2"])
    assert series.names_distractors
    assert not series.names_options


@pytest.mark.parametrize("text", ["题目", "Option 4", "A", "答案", "difficulty", "Ｂ", "messages"])
def test_names_of_columns_are_known(text: str) -> None:
    assert is_known_name(text)


@pytest.mark.parametrize("text", ["", "2024年度题库", "巴黎", "What is it?", "7", "x" * 500])
def test_other_texts_are_not(text: str) -> None:
    assert not is_known_name(text)
