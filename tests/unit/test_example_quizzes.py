"""The example package of quizzes, on texts as learning platforms document and export them."""

from typing import Any

import pytest
from evalui_quizzes import aiken, gift, markdown_tables, moodle_xml
from evalui_quizzes.html_text import html_text
from opened_tables import named_rows

from evalui.datasets.model import FileTable, Tables
from evalui.errors import DataError

PICTURE = "a picture, which is not read from files of this kind"

AIKEN = """What is the highest mountain?
A. Mont Blanc
B. Everest
C. Fuji
ANSWER: B

Which river is
the longest?
A) The Rhine
B) The Nile
ANSWER: B
"""


def rows(quiz: Tables, title: str = "multichoice") -> list[dict[str, Any]]:
    kinds = {False: "multichoice", True: "shortanswer"}
    return [
        row
        for table in quiz.tables
        if (table.title or kinds["options" not in table.heads]) == title
        for row in named_rows(table)
    ]


def faults(quiz: Tables) -> list[tuple[int, str]]:
    return [(fault.line, fault.actual) for table in quiz.tables for fault in table.faults]


def read_aiken(text: str) -> Tables:
    assert aiken.FORMAT.recognises(text.encode(), "q.txt")
    return aiken.FORMAT.read(text.encode(), "q.txt")


def read_gift(text: str) -> Tables:
    return gift.FORMAT.read(text.encode(), "q.gift")


def texts(row: dict[str, Any]) -> list[str]:
    return [option["text"] for option in row["options"]]


# Aiken


def test_aiken_is_options_by_letter_and_a_line_for_the_answer():
    first, second = rows(read_aiken(AIKEN))
    assert (first["question"], texts(first)) == (
        "What is the highest mountain?",
        ["Mont Blanc", "Everest", "Fuji"],
    )
    assert first["answer"] == "B"
    assert second["question"] == "Which river is\nthe longest?"


def test_chinese_exams_are_written_the_same_way():
    quiz = read_aiken(
        """一、单项选择题
1. 最高国家权力机关是（ ）。
A. 国务院  B. 全国人大
C. 最高法院  D. 国家主席
答案：B
解析：见宪法第五十七条。
并见第五十八条。
2、下列属于行政处罚的有
Ａ、罚款
Ｂ、拘役
Ｃ、警告
【答案】A、C
"""
    )
    first, second = rows(quiz)
    assert (first["id"], first["question"]) == ("1", "最高国家权力机关是（ ）。")
    assert texts(first) == ["国务院", "全国人大", "最高法院", "国家主席"]
    assert (first["answer"], first["explanation"]) == ("B", "见宪法第五十七条。\n并见第五十八条。")
    assert (second["id"], second["answer"]) == ("2", "A,C")
    assert "on lines 1" in str(quiz.notes[0])


def test_what_is_wrong_in_aiken_is_told_and_spoils_no_other_question():
    quiz = read_aiken(
        """A) Options and no question
ANSWER: A

A question and no options
ANSWER: B

A good question
A) Right
B) Wrong
ANSWER: A

A question without an answer
A) One
B) Two

A question whose answer is no option
A) One
B) Two
ANSWER: F

Another good question
A)No blank
B)None here
ANSWER: B
"""
    )
    assert [row["question"] for row in rows(quiz)] == ["A good question", "Another good question"]
    assert [line for line, _ in faults(quiz)] == [1, 4, 12, 16]
    assert faults(quiz)[-1][1] == "the answer “F”"


@pytest.mark.parametrize(
    "text",
    [
        "A. One\nB. Two\nAnswer the question below.\n",
        "question,answer\nWhich?,A\n",
        "A. Wonderful day\nhas begun.\n",
        "ANSWER: A\n",
    ],
)
def test_other_texts_are_no_aiken(text: str):
    assert not aiken.FORMAT.recognises(text.encode(), "q.txt")


# GIFT


def test_gift_has_choices_true_or_false_and_short_answers():
    quiz = read_gift(
        """// a comment
$CATEGORY: history/tombs

::Tomb::Who is buried in Grant's tomb?{~Grant#no ~Jefferson =no one#yes}

Grant is {~buried =entombed ~living} in Grant's tomb.

The sun rises in the east.{T}

Two plus two equals {=four =4 =%50%fore}.

When was Ulysses S. Grant born? {#1822}

Why? {}
"""
    )
    first, second, third = rows(quiz)
    assert (first["id"], first["category"], first["answer"]) == ("Tomb", "history/tombs", "C")
    assert texts(first) == ["Grant", "Jefferson", "no one"]
    assert second["question"] == "Grant is _____ in Grant's tomb."
    assert (texts(third), third["answer"]) == (["True", "False"], "A")
    answers = rows(quiz, "shortanswer")
    assert [row["answer"] for row in answers] == [["four", "4"], ["1822"], []]
    assert answers[0]["question"] == "Two plus two equals _____."


@pytest.mark.parametrize(
    ("block", "right"),
    [
        ("{~wrong ~%50%half right =right}", "C"),
        ("{~%-50%No one ~%50%Grant ~%50%His wife}", "B,C"),
        ("{~%33.333%a ~%33.333%b ~%33.333%c ~d}", "A,B,C"),
    ],
)
def test_the_right_choices_are_those_that_give_all_marks(block: str, right: str):
    (row,) = rows(read_gift(f"Which?{block}\n"))
    assert row["answer"] == right


def test_escaped_signs_are_text():
    (row,) = rows(read_gift("Which\\: 5 \\= ? {~ \\= 2 + 2 = \\= 2 + 3 ~ \\\\ \\{\\}}\n"))
    assert row["question"] == "Which: 5 = ?"
    assert texts(row) == ["= 2 + 2", "= 2 + 3", "\\ {}"]


def test_html_is_read_as_it_is_shown():
    (row,) = rows(
        read_gift("[html]<p>H<sub>2</sub>O &amp; 10<sup>6</sup>?</p>{=<b>water</b> ~x}\n")
    )
    assert row["question"] == "H₂O & 10⁶?"
    assert texts(row) == ["water", "x"]


@pytest.mark.parametrize(
    ("question", "actual"),
    [
        ("Match. {=a -> b =c -> d}", "terms to be matched"),
        ("Pi? {#3.1415:0.0005}", "a number with a tolerance"),
        ("Pi? {#3.141..3.142}", "a number with a tolerance"),
        ("First {=a} and {=b}", "answers in braces twice"),
        ("[html]Which? <img src='x.png'>{=a ~b}", PICTURE),
        ("Which? {=" + "a ~" * 1001 + "}", "more than 1,000 answers"),
    ],
)
def test_questions_that_cannot_be_asked_are_faults(question: str, actual: str):
    quiz = read_gift(f"A good one {{=a ~b}}\n\n{question}\n")
    assert len(rows(quiz)) == 1
    assert faults(quiz) == [(3, actual)]


def test_a_text_to_be_read_is_no_question():
    quiz = read_gift("Read this.\n\nWhich? {=a ~b}\n")
    assert len(rows(quiz)) == 1
    assert str(quiz.notes[0]) == "q.gift: texts that are no questions stand on lines 1."


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("question,answer\n{x},y\n", False),
        ("f(x) = {x : x > 0}", False),
        ("Which? {=a ~b}", True),
    ],
)
def test_answers_in_braces_with_signs_are_gift(text: str, is_one: bool):
    assert gift.FORMAT.recognises(text.encode(), "q.gift") == is_one


# Moodle XML

XML = """<?xml version="1.0" encoding="GB2312"?>
<quiz>
<!-- question: 0  -->
  <question type="category"><category><text>$course$/top/物理</text></category></question>
  <question type="multichoice">
    <name><text>Powers</text></name>
    <questiontext format="html"><text><![CDATA[<p>10<sup>2</sup> is</p>]]></text></questiontext>
    <generalfeedback format="html"><text>Ten times ten.</text></generalfeedback>
    <answer fraction="0" format="html"><text>10</text><feedback><text>No</text></feedback></answer>
    <answer fraction="100" format="html"><text>&lt;p&gt;100&lt;/p&gt;</text></answer>
  </question>
  <question type="truefalse"><questiontext><text>水是液体</text></questiontext>
    <answer fraction="0"><text>true</text></answer>
    <answer fraction="100"><text>false</text></answer></question>
  <question type="shortanswer"><questiontext><text>Capital of France?</text></questiontext>
    <answer fraction="100"><text>Paris</text></answer>
    <answer fraction="50"><text>Pari</text></answer></question>
  <question type="numerical"><questiontext><text>Pi?</text></questiontext>
    <answer fraction="100"><text>3.14</text><tolerance>0.01</tolerance></answer></question>
  <question type="matching"><questiontext><text>Match</text></questiontext></question>
  <question type="multichoice">
    <questiontext><text>&lt;img src="@@PLUGINFILE@@/a.png"/&gt;</text></questiontext></question>
  <question type="description"><questiontext><text>Read this.</text></questiontext></question>
</quiz>
"""


def test_moodle_xml_has_the_same_kinds():
    assert moodle_xml.FORMAT.recognises(XML.encode(), "q.xml")
    quiz = moodle_xml.FORMAT.read(XML.encode(), "q.xml")
    first, second = rows(quiz)
    assert (first["name"], first["question"], first["category"]) == ("Powers", "10² is", "物理")
    assert (texts(first), first["answer"]) == (["10", "100"], "B")
    assert first["explanation"] == "Ten times ten."
    assert (second["question"], second["answer"]) == ("水是液体", "B")
    (third,) = rows(quiz, "shortanswer")
    assert third["answer"] == ["Paris"]
    assert faults(quiz) == [
        (18, "a number with a tolerance"),
        (20, "a question of the type “matching”"),
        (21, PICTURE),
    ]
    assert "on lines 23" in str(quiz.notes[0])


def test_damaged_xml_is_refused():
    with pytest.raises(DataError, match="is no XML, or damaged"):
        moodle_xml.FORMAT.read(b"<quiz><question>", "q.xml")


# HTML


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("plain text, 1 < 2 and 3 > 2", "plain text, 1 < 2 and 3 > 2"),
        ("<p>one</p><p>two<br>three</p>", "one\ntwo\nthree"),
        ("a&nbsp;b &amp; &lt;c&gt;", "a b & <c>"),
        (
            "x<sup>2</sup> + H<sub>2</sub>O + e<sup>-x</sup> + a<sub>ij</sub> + b<sup>k</sup>",
            "x² + H₂O + e^(-x) + a_(ij) + b^k",
        ),
        ("<style>p {color: red}</style>text<script>alert(1)</script>", "text"),
        ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc"),
        ("<b>broken <i>markup", "broken markup"),
    ],
)
def test_markup_becomes_the_text_it_shows(markup: str, text: str):
    assert html_text(markup) == (text, False)


@pytest.mark.parametrize(
    "markup", ["see <img src='x.png'>", "<svg></svg>", "<video src=x></video>"]
)
def test_a_picture_is_seen(markup: str):
    assert html_text(markup).has_picture


# Tables in Markdown

PAGE = """# 题库

Some words | with a bar.

## 法律
| 题目 | A | B | 答案 |
|:-----|---|:-:|----:|
| 甲 \\| 乙？ | 一<br>行 | 二 | A |
| 图中？ | ![图](a.png) | 二 | B |
| 少一格 | 一 |

```
| not | a table |
|-----|---------|
| x   | y       |
```

question | A | B | answer
--- | --- | --- | ---
Which? | a | b | B
"""


def tables() -> tuple[FileTable, ...]:
    return markdown_tables.FORMAT.read(PAGE.encode(), "x.md").tables


def test_every_table_is_read_under_its_heading():
    first, second = tables()
    assert (first.title, second.title) == ("法律", "table 2")
    assert first.heads == ("题目", "A", "B", "答案")
    assert second.rows[0].cells == ("Which?", "a", "b", "B")
    assert second.rows[0].line == 20


def test_cells_are_as_a_page_shows_them():
    table = tables()[0]
    assert [row.cells for row in table.rows] == [
        ("甲 | 乙？", "一\n行", "二", "A"),
        ("少一格", "一", "", ""),
    ]


def test_a_picture_in_a_row_is_a_fault():
    table = tables()[0]
    assert [(fault.line, fault.rule) for fault in table.faults] == [(9, "picture")]


@pytest.mark.parametrize(
    "text",
    ["question|A|answer\nWhich?|a|A\n", "a heading\n---\n", "a|b\n" + "-" * 30_000 + "\n"],
)
def test_other_texts_are_no_tables(text: str):
    assert not markdown_tables.FORMAT.recognises(text.encode(), "x.md")
