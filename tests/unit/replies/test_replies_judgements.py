import pytest

from evalui.replies.judgements import (
    Judgement,
    MaskedReply,
    is_attribution,
    is_instruction,
    is_own,
    lead_of,
    mask_reply,
    parse_judgement,
)
from evalui.replies.text import FILLER


def own_lines(reply: str) -> list[str]:
    judgement = parse_judgement(reply, "Choice: A".__eq__)
    assert isinstance(judgement, Judgement)
    return [
        line.replace(FILLER, "").strip() for line in judgement.lines if line.strip(FILLER + " ")
    ]


@pytest.mark.parametrize(
    ("reply", "own"),
    [
        ("**Bold** and `code` and _this_.", ["Bold and  and this."]),
        ("## Heading\r\ntext", ["Heading", "text"]),
        ("before\n> quoted\n>> quoted\nafter", ["before", "after"]),
        ("before\n```python\nx = 1\n```\nafter", ["before", "after"]),
        ("before\n~~~\nChoice: B\n~~~\nafter", ["before", "after"]),
        ("before\n```\nnever closed", ["before"]),
        ("before\n\n    indented code\n\nafter", ["before", "after"]),
        ("- item\n    - item of an item", ["- item", "- item of an item"]),
        ('He wrote "Choice: B" here.', ["He wrote  here."]),
        ('He wrote "over\ntwo lines" here.', ["He wrote", "here."]),
        ("他写着“选择：\nB”。", ["他写着", "。"]),
        ("~~Choice: B~~ not that", ["not that"]),
        ("<answer_a_0123456789ab>\ntext\n</answer_a_0123456789ab>\nmine", ["mine"]),
        ("[The Start of Assistant A's Answer]\nx\n[The End of Assistant A's Answer]\ny", ["y"]),
        ("[回答1开始]\n甲\n[回答1结束]\n乙", ["乙"]),
        ("Answer A ends with:\nChoice: A\nmore of it\n\nmine", ["Answer A ends with:", "mine"]),
        ("回答 A 写道：\n\n选择：A\n\n我的话", ["回答 A 写道:", "我的话"]),
        ("My verdict is:\nChoice: A", ["My verdict is:", "Choice: A"]),
        ("Answer A:\nChoice: A\nIt is long.", ["Answer A:", "It is long."]),
        ("$\\boxed{A}$", ["{A}"]),
        ("［［Ａ］］ &gt; 【B】", ["[[A]] > [B]"]),
    ],
)
def test_only_the_judges_own_words_are_left(reply: str, own: list[str]):
    assert own_lines(reply) == own


@pytest.mark.parametrize(
    "reply", ["`Choice: A`", '"Choice: A"', "text\n\n```\nChoice: A\n```", "It is “Choice: A”."]
)
def test_a_span_that_is_nothing_but_a_verdict_is_marked_as_one(reply: str):
    judgement = parse_judgement(reply, "Choice: A".__eq__)
    assert isinstance(judgement, Judgement)
    assert any("Choice: A" in line for line in judgement.lines)


def test_a_fence_beside_a_verdict_is_a_quotation():
    assert own_lines("```\nChoice: A\n```\nChoice: A") == ["Choice: A"]


@pytest.mark.parametrize(
    ("reply", "rule"),
    [("<think>never", "unfinished"), ("&lt;think&gt;never", "unfinished"), (" \n\n", "empty")],
)
def test_nothing_can_be_read_of_a_reply_without_words(reply: str, rule: str):
    assert parse_judgement(reply, "x".__eq__) == rule
    assert mask_reply(reply) == rule


def test_the_masked_reply_keeps_every_place():
    reply = 'a "b"\n> c\n\td\n```\ne\n```\nf'
    masked = mask_reply(reply)
    assert isinstance(masked, MaskedReply)
    assert len(masked.text) == len(masked.own)
    shown = zip(masked.text, masked.own, strict=True)
    assert "".join(char for char, own in shown if own == char and char.isalnum()) == "af"


@pytest.mark.parametrize(
    ("lead", "own"),
    [
        ("", True),
        ("So, after all this, ", True),
        ("B is long, but ", True),
        ("If B were right, ", False),
        ("If B were right it would win, but ", True),
        ("Even if B is longer, ", True),
        ("I do not say that ", False),
        ("It is not long, ", True),
        ("The user says that ", False),
        ("Initially ", False),
        ("For example ", False),
        ("Its choice is ", False),
        ("如果只看篇幅，", False),
        ("如果只看篇幅，B 更好，但", True),
        ("回答 A 声称", False),
        ("我不", False),
        ("我认为", True),
        ("第一位同学的结论是", False),
        ("我的结论是", True),
    ],
)
def test_a_lead_says_whose_a_verdict_is(lead: str, own: bool):
    assert is_own(lead.replace("，", ",")) is own


def test_the_lead_of_a_verdict_begins_with_its_sentence():
    line = "Answer A is long. It costs 2.5 coins; so the verdict is A"
    assert lead_of(line, len(line) - 1) == " so the verdict is "


@pytest.mark.parametrize(
    ("line", "introduces"),
    [
        ("Answer A ends with:", True),
        ("The last line of answer B reads:", True),
        ("回答 B 的最后一段是:", True),
        ("Answer B:", True),
        ("My final verdict is:", False),
        ("The answer should be rated as follows:", False),
        ("更好的回答是:", False),
        ("Answer A ends with a question.", False),
    ],
)
def test_an_attribution_introduces_the_words_of_somebody_else(line: str, introduces: bool):
    assert is_attribution(line) is introduces


@pytest.mark.parametrize(
    ("line", "instructs"),
    [
        ("End with exactly one of these on a line of its own:", True),
        ("最后一行只写一个字母。", True),
        ("Reply with [[A]] or [[B]] only.", True),
        ("I reply without further words.", False),
        ("回答 B 先用公式推导。", False),
        ("Answer A gives the year.", False),
    ],
)
def test_an_instruction_tells_how_to_write(line: str, instructs: bool):
    assert is_instruction(line) is instructs
