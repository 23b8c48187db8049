"""Versioned questions to a judge. A rubric is data: changing its text means a new name.

What is judged was written by the models that are judged, so it is fenced off: every text stands
between two tags that end in the same nonce, a notice says that nothing between them is an
instruction, and the notice is repeated after the answers.
"""

import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import Any, cast, get_args

from evalui.errors import SpecError
from evalui.messages import sentence
from evalui.registry import Registry
from evalui.replies import (
    HIGHEST_RATING,
    LOWEST_RATING,
    NUMBERED_FORMATS,
    PAIRWISE_FORMATS,
    PatternError,
    ReplyPattern,
    compile_pattern,
    is_chinese,
)
from evalui.types import JudgeOutput, Language, Sample

SINGLE_ANSWER_FORMATS = ("rating", "correctness")
VERDICT_FORMATS = (*PAIRWISE_FORMATS, *SINGLE_ANSWER_FORMATS)
# Forms that name the answers by letters; `NUMBERED_FORMATS` do by numbers.
LETTERED_FORMATS = ("mtbench", "arena_hard", "compass")
# Forms with a word for two bad answers.
NEITHER_FORMATS = ("compass", "json", *NUMBERED_FORMATS)
FRAMES = ("1", "2")
LATEST_VERSION = 2  # of the rubrics that are chosen by sample

_FOLDER = Path(__file__).parent
# The field that each block of a rubric must hold; the other parts have none.
_REQUIRED_FIELDS = ("name", "language", "form", "instruction")
_BLOCK_FIELDS: Mapping[str, tuple[str, ...]] = {
    "history": ("history",),
    "question": ("question",),
    "reference": ("reference",),
    "guidance": ("guidance",),
}
_TABLES = ("scale", "criteria", "labels")  # the fields that are no texts
_MAX_CRITERIA = 20
_CRITERION_NAME = re.compile(r"[^\s:：\[\]\"{}](?:[^\n:：\[\]\"{}]{0,58}[^\s:：\[\]\"{}])?")
_REASON = "reason"  # the field of a JSON reply that no criterion can be


@dataclass(frozen=True, slots=True)
class Rubric:
    """How a judge is prompted, and how its verdict is to be written.

    `form` is one of `PAIRWISE_FORMATS` for two answers side by side, or one of
    `SINGLE_ANSWER_FORMATS` for one answer ({answer}). The parts are sent in the order they have
    here; `history`, `reference` and `guidance` only where the sample has them. `reminder` is sent
    when a verdict cannot be read. What is left out is the language's own, and the `frame`'s: frame
    1 names two answers A and B ({answer_a} and {answer_b} in `answers`) and shows the questions of
    a conversation before its answers; frame 2 names them 1 and 2 ({answer_1} and {answer_2}) and
    shows whole `conversations`. `scale` says what marks mean, from 1 to 10; with `criteria` each of
    them has a mark, and their mean is that of the answer. `pattern` is a regular expression that
    reads the verdict in place of the form's own rules, and `labels` say what its one group means,
    see `own_patterns.compile_pattern`.
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
    frame: str = "1"
    conversations: str = ""
    scale: tuple[tuple[int, str], ...] = ()
    criteria: tuple[tuple[str, str], ...] = ()
    pattern: str = ""
    labels: tuple[tuple[str, str], ...] = ()

    @property
    def single(self) -> bool:
        """Whether it judges one answer alone."""
        return self.form in SINGLE_ANSWER_FORMATS

    @property
    def says_neither(self) -> bool:
        """Whether a verdict can call both answers bad."""
        return self.form in NEITHER_FORMATS

    @property
    def outputs(self) -> tuple[JudgeOutput, ...]:
        """In what a verdict can be given, the least mistakable first.

        A text or pattern of the user's own says how to end a reply, and nothing else will do.
        """
        own = self.frame == "1" or bool(self.pattern) or self.form == "scores"
        if own or self.closing != _frame_of(self).closing("text", self).closing:
            return ("text",)
        return ("schema", "probabilities", "text", "decision")

    @property
    def identity(self) -> str:
        """All that makes it, for a digest; what has its default is left out, as it once was."""
        given = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)
            if getattr(self, field.name) != field.default
        ]
        return f"Rubric({', '.join(given)})"


@dataclass(frozen=True, slots=True)
class _Closing:
    """How a verdict is to be given, and what is sent if it cannot be read."""

    closing: str
    reminder: str = ""


@dataclass(frozen=True, slots=True)
class _PromptFrame:
    """What the rubrics of one language and version share. Changing it renames each of them.

    `closings` are by output and form.
    """

    notice: str
    tail: str
    parts: Mapping[str, str]
    closings: Mapping[str, Mapping[str, _Closing]]

    def closing(self, output: JudgeOutput, rubric: Rubric) -> _Closing:
        """How a verdict on the rubric's form is to be given in an output."""
        known = self.closings["label" if output == "probabilities" else output]
        form = "criteria" if rubric.criteria else rubric.form
        return known[form] if form in known else known["named"]


RUBRICS: Registry[Rubric] = Registry("rubric")


def parse_rubric(values: dict[str, Any]) -> Rubric:
    """A user's own rubric; raises `SpecError` if a field is unknown, missing or misspelt."""
    known = [field.name for field in fields(Rubric)]
    if unknown := sorted(set(values) - set(known)):
        raise SpecError("rubric-field", field=unknown[0], known=", ".join(known))
    form = values.get("form")
    frame = values.get("frame") or ("2" if form in NUMBERED_FORMATS else "1")
    required = (*_REQUIRED_FIELDS, *(["closing"] if frame == "1" or form == "scores" else []))
    if missing := [name for name in required if not values.get(name)]:
        raise SpecError("rubric-lacks", fields=", ".join(missing))
    texts: dict[str, str] = {}
    for field, value in values.items():
        if field in _TABLES:
            continue
        if not isinstance(value, str):
            raise SpecError("rubric-text", name=str(values["name"]), field=field)
        texts[field] = value
    texts["frame"] = frame
    for field, allowed in (
        ("language", get_args(Language)),
        ("form", VERDICT_FORMATS),
        ("frame", FRAMES),
    ):
        if texts[field] not in allowed:
            raise SpecError(
                "rubric-value",
                name=texts["name"],
                field=field,
                found=texts[field],
                known=", ".join(allowed),
            )
    return _validated(_with_language_defaults(texts, _tables(values)))


def choose_rubric(sample: Sample, *, single: bool = False, version: int = 1) -> Rubric:
    """The rubric of a sample when the run names none: OpenCompass's four choices.

    For single answers: right or wrong where there is a reference, else a mark from 1 to 10.
    """
    language = language_of(sample)
    if not single:
        return RUBRICS[f"compass-{language}.{version}"]
    return RUBRICS[f"{'correct' if sample.references else 'score10'}-{language}.{version}"]


def language_of(sample: Sample) -> Language:
    """The language the file gives the sample, else by the script of its question."""
    given = sample.metadata.get("language")
    for language in get_args(Language):
        if given == language:
            return language
    return "zh" if is_chinese(sample.question) else "en"


def render_judge_prompt(
    rubric: Rubric,
    sample: Sample,
    answers: Sequence[Sequence[str]],
    *,
    seed: int,
    output: JudgeOutput = "text",
    criterion: str = "",
) -> str:
    """What the judge is sent: the rubric with the sample and the answers, as they are shown.

    Each answer is the turns of one contestant; there are two of them, or one where the rubric
    is `single`. `criterion` is the one whose mark is the next token, of those the rubric has. What
    a decision is to decide is no part of it, see `closing_of`.
    """
    nonce = prompt_nonce(sample, answers, seed=seed)
    frame = _frame_of(rubric)
    earlier = [f"{turn.role}: {turn.content}" for turn in sample.history]
    guidance = sample.metadata.get("guidance", "")
    whole = bool(rubric.conversations and sample.follow_ups)
    shown = {
        "history": _enclose_in_tags("history", ["\n\n".join(earlier)], nonce),
        "question": _enclose_in_tags("question", (sample.question, *sample.follow_ups), nonce),
        "reference": _enclose_in_tags("reference", sample.references, nonce),
        "guidance": _enclose_in_tags("guidance", [guidance], nonce),
    }
    for field, turns in zip(_answer_fields(rubric), answers, strict=True):
        tag = _TAGS.get(field, field)
        shown[field] = (
            _interleave(tag, sample, turns, frame=frame, nonce=nonce)
            if whole
            else _enclose_in_tags(tag, turns, nonce)
        )
    parts = (
        rubric.instruction,
        frame.notice.replace("{nonce}", nonce),
        rubric.history if earlier else "",
        "" if whole else rubric.question,
        rubric.reference if sample.references else "",
        rubric.guidance if guidance else "",
        rubric.conversations if whole else rubric.answers,
        frame.tail.replace("{nonce}", nonce),
        *_marking(rubric, frame, output),
        "" if output == "decision" else closing_of(rubric, output, criterion),
    )
    # Instruction and closing may hold braces of their own (JSON): only known fields are filled.
    return "\n\n".join(_fill_fields(part.strip("\n"), shown) for part in parts if part)


def closing_of(rubric: Rubric, output: JudgeOutput, criterion: str = "") -> str:
    """How the judge is to give its verdict in an output, or the question of a decision."""
    if output == "text":
        return rubric.closing
    named = next((f"{name}: {text}" for name, text in rubric.criteria if name == criterion), "")
    return _frame_of(rubric).closing(output, rubric).closing.replace("{criterion}", named)


def reminder_of(rubric: Rubric, output: JudgeOutput) -> str:
    """What is sent after a reply that cannot be read."""
    return (
        rubric.reminder if output == "text" else _frame_of(rubric).closing(output, rubric).reminder
    )


def pattern_of(rubric: Rubric) -> ReplyPattern:
    """The checked pattern of a rubric that has one; raises `SpecError` for a wrong one."""
    return _checked_pattern(rubric.form, rubric.pattern, rubric.labels)


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


def _interleave(
    tag: str, sample: Sample, turns: Sequence[str], *, frame: _PromptFrame, nonce: str
) -> str:
    """A conversation in its order: each question with the answer to it."""
    questions = (sample.question, *sample.follow_ups)
    lines: list[str] = []
    for turn, (question, answer) in enumerate(zip_longest(questions, turns, fillvalue=""), 1):
        lines += [
            frame.parts["user"],
            _enclose_in_tags(f"question_{turn}", [question], nonce),
            frame.parts["assistant"],
            _enclose_in_tags(f"{tag}_{turn}", [answer], nonce),
        ]
    return "\n".join(lines)


def _marking(rubric: Rubric, frame: _PromptFrame, output: JudgeOutput) -> Iterator[str]:
    """What marks mean, and the criteria; as the next token marks are digits, one less each, and as
    options of a decision each has its meaning beside it, see `judge_outputs.decided_options`.
    """
    less = 1 if output == "probabilities" else 0
    if rubric.scale and output != "decision":
        marks = (f"{mark - less}: {meaning}" for mark, meaning in rubric.scale)
        yield "\n".join((frame.parts["scale"], *marks))
    if rubric.criteria and output in ("text", "schema"):
        yield "\n".join(
            (frame.parts["criteria"], *(f"- {name}: {text}" for name, text in rubric.criteria))
        )


def _answer_fields(rubric: Rubric) -> tuple[str, ...]:
    if rubric.single:
        return ("answer",)
    return ("answer_a", "answer_b") if rubric.frame == "1" else ("answer_1", "answer_2")


# Tags of answers named by number: "answer_1" would be the first turn of a single answer.
_TAGS: Mapping[str, str] = {"answer_1": "answer_one", "answer_2": "answer_two"}


def _fill_fields(form: str, shown: Mapping[str, str]) -> str:
    """The form with its fields; one pass, because texts may hold braces of their own."""
    return re.sub(r"\{(\w+)\}", lambda match: shown.get(match[1], match[0]), form)


def _tables(values: Mapping[str, Any]) -> dict[str, tuple[tuple[Any, str], ...]]:
    """The scale and the criteria, in the order in which they are given."""
    name, tables = str(values["name"]), dict[str, tuple[tuple[Any, str], ...]]()
    for field in _TABLES:
        given: Any = values.get(field) or ()
        pairs = (
            list(cast("Mapping[Any, Any]", given).items()) if isinstance(given, Mapping) else given
        )
        try:
            rows = tuple((str(key).strip(), value) for key, value in pairs)
        except (TypeError, ValueError):
            raise SpecError("rubric-table", name=name, field=field) from None
        if not all(isinstance(value, str) and value.strip() for _, value in rows):
            raise SpecError("rubric-table", name=name, field=field)
        tables[field] = rows
    for key, _ in tables["scale"]:
        if not (key.isascii() and key.isdigit() and LOWEST_RATING <= int(key) <= HIGHEST_RATING):
            raise SpecError("rubric-scale", name=name, found=key)
    tables["scale"] = tuple((int(key), value) for key, value in tables["scale"])
    _check_criteria(name, [key for key, _ in tables["criteria"]])
    return tables


def _check_criteria(name: str, criteria: Sequence[str]) -> None:
    if len(criteria) > _MAX_CRITERIA:
        raise SpecError("rubric-criteria", name=name, n=len(criteria), limit=_MAX_CRITERIA)
    folded = [each.casefold() for each in criteria]
    for each in criteria:
        twice = folded.count(each.casefold()) > 1
        if twice or each.casefold() == _REASON or not _CRITERION_NAME.fullmatch(each):
            raise SpecError("rubric-criterion", name=name, found=each)


def _validated(rubric: Rubric) -> Rubric:
    if rubric.name in RUBRICS and RUBRICS[rubric.name] != rubric:
        raise SpecError("rubric-shipped", name=rubric.name)
    wrong = LETTERED_FORMATS if rubric.frame == "2" else NUMBERED_FORMATS
    if rubric.form in wrong:
        raise SpecError("rubric-frame", name=rubric.name, form=rubric.form, frame=rubric.frame)
    if (rubric.scale or rubric.criteria) and (rubric.form != "rating" or rubric.frame == "1"):
        raise SpecError("rubric-marks", name=rubric.name)
    if rubric.pattern:
        pattern_of(rubric)
    elif rubric.labels:
        raise SpecError("rubric-labels", name=rubric.name)
    answers = _answer_fields(rubric)
    blocks = {**_BLOCK_FIELDS, "answers": answers}
    if rubric.frame == "2":
        blocks["conversations"] = answers
    elif rubric.conversations:
        raise SpecError("rubric-conversations", name=rubric.name)
    for block, needs in blocks.items():
        used = re.findall(r"\{(\w*)\}", getattr(rubric, block))
        if sorted(used) != sorted(needs):
            raise SpecError(
                "rubric-block",
                name=rubric.name,
                block=block,
                fields=", ".join(f"{{{field}}}" for field in needs),
            )
    return rubric


@lru_cache(16)  # to check it takes some milliseconds
def _checked_pattern(form: str, pattern: str, labels: tuple[tuple[str, str], ...]) -> ReplyPattern:
    try:
        return compile_pattern(form, pattern, dict(labels))
    except PatternError as error:
        raise SpecError(sentence(f"error.{error.key}", **error.values)) from None


def _with_language_defaults(
    texts: Mapping[str, str], tables: Mapping[str, tuple[tuple[Any, str], ...]]
) -> Rubric:
    """The rubric with its language's own parts where it has none."""
    frame = _load_frames()[texts["language"], texts["frame"]]
    single, parts = texts["form"] in SINGLE_ANSWER_FORMATS, frame.parts
    shared = {name: parts[name] for name in _BLOCK_FIELDS}
    shared["answers"] = parts["answer" if single else "answers"]
    shared["reminder"] = texts.get("closing", "")
    if texts["frame"] == "2":
        shared["conversations"] = parts["conversation" if single else "conversations"]
        form = "criteria" if tables["criteria"] else texts["form"]
        usual = frame.closings["text"].get(form)
        if usual and texts.get("closing") in (None, "", usual.closing):
            shared |= {"closing": usual.closing, "reminder": usual.reminder}
    given = {name: value for name, value in texts.items() if value}
    return Rubric(**{**shared, **given, **tables})  # type: ignore[arg-type, ty:invalid-argument-type]  # checked: language and form


def _frame_of(rubric: Rubric) -> _PromptFrame:
    return _load_frames()[rubric.language, rubric.frame]


@cache
def _load_frames() -> Mapping[tuple[str, str], _PromptFrame]:
    tables = tomllib.loads((_FOLDER / "frames.toml").read_text(encoding="utf-8"))
    frames: dict[tuple[str, str], _PromptFrame] = {}
    for name, table in tables.items():
        language, _, frame = name.partition(".")
        closings = {
            output: {form: _closing(texts) for form, texts in table.pop(output).items()}
            for output in ("text", "schema", "label", "decision")
            if output in table
        }
        notice, tail = (table.pop(part).strip("\n") for part in ("notice", "tail"))
        frames[language, frame or "1"] = _PromptFrame(notice, tail, table, closings)
    return frames


def _closing(texts: Mapping[str, str]) -> _Closing:
    return _Closing(texts["closing"].strip("\n"), texts.get("reminder", "").strip("\n"))


_SHIPPED = tomllib.loads((_FOLDER / "rubrics.toml").read_text(encoding="utf-8"))
for _name, _values in _SHIPPED.items():
    RUBRICS.register(_name)(parse_rubric({"name": _name, **_values}))
