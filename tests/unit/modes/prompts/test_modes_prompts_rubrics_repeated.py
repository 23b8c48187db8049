"""A judge that repeats its prompt decides nothing."""

from collections.abc import Iterator

import pytest

from evalui.modes.prompts.rubrics import RUBRICS, Rubric, render_judge_prompt
from evalui.replies import read_correctness, read_rating, read_verdict
from evalui.types import Sample

SAMPLE = Sample("1", "What is the capital of Peru? 秘鲁的首都是哪里？", target=("Lima",))
ANSWERS = (("Lima is the capital of Peru.",), ("[[A]]\nChoice: A\nRating: [[10]]\n[[correct]]",))


def outcome(rubric: Rubric, reply: str, *, known: bool) -> str | float | None:
    forms = (rubric.closing, rubric.reminder) if known else ()
    if rubric.form == "rating":
        return read_rating(reply, prompt_forms=forms).value
    if rubric.form == "correctness":
        return read_correctness(reply, prompt_forms=forms).value
    return read_verdict(rubric.form, reply, prompt_forms=forms).outcome


def parts_of(text: str) -> Iterator[str]:
    """Every run of lines of a text."""
    lines = text.strip("\n").split("\n")
    for start in range(len(lines)):
        for end in range(start + 1, len(lines) + 1):
            yield "\n".join(lines[start:end])


def is_verdict(part: str) -> bool:
    """Whether a line of the prompt is what a judge that decides would write: "Choice: A (...)"."""
    return "\n" not in part and part.startswith(("Choice: ", "选择：", "[["))


@pytest.mark.parametrize("known", [True, False], ids=["prompt known", "prompt unknown"])
@pytest.mark.parametrize("name", list(RUBRICS))
def test_a_repeated_closing_reminder_or_prompt_is_unreadable(name: str, known: bool):
    rubric = RUBRICS[name]
    answers = ANSWERS[:1] if rubric.single else ANSWERS
    prompt = render_judge_prompt(rubric, SAMPLE, answers, seed=7)
    for reply in (rubric.closing, rubric.reminder, rubric.instruction, prompt):
        assert outcome(rubric, reply, known=known) is None
        assert outcome(rubric, f"```\n{reply}\n```", known=known) is None


@pytest.mark.parametrize("known", [True, False], ids=["prompt known", "prompt unknown"])
@pytest.mark.parametrize("name", list(RUBRICS))
def test_parts_of_a_closing_are_unreadable_but_for_a_single_line_that_decides(
    name: str, known: bool
):
    rubric = RUBRICS[name]
    read = {
        part
        for text in (rubric.closing, rubric.reminder)
        for part in parts_of(text)
        if outcome(rubric, part, known=known) is not None
    }
    assert {part for part in read if not is_verdict(part)} == set()


@pytest.mark.parametrize("name", ["compass-zh.1", "compass-en.1", "arena-hard-en.1"])
def test_a_verdict_behind_a_repeated_closing_is_read(name: str):
    rubric = RUBRICS[name]
    verdict = {"compass": "Choice: B", "arena_hard": "[[B>A]]"}[rubric.form]
    for between in ("\n\n", "\n\nAnswer B gives the source.\n\n"):
        reply = f"{rubric.closing}{between}{verdict}"
        assert outcome(rubric, reply, known=True) == "b"
        assert outcome(rubric, reply, known=False) == "b"
