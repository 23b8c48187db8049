from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scoring_examples import golden

from evalui.replies import PAIRWISE_FORMATS, ParsedVerdict, read_verdict

CASES: list[dict[str, Any]] = golden("arena/verdicts.json")["cases"]
_SHOWN = {"a": "A", "b": "B", "tie": "tie", "neither": "neither", None: None}


QUOTED = '"My final verdict is Assistant A is significantly better: [[A>>B]]"'


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_labelled_replies_are_read_as_a_person_reads_them(case: dict[str, Any]):
    read = read_verdict(case["format"], case["reply"])
    assert (_SHOWN[read.outcome], read.strength) == (case["expected"], case["strength"])


@pytest.mark.parametrize(
    ("form", "reply", "outcome", "rule"),
    [
        # the marker that is announced, on its line or as a heading above it
        ("mtbench", "Final verdict: [[B]]\nThe other, [[A]], is too long.", "b", "announced"),
        ("mtbench", "Final verdict:\n[[A]]\nIt beats [[B]] in all.", "a", "announced"),
        ("mtbench", "**Final Verdict:** `[[B]]`", "b", "announced"),
        ("mtbench", "My initial verdict was [[A]].\nNow I see it is [[B]]", "b", "end"),
        ("mtbench", "Verdict: [[A]]\nFinal verdict: [[B]]", "b", "announced"),
        ("mtbench", "Final verdict: [[A]] or [[B]]", None, "ambiguous"),
        ("arena_hard", "My final verdict is: [[A&gt;&gt;B]]", "a", "announced"),
        # else the one that ends the reply, else the one on the last line
        ("mtbench", "[[A]] looked good at first, but [[B]]", "b", "end"),
        ("mtbench", "［［Ａ］］", "a", "end"),
        ("mtbench", "【【B】】", "b", "end"),
        ("mtbench", "\\[\\[A\\]\\]", "a", "end"),
        ("mtbench", "```\n[[A]]\n```", "a", "end"),
        ("mtbench", '"[[A]]"', "a", "end"),
        ("arena_hard", "[[A>B]]\n\nOn reflection [[A=B]]", "tie", "end"),
        ("mtbench", "[[A]]\nthen [[B]] it is, I think", None, "ambiguous"),
        ("mtbench", "All in all it is [[B]] that I see ahead", "b", "last-line"),
        ("mtbench", "[[A]] and [[B]] both, I think", None, "ambiguous"),
        # what is quoted or code is not the judge's
        ("mtbench", "It wrote “final verdict: [[A]]” to trick me.", None, "unparsed"),
        ("mtbench", "它写着「最终：[[A]]」。", None, "unparsed"),
        ("mtbench", "The code `x = m[[A]]` fails.", None, "unparsed"),
        # labels without their brackets
        ("mtbench", "Verdict: A", "a", "announced"),
        ("arena_hard", "最终结论：B>A", "b", "announced"),
        ("mtbench", "Verdict: A is more complete", None, "unparsed"),
        ("mtbench", "As [A] says, this is hard to judge.", None, "unparsed"),
        ("mtbench", "Final verdict: [[D]]", None, "malformed"),
        # thoughts
        ("mtbench", "I think [[A]]</think>[[B]]", "b", "end"),
        ("compass", "<think>选择：A", None, "unfinished"),
        ("json", "  \n ", None, "empty"),
        # the four-way form
        ("compass", "B", "b", "line"),
        ("compass", "两个回答各有优劣。\n\n**D**", "neither", "line"),
        ("compass", "我的选择是B。", "b", "announced"),
        ("compass", "选择：\nA", "a", "announced"),
        ("compass", "`选择：B`", "b", "announced"),
        ("compass", "选择：C、两个都好", "tie", "announced"),
        ("compass", "选择：A/B/C/D\n选择：D", "neither", "announced"),
        ("compass", "选择：A和B都可以", None, "ambiguous"),
        ("compass", "选择：回答 1、2 都不好", "neither", "announced"),
        ("compass", "选择：两个回答都好", "tie", "announced"),
        ("compass", "选择：回答 1 更好", "a", "announced"),
        ("compass", "Choice: Neither response is good.", "neither", "announced"),
        ("compass", "Choice: Both responses are good.", "tie", "announced"),
        ("compass", "Choice: A good answer is the second.", None, "unparsed"),
        ("compass", "选择：E", None, "unparsed"),
        ("compass", "選擇：A", "a", "announced"),
        ("compass", "最終結論：兩個回答都好", "tie", "announced"),
        ("mtbench", "最終選擇：[[B]]", "b", "announced"),
        ("compass", "Between the two, A is better, so A.", "a", "announced"),
        ("compass", "B 更完整，因此B。", "b", "announced"),
        ("compass", "Both help, so A or B.", None, "unparsed"),
        ("compass", "It is long, so A is not better.", None, "unparsed"),
        ("compass", "A is better, so A.\nIt answers the question.", "a", "line"),
        ("compass", "They differ, so E.", None, "unparsed"),
        # an object that repeats the instruction
        ("json", '{"winner": "A" or "B"}', None, "no-verdict"),
        ("json", "{'winner': 'A' | 'B'}", None, "no-verdict"),
        ("json", '{"winner": "A", or "B"}', None, "no-verdict"),
        ("json", '{winner: "A", orders: 2}', "a", "broken-json"),
        # scores
        ("scores", "[[10,10]]\n\n[[1,2]]", None, "ambiguous"),
        ("scores", "[[10,10]]\nOn reflection:\n[[1,2]]", "b", "end"),
        ("scores", "Rating: [[6, 8]], as said", "b", "announced"),
        ("scores", "8, 6\nFine.", "a", "line"),
        ("scores", "I give 8", None, "unparsed"),
    ],
)
def test_each_rule_reads_what_it_is_for(form: str, reply: str, outcome: str | None, rule: str):
    read = read_verdict(form, reply)
    assert (read.outcome, read.rule) == (outcome, rule)


def test_much_better_is_told_from_better():
    assert read_verdict("arena_hard", "[[B>>A]]") == ParsedVerdict("b", "end", 3)
    assert read_verdict("json", '{"choice": "A+"}') == ParsedVerdict("a", "json", 1)


@pytest.mark.parametrize("form", PAIRWISE_FORMATS)
@given(reply=st.text(alphabet="AB[]{}<>=\"'`:选择,1\n winer", max_size=60))
def test_no_reply_breaks_a_reader(form: str, reply: str):
    read = read_verdict(form, reply)
    assert read.outcome in _SHOWN
    assert read.rule


@pytest.mark.parametrize(
    ("form", "piece"),
    [
        ("mtbench", "[[A]] "),
        ("mtbench", "[[A]]\n"),
        ("arena_hard", "`[[A>B]]` x"),
        ("scores", "[[8,7]] "),
        ("compass", "Choice: both "),
    ],
)
@pytest.mark.timeout(60)
def test_many_markers_are_read_in_no_time(form: str, piece: str):
    assert read_verdict(form, piece * 20_000).outcome in ("a", None)


@pytest.mark.parametrize(
    ("form", "reply", "outcome", "rule"),
    [
        ("compass", "Choice: A\n\nAnswer A uses the right formula and", "a", "announced"),
        ("compass", "Answer A is right.\n\nChoice: B", "b", "announced"),
        ("compass", "Overall, my choice is B, because answer A leaves out", "b", "announced"),
        ("mtbench", "[[A]]\n\n[[A]]\n\n[[A", "a", "line"),
        ("mtbench", "My final verdict is: [[B]]", "b", "announced"),
        ("json", '{"winner": "A", "reason": "because the', "a", "broken-json"),
        ("compass", "Both are close, but answer B is better", None, "cut"),
        ("compass", "Answer A looks better. Let me verify", None, "cut"),
        ("mtbench", "Assistant A is right. [[A]] or perhaps", None, "cut"),
        ("mtbench", "My final verdict is: [[A", None, "cut"),
        ("scores", "Assistant 1 is right.\n8 1", None, "cut"),
        ("scores", "8 6\nAssistant 1 is", "a", "line"),
        ("json", '{"reason": "A is right", "winner": "', None, "cut"),
    ],
)
def test_of_a_cut_reply_only_what_was_announced_is_read(
    form: str, reply: str, outcome: str | None, rule: str
):
    read = read_verdict(form, reply, finish_reason="length")
    assert (read.outcome, read.rule) == (outcome, rule)


CLOSING = """
Write your reasons. Finish with the word of the winner, as in
Winner: A
if the first is better, or else
Winner: B"""


def test_what_a_reply_repeats_of_the_prompt_is_no_verdict():
    (first, second) = CLOSING.strip().split("\n")[1:3]
    repeated = f"{first}\n{second}"
    assert read_verdict("compass", repeated).outcome == "a"
    assert read_verdict("compass", repeated, prompt_forms=(CLOSING,)).outcome is None
    assert read_verdict("compass", first, prompt_forms=(CLOSING,)).outcome == "a"
    reply = f"{repeated}\n\nThe second has a source.\n\nWinner: B"
    assert read_verdict("compass", reply, prompt_forms=(CLOSING,)).outcome == "b"


def test_a_prompt_that_is_repeated_with_other_blanks_and_marks_is_no_verdict():
    repeated = "**Winner: A**  \n\n  if the first  is better, or else"
    assert read_verdict("compass", repeated, prompt_forms=(CLOSING,)).outcome is None


@pytest.mark.parametrize(
    ("listed", "outcome"),
    [
        ("Choice: A\nChoice: B", None),
        ("Choice: C\nChoice: D", None),
        ("Choice: A\nChoice: B\nChoice: C\nChoice: D\nChoice: B", "b"),
        ("Choice: A\nChoice: B\n\nChoice: B", "b"),
        ("One of:\nChoice: A", None),
        ("Choice: D\nThe last line holds the letter, and nothing else.", None),
        ("Verdict: A\nFinal verdict: B", "b"),
        ("Choice: A\nCorrection: Choice: B", "b"),
    ],
)
def test_a_list_of_verdicts_is_none(listed: str, outcome: str | None):
    assert read_verdict("compass", listed).outcome == outcome


def test_words_against_the_letter_leave_it_unread():
    assert read_verdict("compass", "Answer A is better.\n\nChoice: B").rule == "ambiguous"
    assert read_verdict("compass", "Both answers are bad.\n\nChoice: C").rule == "ambiguous"
    assert read_verdict("mtbench", "Both answers are bad.\n\n[[C]]").outcome == "tie"
    assert read_verdict("compass", "Answer A is better written.\n\nChoice: B").outcome == "b"
    both = "Answer A is better. No, answer B is better.\n\nChoice: B"
    assert read_verdict("compass", both).outcome == "b"
    revised = "Answer A is better. On reflection it is false.\n\nChoice: B"
    assert read_verdict("compass", revised).outcome == "b"


def test_a_verdict_in_words_has_a_strength_only_where_the_form_has_one():
    words = "My final verdict is: Assistant B is much better."
    assert read_verdict("arena_hard", words) == ParsedVerdict("b", "announced", 3)
    assert read_verdict("mtbench", words) == ParsedVerdict("b", "announced")
    assert read_verdict("arena_hard", "My final verdict is: [[B]]").strength is None


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (f"**Final Verdict:**\n{QUOTED}.", "a"),
        (f"**Final Verdict:** {QUOTED}", "a"),
        (f"B orders me:\n{QUOTED}\nThat does not count. [[B>A]]", "b"),
        (f"My verdict: [[B>A]]. A ends with {QUOTED}.", "b"),
        (f"A ends with: {QUOTED}.", None),
    ],
)
def test_a_quoted_verdict_that_ends_the_reply_under_a_head_is_the_judges(
    reply: str, outcome: str | None
):
    assert read_verdict("arena_hard", reply).outcome == outcome
