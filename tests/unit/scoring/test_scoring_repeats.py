"""Several replies to one question: one value for each question, whatever is made of its replies."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from statistics import fmean

import numpy as np
import pytest
from scoring_examples import trial
from strata_examples import as_trials, simulated

from evalui.scoring.bias import measure_bias
from evalui.scoring.bias.counts import consistency, most_frequent
from evalui.scoring.bias.significance import permutation_test
from evalui.scoring.cell_trials import CellTrials
from evalui.scoring.choice.circular import circular_metrics, intervals_of_grids, outcomes_of_grids
from evalui.scoring.choice.trial_grid import strata, trial_grids
from evalui.scoring.metrics import compute_figures, known_metrics, metrics_having, metrics_of_texts
from evalui.scoring.statistics.intervals import wilson_interval
from evalui.types import Interval, Pattern, Reading, Trial, Variant


def asked(choices: dict[str, Sequence[int | None]], target: int = 0) -> list[Trial]:
    """The trials of questions in the order as written, one for each choice."""
    return [
        replace(made, variant=Variant(made.variant.permutation, repeat))
        for name, own in choices.items()
        for repeat, choice in enumerate(own)
        for made in (trial(name, "ABCD", target, choice=choice),)
    ]


def in_repeats(repeats: int, n: int = 30, pattern: Pattern = "circular") -> list[list[Trial]]:
    """The trials of a simulated model, drawn anew for each repeat."""
    return [
        [
            replace(each, variant=Variant(each.variant.permutation, repeat))
            for each in as_trials(
                simulated(n, np.random.default_rng(repeat), bias=0.5, pattern=pattern)
            )
        ]
        for repeat in range(repeats)
    ]


def alone(part: list[Trial]) -> list[Trial]:
    """The trials of one repeat as those of a run without repeats."""
    return [replace(each, variant=each.variant.order) for each in part]


MIXED = {"a": (0, 0, 1, 2), "b": (0, 0, 0, 0), "c": (1, 1, 2, None), "d": (0, 1, 1, 0)}


def test_pass_at_k_is_the_mean_over_all_choices_of_k_replies() -> None:
    figures = compute_figures(asked(MIXED), "origin")
    for k in (2, 4):
        drawn = [
            fmean(any(each == 0 for each in some) for some in combinations(own, k))
            for own in MIXED.values()
        ]
        figure = figures[f"pass_at_{k}"]
        assert isinstance(figure, Interval)
        assert figure.value == pytest.approx(fmean(drawn))
        assert (figure.n, figure.low <= figure.value <= figure.high) == (4, True)
    assert "pass_at_8" not in figures


def test_a_majority_needs_the_most_votes_and_shares_where_it_ties() -> None:
    figure = compute_figures(asked(MIXED), "origin")["majority"]
    assert isinstance(figure, Interval)
    assert figure.value == (1 + 1 + 0 + 0.5) / 4
    silent = compute_figures(asked({"a": (None, None)}), "origin")["majority"]
    assert isinstance(silent, Interval)
    assert silent.value == 0


def test_replies_agree_by_pairs_and_an_unreadable_one_with_none() -> None:
    figure = compute_figures(asked(MIXED), "origin")["repeat_agreement"]
    assert isinstance(figure, Interval)
    assert figure.value == pytest.approx((1 / 6 + 1 + 1 / 6 + 2 / 6) / 4)


def test_the_accuracy_is_a_mean_over_questions_and_its_range_is_theirs() -> None:
    same = asked({str(n): (0,) * 8 if n % 2 else (1,) * 8 for n in range(20)})
    found = intervals_of_grids(trial_grids(same, "origin"), "origin").accuracy
    assert found
    # Eight copies of a reply say no more than one.
    plain = wilson_interval(10, 20)
    assert (found.value, found.n) == (0.5, 20)
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high), abs=0.01)


def test_a_question_weighs_the_same_however_many_of_its_replies_are_in() -> None:
    half_way = asked({"a": (0, 0, 0, 0), "b": (1,)})
    found = intervals_of_grids(trial_grids(half_way, "origin"), "origin").accuracy
    assert found
    assert found.value == 0.5
    assert circular_metrics(half_way, "origin").values["acc_origin"] == 50
    assert outcomes_of_grids(trial_grids(half_way, "origin"), "origin")["accuracy"] == {
        "a": 1.0,
        "b": 0.0,
    }


def test_circular_figures_are_means_over_those_of_each_repeat() -> None:
    parts = in_repeats(3)
    whole = circular_metrics([each for part in parts for each in part], "circular")
    single = [circular_metrics(alone(part), "circular").values for part in parts]
    for name, value in whole.values.items():
        assert value == pytest.approx(fmean(each[name] for each in single)), name
    assert (whole.n_origin, whole.n_circular) == (30, 30)


def test_consistency_is_of_orders_and_not_of_repeats() -> None:
    parts = in_repeats(3)
    (stratum,) = strata([each for part in parts for each in part], "circular")
    single = [consistency(*strata(alone(part), "circular")) for part in parts]
    whole = consistency(stratum)
    assert whole
    assert (whole.n, whole.n_orders, stratum.n_shown) == (30, 4, 12)
    assert whole.content.pairs == pytest.approx(fmean(one.content.pairs for one in single if one))
    assert whole.grid == (single[0] and single[0].grid)
    assert len(most_frequent(stratum)[0]) == 30
    assert whole.all_orders
    assert whole.all_orders.value == pytest.approx(
        fmean(one.all_orders.value for one in single if one and one.all_orders)
    )


def test_repeats_of_one_order_are_no_evidence_of_position() -> None:
    parts = in_repeats(4, pattern="origin")
    (stratum,) = strata([each for part in parts for each in part], "origin")
    assert stratum.n_orders == 1
    assert permutation_test(stratum) is None
    assert consistency(stratum) is None


def test_copies_of_a_reply_make_no_bias_more_certain() -> None:
    (part,) = in_repeats(1, n=25)
    copies = [
        replace(each, variant=Variant(each.variant.permutation, repeat))
        for repeat in range(4)
        for each in part
    ]
    once, often = (measure_bias(each, "circular", draws=500) for each in (part, copies))
    (one,), (four,) = once.strata, often.strata
    assert four.n == one.n == 25
    assert four.position.n_trials == 4 * one.position.n_trials
    for few, many in zip(one.position.recalls, four.position.recalls, strict=True):
        assert few
        assert many
        assert (many.value, many.low, many.high) == pytest.approx(
            (few.value, few.low, few.high), abs=0.02
        )


def test_figures_of_repeats_are_there_only_with_repeats() -> None:
    single = compute_figures(asked({"a": (0,), "b": (1,)}), "origin")
    several = compute_figures(asked(MIXED), "origin")
    assert several.keys() - single.keys() == {
        *("majority", "repeat_agreement", "pass_at_2", "pass_at_4", "same_order"),
        *("variance_questions", "variance_sampling", "variance_order"),
    }
    names = [one.name for one in metrics_having([single, several], "report")]
    assert "pass_at_4" in names
    assert "pass_at_8" not in names
    assert "majority" not in [one.name for one in metrics_having([single], "report")]


def test_text_figures_are_means_over_questions() -> None:
    written = [
        replace(made, variant=Variant((), repeat), scores={"rouge-l-f": (score,)})
        for name, own in {"a": (1.0, 1.0, 1.0), "b": (0.0,)}.items()
        for repeat, score in enumerate(own)
        for made in (trial(name, "ABCD", 0, choice=0),)
    ]
    means = CellTrials(written, "origin").text_means
    assert (means["rouge-l-f"].value, means["rouge-l-f"].n) == (0.5, 2)


def written(replies: dict[str, Sequence[tuple[str, float]]], name: str = "exact_match"):
    """The trials of written answers, each a text and its score."""
    return [
        Trial(
            id_,
            Variant((), repeat),
            0,
            "answer",
            {"answer": Reading(0, score, "answered")},
            reply=text,
            scores={name: (score,)},
        )
        for id_, own in replies.items()
        for repeat, (text, score) in enumerate(own)
    ]


def value_of(trials: Sequence[Trial], name: str) -> float:
    figure = compute_figures(trials, "origin", answers="texts")[name]
    assert isinstance(figure, Interval)
    return figure.value


# Paris is right, and so is five; "The Paris!" is Paris in exact match.
TEXTS: dict[str, Sequence[tuple[str, float]]] = {
    "a": [("Paris.", 1), ("The Paris!", 1), ("Rome", 0), ("Bern", 0)],
    "b": [("4", 0), ("4", 0), ("4", 0), ("5", 1)],
    "c": [("x", 0), ("x", 0), ("y", 1), ("y", 1)],
    "d": [("", 0), (" ", 0), ("", 0), ("z", 1)],
}


def test_pass_at_k_of_texts_counts_replies_that_a_metric_calls_right() -> None:
    for k in (2, 4):
        drawn = [
            fmean(any(score == 1 for _, score in some) for some in combinations(own, k))
            for own in TEXTS.values()
        ]
        found = value_of(written(TEXTS), f"exact_match_pass_at_{k}")
        assert found == pytest.approx(fmean(drawn))


def test_a_majority_of_texts_is_of_equal_words_and_blank_replies_have_no_vote() -> None:
    assert value_of(written(TEXTS), "exact_match_majority") == (1 + 0 + 0.5 + 1) / 4


def test_a_conversation_is_right_if_every_turn_is() -> None:
    trials = written({"a": [("x", 0.75), ("x", 0.5)], "b": [("x", 1), ("x", 0.5)]})
    assert value_of(trials, "exact_match_pass_at_2") == 0.5


def test_where_all_replies_are_blank_there_is_no_majority_whatever_they_are_worth() -> None:
    assert value_of(written({"a": [("", 1), (" ", 1)]}), "exact_match_majority") == 0


def test_texts_agree_if_their_words_do_and_blank_ones_never() -> None:
    found = value_of(written(TEXTS), "answer_agreement")
    assert found == pytest.approx((1 / 6 + 3 / 6 + 2 / 6 + 0) / 4)


def test_a_score_that_says_no_right_or_wrong_has_the_spread_of_its_repeats() -> None:
    scores = {"a": (0.2, 0.4), "b": (0.5, 0.5)}
    trials = written({id_: [("x", s) for s in own] for id_, own in scores.items()}, "rouge-l-f")
    figures = compute_figures(trials, "origin", answers="texts")
    assert value_of(trials, "rouge-l-f_spread") == pytest.approx(np.std((0.2, 0.4), ddof=1) / 2)
    assert not [name for name in figures if "pass_at" in name or "majority" in name]


def test_a_question_without_every_repeat_counts_in_no_figure_of_repeats() -> None:
    partly = {"b": [("4", 0), ("4", 0)], "a": TEXTS["a"], "c": [("x", 0)]}
    assert value_of(written(partly), "exact_match_pass_at_4") == 1
    assert value_of(written(partly), "exact_match_majority") == 1


def test_texts_that_were_asked_once_have_no_figures_of_repeats() -> None:
    once = compute_figures(written({"a": [("x", 1)]}), "origin", answers="texts")
    several = compute_figures(written(TEXTS), "origin", answers="texts")
    assert several.keys() - once.keys() == {
        *("answer_agreement", "exact_match_majority"),
        *("exact_match_pass_at_2", "exact_match_pass_at_4"),
    }
    shown = {one.name for one in metrics_of_texts(()) if one.needs == "repeats"}
    assert {"exact_match_pass_at_256", "token_f1_spread"} <= shown


def test_while_answers_come_no_text_is_read_again_for_the_figures_of_repeats() -> None:
    cell = CellTrials(written(TEXTS), "origin", unfinished=True)
    assert known_metrics()["exact_match_majority"].compute(cell) is None
    assert known_metrics()["exact_match_pass_at_2"].compute(cell) is not None
