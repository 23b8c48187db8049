"""A row of each published layout becomes the question it is; one that is not so is refused.

The layouts are those of the sets; the rows were written for this project.
"""

from typing import Any

import pytest

from evalui.benchmarks.index import find, read_index
from evalui.benchmarks.questions import UnreadableRow, fill, last_boxed, read_question

PAIR = {"sentence1": "猫在睡觉。", "sentence2": "有动物在睡觉。"}
ROWS: list[tuple[str, dict[str, Any], str, tuple[str, ...], str]] = [
    # name, row, a part of the question, options, the right option or the references
    (
        "obqa",
        {
            "question_stem": "Which melts?",
            "choices": {"text": ["ice", "stone"], "label": ["A", "B"]},
            "answerKey": "A",
        },
        "Which melts?",
        ("ice", "stone"),
        "ice",
    ),
    (
        "arc_challenge",
        {
            "id": "x",
            "question": "Which melts?",
            "choices": {"text": ["ice", "stone"], "label": ["1", "2"]},
            "answerKey": "2",
        },
        "Which melts?",
        ("ice", "stone"),
        "stone",
    ),
    (
        "commonsense_qa",
        {
            "question": "Where do fish live?",
            "choices": {"label": ["A", "B"], "text": ["water", "sky"]},
            "answerKey": "A",
        },
        "Where do fish live?",
        ("water", "sky"),
        "water",
    ),
    ("ax_b", PAIR | {"label": 1}, "follow that: 有动物", ("yes", "no"), "no"),
    (
        "humaneval",
        {
            "task_id": "HumanEval/0",
            "prompt": 'def add(a: int, b: int) -> int:\n    """Their sum."""\n',
            "entry_point": "add",
            "canonical_solution": "    return a + b\n",
            "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n",
        },
        "def add(",
        (),
        'def add(a: int, b: int) -> int:\n    """Their sum."""\n    return a + b\n',
    ),
    (
        "mbpp",
        {
            "task_id": 11,
            "text": "Write a function to add.",
            "code": "def add(a, b):\r\n  return a + b",
            "test_list": ["assert add(1, 2) == 3", "assert add(0, 0) == 0"],
            "test_setup_code": "",
            "challenge_test_list": [],
        },
        "pass these tests:\n\nassert add(1, 2) == 3\nassert add(0, 0) == 0",
        (),
        "def add(a, b):\r\n  return a + b",
    ),
    ("ax_b", PAIR | {"label": "entailment"}, "follow that: 有动物", ("yes", "no"), "yes"),
    ("ax_g", {"premise": "P.", "hypothesis": "H.", "label": 0}, "P.", ("yes", "no"), "yes"),
    ("rte", {"premise": "P.", "hypothesis": "H.", "label": "1"}, "H.", ("yes", "no"), "no"),
    (
        "siqa",
        {
            "context": "Ann fell.",
            "question": "What next?",
            "answerA": "cry",
            "answerB": "fly",
            "answerC": "rust",
            "label": "1",
        },
        "Ann fell.\nWhat next?",
        ("cry", "fly", "rust"),
        "cry",
    ),
    (
        "nq",
        {"question": "who wrote hamlet", "answer": ["Shakespeare"]},
        "hamlet?",
        (),
        "Shakespeare",
    ),
    (
        "winogrande",
        {"sentence": "The _ is big.", "option1": "cup", "option2": "sea", "answer": "2"},
        "The _ is big.",
        ("cup", "sea"),
        "sea",
    ),
    (
        "mmlu",
        {"question": "2+2?", "subject": "sums", "choices": ["3", "4", "5", "6"], "answer": "1"},
        "2+2?",
        ("3", "4", "5", "6"),
        "4",
    ),
    (
        "mmlu",
        {"question": "2+2?", "A": "3", "B": "4", "C": "5", "D": "6", "answer": "B"},
        "2+2?",
        ("3", "4", "5", "6"),
        "4",
    ),
    (
        "mmlu_pro",
        {"question": "2+2?", "options": ["3", "4", "5"], "answer": "B", "category": "math"},
        "2+2?",
        ("3", "4", "5"),
        "4",
    ),
    (
        "boolq",
        {"question": "is it", "passage": "It is.", "answer": True},
        "It is.",
        ("no", "yes"),
        "yes",
    ),
    (
        "cluewsc",
        {"text": "他把书给了她。", "target": {"span1_text": "他", "span2_text": "她"}, "label": 1},
        "“她”指的是“他”",
        ("是", "否"),
        "否",
    ),
    ("ocnli", PAIR | {"label": 1}, "猫在睡觉", ("中立", "蕴含", "矛盾"), "蕴含"),
    ("cmnli", PAIR | {"label": 2}, "猫在睡觉", ("中立", "蕴含", "矛盾"), "矛盾"),
    ("ocnli_fc", PAIR | {"label": "neutral"}, "猫在睡觉", ("中立", "蕴含", "矛盾"), "中立"),
    (
        "cmrc",
        {"context": "书在桌上。", "question": "书在哪？", "answers": {"text": ["桌上", "桌上"]}},
        "书在桌上。\n\n书在哪？",
        (),
        "桌上",
    ),
    (
        "drcd",
        {"context": "甲。", "question": "乙？", "answers": {"text": ["丙"]}},
        "乙？",
        (),
        "丙",
    ),
    (
        "ceval",
        {"question": "谁？", "A": "甲", "B": "乙", "C": "丙", "D": "丁", "answer": "C"},
        "谁？",
        ("甲", "乙", "丙", "丁"),
        "丙",
    ),
    (
        "cmmlu",
        {"Question": "谁？", "A": "甲", "B": "乙", "C": "丙", "D": "丁", "Answer": "D"},
        "谁？",
        ("甲", "乙", "丙", "丁"),
        "丁",
    ),
    ("csl", {"abst": "摘要文", "keyword": ["一", "二"], "label": 0}, "一、二", ("否", "是"), "否"),
    ("bbh", {"input": "not ( True ) is", "target": "False"}, "not ( True )", (), "False"),
    (
        "record",
        {"passage": "P", "query": "@placeholder won", "entities": ["A", "B"], "answers": ["A"]},
        "@placeholder won",
        (),
        "A",
    ),
    (
        "math",
        {"problem": "Halve 3.", "solution": "It is $\\boxed{\\frac{3}{2}}$."},
        "Halve 3.",
        (),
        "\\frac{3}{2}",
    ),
    ("gsm8k", {"question": "1+1?", "answer": "It is 2.\n#### 2"}, "1+1?", (), "2"),
    ("eprstmt", {"sentence": "很好", "label": "Positive"}, "很好", ("负面", "正面"), "正面"),
    ("bustm", PAIR | {"label": "0"}, "句子二", ("不同", "相同"), "不同"),
    ("afqmc", PAIR | {"label": 1}, "句子二", ("不同", "相同"), "相同"),
    (
        "chid",
        {"content": "他#idiom#。", "candidates": ["一心一意", "三心二意"], "answer": 1},
        "他#idiom#。",
        ("一心一意", "三心二意"),
        "三心二意",
    ),
    (
        "wsc",
        {"text": "Ann saw her.", "span1_text": "Ann", "span2_text": "her", "label": 0},
        "“her” refer to “Ann”",
        ("no", "yes"),
        "no",
    ),
    (
        "storycloze",
        {
            **{f"input_sentence_{n}": f"S{n}." for n in range(1, 5)},
            "sentence_quiz1": "Good.",
            "sentence_quiz2": "Bad.",
            "answer_right_ending": 2,
        },
        "S1. S2. S3. S4.",
        ("Good.", "Bad."),
        "Bad.",
    ),
    (
        "multirc",
        {"paragraph": "P", "question": "Q", "answer": "A", "label": 1},
        "Is this answer right: A",
        ("no", "yes"),
        "yes",
    ),
    (
        "piqa",
        {"goal": "Dry it", "sol1": "sun", "sol2": "rain", "label": 0},
        "Dry it",
        ("sun", "rain"),
        "sun",
    ),
    ("lcsts", {"text": "长文", "summary": "短文"}, "长文", (), "短文"),
    ("strategyqa", {"question": "Can fish fly?", "answer": False}, "fish", ("no", "yes"), "no"),
    ("xsum", {"document": "Long.", "summary": "Short."}, "Long.", (), "Short."),
    (
        "agieval",
        {"passage": None, "question": "Q?", "options": ["(A)x", "(B)y"], "label": "B"},
        "Q?",
        ("(A)x", "(B)y"),
        "(B)y",
    ),
    (
        "gaokao",
        {"passage": "文", "question": "问？", "options": ["(A)甲", "(B)乙"], "label": "A"},
        "文\n\n问？",
        ("(A)甲", "(B)乙"),
        "(A)甲",
    ),
    (
        "c3",
        {
            "context": ["甲：早。", "乙：早。"],
            "question": "何时？",
            "choice": ["早上", "晚上"],
            "answer": "早上",
        },
        "甲：早。\n乙：早。\n\n何时？",
        ("早上", "晚上"),
        "早上",
    ),
    ("tnews", {"sentence": "球赛", "label": 3}, "球赛", find("tnews").options, "体育"),  # type: ignore[list-item]
    ("tnews", {"sentence": "球赛", "label": "103"}, "球赛", find("tnews").options, "体育"),  # type: ignore[list-item]
    (
        "race",
        {"article": "Text.", "question": "What?", "options": ["a", "b", "c", "d"], "answer": "D"},
        "Text.\n\nWhat?",
        ("a", "b", "c", "d"),
        "d",
    ),
    ("triviaqa", {"question": "Who?", "answer": {"aliases": ["Ann", "A."]}}, "Who?", (), "Ann"),
    (
        "cb",
        {"premise": "P", "hypothesis": "H", "label": 2},
        "P\nH",
        ("true", "false", "neither"),
        "neither",
    ),
    (
        "wic",
        {"sentence1": "S1", "sentence2": "S2", "word": "bank", "label": 1},
        "“bank”",
        ("no", "yes"),
        "yes",
    ),
    (
        "hellaswag",
        {"activity_label": "Run", "ctx": "He runs", "endings": ["on", "off"], "label": "1"},
        "Run: He runs",
        ("on", "off"),
        "off",
    ),
    (
        "summedits",
        {"doc": "D", "summary": "S", "label": 0, "domain": "news"},
        "Summary: S",
        ("no", "yes"),
        "no",
    ),
    (
        "arc_easy",
        {"question": "Q", "choices": {"text": ["x"], "label": ["A"]}, "answerKey": "A"},
        "Q",
        ("x",),
        "x",
    ),
    (
        "copa",
        {
            "premise": "It fell.",
            "question": "cause",
            "choice1": "wind",
            "choice2": "sun",
            "label": 0,
        },
        "What was the cause",
        ("wind", "sun"),
        "wind",
    ),
    (
        "medmcqa",
        {"question": "Q", "opa": "a", "opb": "b", "opc": "c", "opd": "d", "cop": 3},
        "Q",
        ("a", "b", "c", "d"),
        "d",
    ),
    (
        "truthfulqa",
        {"question": "Q", "mc1_targets": {"choices": ["t", "f"], "labels": [1, 0]}},
        "Q",
        ("t", "f"),
        "t",
    ),
]


@pytest.mark.parametrize(("name", "row", "part", "options", "right"), ROWS)
def test_a_row_of_each_layout(
    name: str, row: dict[str, Any], part: str, options: tuple[str, ...], right: str
):
    question = read_question(row, find(name))
    assert part in question.question
    assert "{" not in question.question
    assert question.options == options
    if find(name).kind != "choice":
        assert question.references[0] == right
    else:
        assert question.right is not None
        assert question.options[question.right] == right


def test_each_set_that_can_be_asked_has_a_row_here():
    sets = [each for each in read_index().values() if not each.pictures]
    asked = {each.name for each in sets if not each.unsupported}
    assert {name for name, *_ in ROWS} == asked


def test_the_tests_of_a_program_stand_as_they_run():
    rows = {name: row for name, row, *_ in ROWS}
    human = read_question(rows["humaneval"], find("humaneval"))
    assert human.tests.endswith("== 3\n\n\ncheck(add)")
    assert human.starter == rows["humaneval"]["prompt"]
    setup = rows["mbpp"] | {"test_setup_code": "one = 1"}
    basic = read_question(setup, find("mbpp"))
    assert basic.tests == "one = 1\n\nassert add(1, 2) == 3\nassert add(0, 0) == 0"
    assert basic.starter == ""
    with pytest.raises(UnreadableRow, match="no test_list"):
        read_question({k: v for k, v in setup.items() if k != "test_list"}, find("mbpp"))


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("winogrande", {"answer": "3"}, "none of"),
        ("winogrande", {"answer": "0"}, "none of"),
        ("winogrande", {"sentence": ["a list of"]}, ""),
        ("hellaswag", {"endings": "one text"}, "no list"),
        ("hellaswag", {"label": "2"}, "none of"),
        ("arc_challenge", {"answerKey": "A"}, "none of"),
        ("truthfulqa", {"mc1_targets": {"choices": ["t", "f"], "labels": [1, 1]}}, "single"),
        ("gsm8k", {"answer": "2"}, "####"),
        ("math", {"solution": "3/2"}, "boxed"),
        ("cluewsc", {"target": {"span1_text": "他"}}, "no target.span2_text"),
    ],
)
def test_what_is_not_as_declared_is_refused(name: str, change: dict[str, Any], reason: str):
    row = next(row for own, row, *_ in ROWS if own == name)
    if not reason:  # a list is joined where a text may stand
        assert "a list of" in read_question(row | change, find(name)).question
        return
    with pytest.raises(UnreadableRow, match=reason):
        read_question(row | change, find(name))


def test_a_missing_field_names_those_that_are_there():
    with pytest.raises(UnreadableRow, match="no sentence among option1"):
        read_question({"option1": "a"}, find("winogrande"))


@pytest.mark.parametrize("hidden", ["", "-1", -1])
def test_an_answer_that_is_not_published_is_none(hidden: object):
    row = next(row for own, row, *_ in ROWS if own == "hellaswag")
    assert read_question(row | {"label": hidden}, find("hellaswag")).right is None


def test_a_set_without_subjects_in_its_rows_has_those_of_its_parts():
    row = next(row for own, row, *_ in ROWS if own == "cmmlu")
    assert read_question(row, find("cmmlu"), "anatomy").subject == "anatomy"


def test_braces_in_a_row_are_no_fields():
    assert fill("{a}", {"a": "{b}", "b": "x"}) == "{b}"


@pytest.mark.parametrize(
    ("solution", "answer"),
    [
        ("so \\boxed{1} or \\boxed{2}", "2"),
        ("\\boxed{\\frac{1}{2}}.", "\\frac{1}{2}"),
        ("$\\boxed 7$.", "7"),
        ("\\fbox{x}", "x"),
    ],
)
def test_the_last_boxed_text_is_the_answer(solution: str, answer: str):
    assert last_boxed(solution) == answer
