"""Names and lists of them, sentences one after the other, bands of places, as pages say it."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeVar

from evalui.messages import localized, messages
from evalui.pictures import Mark, has_marks, parts
from evalui.scoring.cautions import MIN_DRAWN
from evalui.scoring.cell_summary import SubjectGroup, Summary, is_decided
from evalui.types import Cell, Language

_T = TypeVar("_T")
_MAX_NAMES = 3  # models in a title, before they are counted
_NAME_LENGTH = 32  # characters of a name, as of meta-llama/Llama-3.1-8B-Instruct
# A name within a text; the parts of an address or a path are none.
_LONG_NAME = re.compile(rf"(?<![\w./@+-])\w[\w./@+-]{{{_NAME_LENGTH - 1},}}\w", re.ASCII)
_FULL_WIDTH = "。；：！？，、）」”"  # signs of Chinese that bring their own room


def join_sentences(*sentences: str) -> str:
    """Sentences one after the other; those that are "" are left out.

    >>> join_sentences("One.", "", "Two.")
    'One. Two.'
    """
    joined = ""
    for each in filter(None, sentences):
        joined += gap_after(joined) + each
    return joined


def gap_after(text: str) -> str:
    """The blank between a text and what follows it; "" after "" and after a sign of Chinese."""
    return " " if text and text[-1] not in _FULL_WIDTH else ""


def in_words(text: str, language: Language) -> str:
    """A text of a question where no picture can stand: each is a word."""
    if not has_marks(text):
        return text
    word = localized("picture.word", language)
    return "".join(word if isinstance(part, Mark) else part for part in parts(text))


def join_names(names: Iterable[str], language: Language) -> str:
    """Names one after the other: "a, b, c"."""
    return localized("list.comma", language).join(names)


def join_clauses(clauses: Iterable[str], language: Language) -> str:
    """Parts of one sentence: "a; b; c"."""
    return localized("list.semicolon", language).join(clauses)


def shorten_name(name: str) -> str:
    """The name of a model or data set, where it is long without its owner, then without its middle.

    >>> shorten_name("our-organisation/Qwen2.5-0.5B-Instruct-tuned-on-all-of-it-v12")
    '…/Qwen2.5-0.5B-I…n-all-of-it-v12'
    """
    if len(name) <= _NAME_LENGTH:
        return name
    _, slash, own = name.rpartition("/")
    short = f"…/{own}" if slash else own
    if len(short) <= _NAME_LENGTH:
        return short
    tail = (_NAME_LENGTH - 1) // 2
    return f"{short[: _NAME_LENGTH - 1 - tail]}…{short[-tail:]}"


def name_parts(text: str) -> list[tuple[str, str]]:
    """A text in pieces: each as it is shown, and a long name with the whole of it, else ""."""
    parts: list[tuple[str, str]] = []
    end = 0
    for found in _LONG_NAME.finditer(text):
        parts += [(text[end : found.start()], ""), (shorten_name(found[0]), found[0])]
        end = found.end()
    return [*parts, (text[end:], "")]


def join_names_shortened(names: Sequence[str], language: Language) -> str:
    """ "a", "a and b", "a, b and c", and from four on "a and 3 others"."""
    if len(names) > _MAX_NAMES:
        # Chinese counts the one that is named among them.
        k = len(names) - (language != "zh")
        return localized("and-others", language, first=names[0], k=k)
    if len(names) < 2:
        return "".join(names)
    first = join_names(names[:-1], language)
    return localized("and", language, first=first, last=names[-1])


def band_text(low: int, high: int) -> str:
    """The places that something may have: "1", "2–3"."""
    return str(low) if low == high else f"{low}–{high}"


def too_few(groups: int, language: Language) -> str:
    """How many groups of questions are too small to be shown; "" if none is."""
    return localized("not-drawn", language, k=groups, few=MIN_DRAWN) if groups else ""


def rank_bands(models: Sequence[str], decided: Collection[tuple[str, str]]) -> dict[str, str]:
    """The places that `decided` pairs (better, worse) leave each model: "1", "2–3"."""
    better = {model: sum(worse == model for _, worse in decided) for model in models}
    worse = {model: sum(first == model for first, _ in decided) for model in models}
    return {model: band_text(1 + better[model], len(models) - worse[model]) for model in models}


def mode_name(cell: Cell, language: Language) -> str:
    """The mode of a cell in words, with what distinguishes it from others of its kind."""
    name = _first_known((f"mode-{kind}" for kind in _kinds(cell)), cell, language)
    return name + cell.label.removeprefix(cell.mode)


def mode_word(cell: Cell, language: Language, *, capital: bool = True) -> str:
    """The mode of a cell in a word, with what tells it from others of its kind: "Cloze",
    "Letters 5-shot".
    """
    short = _first_known((f"mode.{kind}_short" for kind in _kinds(cell)), cell, language)
    first = short[:1].upper() if capital else short[:1]
    return first + short[1:] + cell.label.removeprefix(cell.mode)


def _kinds(cell: Cell) -> list[str]:
    """What may name the mode of a cell: of decisions first the mode as a decision."""
    return [f"{cell.mode}_decision"] * is_decided(cell) + [cell.mode]


def _first_known(keys: Iterable[str], cell: Cell, language: Language) -> str:
    """The first of the words that there is; the registered name of a mode without any."""
    t = messages(language)
    return next((t(key) for key in keys if key in t), cell.mode)


def group_name(group: SubjectGroup, language: Language) -> str:
    """What to call a subject, a category or a mean over several."""
    key = f"category-{group.name}" if group.kind == "category" else f"group-{group.kind}"
    known = messages(language)
    if key in known:
        return known(key)
    return (group.name_zh if language == "zh" else "") or group.name or "–"


def names(summaries: Sequence[Summary], language: Language) -> dict[Cell, tuple[str, str]]:
    """What to call each cell: its model, and what distinguishes it further ("" if nothing)."""
    cells = [summary.cell for summary in summaries]
    many_datasets = len({cell.dataset for cell in cells}) > 1
    many_modes = len({cell.label for cell in cells}) > 1
    return {
        cell: (
            cell.model,
            " · ".join([cell.dataset] * many_datasets + [mode_name(cell, language)] * many_modes),
        )
        for cell in cells
    }


def of_real_models(
    things: Sequence[_T],
    is_script: Callable[[_T], bool],
    say: Callable[[Sequence[_T]], str],
    language: Language,
) -> str:
    """What is said of real models, of scripts where there is nothing else; that scripts are not
    counted is said where they would change it.
    """
    own = [each for each in things if not is_script(each)] or list(things)
    said = say(own)
    if len(own) == len(things) or say(things) == said:
        return said
    return join_sentences(said, localized("scripts-not-counted", language))
