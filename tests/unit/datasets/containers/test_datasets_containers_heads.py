"""The row of the names, wherever people put it, and what stands below a table."""

from collections.abc import Sequence

import pytest
from opened_tables import note_texts, only_table

from evalui.datasets.containers.heads import find_head
from evalui.datasets.model import FileTable

ROWS = [["1", "Which?", "a", "b", "A"], ["2", "What?", "c", "d", "B"], ["3", "Who?", "e", "f", "A"]]
ZH = ["序号", "题目", "选项A", "选项B", "答案"]


def names(*rows: Sequence[str]) -> tuple[int, tuple[str, ...]]:
    head = find_head([*rows, *ROWS])
    return head.start, head.names


def test_names_in_the_first_row_are_the_head():
    assert names(ZH) == (0, tuple(ZH))


@pytest.mark.parametrize(
    "above",
    [
        [["2024年度法律知识竞赛题库"]],
        [["2024 quiz", "", "", "", ""], ["Fill in every column.", "", "", "", ""]],
        [["必填", "必填", "必填", "必填", "必填"]],
        [["教师：张三", "", "", "日期：5月", ""]],
    ],
)
def test_titles_and_instructions_stand_above_the_head(above: list[list[str]]):
    assert names(*above, ZH) == (len(above), tuple(ZH))


def test_a_row_of_data_is_no_title():
    # A lesson on words: the fifth row has names of columns, and the first is still the head.
    unknown = ["stem_text", "one", "two", "three", "key_text"]
    words = ["question", "answer", "id", "subject", "choices"]
    head = find_head([unknown, *ROWS, words])
    assert (head.start, head.names) == (0, tuple(unknown))


def test_names_under_a_group_are_one_head():
    upper = ["序号", "题目", "选项", "", "答案"]
    head = find_head([upper, ["", "", "A", "B", ""], *ROWS])
    assert (head.start, head.end) == (0, 2)
    assert head.names == ("序号", "题目", "A", "B", "答案")


def test_numbers_under_a_group_take_its_name():
    upper = ["序号", "题目", "选项", "", "答案"]
    head = find_head([upper, ["", "", "1", "2", ""], *ROWS])
    assert head.names == ("序号", "题目", "选项1", "选项2", "答案")


def test_the_same_names_under_two_groups_are_told_apart():
    upper = ["题目", "中文", "", "英文", "", "答案"]
    lower = ["", "A", "B", "A", "B", ""]
    data = [["q", "甲", "乙", "a", "b", "A"], ["p", "丙", "丁", "c", "d", "B"]]
    head = find_head([upper, lower, *data])
    assert head.names == ("题目", "中文 A", "中文 B", "英文 A", "英文 B", "答案")


def test_a_row_of_data_under_columns_without_names_is_no_second_head():
    upper = ["id", "question", "answer", "", ""]
    head = find_head([upper, *ROWS])
    assert (head.names, head.end) == (("id", "question", "answer"), 1)


def test_unknown_names_under_a_title_are_found_by_the_width_of_the_rows():
    unknown = ["Nr", "Frage", "erste", "zweite", "Lösung"]
    assert names(["Fragen für Mai"], unknown) == (1, tuple(unknown))


def test_a_first_row_that_is_like_all_others_is_no_head():
    head = find_head(ROWS)
    assert (head.start, head.end) == (-1, 0)
    assert head.names == ("#1", "#2", "#3", "#4", "#5")


def test_letters_in_order_are_a_head_whatever_stands_beside_them():
    assert names(["Nr", "Frage", "A", "B", "Lösung"])[0] == 0


def as_table(*rows: Sequence[str]) -> FileTable:
    return only_table("x.csv", "\n".join(map(",".join, rows)))


@pytest.mark.parametrize(
    ("below", "n"),
    [
        ([["合计", "", "", "", "5题"]], 1),
        ([["共 5 题"]], 1),
        ([["Total", "", "", "", "3"], ["Prepared by: me"]], 2),
        ([["以上内容仅供参考"], ["出题人：张三", "", "", "日期：5月1日", ""]], 2),
        ([["注：答案仅供参考"], ["第二行说明"]], 2),
        ([["4", "Total of what?", "a", "b", "A"]], 0),
        ([["", "A question without anything else", "", "", ""]], 0),
        ([["合计", "Which sum?", "a", "b", "A"]], 0),
    ],
)
def test_totals_signatures_and_notes_are_below_the_table(below: list[list[str]], n: int):
    table = as_table(ZH, *ROWS, *below)
    assert len(table.rows) == len(ROWS) + len(below) - n
    assert len(note_texts(table)) == (n > 0)


def test_a_count_below_two_columns_is_no_question():
    rows = [["question", "answer"], ["Capital of France?", "Paris"], ["Capital of Italy?", "Rome"]]
    assert len(as_table(*rows, ["合计", "2题"]).rows) == 2
    assert len(as_table(*rows, ["Total", "everything together"]).rows) == 3
