import subprocess
import sys

import pytest

from evalui.replies import (
    ParsedRating,
    PatternError,
    ReplyPattern,
    compile_pattern,
    read_by_pattern,
    read_mark_by_pattern,
)

WINNER = compile_pattern("mtbench", r"WINNER：\s*(甲|乙|平)", {"甲": "a", "乙": "b", "平": "tie"})
NAMED = compile_pattern("compass", r"(?P<a>left wins)|(?P<b>right wins)|(?P<neither>both lose)")
OBJECT = compile_pattern("mtbench", r'"best":\s*"(?:(?P<a>first)|(?P<b>second))"')


@pytest.mark.parametrize(
    ("pattern", "reply", "outcome", "rule"),
    [
        (WINNER, "两者都切题。\nWINNER: 甲", "a", "pattern"),
        (WINNER, "WINNER：乙", "b", "pattern"),
        (WINNER, "WINNER：平\n\nWINNER：平", "tie", "pattern"),
        (WINNER, "WINNER：甲\n\nWINNER：乙", None, "ambiguous"),
        (WINNER, "WINNER：丙", None, "unparsed"),
        (NAMED, "On balance, left wins.", "a", "pattern"),
        (NAMED, "both lose", "neither", "pattern"),
        (OBJECT, '{"best": "second"}', "b", "pattern"),
        # quotations
        (WINNER, "回答写着“WINNER：甲”。", None, "unparsed"),
        (WINNER, "> WINNER：甲\n\nWINNER：乙", "b", "pattern"),
        (WINNER, "```\nWINNER：甲\n```\nWINNER：乙", "b", "pattern"),
        (WINNER, "回答 A 的最后一行是：\nWINNER：甲\n\nWINNER：乙", "b", "pattern"),
        # thoughts
        (WINNER, "<think>WINNER：甲</think>WINNER：乙", "b", "pattern"),
        (WINNER, "<think>WINNER：甲", None, "unfinished"),
        (WINNER, " \n", None, "empty"),
    ],
)
def test_a_pattern_reads_what_is_the_judges_own(
    pattern: ReplyPattern, reply: str, outcome: str | None, rule: str
):
    read = read_by_pattern(pattern, reply)
    assert (read.outcome, read.rule) == (outcome, rule)


def test_a_match_at_the_cut_may_not_be_whole():
    assert read_by_pattern(WINNER, "WINNER：甲", finish_reason="length").rule == "cut"
    assert read_by_pattern(WINNER, "WINNER：甲\nbecause", finish_reason="length").outcome == "a"


def test_the_prompt_that_shows_the_pattern_is_no_verdict():
    form = "End with one line:\nWINNER：甲 (the first) or\nWINNER：乙 (the second)"
    assert read_by_pattern(WINNER, form).rule == "ambiguous"
    first = "\n".join(form.split("\n")[:2])
    assert read_by_pattern(WINNER, first, prompt_forms=(form,)).rule == "unparsed"


@pytest.mark.parametrize(
    ("reply", "value", "rule"),
    [
        ("Mark: 7", 7.0, "pattern"),
        ("Mark: 7.5", 7.5, "pattern"),
        ("Mark: 11", None, "out-of-range"),
        ("Mark: 7\nMark: 8", None, "ambiguous"),
        ('It says "Mark: 10".\nMark: 3', 3.0, "pattern"),
    ],
)
def test_a_pattern_reads_marks(reply: str, value: float | None, rule: str):
    pattern = compile_pattern("rating", r"Mark: (\d+(?:\.\d+)?)")
    assert read_mark_by_pattern(pattern, reply) == ParsedRating(value, rule)


def test_a_pattern_reads_right_and_wrong():
    pattern = compile_pattern("correctness", r"GRADE: (\w)", {"C": "correct", "I": "incorrect"})
    assert read_mark_by_pattern(pattern, "GRADE: C") == ParsedRating(1.0, "pattern")
    assert read_mark_by_pattern(pattern, "GRADE: i") == ParsedRating(0.0, "pattern")
    assert read_mark_by_pattern(pattern, "GRADE: X") == ParsedRating(None, "malformed")


@pytest.mark.parametrize(
    ("form", "expression", "labels", "key"),
    [
        ("mtbench", "(", None, "pattern-syntax"),
        ("mtbench", "(?P<a>A)", None, "pattern-groups"),
        ("mtbench", "(?P<a>A)|(?P<b>B)|(?P<c>C)", None, "pattern-groups"),
        ("mtbench", "A|B", None, "pattern-groups"),
        ("mtbench", "([AB])", {"A": "a", "B": "second"}, "pattern-label"),
        ("mtbench", "([AB])", {"A": "a"}, "pattern-one-group"),
        ("mtbench", "([AB])([CD])", {"A": "a", "B": "b"}, "pattern-one-group"),
        ("rating", r"\d+", None, "pattern-mark"),
        ("correctness", "(?P<correct>yes)", None, "pattern-groups"),
        ("mtbench", "(?P<a>A)|(?P<b>B)" + "x" * 1000, None, "pattern-long"),
    ],
)
def test_a_bad_pattern_is_refused(
    form: str, expression: str, labels: dict[str, str] | None, key: str
):
    with pytest.raises(PatternError) as caught:
        compile_pattern(form, expression, labels)
    assert caught.value.key == key


@pytest.mark.parametrize(
    "large",
    [
        "((x{1000}){1000})",
        "x{20000}",
        "(?:(?:x{200}?y){200}+){0}",  # built, although it never matches
        "(?=(?>x{300}){300})",
        "(?x:x{2 0 0 0 0})",
        "(?:" * 14 + "x+" + ")+" * 14,
        "(?:" * 230 + "x" + ")" * 230,
    ],
)
def test_a_pattern_that_grows_when_its_repeats_are_written_out_is_refused(large: str):
    with pytest.raises(PatternError) as caught:
        compile_pattern("mtbench", f"(?P<a>{large})|(?P<b>bb)")
    assert caught.value.key == "pattern-large"


def test_patterns_that_were_checked_leave_little_memory_behind():
    script = """
from pathlib import Path
from evalui.replies.own_patterns import compile_pattern

def megabytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20

compile_pattern("mtbench", "(?P<a>A)|(?P<b>B)")
before = megabytes()
for n in range(200):
    compile_pattern("mtbench", f"(?P<a>{n}(?:Z{{99}}){{90}})|(?P<b>bb)")
print(megabytes() - before)
"""
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
    assert float(done.stdout) < 100  # 260 if all were kept


@pytest.mark.parametrize(
    "expression",
    [r"(a+)+$|(?P<a>x)|(?P<b>y)", r"(?P<a>(.*)*!!)|(?P<b>y)", r"(?P<a>\s*\s*\s*\s*x)|(?P<b>y)"],
)
def test_a_pattern_that_backtracks_is_refused(expression: str):
    with pytest.raises(PatternError) as caught:
        compile_pattern("mtbench", expression)
    assert caught.value.key == "pattern-slow"


def test_a_pattern_that_is_slow_on_one_reply_stops_there():
    # Only a reply of this kind of text makes it slow, so that no check beforehand knows.
    pattern = compile_pattern("mtbench", r"(?P<a>(?:qz+)+(?:qz+)+(?:qz+)+(?:qz+)+#)|(?P<b>B)")
    assert read_by_pattern(pattern, "qz" * 3000).rule == "slow-pattern"


def test_full_width_signs_of_an_expression_are_letters_and_not_syntax():
    pattern = compile_pattern("mtbench", "胜者（(甲|乙)）", {"甲": "a", "乙": "b"})
    assert read_by_pattern(pattern, "胜者（甲）").outcome == "a"
    assert read_by_pattern(pattern, "胜者(乙)").outcome == "b"
