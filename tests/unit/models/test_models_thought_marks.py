import pytest

from evalui.models.thought_marks import (
    begins_with_mark,
    closes_thought,
    mentions_thoughts,
    opened_thought,
)

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
