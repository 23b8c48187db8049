"""Versioned prompts. A template is data: changing its text means giving it a new name."""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache, update_wrapper
from operator import is_
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar

from evalui.errors import SpecError
from evalui.registry import Registry
from evalui.replies import is_chinese
from evalui.types import LETTERS, Decide, Language, Message, Prompt, Sample, Variant

P = ParamSpec("P")
T = TypeVar("T")

_FOLDER = Path(__file__).parent
_NO_OPTIONS = Variant(())
DECISION_PROMPT = "decision.1"  # in signatures: raise it when what a decision is asked changes
_WHICH: Mapping[Language, str] = {
    "en": "Which option is the right answer to the question?",
    "zh": "哪个选项是该问题的正确答案？",
}
_ANSWER: Mapping[Language, str] = {"en": "Answer: ", "zh": "答案："}
_NO_QUESTION: Mapping[Language, str] = {"en": "The question is left out.", "zh": "题目已略去。"}
# The fields that each part of a template needs, and those that it may have.
_BLOCK_FIELDS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "question": (("question", "options"), ("subject",)),
    "chat_question": (("question", "options"), ("subject",)),
    "cloze": (("question",), ("subject",)),
    "chat_cloze": (("question",), ("subject",)),
    "option": (("letter", "text"), ()),
    "answer": (("answer",), ()),
    "cloze_answer": (("answer",), ()),
}


class CachedByIdentity(Generic[P, T]):
    """A function that is computed once for the same objects; `size` results are kept.

    The arguments must never be changed. They are kept beside the result, so that no other object
    gets their place in memory while the result is known.
    """

    def __init__(self, function: Callable[P, T], size: int) -> None:
        compute: Callable[..., T] = function

        @lru_cache(size)
        def cached(key: _Identities) -> T:
            return compute(*key.values)

        update_wrapper(self, function)
        self._cached = cached

    def __call__(self, *values: P.args, **named: P.kwargs) -> T:
        """The result for these very objects, which are given by position."""
        assert not named, "arguments are given by position"
        return self._cached(_Identities(values))

    @property
    def computed(self) -> int:
        """How many results were computed so far."""
        return self._cached.cache_info().misses


def cached_by_identity(size: int) -> Callable[[Callable[P, T]], CachedByIdentity[P, T]]:
    """A decorator, see `CachedByIdentity`."""
    return lambda function: CachedByIdentity(function, size)


class _Identities:
    """Objects as a key that equals the keys of these very objects only."""

    __slots__ = ("values",)

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.values = values

    def __hash__(self) -> int:
        return hash(tuple(map(id, self.values)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identities) and all(map(is_, self.values, other.values))


@dataclass(frozen=True, slots=True)
class Template:
    """How a question is put to a model.

    `question` is the block of one multiple-choice question with the fields {subject},
    {question} and {options}; `cloze` the block without options. `option` is one option's line
    with {letter} and {text}. In plain text a worked example is its block, then `answer` with
    {answer} (`cloze_answer` for cloze), and blocks are joined by `separator` (`lead` before the
    last one, `opening` before all). In a conversation each worked example is a turn and its
    answer, and `chat_question` replaces `question`. `unconditional` is the cloze context
    without the question (UN).
    """

    name: str
    language: Language
    question: str
    cloze: str
    answer: str
    unconditional: str
    cloze_answer: str = ""  # `answer` if empty
    option: str = "{letter}. {text}"
    separator: str = "\n\n"
    lead: str | None = None
    opening: str = ""
    chat_question: str = ""
    chat_cloze: str = ""
    subjectless: str = ""  # replaces the text up to the first line break when there is no subject


TEMPLATES: Registry[Template] = Registry("template")


def parse_template(values: dict[str, Any]) -> Template:
    """A user's own template; raises `SpecError` if a field is unknown, missing or misspelt."""
    known = {f.name for f in fields(Template)}
    if unknown := sorted(set(values) - known):
        raise SpecError("template-field", field=unknown[0], known=", ".join(sorted(known)))
    needed = ("name", "language", "question", "cloze", "answer", "unconditional")
    # The unconditional context may be empty: that stands for the model's begin-of-text token.
    given = {name for name, value in values.items() if value != "" or name == "unconditional"}
    if missing := [name for name in needed if name not in given]:
        raise SpecError("template-lacks", fields=", ".join(missing))
    for field, value in values.items():
        if not isinstance(value, str) and not (field == "lead" and value is None):
            raise SpecError("template-text", name=str(values["name"]), field=field)
    template = Template(**values)
    if template.name in TEMPLATES and TEMPLATES[template.name] != template:
        raise SpecError("template-shipped", name=template.name)
    for block, (needs, may) in _BLOCK_FIELDS.items():
        text: str = getattr(template, block)
        used = set(re.findall(r"\{(\w*)\}", text))
        if text and (not used.issuperset(needs) or used - {*needs, *may}):
            raise SpecError(
                "template-block",
                name=template.name,
                block=block,
                fields=", ".join(f"{{{field}}}" for field in needs),
            )
    return template


def choose_template(sample: Sample) -> Template:
    """The template of a sample when the run names none.

    C-Eval's own for its 52 subjects, else by the script of the question.
    """
    if sample.metadata.get("ceval_subject"):
        return TEMPLATES["ceval-zh.1"]
    return TEMPLATES["plain-zh.1" if is_chinese(sample.question) else "plain-en.1"]


def render_choices(
    template: Template,
    sample: Sample,
    variant: Variant,
    shots: Sequence[Sample],
    *,
    chat: bool,
) -> Prompt:
    """The multiple-choice prompt: worked examples in their own order, then the variant.

    What prompts share is rendered once: the examples of a subject, the text around the options of
    a question. So neither `sample` nor `shots` may be changed later.
    """
    block = _render_block(template, _form(template, chat, True), sample, variant)
    return _after_lead(_lead(template, shots, chat, True), block)


def render_cloze(
    template: Template, sample: Sample, shots: Sequence[Sample], *, chat: bool
) -> Prompt:
    """The cloze prompt: the question without its options; see `render_choices`."""
    block = _render_block(template, _form(template, chat, False), sample, _NO_OPTIONS)
    return _after_lead(_lead(template, shots, chat, False), block)


def render_decision(
    language: Language,
    question: str,
    options: tuple[tuple[str, str], ...],
    shots: Sequence[Sample],
) -> Decide:
    """A question as a decision between `options`, each a key and its text.

    Worked examples stand before the question, with their options and the text of the right one:
    keys are of one question only. What is blank is said to be left out.
    """
    known = [
        "\n".join(
            (
                shot.question or _NO_QUESTION[language],
                *(f"- {text}" for text in shot.choices),
                _ANSWER[language] + shot.choices[_target_of(shot)],
            )
        )
        for shot in shots
    ]
    context = "\n\n".join((*known, question or _NO_QUESTION[language]))
    return Decide(context, _WHICH[language], options)


def continuation(template: Template, text: str, *, chat: bool) -> str:
    """An option's text as it follows the cloze prompt: with the template's space, if it has one."""
    return text if chat else (template.cloze_answer or template.answer).replace("{answer}", text)


def text_before_letter(template: Template) -> str:
    """What stands between a plain prompt and the letter: a space, a line break or nothing."""
    return template.answer.partition("{answer}")[0]


def _form(template: Template, chat: bool, options: bool) -> str:
    """The form of a question, with its options or without."""
    if options:
        return (chat and template.chat_question) or template.question
    return (chat and template.chat_cloze) or template.cloze


@cached_by_identity(256)
def _lead(template: Template, shots: Sequence[Sample], chat: bool, options: bool) -> Prompt:
    """All of a prompt before its question: the opening and the worked examples."""
    form = _form(template, chat, options)
    turns = [
        (
            _render_block(
                template, form, shot, _identity_variant(shot) if options else _NO_OPTIONS
            ),
            LETTERS[_target_of(shot)] if options else shot.choices[_target_of(shot)],
        )
        for shot in shots
    ]
    if chat:
        return tuple(
            message
            for prompt, answer in turns
            for message in (Message("user", prompt), Message("assistant", answer))
        )
    if not turns:
        return template.opening
    after = template.answer if options else template.cloze_answer or template.answer
    blocks = [prompt + after.replace("{answer}", answer) for prompt, answer in turns]
    lead = template.separator if template.lead is None else template.lead
    return template.opening + template.separator.join(blocks) + lead


def _after_lead(lead: Prompt, question: str) -> Prompt:
    return lead + question if isinstance(lead, str) else (*lead, Message("user", question))


def _render_block(template: Template, form: str, sample: Sample, variant: Variant) -> str:
    around, lines = _block_parts(template, form, sample)
    shown = [lines[slot][content] for slot, content in enumerate(variant.permutation)]
    return "\n".join(shown).join(around)


@cached_by_identity(256)
def _block_parts(
    template: Template, form: str, sample: Sample
) -> tuple[list[str], list[list[str]]]:
    """The block of a question, cut wherever its options stand, and by slot the line of each."""
    subject = sample.metadata.get("subject_zh") or sample.subject
    if not subject and template.subjectless:
        form = template.subjectless + "\n" + form.partition("\n")[2]
    values = {"subject": subject, "question": sample.question}
    around = [""]
    # One pass, because texts may hold braces of their own.
    for place, part in enumerate(re.split(r"\{(\w+)\}", form)):
        if place % 2 and part == "options":
            around.append("")
        else:
            around[-1] += values.get(part, f"{{{part}}}") if place % 2 else part
    lines = [
        [text.join(_option_affixes(template.option, letter)) for text in sample.choices]
        for letter in LETTERS[: len(sample.choices)]
    ]
    return around, lines


@lru_cache(256)
def _option_affixes(form: str, letter: str) -> tuple[str, ...]:
    """What stands around the text of an option with this letter."""
    return tuple(form.replace("{letter}", letter).split("{text}"))


def _identity_variant(sample: Sample) -> Variant:
    return Variant(tuple(range(len(sample.choices))))


def _target_of(sample: Sample) -> int:
    assert isinstance(sample.target, int), "worked examples are multiple choice"
    return sample.target


_SHIPPED = tomllib.loads((_FOLDER / "templates.toml").read_text(encoding="utf-8"))
for _name, _values in _SHIPPED.items():
    TEMPLATES.register(_name)(Template(name=_name, **_values))
