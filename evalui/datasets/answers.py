"""What an answer says: a letter in any dress, the place or the text of an option, true or false.

One cell rarely decides what numbers count or whether a letter is a text: the answers of a column do
so together. Where a file does not write the answer as any of these, a function of a package may
find it in the row, as OpenCompass's `switch` methods do.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evalui.datasets.model import UploadNote, collapse_whitespace, normalise_cell, shorten
from evalui.datasets.names import LETTER_PLACES, OTHER_LETTERS
from evalui.registry import Registry
from evalui.replies import contains_han, is_chinese
from evalui.types import LETTERS, Language

# (cell text, the options that are not empty) -> index of the right option, None if it names none
CellAnswerKey = Callable[[str, Sequence[str]], int | None]

NO_ANSWER = "-1"  # what published test files have in place of one
MIN_LETTERS = 10  # letters that may name an option, however few there are
_CUE = (
    r"(?:the\s+)?(?:(?:correct|right|best|final)\s+)?(?:answer|option|choice|key)(?:\s+is)?"
    r"|(?:正确|标准|参考)?(?:答案|选项)(?:是|为|选)?|(?:应该?|故|因此)?选择?"
    r"|(?:правильный\s+|верный\s+)?ответ|정답|답|正解|答え|respuesta(?:\s+correcta)?"
    r"|resposta(?:\s+correta)?|réponse|antwort|الإجابة(?:\s+الصحيحة)?"
)
_ANY_LETTER = rf"[a-z{OTHER_LETTERS}]"
_LETTER = re.compile(
    rf"(?:(?:{_CUE})\s*[:：]?\s*)?[(\[【「]?\s*(?:(?:选项|option|choice)\s*)?(?P<letter>{_ANY_LETTER})"
    r"\s*[)\]】」]?\s*(?:选?项)?[.、,:;。]?",
    re.IGNORECASE,
)
_LETTER_AND_TEXT = re.compile(
    rf"(?:(?:{_CUE})\s*[:：]?\s*)?[(\[【「]?(?P<letter>{_ANY_LETTER})(?:[)\]】」]\s*[.、:]?|\s*[.、,:\-–—]|\s)"
    r"\s*(?P<text>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_QUOTES = "\"'“”‘’「」*`"
_BOXED = re.compile(r"\$?\\boxed\{(.*)\}\$?", re.DOTALL)
_AND = re.compile(r"\bAND\b|和|与")
_LETTERS = re.compile(r"[A-Z](?:[\s,;、/&+|]*[A-Z])+")
_MAX_NEAR_CHARS = 8  # characters by which two spellings of a text differ in length
_MAX_LETTER_CHARS = 60  # characters of a cell that holds letters and nothing else
_MAX_ANSWER_CHARS = 5_000  # characters of a cell that begins with a letter
_NUMBERS = re.compile(r"\d{1,2}(?:\s*[,;，、；\s]\s*\d{1,2})+")
_NUMBER = re.compile(r"([0-9]{1,3})(?:\.0+)?")
_TRUE = """
    true t yes y right correct 对 正确 是 真 √ ✓ ✔ 正确的 对的 是的 ☑ 〇 對 正確 ○ ◯ はい 正しい
    참 맞음 예 vrai oui verdadero sí verdadeiro sim wahr richtig ja vero верно да правда صحيح صح نعم
"""
_FALSE = """
    false f no n wrong incorrect 错 错误 否 假 × ✗ ✘ x ✕ ❌ 错误的 错的 不是 不对 不正确 ╳ 錯 錯誤
    いいえ 誤り 거짓 틀림 아니요 아니오 faux non falso não falsch nein неверно нет ложь خطأ خاطئ لا
"""
_TRUTH: Mapping[str, bool] = {
    **dict.fromkeys(_TRUE.split(), True),
    **dict.fromkeys(_FALSE.split(), False),
}
_TRUE_MARKS = ("1", "1.0", "true", "yes", "right", "correct")
_FALSE_MARKS = ("0", "0.0", "false", "no", "wrong", "incorrect", "")
# What the two options are called, by the words that all answers of a file are among.
_PAIRS: tuple[tuple[frozenset[str], tuple[str, str]], ...] = (
    (frozenset(("正确", "错误")), ("正确", "错误")),
    (frozenset(("是", "否", "不是")), ("是", "否")),
    (frozenset(("yes", "no", "y", "n")), ("Yes", "No")),
    *(
        (frozenset((true.casefold(), false.casefold())), (true, false))
        for true, false in (
            *(("はい", "いいえ"), ("正しい", "誤り"), ("○", "×"), ("참", "거짓"), ("예", "아니요")),
            *(("Vrai", "Faux"), ("Oui", "Non"), ("Verdadero", "Falso"), ("Sí", "No")),
            *(("Verdadeiro", "Falso"), ("Sim", "Não"), ("Wahr", "Falsch"), ("Richtig", "Falsch")),
            *(("Ja", "Nein"), ("Верно", "Неверно"), ("Да", "Нет"), ("صح", "خطأ"), ("نعم", "لا")),
        )
    ),
)
_TRAILING_PUNCTUATION = " .。!！,，;；、"


def by_letter(cell: str, options: Sequence[str]) -> int | None:
    """A for the first option, in any dress: a, Ａ, (A), 【A】, A., 答案：A, option_a, and A. with
    the text of the first option behind it.
    """
    place = LETTER_PLACES.get(cell)
    if place is None:
        place = _dressed_letter(cell, options)
    return place if place is not None and place < len(options) else None


def by_index_from_0(cell: str, options: Sequence[str]) -> int | None:
    """0 for the first option."""
    number = _parse_number(cell)
    return None if number is None else _valid_index(number, options)


def by_index_from_1(cell: str, options: Sequence[str]) -> int | None:
    """1 for the first option."""
    number = _parse_number(cell)
    return None if number is None else _valid_index(number - 1, options)


def by_text(cell: str, options: Sequence[str]) -> int | None:
    """The option whose text the cell repeats, if need be but for case, width and a full stop; none
    where several have it.
    """
    text = cell.strip()
    equal = options.count(text)
    if equal:
        return options.index(text) if equal == 1 else None
    folded = _fold_text(text)
    near = [
        place
        for place, option in enumerate(options)
        if abs(len(option) - len(text)) <= _MAX_NEAR_CHARS and _fold_text(option) == folded
    ]
    return near[0] if len(near) == 1 and folded else None


def by_text_apart(cell: str, options: Sequence[str]) -> int | None:
    """The text of the right option, while the columns of options have the wrong ones alone."""
    return options.index(cell.strip()) if options.count(cell.strip()) == 1 else None


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """A question as its file has it.

    `options` are the texts that models are shown, in the order of the file. `answer` is the cell of
    the column of answers, "" where there is none. `columns` holds every cell of the row by the name
    that the file gives its column: texts, and of JSON also lists and objects; numbers are texts.
    """

    question: str
    options: tuple[str, ...]
    answer: str
    columns: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AnswerFunction:
    """An answer key of a package: `compute` returns the letter of the right option, "A" the first.

    What it raises, and what is no letter of an option, is a fault of that row.
    """

    compute: Callable[[AnswerRow], str]
    label: Mapping[Language, str] = field(default_factory=dict[Language, str])

    def find_target(self, row: AnswerRow) -> int | str:
        """The place of the right option, or what the function did instead."""
        try:
            letter: Any = self.compute(row)
        except Exception as error:  # noqa: BLE001 (other people's code; the fault reports it)
            return shorten(collapse_whitespace(f"{type(error).__name__}: {error}"), 200)
        known = LETTERS[: len(row.options)]
        if isinstance(letter, str) and len(letter) == 1 and letter in known:
            return known.index(letter)
        return shorten(f"it gave {letter!r}")


# What one cell can be written as.
CELL_KEYS: Mapping[str, CellAnswerKey] = {
    "letter": by_letter,
    "index0": by_index_from_0,
    "index1": by_index_from_1,
    "text": by_text,
    "apart": by_text_apart,
}
# These, and functions of other packages.
ANSWER_KEYS: Registry[CellAnswerKey | AnswerFunction] = Registry("answer key")
for _name, _key in CELL_KEYS.items():
    ANSWER_KEYS.register(_name)(_key)


def answer_function(name: str) -> AnswerFunction | None:
    """The function of a package that is called so, None for what one cell is written as.

    Raises:
        UnknownName: there is no such answer key.
    """
    key = None if name in CELL_KEYS else ANSWER_KEYS[name]
    return key if isinstance(key, AnswerFunction) else None


def answer_letters(cell: str, n_options: int = MIN_LETTERS) -> str:
    """The letters of an answer that names several ("AC", "A, C", "["A", "C"]"), else ""."""
    if not 1 < len(cell) <= _MAX_LETTER_CHARS:
        return ""
    text = re.sub(r"[\[\]()'\"“”【】]", "", normalise_cell(cell).upper()).strip()
    text = _AND.sub(",", text)
    if not _LETTERS.fullmatch(text):
        return ""
    letters = "".join(letter for letter in dict.fromkeys(text) if letter in LETTERS)
    named = set(LETTERS[: max(n_options, MIN_LETTERS)])
    return letters if len(letters) > 1 and named.issuperset(letters) else ""


def answer_places(cell: str, n_options: int, first: int) -> tuple[int, ...]:
    """The places that an answer names by several numbers ("1,4"), counted from `first`; else ()."""
    if not _NUMBERS.fullmatch(cell.strip()):
        return ()
    places = tuple(int(number) - first for number in re.findall(r"\d+", cell))
    return places if all(0 <= place < n_options for place in places) else ()


def truth_of(cell: str) -> bool | None:
    """Whether an answer says true or false (对, √, yes, F); None if it says neither."""
    return _TRUTH.get(normalise_cell(cell).rstrip(_TRAILING_PUNCTUATION).casefold())


def is_mark(text: str) -> bool:
    """Whether a cell marks an option as right or as wrong."""
    folded = text.strip().casefold()
    return folded in _TRUE_MARKS or folded in _FALSE_MARKS or truth_of(folded) is not None


def is_true_mark(text: str) -> bool:
    """Whether a cell marks an option as right."""
    folded = text.strip().casefold()
    return folded in _TRUE_MARKS or truth_of(folded) is True


def truth_options(answers: Sequence[str], questions: Sequence[str]) -> tuple[str, str]:
    """What the options "true" and "false" are called, by the answers and the questions' script."""
    words = {normalise_cell(answer).casefold() for answer in answers}
    for own, pair in _PAIRS:
        if words <= own:
            return pair
    chinese = any(map(contains_han, words)) or any(map(is_chinese, questions))
    return ("对", "错") if chinese else ("True", "False")


def _dressed_letter(cell: str, options: Sequence[str]) -> int | None:
    if len(cell) > _MAX_ANSWER_CHARS:
        return None
    text = collapse_whitespace(normalise_cell(cell))
    if boxed := _BOXED.fullmatch(text):
        text = boxed[1]
    text = text.strip(_QUOTES).replace("_", " ").strip()
    if len(text) <= _MAX_LETTER_CHARS and (match := _LETTER.fullmatch(text)):
        return LETTER_PLACES[match["letter"]]
    match = _LETTER_AND_TEXT.fullmatch(text)
    if not match:
        return None
    place = LETTER_PLACES[match["letter"]]
    same = place < len(options) and _fold_text(match["text"]) == _fold_text(options[place])
    return place if same else None


def _fold_text(text: str) -> str:
    return collapse_whitespace(normalise_cell(text)).casefold().rstrip(_TRAILING_PUNCTUATION)


def _parse_number(cell: str) -> int | None:
    if cell.isascii() and cell.isdigit():
        return int(cell) if len(cell) <= 3 else None
    # A spreadsheet may have made 2 into 2.0; three digits are enough for 26 options.
    match = _NUMBER.fullmatch(normalise_cell(cell))
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


@dataclass(frozen=True, slots=True)
class AnswerFit:
    """How well answers name the options beside them under the best answer key.

    `hits` of `n` answers name an option, or several by letters. `assumed`: nothing decides whether
    numbers count from 0 or from 1. `rival` is another key that explains as many and means others.
    """

    key: str
    hits: int
    n: int
    assumed: bool = False
    rival: str = ""

    @property
    def share(self) -> float:
        """The share of the answers that name an option; 0 without answers."""
        return self.hits / self.n if self.n else 0.0


def fit_answers(answers: Sequence[RawAnswer], start: str = "") -> AnswerFit:
    """The answer key that explains most of the answers, and what speaks against it.

    So one of several columns is found, and a tie is a doubt; `detect_answer_key` decides what the
    column that was found says. `start` is the number of the first option by its head, "" where
    heads have none.
    """
    base, assumed = _index_base(answers, start)
    keys = ("letter", base, "text")
    targets = {key: _targets(key, answers) for key in keys}
    several = sum(map(_names_several, answers))
    hits = {key: len(answers) - named.count(None) for key, named in targets.items()}
    hits["letter"] += several
    first = int(base == "index1")
    hits[base] += sum(bool(answer_places(a.cell, len(a.options), first)) for a in answers)
    best = max(keys, key=lambda key: hits[key])
    rivals = [
        key
        for key in keys
        if key != best and hits[key] == hits[best] and _differ(targets[key], targets[best])
    ]
    return AnswerFit(
        best,
        hits[best],
        len(answers),
        assumed=best == base and assumed,
        rival=rivals[0] if rivals else "",
    )


def _names_several(answer: RawAnswer) -> bool:
    letters = answer_letters(answer.cell, len(answer.options))
    return bool(letters) and LETTERS.index(max(letters)) < len(answer.options)


def detect_answer_key(
    answers: Sequence[RawAnswer], file: str, column: str, start: str = ""
) -> DetectedAnswerKey:
    """The key under which most answers name an option.

    A 0 means that numbers count from 0, the number of a row's options that they count from 1;
    where a file has both, the way in which more of its answers name an option; where it has
    neither, the heads of the options may say it (`start`); else 0 is assumed, with a note. Where
    places and texts explain as much, numbers that JSON writes as such and letters are places,
    quoted numbers are texts, with a note if that makes a difference.
    """
    base, assumed = _index_base(answers, start)
    targets = {key: _targets(key, answers) for key in ("letter", base)}
    matches = {key: len(answers) - named.count(None) for key, named in targets.items()}
    place = max(("letter", base), key=lambda key: matches[key])
    hits = matches[place]
    if place == "letter" and hits == len(answers) and not any(a.cell in a.options for a in answers):
        return DetectedAnswerKey("letter")
    texts = _targets("text", answers)
    as_text = len(answers) - texts.count(None)
    different = _differ(texts, targets[place]) if as_text == hits else 0
    text_first = place == base and not all(answer.is_number for answer in answers)
    values = {"file": file, "column": column}
    if as_text > hits or (as_text == hits and text_first):
        return DetectedAnswerKey("text", _note_if_any("text-or-place", values, different))
    notes = _note_if_any("place-or-text", values, different)
    if place == "index1":
        notes += (UploadNote("counts-from-1", values),)
    elif place == "index0" and assumed:
        notes += (UploadNote("counts-from-0", values),)
    return DetectedAnswerKey(place, notes)


def _index_base(answers: Sequence[RawAnswer], start: str) -> tuple[str, bool]:
    """From where numbers count, and whether that is assumed."""
    from_0, from_1 = CELL_KEYS["index0"], CELL_KEYS["index1"]
    numbers: list[list[str]] = [
        re.findall(r"\d+", each.cell) if _NUMBERS.fullmatch(each.cell.strip()) else []
        for each in answers
    ]
    first = any(
        from_0(each.cell, ("",)) == 0 or "0" in several
        for each, several in zip(answers, numbers, strict=True)
    )
    last = any(
        from_1(each.cell, each.options) == len(each.options) - 1
        or str(len(each.options)) in several
        for each, several in zip(answers, numbers, strict=True)
    )
    if first and last:
        return max(("index0", "index1"), key=lambda key: _count_matches(key, answers)), False
    if not first and start == "1":
        return "index1", False
    return ("index1", False) if last else ("index0", not first)


def _targets(key: str, answers: Sequence[RawAnswer]) -> list[int | None]:
    read = CELL_KEYS[key]
    return [read(answer.cell, answer.options) for answer in answers]


def _count_matches(key: str, answers: Sequence[RawAnswer]) -> int:
    return sum(target is not None for target in _targets(key, answers))


def _differ(first: Sequence[int | None], second: Sequence[int | None]) -> int:
    """How many answers name another option."""
    pairs = zip(first, second, strict=True)
    return sum(None not in pair and pair[0] != pair[1] for pair in pairs)


def _note_if_any(rule: str, values: Mapping[str, str], n: int) -> tuple[UploadNote, ...]:
    return (UploadNote(rule, {**values, "n": str(n)}),) if n else ()
