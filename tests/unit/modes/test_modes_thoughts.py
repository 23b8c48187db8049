import pytest

from evalui.modes.thoughts import without_thoughts
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
