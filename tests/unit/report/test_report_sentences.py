import re
from string import Formatter

import pytest

from evalui.report.sentences import SENTENCES, say


def _fields(text: str) -> set[str]:
    return {field for _, field, _, _ in Formatter().parse(text) if field}


@pytest.mark.parametrize("key", SENTENCES)
def test_every_sentence_exists_in_both_languages(key: str):
    assert set(SENTENCES[key]) == {"en", "zh"}
    assert all(SENTENCES[key].values())


# Chinese counts losses in tenths with its own numerals.
@pytest.mark.parametrize("key", sorted(SENTENCES.keys() - {"loses"}))
def test_both_languages_tell_the_same_figures(key: str):
    assert _fields(SENTENCES[key]["en"]) == _fields(SENTENCES[key]["zh"])


@pytest.mark.parametrize("key", SENTENCES)
def test_chinese_has_no_half_width_punctuation_between_its_characters(key: str):
    assert not re.search(r"[\u4e00-\u9fff][,;:?!()]", SENTENCES[key]["zh"])


@pytest.mark.parametrize("key", SENTENCES)
def test_no_sentence_shouts_or_begs(key: str):
    assert not re.search(r"!|please|oops|！", SENTENCES[key]["en"] + SENTENCES[key]["zh"], re.I)


def test_foreign_braces_are_left_alone():
    assert say("failed", "en", reason="{x}") == "Failed: {x}"
