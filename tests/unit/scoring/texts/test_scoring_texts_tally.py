"""What texts come to is the same whether they are counted at once or one after the other."""

from dataclasses import replace

import pytest
from open_examples import answer_trial, answers_result

from evalui.scoring.texts.tally import TextTally, median_of, tally_texts
from evalui.types import Sample

CHINESE, ENGLISH = "猫坐在垫子上", "the cat sat on the mat"


@pytest.mark.parametrize("step", [1, 5])
def test_parts_add_up_to_the_whole(step: int):
    result = answers_result("late")
    talk = answer_trial([*result.samples.values()][4], "abc", turns=2)
    trials = [*result.trials[:4], talk, *result.trials[5:]]
    tally: TextTally | None = None
    for start in range(0, len(trials), step):
        tally = tally_texts(trials[start : start + step], result.samples, tally)
    assert tally == tally_texts(trials, result.samples)
    assert tally.n == 12


@pytest.mark.parametrize(
    ("references", "tokenizers"),
    [((CHINESE,), {"zh"}), ((ENGLISH,), {"13a"}), ((CHINESE, ENGLISH), {"13a", "zh"})],
)
def test_a_mixed_file_alone_is_cut_in_two_ways(references: tuple[str, ...], tokenizers: set[str]):
    asked = {str(n): Sample(str(n), f"{n}?", target=(text,)) for n, text in enumerate(references)}
    first = answer_trial(asked["0"], "x")
    assert set(tally_texts([first], asked).corpus.bleu) == tokenizers


def test_an_answer_holds_a_reference_without_case_and_blanks():
    asked = {"q": Sample("q", "?", target=("Red wine", "none"))}
    trials = [answer_trial(asked["q"], text) for text in ("a RED\nWine b", "nothing", "red")]
    tally = tally_texts(trials, asked)
    assert (tally.held, tally.referenced) == (1, 3)
    blank = {"q": replace(asked["q"], target=("  ",))}
    assert tally_texts(trials, blank).referenced == 0


def test_the_median_of_counted_lengths():
    assert median_of({3: 1, 9: 2, 100: 1}) == 9
    assert median_of({3: 1, 4: 1}) == 3.5
    assert median_of({}) == 0
