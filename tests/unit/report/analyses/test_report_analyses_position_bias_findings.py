import math
from dataclasses import replace

import pytest
from bias_examples import cell_result, fond, halting, right, with_probabilities

from evalui.report.analyses.position_bias import findings
from evalui.scoring.bias import StratumBias
from evalui.scoring.bias.counts import RecallSpread
from evalui.scoring.bias.significance import PermutationTest
from evalui.scoring.cell_summary import summarise


def _bias(pick=fond, **given) -> StratumBias:
    found = summarise(cell_result(pick, **given)).main_bias
    assert found is not None
    return found


def _lit(light: str, p: float, n: int = 240) -> StratumBias:
    """The bias of a fond model with another light: only the words are looked at."""
    tests = replace(_bias().tests, permutation=PermutationTest(p, 1.2, 2.1, 999, 0))
    return replace(_bias(), level=light, tests=tests, n=n, adjusted_p=p)


def _findings(bias: StratumBias, language: str = "en", **given):
    summary = summarise(cell_result(fond, **given))
    return {each.rule: each for each in findings(summary, bias, language)}


def test_of_fewer_than_thirty_questions_only_counts_are_told():
    told = _findings(_bias(n=28))
    assert {told[rule].p for rule in ("picks", "recalls")} == {""}
    assert told["picks"].finding == "Too few questions to tell."


@pytest.mark.parametrize(
    ("light", "p", "said", "printed"),
    [
        ("red", 0.001, "Yes. A is picked 38 points more often than is fair", ".001"),
        ("amber", 0.049, "Yes. A is picked 38 points more often than is fair", ".049"),
        ("green", 0.05, "Not seen. Shuffled answers are often spread as unevenly.", ".050"),
        # So slight that it does not matter: the test found it all the same.
        ("green", 0.01, "Yes.", ".010"),
        ("few", 0.4, "Too few questions to tell.", ".400"),
    ],
)
def test_the_permutation_test_in_words(light: str, p: float, said: str, printed: str):
    found = _findings(_lit(light, p))["picks"]
    assert found.finding.startswith(said)
    assert found.p == printed
    assert found.how.startswith("within-question permutation, 999 draws; p corrected")


def test_two_positions_picked_equally_often_have_no_letter():
    bias = _lit("red", 0.001)
    table = replace(bias.position, counts=((5, 5), (5, 5)), n_options=2)
    assert _findings(replace(bias, position=table))["picks"].finding == (
        "Yes. Shuffled answers are rarely spread this unevenly."
    )


def test_recalls_are_told_by_their_extremes_and_cochran():
    told = _findings(_bias())["recalls"]
    assert told.finding.startswith("No. 100.0 % at A, 50 % at B, C and D.")
    assert (told.how[:11], told.p) == ("Cochran Q =", "< .001")
    assert _findings(_bias(right))["recalls"].finding == "Yes, equally: 100.0 %."
    other = replace(_bias().tests, cochran_q=replace(_bias().tests.cochran_q, p=0.3))
    unseen = _findings(replace(_bias(), tests=other))["recalls"]
    assert unseen.finding.startswith("No difference seen. 100.0 % at A")


def test_the_spread_stands_beside_its_noise_floor():
    bias = _lit("red", 0.001)
    assert _findings(bias)["spread"].finding == (
        "Recalls spread by 21.7 points; an unbiased model shows 1.2 on average, up to 2.1."
    )
    untested = replace(bias, tests=replace(bias.tests, permutation=None, cochran_q=None))
    assert _findings(untested)["spread"].finding == "Recalls spread by 21.7 points."


@pytest.mark.parametrize(
    ("ckld", "never", "words"),
    [
        (0.2207, (), "0.221"),
        (math.inf, (3,), "infinite (D never chosen), smoothed 5.800"),
        (math.inf, (1, 3), "infinite (B, D never chosen), smoothed 5.800"),
        (None, (0, 1, 2, 3), "–"),
    ],
)
def test_an_infinite_divergence_is_said_to_be_so(ckld, never, words):
    bias = replace(_bias(), spread=RecallSpread(1.0, 0.1, ckld, 5.8, never, 0.1))
    assert _findings(bias)["spread"].how.endswith(f"; CKLD {words}")


def test_steadiness_counts_who_follows_the_letter():
    told = _findings(_bias())
    # Every second question is locked on A; what A holds changes with each order.
    assert told["follow"].finding.startswith("60 of 120 questions kept a position in more orders")
    assert "two orders agree on the option 50 % (kappa .33)" in told["follow"].how
    assert told["plurality"].finding == (
        "The most frequent option comes in 62.5 % of the orders; guessing gives 53.1 %."
    )


def test_who_keeps_both_as_often_follows_neither():
    bias = _bias()
    grid = ((0, 0, 0, 7), (0, 20, 0, 0), (0, 3, 0, 0), (5, 0, 0, 1))
    told = _findings(replace(bias, consistency=replace(bias.consistency, grid=grid)))
    assert told["follow"].finding.startswith("8 of 120 questions")


def test_averaging_is_told_with_and_without_probabilities():
    assert "averaged" not in _findings(_bias())
    assert _findings(_bias())["voted"].finding == (
        "A majority over the orders would give 62.5 % instead of 50 %."
    )
    found = summarise(with_probabilities(cell_result(fond)))
    told = {each.rule: each for each in findings(found, found.main_bias, "en")}
    assert told["averaged"].finding.startswith("Accuracy would be 63 % (54–71) instead of 50 %.")
    assert told["pride"].how.startswith("PriDe, prior A ")


def test_clusters_tell_what_the_answers_are_worth():
    told = _findings(_bias())["clusters"]
    assert told.finding.startswith("480 answers know as much as ")
    assert "design effect" in told.how


def test_what_was_left_out_is_counted():
    assert _findings(_bias())["left-out"].finding == "None of 480."
    blind = _bias(lambda question, _, target: None if question < 3 else target)
    assert _findings(blind)["left-out"].finding == (
        "12 of 480 were unreadable, 0 tied. They are left out of position figures."
    )


def test_one_order_is_not_tested_and_says_so():
    bias = _bias(pattern="origin")
    told = _findings(bias)
    assert not {"picks", "follow", "voted", "pride"} & set(told)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("pick", [fond, right, halting(7), lambda *_: None])
def test_any_cell_can_be_told_in_both_languages(pick, language: str):
    summary = summarise(with_probabilities(cell_result(pick)))
    told = findings(summary, summary.main_bias, language)
    assert all(each.finding and "{" not in each.finding + each.how for each in told)


@pytest.mark.parametrize(("value", "printed"), [(0.424, ".42"), (-0.05, "−.05"), (1.0, "1.00")])
def test_kappa_is_short(value: float, printed: str):
    bias = _bias()
    content = replace(bias.consistency.content, kappa=value)
    told = _findings(replace(bias, consistency=replace(bias.consistency, content=content)))
    assert f"(kappa {printed})" in told["follow"].how
