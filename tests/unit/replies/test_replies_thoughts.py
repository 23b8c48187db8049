import pytest

from evalui.replies import (
    begins_with_mark,
    closes_thought,
    mentions_thoughts,
    opened_thought,
    without_thoughts,
)
from evalui.types import GeneratedText, LabelProbs, Usage


@pytest.mark.parametrize(
    ("text", "spoken", "thoughts"),
    [
        ("B", "B", ""),
        ("<think>\nA?\n</think>\n\nB", "B", "A?"),
        ("◁think▷A?◁/think▷B", "B", "A?"),
        ("A?</think>\nB", "B", "A?"),
    ],
)
def test_thoughts_in_a_text_end_up_apart(text: str, spoken: str, thoughts: str):
    found = without_thoughts(GeneratedText(text, Usage(1, 2), "stop"))
    assert found == GeneratedText(spoken, Usage(1, 2), "stop", thoughts=thoughts)


def test_those_of_a_field_are_kept_before_those_of_the_text():
    found = without_thoughts(GeneratedText("<think>b</think>B", thoughts="a"))
    assert found == GeneratedText("B", thoughts="a\n\nb")


@pytest.mark.parametrize("text", ["<think>A?", "[THINK]The answer is A", "<think>a</think><think>"])
def test_a_text_that_was_cut_off_within_thoughts_is_no_answer(text: str):
    assert without_thoughts(GeneratedText(text, finish_reason="length")) is None


@pytest.mark.parametrize(
    ("text", "turn"),
    [
        ("Rome<|im_end|>", "Rome"),
        ("Rome.\n<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nWhy?", "Rome."),
        ("<think>Paris?</think>Rome</s>", "Rome"),
        ("Rome<｜end▁of▁sentence｜><｜User｜>And now?", "Rome"),
        ("Rome<|eom_id|>", "Rome"),
        ("<|im_end|>", ""),
        ("<|start_header_id|>\nRome", "Rome"),
    ],
)
def test_a_text_ends_where_the_model_ended_its_turn(text: str, turn: str):
    found = without_thoughts(GeneratedText(text, finish_reason="length"))
    assert isinstance(found, GeneratedText)
    assert (found.text, found.finish_reason) == (turn, "stop")


@pytest.mark.parametrize(
    "text",
    [
        'ChatML ends a turn with `<|im_end|>`, Llama 3 with "<|eot_id|>".',
        "<s>Paris</s> Rome",
        " Rome, if a < b [1]. ",
    ],
)
def test_a_mark_that_is_spoken_of_ends_nothing(text: str):
    found = GeneratedText(text, finish_reason="length")
    assert without_thoughts(found) is found


def test_what_is_no_text_stays_as_it_is():
    probs = LabelProbs((0.0,), 1.0, "<think>")
    assert without_thoughts(probs) is probs


# ------------------------------------------------------------------ marks

ASSISTANT = "<|im_start|>assistant\n"


@pytest.mark.parametrize(
    ("prompt", "mark"),
    [
        (ASSISTANT, ""),
        (f"{ASSISTANT}<think>\n", "<think>\n"),
        (f"{ASSISTANT}<think>", "<think>"),
        (f"{ASSISTANT}<think>\n\n</think>\n\n", ""),
        (f"{ASSISTANT}<seed:think>", "<seed:think>"),
        (f"{ASSISTANT}[THINK]", "[THINK]"),
        (f"{ASSISTANT}◁think▷", "◁think▷"),
        (f"<think>{ASSISTANT}<think>\n", "<think>\n"),
        ("What does <think> mean?" + ASSISTANT, ""),
        ("", ""),
    ],
)
def test_a_prompt_opens_a_thought_where_its_end_is_a_mark(prompt: str, mark: str):
    assert opened_thought(prompt) == mark


def test_marks_are_known_at_the_beginning_and_at_the_end_of_a_thought():
    assert begins_with_mark("<think>Well")
    assert not begins_with_mark("I think")
    assert closes_thought("Well</think>B")
    assert not closes_thought("<think>Well")


def test_a_template_that_can_open_thoughts_mentions_them():
    assert mentions_thoughts("{% if enable_thinking %}{{ '<think>\\n' }}{% endif %}")
    assert not mentions_thoughts("{{ message.content }}")
