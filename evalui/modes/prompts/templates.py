"""Versioned prompts. A template is data: changing its text means giving it a new name."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from evalui.errors import SpecError
from evalui.registry import Registry
from evalui.text_tokenizers.han import contains_han
from evalui.types import LETTERS, Language, Message, Prompt, Sample, Variant

_FOLDER = Path(__file__).parent
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
    return TEMPLATES["plain-zh.1" if contains_han(sample.question) else "plain-en.1"]


def render_choices(
    template: Template,
    sample: Sample,
    variant: Variant,
    shots: Sequence[Sample],
    *,
    chat: bool,
) -> Prompt:
    """The multiple-choice prompt: worked examples in their own order, then the variant."""
    if chat:
        form = template.chat_question or template.question
        turns = [
            (
                _render_block(template, form, shot, _identity_variant(shot)),
                LETTERS[_target_of(shot)],
            )
            for shot in shots
        ]
        return _conversation(turns, _render_block(template, form, sample, variant))
    blocks = [
        _render_block(template, template.question, shot, _identity_variant(shot))
        + template.answer.replace("{answer}", LETTERS[_target_of(shot)])
        for shot in shots
    ]
    return _join_blocks(
        template, blocks, _render_block(template, template.question, sample, variant)
    )


def render_cloze(
    template: Template, sample: Sample, shots: Sequence[Sample], *, chat: bool
) -> Prompt:
    """The cloze prompt: the question without its options."""
    if chat:
        form = template.chat_cloze or template.cloze
        turns = [
            (_render_block(template, form, shot), shot.choices[_target_of(shot)]) for shot in shots
        ]
        return _conversation(turns, _render_block(template, form, sample))
    blocks = [
        _render_block(template, template.cloze, shot)
        + continuation(template, shot.choices[_target_of(shot)], chat=False)
        for shot in shots
    ]
    return _join_blocks(template, blocks, _render_block(template, template.cloze, sample))


def continuation(template: Template, text: str, *, chat: bool) -> str:
    """An option's text as it follows the cloze prompt: with the template's space, if it has one."""
    return text if chat else (template.cloze_answer or template.answer).replace("{answer}", text)


def text_before_letter(template: Template) -> str:
    """What stands between a plain prompt and the letter: a space, a line break or nothing."""
    return template.answer.partition("{answer}")[0]


def _render_block(
    template: Template, form: str, sample: Sample, variant: Variant | None = None
) -> str:
    subject = sample.metadata.get("subject_zh") or sample.subject
    if not subject and template.subjectless:
        form = template.subjectless + "\n" + form.partition("\n")[2]
    options = "\n".join(
        sample.choices[content].join(_option_affixes(template.option, LETTERS[slot]))
        for slot, content in enumerate(variant.permutation if variant else ())
    )
    return _fill_fields(form, subject=subject, options=options, question=sample.question)


def _fill_fields(form: str, **values: str) -> str:
    """The form with its fields; one pass, because texts may hold braces of their own."""
    parts = list(_split_fields(form))
    parts[1::2] = [values.get(field, f"{{{field}}}") for field in parts[1::2]]
    return "".join(parts)


@lru_cache(256)
def _option_affixes(form: str, letter: str) -> tuple[str, ...]:
    """What stands around the text of an option with this letter."""
    return tuple(form.replace("{letter}", letter).split("{text}"))


@lru_cache(256)
def _split_fields(form: str) -> tuple[str, ...]:
    """Text, field, text, and so on: a run fills the same few forms a hundred thousand times."""
    return tuple(re.split(r"\{(\w+)\}", form))


def _join_blocks(template: Template, examples: Sequence[str], question: str) -> str:
    if not examples:
        return template.opening + question
    lead = template.separator if template.lead is None else template.lead
    return template.opening + template.separator.join(examples) + lead + question


def _conversation(turns: Sequence[tuple[str, str]], question: str) -> tuple[Message, ...]:
    messages = [
        message
        for prompt, answer in turns
        for message in (Message("user", prompt), Message("assistant", answer))
    ]
    return (*messages, Message("user", question))


def _identity_variant(sample: Sample) -> Variant:
    return Variant(tuple(range(len(sample.choices))))


def _target_of(sample: Sample) -> int:
    assert isinstance(sample.target, int), "worked examples are multiple choice"
    return sample.target


@cache
def _register_shipped() -> None:
    shipped = tomllib.loads((_FOLDER / "templates.toml").read_text(encoding="utf-8"))
    for name, values in shipped.items():
        TEMPLATES.register(name)(Template(name=name, **values))


_register_shipped()
