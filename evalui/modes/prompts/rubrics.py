"""Versioned questions to a judge. A rubric is data: changing its text means a new name.

What is judged was written by the models that are judged, so it is fenced off: every text stands
between two tags that end in the same nonce, a notice says that nothing between them is an
instruction, and the notice is repeated after the answers.
"""

import hashlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, get_args

from evalui.errors import SpecError
from evalui.registry import Registry
from evalui.scoring.parsing.verdict import PAIRWISE_FORMATS
from evalui.text_tokenizers.han import contains_han
from evalui.types import Language, Sample

SINGLE_ANSWER_FORMATS = ("rating", "correctness")
VERDICT_FORMATS = (*PAIRWISE_FORMATS, *SINGLE_ANSWER_FORMATS)

_FOLDER = Path(__file__).parent
# The field that each block of a rubric must hold; the other parts have none.
_REQUIRED_FIELDS = ("name", "language", "form", "instruction", "closing")
_BLOCK_FIELDS: Mapping[str, tuple[str, ...]] = {
    "history": ("history",),
    "question": ("question",),
    "reference": ("reference",),
    "guidance": ("guidance",),
}


@dataclass(frozen=True, slots=True)
class Rubric:
    """How a judge is prompted, and how its verdict is to be written.

    `form` is one of `PAIRWISE_FORMATS` for two answers side by side ({answer_a} and {answer_b} in
    `answers`), or one of `SINGLE_ANSWER_FORMATS` for one answer ({answer}). The parts are sent in
    the order they have here; `history`, `reference` and `guidance` only where the sample has them.
    `reminder` is sent when a verdict cannot be read. What is left out is the language's own.
    """

    name: str
    language: Language
    form: str
    instruction: str
    history: str
    question: str
    reference: str
    guidance: str
    answers: str
    closing: str
    reminder: str

    @property
    def single(self) -> bool:
        """Whether it judges one answer alone."""
        return self.form in SINGLE_ANSWER_FORMATS


@dataclass(frozen=True, slots=True)
class _PromptFrame:
    """What the rubrics of one language share. Changing it renames every rubric of it."""

    notice: str
    tail: str
    parts: Mapping[str, str]


RUBRICS: Registry[Rubric] = Registry("rubric")


def parse_rubric(values: dict[str, Any]) -> Rubric:
    """A user's own rubric; raises `SpecError` if a field is unknown, missing or misspelt."""
    known = [field.name for field in fields(Rubric)]
    if unknown := sorted(set(values) - set(known)):
        raise SpecError("rubric-field", field=unknown[0], known=", ".join(known))
    if missing := [name for name in _REQUIRED_FIELDS if not values.get(name)]:
        raise SpecError("rubric-lacks", fields=", ".join(missing))
    for field, value in values.items():
        if not isinstance(value, str):
            raise SpecError("rubric-text", name=str(values["name"]), field=field)
    for field, allowed in (("language", get_args(Language)), ("form", VERDICT_FORMATS)):
        if values[field] not in allowed:
            raise SpecError(
                "rubric-value",
                name=values["name"],
                field=field,
                found=values[field],
                known=", ".join(allowed),
            )
    return _validated(_with_language_defaults(values))


def choose_rubric(sample: Sample, *, single: bool = False) -> Rubric:
    """The rubric of a sample when the run names none: OpenCompass's four choices.

    For single answers: right or wrong where there is a reference, else a mark from 1 to 10.
    """
    language = language_of(sample)
    if not single:
        return RUBRICS[f"compass-{language}.1"]
    return RUBRICS[f"{'correct' if sample.references else 'score10'}-{language}.1"]


def language_of(sample: Sample) -> Language:
    """The language the file gives the sample, else by the script of its question."""
    given = sample.metadata.get("language")
    for language in get_args(Language):
        if given == language:
            return language
    return "zh" if contains_han(sample.question) else "en"


def render_judge_prompt(
    rubric: Rubric, sample: Sample, answers: Sequence[Sequence[str]], *, seed: int
) -> str:
    """What the judge is sent: the rubric with the sample and the answers, as they are shown.

    Each answer is the turns of one contestant; there are two of them, or one where the rubric
    is `single`.
    """
    nonce = prompt_nonce(sample, answers, seed=seed)
    frame = _load_frames()[rubric.language]
    earlier = [f"{turn.role}: {turn.content}" for turn in sample.history]
    guidance = sample.metadata.get("guidance", "")
    shown = {
        "history": _enclose_in_tags("history", ["\n\n".join(earlier)], nonce),
        "question": _enclose_in_tags("question", (sample.question, *sample.follow_ups), nonce),
        "reference": _enclose_in_tags("reference", sample.references, nonce),
        "guidance": _enclose_in_tags("guidance", [guidance], nonce),
    }
    tags = ("answer",) if rubric.single else ("answer_a", "answer_b")
    shown |= {
        tag: _enclose_in_tags(tag, turns, nonce) for tag, turns in zip(tags, answers, strict=True)
    }
    parts = (
        rubric.instruction,
        frame.notice.replace("{nonce}", nonce),
        rubric.history if earlier else "",
        rubric.question,
        rubric.reference if sample.references else "",
        rubric.guidance if guidance else "",
        rubric.answers,
        frame.tail.replace("{nonce}", nonce),
        rubric.closing,
    )
    # Instruction and closing may hold braces of their own (JSON): only known fields are filled.
    return "\n\n".join(_fill_fields(part.strip("\n"), shown) for part in parts if part)


def prompt_nonce(sample: Sample, answers: Sequence[Sequence[str]], *, seed: int) -> str:
    """Sixteen hexadecimal digits that no text of this call contains.

    Who wrote an answer cannot close its fence: the digits are a digest keyed by the run's seed
    over the question and all the answers, so they change with every letter of the forgery. They
    are not random, because the same call must be the same prompt again: responses are kept by it.
    """
    texts = [
        sample.question,
        *sample.follow_ups,
        *sample.references,
        *(turn.content for turn in sample.history),
        sample.metadata.get("guidance", ""),
        *(turn for turns in answers for turn in turns),
    ]
    key = str(seed).encode()[:64]
    for attempt in range(1 << 16):
        about = repr((attempt, texts)).encode(errors="backslashreplace")
        nonce = hashlib.blake2b(about, key=key, digest_size=8).hexdigest()
        if not any(nonce in text for text in texts):
            return nonce
    raise AssertionError("no text holds so many digests of itself")


def _enclose_in_tags(tag: str, texts: Sequence[str], nonce: str) -> str:
    """Each text between tags of its own, numbered if there are several."""
    names = [tag] if len(texts) == 1 else [f"{tag}_{turn}" for turn in range(1, len(texts) + 1)]
    return "\n".join(
        f"<{name}_{nonce}>\n{text}\n</{name}_{nonce}>"
        for name, text in zip(names, texts, strict=True)
    )


def _fill_fields(form: str, shown: Mapping[str, str]) -> str:
    """The form with its fields; one pass, because texts may hold braces of their own."""
    return re.sub(r"\{(\w+)\}", lambda match: shown.get(match[1], match[0]), form)


def _validated(rubric: Rubric) -> Rubric:
    if rubric.name in RUBRICS and RUBRICS[rubric.name] != rubric:
        raise SpecError("rubric-shipped", name=rubric.name)
    answers = ("answer",) if rubric.single else ("answer_a", "answer_b")
    for block, needs in {**_BLOCK_FIELDS, "answers": answers}.items():
        used = re.findall(r"\{(\w*)\}", getattr(rubric, block))
        if sorted(used) != sorted(needs):
            raise SpecError(
                "rubric-block",
                name=rubric.name,
                block=block,
                fields=", ".join(f"{{{field}}}" for field in needs),
            )
    return rubric


def _with_language_defaults(values: Mapping[str, str]) -> Rubric:
    """The rubric with its language's own parts where it has none."""
    parts = _load_frames()[_parse_language(values["language"])].parts
    answers = parts["answer" if values["form"] in SINGLE_ANSWER_FORMATS else "answers"]
    shared = {**parts, "answers": answers, "reminder": values["closing"]}
    shared.pop("answer")
    given = {name: value for name, value in values.items() if value}
    return Rubric(**{**shared, **given})  # type: ignore[arg-type, ty:invalid-argument-type]  # checked: language and form


def _parse_language(name: str) -> Language:
    return "zh" if name == "zh" else "en"


@cache
def _load_frames() -> Mapping[Language, _PromptFrame]:
    tables = tomllib.loads((_FOLDER / "frames.toml").read_text(encoding="utf-8"))
    return {
        _parse_language(name): _PromptFrame(
            notice=parts.pop("notice").strip("\n"), tail=parts.pop("tail").strip("\n"), parts=parts
        )
        for name, parts in tables.items()
    }


@cache
def _register_shipped() -> None:
    shipped = tomllib.loads((_FOLDER / "rubrics.toml").read_text(encoding="utf-8"))
    for name, values in shipped.items():
        RUBRICS.register(name)(_validated(_with_language_defaults({"name": name, **values})))


_register_shipped()
