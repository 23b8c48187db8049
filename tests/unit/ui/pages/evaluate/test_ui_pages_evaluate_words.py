"""The sentences of the Evaluate page keep within their budgets of words, in both languages."""

import re
from collections.abc import Iterator, Mapping

import pytest

from evalui.messages import messages
from evalui.types import Language

# Words at most: a button, a line in a row, a closed line that opens, a warning, a caption.
BUTTON, SMALL, CLOSED, WARNING, CAPTION = 3, 6, 14, 18, 20
BUDGETS: Mapping[str, int] = {
    "drop.sample": BUTTON,
    "drop.open_sample": BUTTON,
    "drop.choose": BUTTON,
    "drop.add": BUTTON,
    "drop.replace": BUTTON,
    "file.preview": BUTTON,
    "file.columns": BUTTON,
    "file.remove": BUTTON,
    "file.details": BUTTON,
    "cost.start": BUTTON,
    "mapping.use": BUTTON,
    "intro.example": BUTTON,
    "preset.quick": BUTTON,
    "preset.robust": BUTTON,
    "preset.full": BUTTON,
    "file.ready": SMALL,
    "models.fits": SMALL,
    "models.needs": SMALL,
    "models.cannot": SMALL,
    "models.only": SMALL,
    "models.price": SMALL,
    "models.out_of_reach": SMALL,
    "modes.none_here": SMALL,
    "modes.needs": SMALL,
    "modes.all_models": SMALL,
    "modes.some_models": SMALL,
    "choose.of": SMALL,
    "cost.queue": SMALL,
    "answers.summary": CLOSED,
    "answers.chosen": CLOSED,
    "models.small": CLOSED,
    "models.baselines": CLOSED,
    "mode.*_about": CLOSED,
    "finding.*": CLOSED,
    "cost.gap": WARNING,
    "cost.many": WARNING,
    "cost.left_out": WARNING,
    "cost.left_out_by": WARNING,
    "cost.no_*": WARNING,
    "cost.one_contestant": WARNING,
    "away.*": WARNING,
    "error.not-a-dataset": WARNING,
    "evaluate.promise": CAPTION,
    "drop.kinds": CAPTION,
    "drop.sample_note": CAPTION,
    "mapping.unknown": CAPTION,
    "mapping.known": CAPTION,
    "preset.*_about": CAPTION,
    "answers.about": CAPTION,
}
_JUDGE = ("mode.judge_about",)  # of a card that only runs with a judge have
# A Chinese word has one or two characters.
_CHARACTERS_PER_WORD = 2


def words(text: str) -> int:
    """Words between blanks; a field that is filled in counts as one, a sign alone as none."""
    return len([word for word in text.split() if re.search(r"\w", word)])


def chinese_words(text: str) -> float:
    """Han characters at two for a word, and the words of other letters."""
    han = len(re.findall(r"[\u4e00-\u9fff]", text))
    other = re.findall(r"[A-Za-z{][\w}]*|\d+", text)
    return han / _CHARACTERS_PER_WORD + len(other)


def matching(pattern: str, language: Language) -> Iterator[tuple[str, str]]:
    shape = re.compile(re.escape(pattern).replace(r"\*", r"[\w.-]+"))
    for key, text in messages(language).by_key.items():
        if shape.fullmatch(key) and key not in _JUDGE:
            yield key, text


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(("pattern", "budget"), BUDGETS.items(), ids=BUDGETS)
def test_a_sentence_keeps_within_its_budget(pattern: str, budget: int, language: Language):
    counted = words if language == "en" else chinese_words
    found = dict(matching(pattern, language))
    assert found
    assert {key: text for key, text in found.items() if counted(text) > budget} == {}


def test_words_are_counted_as_people_count_them():
    assert words("With {n} questions, gaps stay invisible.") == 6
    assert words("0 – 9") == 2
    assert chinese_words("{n} 道题重复") == 3
    assert chinese_words("AB 题") == 1.5
