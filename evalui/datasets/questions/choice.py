"""One question as a file has it, checked: a sample, or everything that is wrong with it.

Options that refer to other options by letter or by place are marked: reordering changes their
meaning. "None of these" keeps its meaning wherever it stands and is no such option; nor is one that
names statements of the question ("①②") or letters that are the question's own (points A and B of a
figure, blood groups), as far as that can be decided from the options alone.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial

from evalui.datasets.base import (
    FaultList,
    Layout,
    ParsedRows,
    Source,
    UploadNote,
    collapse_whitespace,
    normalise_cell,
    shorten,
)
from evalui.datasets.questions.ceval_subjects import subject_metadata
from evalui.registry import Registry
from evalui.types import LETTERS, Fault, Sample

_LETTER = r"[(\[]?[A-Z][)\]]?"
# Blanks follow a joint and precede only the first: two ways to match one would take for ever.
_JOIN = r"\s*(?:(?:,|;|、|/|&|\+|\band\b|\bor\b|和|与|及|以及|或者?)\s*)+"
_SEVERAL_LETTERS = rf"{_LETTER}(?:{_JOIN}{_LETTER})+"
# "A and B", "both A and C", "A, B and C are correct", "neither A nor B", "only A and C"
_EN_LETTERS = (
    rf"(?:(?:both|either|only|all of|options?|answers?|choices?)\s+)*{_SEVERAL_LETTERS}"
    r"(?:\s+(?:only|both|together))?"
    r"(?:\s+(?:are|is)(?:\s+(?:all|both))?(?:\s+not)?"
    r"\s+(?:correct|right|true|wrong|incorrect|false))?"
    rf"|neither\s+{_LETTER}\s+nor\s+{_LETTER}(?:\s+is\s+(?:correct|right|true))?"
    rf"|(?:options?|answers?|choices?)\s+{_LETTER}"
)
# "A和B", "A、B、C均正确", "选项A和B都对", "A、B两项"
_ZH_ALL = r"(?:都|均|皆|全)(?:不|没)?(?:是|对|正确|错误?|可以?|可能|包括|成立|符合|有|选)?的?"
_ZH_LETTERS = (
    rf"(?:选项|只有|仅|包括)*\s*(?:{_SEVERAL_LETTERS}|(?<=选项){_LETTER})\s*(?:选项|[两二三四]?[项者个])?\s*"
    rf"(?:{_ZH_ALL})?|[A-Z]{{2,}}{_ZH_ALL}"
)
# "all of the above", "none of the above statements is true", "both of the first two options"
_EN_THINGS = r"(?:options?|answers?|choices?|statements?|ones)"
_EN_PLACE = (
    r"(?:all|none|any|both|either|neither|each|some|one|two|three|most)\s+(?:of\s+)?"
    rf"(?:(?:the|these)\s+)?(?:(?:two|three|four|{_EN_THINGS})\s+)?(?:above|below)"
    rf"(?:\s+{_EN_THINGS})?(?:\s+(?:are|is|apply|applies)(?:\s+\w+){{0,2}})?"
    r"|(?:the\s+)?above\s+(?:are\s+)?all(?:\s+\w+){0,2}"
    r"|(?:both|all)\s+(?:of\s+)?the\s+(?:first|previous|preceding|last)"
    rf"(?:\s+(?:two|three|four))?(?:\s+{_EN_THINGS})?"
)
# "以上都对", "以上说法都不对", "上述方法都可以", "以上皆非", "前两项都是", "以上全部"
_ZH_THINGS = (
    r"(?:(?:所有|各|几|[两二三四五])?[项种个点者]?的?"
    r"(?:选项|说法|答案|情况|方法|观点|表述|叙述|描述|因素|措施|做法|原因|内容|特点|条件)?)"
)
_ZH_PLACE = (
    rf"(?:以上|上述|以下|前(?:面|述)?[两二三四][项者个种]){_ZH_THINGS}"
    r"(?:(?:都|均|皆|全|没有|无)[^,。;:]{0,8}|之一|(?<=[两二三四][项者]))"
    r"|(?:都|全部?)(?:是|不是)?以上(?:[^,。;:]{0,4})"
)
_REFERENCE_HINTS = re.compile(
    r"[A-ZＡ-Ｚ]|above|below|first|previous|preceding|last|以上|上述|以下|前"
)
_TRAILING_PUNCTUATION = " .。!！,，;；"
_MIN_LETTERS = 10  # letters that may name an option, however few there are


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """One question before any check.

    `options` are (column, text) pairs with the empty ones, `columns` is what the file calls the
    question and the answer. `answers_with_label`: the answer repeats the name of an option,
    whatever the layout states. `metadata` has all else.
    """

    line: int
    id: str
    text: str
    options: tuple[tuple[str, str], ...]
    answer: str
    subject: str
    columns: tuple[str, str] = ("question", "answer")
    answers_with_label: bool = False
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])


def validate(
    questions: Iterable[ParsedQuestion | Fault], source: Source, layout: Layout
) -> ParsedRows:
    """Samples of the good questions and the faults of the others, in the file's order.

    Faults among `questions` are rows that could not be read; they count as rows.
    """
    samples: list[Sample] = []
    faults = FaultList()
    rows, any_question, any_answer = 0, False, False
    for question in questions:
        rows += 1
        if isinstance(question, Fault):
            faults.add(question)
            continue
        any_question, any_answer = True, any_answer or bool(question.answer.strip())
        result = _to_sample(question, source, layout)
        if isinstance(result, Sample):
            samples.append(result)
        else:
            faults.add(*result)
    return ParsedRows(
        tuple(samples),
        faults.kept,
        rows,
        unanswered=any_question and not any_answer,
        unlisted=faults.unlisted,
    )


def _to_sample(question: ParsedQuestion, source: Source, layout: Layout) -> Sample | list[Fault]:
    texts = tuple(text for _, text in question.options if text)
    faults = list(_text_faults(question, source.name))
    faults += _option_faults(question, texts, source.name)
    target = _target_index(question, texts, layout)
    if target is None:
        faults.append(_answer_fault(question, texts, source.name, layout))
    if faults or target is None:
        return faults
    subject = question.subject or source.subject
    own = {"subject": subject} if source.own_subjects else subject_metadata(subject)
    own |= {"file": source.name, "line": str(question.line)}
    return Sample(
        id=f"{question.subject or source.prefix}/{question.id}",
        question=question.text,
        choices=texts,
        target=target,
        # The reader's own values come last: no column of the file may replace them.
        metadata={**question.metadata, **own},
        refers_to_other_options=refers_to_other_options(texts),
    )


def _text_faults(question: ParsedQuestion, file: str) -> Sequence[Fault]:
    if question.text:
        return ()
    return (
        Fault(file, question.line, question.columns[0], "empty-question", "empty", "some text"),
    )


def _option_faults(question: ParsedQuestion, texts: Sequence[str], file: str) -> Sequence[Fault]:
    if gap := _option_gap(question):
        empty, filled = gap
        actual, expected = f"empty, but {filled} is filled", "no gap between options"
        return (Fault(file, question.line, empty, "gap-in-options", actual, expected),)
    if len(texts) < 2:
        actual = f"{len(texts)} option" + ("s" if not texts else "")
        column = next((column for column, text in question.options if not text), "")
        return (Fault(file, question.line, column, "too-few-options", actual, "at least 2"),)
    return ()


def _option_gap(question: ParsedQuestion) -> tuple[str, str] | None:
    """The first empty option column before a filled one, and that one."""
    empty = ""
    for column, text in question.options:
        if text and empty:
            return empty, column
        empty = empty or ("" if text else column)
    return None


def _target_index(question: ParsedQuestion, texts: Sequence[str], layout: Layout) -> int | None:
    if not question.answers_with_label:
        return ANSWER_KEYS[layout.answer_key](question.answer, texts)
    labels = [label for label, text in question.options if text]
    answer = normalise_cell(question.answer)
    return labels.index(answer) if answer in labels else None


def _answer_fault(
    question: ParsedQuestion, texts: Sequence[str], file: str, layout: Layout
) -> Fault:
    cell, column = question.answer.strip(), question.columns[1]
    actual = f"“{shorten(collapse_whitespace(cell))}”" if cell else "empty"
    by_letter = layout.answer_key == "letter"
    if by_letter and (letters := answer_letters(cell, len(texts))):
        expected = f"one letter; single-answer evaluation cannot score {', '.join(letters)}"
        return Fault(file, question.line, column, "multi-letter-answer", actual, expected)
    same = [letter for letter, text in zip(LETTERS, texts, strict=False) if text == cell]
    if same and (by_letter or len(same) > 1):
        actual += f" (the text of option {' and '.join(same)})"
    expected = _expected_answer(question, texts, layout.answer_key)
    if layout.answer_key == "text" and len(same) > 1:
        expected = "the text of one option only"
    return Fault(file, question.line, column, "answer-not-an-option", actual, expected)


def _expected_answer(question: ParsedQuestion, texts: Sequence[str], key: str) -> str:
    if not texts:
        return "an answer that names an option"
    if question.answers_with_label:
        return f"one of {', '.join(label for label, text in question.options if text)}"
    if key == "letter":
        return f"one of {', '.join(LETTERS[: len(texts)])}"
    if key in ("index0", "index1"):
        first = int(key == "index1")
        return f"a number from {first} to {first + len(texts) - 1}"
    return "the text of one of the options"


def refers_to_other_options(choices: Sequence[str]) -> bool:
    """Whether one of the options refers to another by its letter or its place."""
    if not any(map(_REFERENCE_HINTS.search, choices)):
        return False
    texts = [normalise_cell(choice).strip(_TRAILING_PUNCTUATION) for choice in choices]
    if any(
        _compiled(_EN_PLACE).fullmatch(text.casefold()) or _compiled(_ZH_PLACE).fullmatch(text)
        for text in texts
    ):
        return True
    lettered = {
        slot: named
        for slot, text in enumerate(texts)
        if (named := _letters_referred_to(text, len(choices)))
    }
    # "A和B", "A和C", "B和D", "C和D": such letters are the question's own, not the options'.
    return any(_refers_elsewhere(named, lettered, len(choices)) for named in lettered.values())


@cache  # at first use: to compile them takes longer than to import the module
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _letters_referred_to(text: str, n_options: int) -> frozenset[int]:
    """The options named, if the text does nothing else."""
    letters = set(LETTERS[: max(n_options, _MIN_LETTERS)])
    folded = re.sub(r"[a-zA-Z]{2,}", partial(_fold_word, letters), text)
    if not (_compiled(_EN_LETTERS).fullmatch(folded) or _compiled(_ZH_LETTERS).fullmatch(folded)):
        return frozenset()
    named = re.findall(r"[A-Z]", folded)
    return frozenset(map(LETTERS.index, named)) if letters.issuperset(named) else frozenset()


def _fold_word(letters: set[str], word: re.Match[str]) -> str:
    # "AND" is a word, "ABC" may be three options.
    return word[0] if set(word[0]) <= letters else word[0].casefold()


def _refers_elsewhere(
    named: frozenset[int], lettered: dict[int, frozenset[int]], n_options: int
) -> bool:
    return all(slot < n_options and slot not in lettered for slot in named)


# (cell text, the options that are not empty) -> index of the right option, None if it names none
AnswerKey = Callable[[str, Sequence[str]], int | None]

ANSWER_KEYS: Registry[AnswerKey] = Registry("answer key")

_ANSWER_LETTER = re.compile(r"[(\[【]?([A-Za-z])[)\]】.、:]?")
_LETTERS = re.compile(r"[A-Z](?:(?:[\s,;、/&+|]|AND|和|与)*[A-Z])+")


def answer_letters(cell: str, n_options: int = _MIN_LETTERS) -> str:
    """The letters of an answer that names several ("AC", "A, C", "["A", "C"]"), else ""."""
    text = re.sub(r"[\[\]()'\"“”【】]", "", normalise_cell(cell).upper()).strip()
    letters = "".join(dict.fromkeys(re.sub(r"AND", "", text)))
    letters = "".join(letter for letter in letters if letter in LETTERS)
    several = len(letters) > 1 and set(letters) <= set(LETTERS[: max(n_options, _MIN_LETTERS)])
    return letters if several and _LETTERS.fullmatch(text) else ""


@ANSWER_KEYS.register("letter")
def by_letter(cell: str, options: Sequence[str]) -> int | None:
    """A for the first option; lower case, full width and "(A)" or "A." are the same letter."""
    match = _ANSWER_LETTER.fullmatch(normalise_cell(cell))
    return _valid_index(LETTERS.index(match[1].upper()), options) if match else None


@ANSWER_KEYS.register("index0")
def by_index_from_0(cell: str, options: Sequence[str]) -> int | None:
    """0 for the first option."""
    number = _parse_number(cell)
    return None if number is None else _valid_index(number, options)


@ANSWER_KEYS.register("index1")
def by_index_from_1(cell: str, options: Sequence[str]) -> int | None:
    """1 for the first option."""
    number = _parse_number(cell)
    return None if number is None else _valid_index(number - 1, options)


@ANSWER_KEYS.register("text")
def by_text(cell: str, options: Sequence[str]) -> int | None:
    """The option whose text the cell repeats; none where several have it."""
    text = cell.strip()
    return options.index(text) if options.count(text) == 1 else None


def _parse_number(cell: str) -> int | None:
    # A spreadsheet may have made 2 into 2.0; three digits are enough for ten options.
    match = re.fullmatch(r"([0-9]{1,3})(?:\.0+)?", normalise_cell(cell))
    return int(match[1]) if match else None


def _valid_index(index: int, options: Sequence[str]) -> int | None:
    return index if 0 <= index < len(options) else None


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """An answer with the options that are not empty; `is_number`: JSON wrote it without quotes."""

    cell: str
    options: tuple[str, ...]
    is_number: bool = False


@dataclass(frozen=True, slots=True)
class DetectedAnswerKey:
    """An answer key, and notes on what was assumed for it."""

    key: str
    notes: tuple[UploadNote, ...] = ()


def detect_answer_key(answers: Sequence[RawAnswer], file: str, column: str) -> DetectedAnswerKey:
    """The key under which most answers name an option.

    A 0 means that numbers count from 0, the number of a row's options that they count from 1;
    where a file has both, the way in which more of its answers name an option; where it has
    neither, 0 is assumed, with a note. Where places and texts explain as much,
    numbers that JSON writes as such and letters are places, quoted numbers are texts, with a note
    if that makes a difference.
    """
    base, assumed = _index_base(answers)
    place = max(("letter", base), key=lambda key: _count_matches(key, answers))
    hits, as_text = _count_matches(place, answers), _count_matches("text", answers)
    text_first = place == base and not all(answer.is_number for answer in answers)
    values = {"file": file, "column": column}
    if as_text > hits or (as_text == hits and text_first):
        other = _count_differences("text", place, answers) if as_text == hits else 0
        return DetectedAnswerKey("text", _note_if_any("text-or-place", values, other))
    notes = _note_if_any(
        "place-or-text",
        values,
        _count_differences(place, "text", answers) if as_text == hits else 0,
    )
    if place == "index1":
        notes += (UploadNote("counts-from-1", values),)
    elif place == "index0" and assumed:
        notes += (UploadNote("counts-from-0", values),)
    return DetectedAnswerKey(place, notes)


def _index_base(answers: Sequence[RawAnswer]) -> tuple[str, bool]:
    """From where numbers count, and whether that is assumed."""
    from_0, from_1 = ANSWER_KEYS["index0"], ANSWER_KEYS["index1"]
    first = any(from_0(answer.cell, ("",)) == 0 for answer in answers)
    last = any(from_1(each.cell, each.options) == len(each.options) - 1 for each in answers)
    if first and last:
        return max(("index0", "index1"), key=lambda key: _count_matches(key, answers)), False
    return ("index1", False) if last else ("index0", not first)


def _targets(key: str, answers: Sequence[RawAnswer]) -> list[int | None]:
    return [ANSWER_KEYS[key](answer.cell, answer.options) for answer in answers]


def _count_matches(key: str, answers: Sequence[RawAnswer]) -> int:
    return sum(target is not None for target in _targets(key, answers))


def _count_differences(key: str, other: str, answers: Sequence[RawAnswer]) -> int:
    """How many answers name another option under the other key."""
    pairs = zip(_targets(key, answers), _targets(other, answers), strict=True)
    return sum(None not in pair and pair[0] != pair[1] for pair in pairs)


def _note_if_any(rule: str, values: Mapping[str, str], n: int) -> tuple[UploadNote, ...]:
    return (UploadNote(rule, {**values, "n": str(n)}),) if n else ()
