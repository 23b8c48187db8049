"""All sentences at once: a test for each of so many would take longer than they are worth."""

import re
from string import Formatter

from evalui.report.sentences.catalogue import SENTENCES, say


def _fields(text: str) -> set[str]:
    return {field for _, field, _, _ in Formatter().parse(text) if field}


def _found(pattern: str) -> list[str]:
    """The keys of the sentences in which the pattern is found in any language."""
    return [
        key
        for key, told in SENTENCES.items()
        if re.search(pattern, f"{told['en']} {told['zh']}", re.IGNORECASE)
    ]


def test_every_sentence_exists_in_both_languages():
    languages = {"en", "zh"}
    assert [
        k for k, told in SENTENCES.items() if set(told) != languages or not all(told.values())
    ] == []


def test_both_languages_tell_the_same_figures():
    # Chinese counts losses in tenths with its own numerals.
    told = {key: told for key, told in SENTENCES.items() if key != "loses"}
    assert [k for k, each in told.items() if _fields(each["en"]) != _fields(each["zh"])] == []


def test_chinese_has_no_half_width_punctuation_between_its_characters():
    assert _found(r"[\u4e00-\u9fff][,;:?!()]") == []


def test_no_sentence_shouts_or_begs():
    assert _found(r"!|please|oops|！") == []


def test_foreign_braces_are_left_alone():
    assert say("failed", "en", reason="{x}") == "Failed: {x}"
