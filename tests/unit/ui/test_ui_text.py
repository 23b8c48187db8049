"""Both languages say everything, and say it about the same figures."""

import re
import string
from pathlib import Path
from typing import get_args

import pytest

from evalui.datasets.base import ANSWER_KEYS, NOTES, RULES
from evalui.datasets.questions.ceval_subjects import CATEGORIES
from evalui.errors import DataError, EvaluiError, sentence
from evalui.modes import MODES
from evalui.report.export.files import FORMATS
from evalui.runs.database.records import OutcomeFilter
from evalui.types import Ability, CellState, Kind, Language, Pattern, RunState
from evalui.ui import text as module
from evalui.ui.text import LANGUAGES, language_of, text

SOURCES = sorted(Path(module.__file__).parent.rglob("*.py"))
KEYS = sorted(
    {
        key
        for source in SOURCES
        for key in re.findall(
            r'\bt(?:\.count)?\(\s*"([a-z_]+\.[a-z_.]+)"', source.read_text(encoding="utf-8")
        )
    }
)


def fields(sentence: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name}


def test_both_languages_have_the_same_keys():
    # English alone tells one from many.
    english = {key for key in text("en").words if not key.endswith(".one")}
    assert english == {key for key in text("zh").words if not key.startswith("error.")}


def test_both_languages_put_in_the_same_figures():
    english, chinese = text("en").words, text("zh").words
    shared = english.keys() & chinese.keys()
    assert {k: fields(english[k]) for k in shared} == {k: fields(chinese[k]) for k in shared}


def test_no_string_is_empty():
    assert [
        key for language in LANGUAGES for key, said in text(language).words.items() if not said
    ] == []


def test_every_key_that_the_pages_name_exists():
    assert [key for key in KEYS if key not in text("en")] == []


@pytest.mark.parametrize(
    "key",
    [
        *(f"fault.{rule}.{part}" for rule in RULES for part in ("what", "expected")),
        *(f"note.{rule}" for rule in NOTES),
        *(f"key.{name}" for name in ANSWER_KEYS),
        *(f"mode.{mode}{part}" for mode in MODES for part in ("", "_about", "_short")),
        *(f"reading.{name}" for mode in MODES for name in MODES[mode].readings),
        *(f"ability.{name}" for name in get_args(Ability)),
        *(f"orders.{name}{part}" for name in get_args(Pattern) for part in ("", "_about")),
        *(f"state.{name}" for name in get_args(CellState)),
        *(f"runstate.{name}" for name in get_args(RunState)),
        *(f"results.{name}" for name in get_args(RunState)),
        *(f"outcome.{name or 'all'}" for name in get_args(OutcomeFilter)),
        *(f"kind.{name}" for name in get_args(Kind)),
        *(f"language.{name}" for name in get_args(Language)),
        *(f"report.{name}{part}" for name in FORMATS for part in ("", "_about")),
        *(f"group.{name}" for name in (*CATEGORIES, "hard", "all")),
    ],
)
def test_every_name_of_the_product_is_translated(key: str):
    assert key in text("en")
    assert key in text("zh")


def test_every_note_has_the_fields_of_its_english_sentence():
    for rule, told in NOTES.items():
        assert fields(text("zh").words[f"note.{rule}"]) <= fields(told), rule


def test_one_is_told_from_many():
    t = text("en")
    assert t.count("file.rows", 1) == "1 row"
    assert t.count("file.rows", 1240) == "1,240 rows"


@pytest.mark.parametrize(
    ("wish", "default", "expected"),
    [("zh", "en", "zh"), (None, "zh", "zh"), ("fr", "zh", "zh"), ("fr", "fr", "en")],
)
def test_a_language_we_lack_falls_back(wish: str | None, default: str, expected: str):
    assert language_of(wish, default) == expected


def test_an_error_is_told_in_the_language_of_the_page():
    error = DataError("{file} is empty.", "empty-file", file="题{1}.csv")
    assert str(error) == "题{1}.csv is empty."
    assert text("en").told(error.sentence) == "题{1}.csv is empty."
    assert text("zh").told(error.sentence) == "题{1}.csv 是空文件。"


def test_a_sentence_within_a_sentence_is_told_too():
    why = sentence("it does not write replies", "lacks-generate")
    whole = sentence("{model} cannot do this mode: {why}.", "cannot-do", model="m", why=why)
    assert whole == "m cannot do this mode: it does not write replies."
    assert text("zh").told(whole) == "m 不能用这种方式：它不写回复。"


def test_a_sentence_kept_by_a_version_with_other_fields_stays_english():
    kept = sentence("{name} has nothing.", "empty-file", name="a.csv")
    assert text("zh").told(kept) == "a.csv has nothing."


def test_other_peoples_words_stay_as_they_are():
    assert text("zh").told("OSError: {x}") == "OSError: {x}"
    assert text("zh").told(EvaluiError("As {it} is.").sentence) == "As {it} is."
