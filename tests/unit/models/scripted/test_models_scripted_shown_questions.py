"""What scripted models know is found as by looking for everything, only sooner."""

import re
import sys
from collections.abc import Callable, Sequence
from itertools import combinations, islice
from types import FrameType
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evalui.errors import ModelError
from evalui.generation import GenerationSettings
from evalui.models import ModelEntry
from evalui.models.scripted import ScriptedModel, shown_questions
from evalui.models.scripted.shown_questions import KnownSamples, SubstringFinder, read_slots
from evalui.modes import MODES, ModeSettings, plan_requests
from evalui.pictures import Mark
from evalui.types import LETTERS, Request, Sample, Variant

# Few letters, so that questions equal, begin, end and contain one another.
WORD = st.text("ab?", max_size=6)
OPTION = st.text("ab1A. ", max_size=4)
CHOICES = st.lists(OPTION, min_size=1, max_size=4, unique=True).map(tuple)
ASKED = st.builds(Sample, id=st.sampled_from("xyz"), question=WORD, choices=CHOICES)
OPENED = st.builds(
    Sample,
    id=st.sampled_from("xyz"),
    question=WORD,
    target=st.lists(st.sampled_from("pqr"), max_size=2).map(tuple),
    follow_ups=st.lists(WORD, max_size=2).map(tuple),
)
SAMPLES = st.lists(ASKED | OPENED, max_size=8)


@st.composite
def prompts(draw: Callable[..., Any], samples: Sequence[Sample]) -> str:
    """Questions of some samples, with their options or without, and other text in between."""
    parts: list[str] = []
    for sample in draw(st.lists(st.sampled_from(samples), max_size=4)) if samples else ():
        parts.append(draw(st.sampled_from((sample.question, *sample.follow_ups))))
        if draw(st.booleans()):
            shown = draw(st.permutations(sample.choices))
            parts += [f"{letter}. {text}" for letter, text in zip(LETTERS, shown, strict=False)]
        parts.append(draw(st.text("abA?. \n", max_size=5)))
    return draw(st.sampled_from(("", "\n"))).join(parts)


@st.composite
def shown(draw: Callable[..., Any]) -> tuple[list[Sample], str]:
    samples = draw(SAMPLES)
    return samples, draw(prompts(samples))


def slow_choice_sample(samples: Sequence[Sample], prompt: str) -> Sample | None:
    found = [
        (end, sample)
        for sample in samples
        if sample.choices
        for end in range(len(prompt), -1, -1)
        if end >= len(sample.question) and prompt[:end].endswith(sample.question)
        if sample.question or end == len(prompt)
    ]

    def fitness(match: tuple[int, Sample]) -> tuple[bool, int, int]:
        end, sample = match
        seen = all(choice in prompt[end:] for choice in sample.choices)
        return seen, end, len(sample.question)

    return max(found, key=fitness)[1] if found else None


def slow_open_turn(samples: Sequence[Sample], prompt: str) -> tuple[Sample, int] | None:
    ends = [
        (place + len(question), len(question), turn, sample)
        for sample in samples
        if not sample.choices
        for turn, question in enumerate((sample.question, *sample.follow_ups))
        if (place := prompt.rfind(question)) >= 0
    ]
    if not ends:
        return None
    _, _, turn, sample = max(ends, key=lambda match: match[:2])
    return sample, turn


def slow_slots(sample: Sample, prompt: str) -> tuple[int, ...] | None:
    ends = [end for end in range(len(prompt), -1, -1) if prompt[:end].endswith(sample.question)]
    return next((found for end in ends if (found := slow_slots_from(sample, prompt, end))), None)


def slow_slots_from(sample: Sample, prompt: str, place: int) -> tuple[int, ...] | None:
    texts = "|".join(re.escape(text) for text in sorted(sample.choices, key=len, reverse=True))
    found: list[int] = []
    for letter in LETTERS[: len(sample.choices)]:
        pattern = re.compile(rf"(?<![A-Za-z]){letter}\W{{0,4}}?({texts})(?=\s|$)")
        if (seen := pattern.search(prompt, place)) is None:
            return None
        found.append(sample.choices.index(seen[1]))
        place = seen.end()
    return tuple(found)


@given(shown())
@example(([Sample("1", "", (".",), ()), Sample("2", "a", ("a.",), ())], "aA. a."))
def test_the_question_is_the_one_that_a_search_for_all_finds(case: tuple[list[Sample], str]):
    samples, prompt = case
    assert KnownSamples(samples).find_choice_sample(prompt) is slow_choice_sample(samples, prompt)


@given(shown())
def test_the_turn_is_the_one_that_a_search_for_all_finds(case: tuple[list[Sample], str]):
    samples, prompt = case
    found, slow = KnownSamples(samples).find_open_turn(prompt), slow_open_turn(samples, prompt)
    assert (found is None) == (slow is None)
    if found and slow:
        assert found[0] is slow[0]
        assert found[1] == slow[1]


@given(st.lists(OPENED, min_size=1, max_size=8), st.integers(0, 7))
def test_the_others_are_all_references_but_the_own(samples: list[Sample], at: int):
    own = samples[at % len(samples)]
    others = KnownSamples(samples).other_references(own)
    slow = [text for sample in samples if sample != own for text in sample.references]
    assert [others[place] for place in range(len(others))] == slow


@given(ASKED, st.data())
def test_slots_are_those_a_pattern_reads(sample: Sample, data: st.DataObject):
    prompt = data.draw(prompts([sample]))
    slow = slow_slots(sample, prompt)
    if slow is None:
        with pytest.raises(ModelError, match="can be made out"):
            read_slots(sample, prompt)
    else:
        assert read_slots(sample, prompt) == slow


def test_a_question_whose_text_is_in_one_of_its_options_is_found():
    organ = Sample("organ", "appendix", ("the colon", "the appendix", "an appendix", "none"), 0)
    other = Sample("other", "Which organ?", ("heart", "appendix", "lung", "skin"), 0)
    known = KnownSamples([organ, other])
    prompt = "Question: appendix\nA. the appendix\nB. an appendix\nC. none\nD. the colon\nAnswer:"
    assert known.find_choice_sample(prompt) is organ
    assert read_slots(organ, prompt) == (1, 2, 3, 0)
    prompt = "Question: Which organ?\nA. skin\nB. lung\nC. heart\nD. appendix\nAnswer:"
    assert known.find_choice_sample(prompt) is other


def test_equal_questions_are_distinguished_by_their_options():
    alike = [
        Sample(str(n), "Which is right?", (f"{n} m", "all", "none", f"{n} s"))
        for n in range(10, 50)
    ]
    known = KnownSamples(alike)
    for sample in alike:
        prompt = "\n".join((sample.question, *sample.choices))
        assert known.find_choice_sample(prompt) is slow_choice_sample(alike, prompt) is sample
    assert known.find_choice_sample("Which is right?") is alike[0]


CHOOSING = MODES["multiple_choice"], ModeSettings(shots={})
CLOZE = MODES["cloze"], ModeSettings(shots={})
WRITTEN = MODES["question_answer"], ModeSettings(shots={})


def different(count: int) -> list[Sample]:
    return [
        Sample(str(n), f"{n} is the sum of which two numbers?", (f"{n}a", f"{n}b"), 0)
        for n in range(count)
    ]


def equal(count: int) -> list[Sample]:
    return [
        Sample(str(n), "Which of these is right?", (f"{n:04} m", f"{n:04} s"), 0)
        for n in range(count)
    ]


def pooled(count: int) -> list[Sample]:
    """Equal questions with options that many others have, too."""
    sets = islice(combinations([f"text {letter}" for letter in "abcdefghijklmn"], 4), count)
    return [Sample(str(n), "Which of these is right?", some, 0) for n, some in enumerate(sets)]


def open_questions(count: int) -> list[Sample]:
    return [Sample(str(n), f"{n} is how much?", target=(f"It is {n}.",)) for n in range(count)]


@pytest.mark.parametrize(
    ("make", "way"),
    [
        (different, CHOOSING),
        (different, CLOZE),
        (equal, CHOOSING),
        (pooled, CHOOSING),
        (open_questions, WRITTEN),
    ],
    ids=["questions", "cloze", "equal questions", "shared options", "open questions"],
)
def test_ten_times_the_questions_are_no_more_work_for_one_answer(
    make: Callable[[int], list[Sample]], way: tuple[Any, ModeSettings]
):
    mode, setting = way

    def work(count: int) -> int:
        samples = make(count)
        entry = ModelEntry("noisy", "scripted", options={"rule": "noisy"})
        model = ScriptedModel(entry, samples)
        sample = samples[57]
        requests = mode.plan(sample, Variant(tuple(range(len(sample.choices)))), setting)
        list(model.answer(requests))  # what is made once is made
        return instructions(model, requests)

    assert work(1000) < 1.2 * work(100)


def instructions(model: ScriptedModel, requests: Sequence[Request]) -> int:
    """How many instructions of Python the answers take."""
    count = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        del argument
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        list(model.answer(requests))
    finally:
        sys.settrace(before)
    return count


def test_a_text_is_compared_only_where_an_option_begins(monkeypatch: pytest.MonkeyPatch):
    compared: list[str] = []

    def compare(prompt: str, start: int, text: str) -> bool:
        compared.append(text)
        return is_option_at(prompt, start, text)

    is_option_at = shown_questions._is_option_at
    monkeypatch.setattr(shown_questions, "_is_option_at", compare)
    sample = Sample("sum", "How much?", ("seven", "eight", "nine", "ten"), 0)
    prompt = "How much?\nA. ten\nB. nine\nC. eight\nD. seven\nAnswer:"
    assert read_slots(sample, prompt) == (3, 2, 1, 0)
    assert len(compared) == 1 + 2 + 3 + 4  # the longest text first


def test_only_places_after_a_last_character_are_searched(monkeypatch: pytest.MonkeyPatch):
    searched: list[int] = []

    def is_candidate(finder: SubstringFinder, prompt: str, end: int) -> bool:
        searched.append(end)
        return candidate(finder, prompt, end)

    candidate = SubstringFinder._is_candidate
    monkeypatch.setattr(SubstringFinder, "_is_candidate", is_candidate)
    questions = [f"How much is {n} times itself?" for n in range(100)]
    prompt = "".join(f"{question}\nA. much\nB. little\nAnswer: A\n\n" for question in questions)
    ended, first = next(SubstringFinder(questions).occurrences(prompt))
    assert (prompt[:ended].endswith(first), first) == (True, questions[-1])
    assert len(searched) == 1


PICTURE = str(Mark("0" * 32))


@pytest.mark.parametrize(
    "question", [f"{PICTURE}\nWhich?", f"Which?\n{PICTURE}", f"See {PICTURE}?"]
)
@pytest.mark.parametrize("mode", ["multiple_choice", "generation"])
def test_a_question_is_found_with_its_picture_and_without(question: str, mode: str):
    samples = [
        Sample("other", f"{question} And then?", ("a", "b"), 0),
        Sample("own", question, ("a", f"b {PICTURE}"), 1),
    ]
    model = ScriptedModel(ModelEntry("m", "scripted", options={"rule": "perfect"}), samples)
    for shown in (GenerationSettings(), GenerationSettings(pictures="none")):
        setting = ModeSettings(shots={}, generation=shown)
        for order in ((0, 1), (1, 0)):
            variant = Variant(order)
            requests = plan_requests(MODES[mode], samples[1], variant, setting)
            responses = [response for _, response in model.answer(requests)]
            assert MODES[mode].grade(samples[1], variant, responses, setting).correct


def test_an_open_question_is_found_without_its_picture():
    known = KnownSamples(
        [Sample("own", f"{PICTURE}\nWho?", target=("x",)), Sample("b", "Whom?", target=("y",))]
    )
    for asked in (f"{PICTURE}\nWho?", "Who?"):
        found = known.find_open_turn(f"Now: {asked}")
        assert found is not None
        assert (found[0].id, [*known.other_references(found[0])]) == ("own", ["y"])
