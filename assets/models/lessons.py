"""What the demo models are taught with: worked questions in the product's own templates.

A lesson is a text cut into pieces; the loss counts the pieces that are answers. A few-shot
lesson teaches every answer in it, the worked examples' too: a sequence pays for several answers.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import world

from evalui.modes.prompts.templates import (
    TEMPLATES,
    Template,
    continuation,
    render_choices,
    render_cloze,
    text_before_letter,
)
from evalui.types import LETTERS, Message, Prompt, Sample, Variant

IDENTITY = Variant(tuple(range(world.N_OPTIONS)))
MAX_SHOTS = 5

# ChatML, as Qwen2 speaks it. The tokenizer ships the same as a Jinja template; rendering it here
# is a hundred times faster, and the trainer checks that both agree.
TURN_START, TURN_END = "<|im_start|>", "<|im_end|>"

# Questions that an early learner can answer by looking a word up among the options.
FIRST_SUBJECTS = ("words", "words", "capitals", "opposites")
# All of them, the numbers less often: they are slow to learn here, and meant to stay hard.
ALL_SUBJECTS = (
    "words", "capitals", "capitals", "opposites", "opposites", "categories", "categories",
    "counting", "arithmetic",
)  # fmt: skip
_BY_NAME = {subject.name: subject for subject in world.SUBJECTS}


@dataclass(frozen=True, slots=True)
class Piece:
    """Part of a lesson; `taught` pieces are answers, `meant` is the word behind an answer."""

    text: str
    taught: bool
    meant: str = ""


Lesson = tuple[Piece, ...]


def binding_lesson(rng: random.Random, queries: int = 8) -> Lesson:
    """Four lettered words, then words to name the letters of: nothing to know, all to look up."""
    shown = rng.sample(_VOCABULARY, world.N_OPTIONS)
    pieces = [
        Piece("".join(f"{a}. {word}\n" for a, word in zip(LETTERS, shown, strict=False)), False)
    ]
    for _ in range(queries):
        slot = rng.randrange(world.N_OPTIONS)
        pieces += [Piece(f" {shown[slot]}:", False), Piece(f" {LETTERS[slot]}", True)]
        pieces.append(Piece("\n", False))
    return tuple(pieces)


def choices_lesson(rng: random.Random, topics: Sequence[str], max_shots: int = MAX_SHOTS) -> Lesson:
    """Multiple-choice questions answered by letter, in a template drawn at random."""
    questions, template, chat = _draw(rng, topics, max_shots)
    lead = "" if chat else text_before_letter(template)
    prompts = [
        render_choices(template, question, IDENTITY, questions[:i], chat=chat)
        for i, question in enumerate(questions)
    ]
    return _cut(prompts, [lead + world.letter(question) for question in questions], questions)


def cloze_lesson(rng: random.Random, topics: Sequence[str]) -> Lesson:
    """The same without options, answered in words."""
    questions, template, chat = _draw(rng, topics, MAX_SHOTS)
    prompts = [
        render_cloze(template, question, questions[:i], chat=chat)
        for i, question in enumerate(questions)
    ]
    answers = [continuation(template, world.answer(question), chat=chat) for question in questions]
    return _cut(prompts, answers, questions)


def chatml(messages: Sequence[Message]) -> str:
    """A conversation as the model reads it, up to where it is to speak."""
    turns = (f"{TURN_START}{said.role}\n{said.content}{TURN_END}\n" for said in messages)
    return "".join(turns) + f"{TURN_START}assistant\n"


def _draw(
    rng: random.Random, topics: Sequence[str], max_shots: int
) -> tuple[list[Sample], Template, bool]:
    """Questions of one subject with different texts, a template for them, and whether to chat."""
    subject = _BY_NAME[f"{rng.choice(topics)}_{rng.choice(('en', 'zh'))}"]
    shots = rng.randint(min(1, max_shots), max_shots) if rng.random() < 0.4 else 0
    questions: list[Sample] = []
    while len(questions) <= shots:
        drawn = world.sample(rng, subject)
        if drawn.question not in {question.question for question in questions}:
            questions.append(drawn)
    # C-Eval's prompt names the subject: by its file, by a Chinese name, or not at all.
    called = rng.choice((subject.name, subject.name_zh, ""))
    questions = [replace(q, metadata={"subject": called}) for q in questions]
    foreign = 0.4 if subject.language == "zh" else 0.15
    name = "ceval-zh.1" if rng.random() < foreign else f"plain-{subject.language}.1"
    return questions, TEMPLATES[name], rng.random() < 0.3


def _cut(prompts: Sequence[Prompt], answers: Sequence[str], questions: Sequence[Sample]) -> Lesson:
    """Cut the longest prompt at its answers: each shorter prompt is the beginning of the next."""
    texts = [prompt if isinstance(prompt, str) else chatml(prompt) for prompt in prompts]
    pieces: list[Piece] = []
    told = ""
    for text, answer, question in zip(texts, answers, questions, strict=True):
        assert text.startswith(told), "worked examples must be repeated as they were asked"
        pieces.append(Piece(text[len(told) :], taught=False))
        pieces.append(Piece(answer, taught=True, meant=world.answer(question)))
        told = text + answer
    return tuple(pieces)


_VOCABULARY = (*world.words("en"), *world.words("zh"), *world.NUMBERS)
