from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scoring_examples import (
    asked,
    bias_case_trials,
    circular_case_trials,
    circular_intervals,
    golden,
    pattern_of,
    tied,
    trial,
)

from evalui.datasets.option_references import refers_to_other_options
from evalui.scoring.choice.circular import MOVABLE, circular_metrics
from evalui.scoring.choice.options import variant_label, variants
from evalui.types import Pattern, Reading, Sample, Trial

CASES = {case["id"]: case for case in golden("opencompass/circular.json")["cases"]}
# Rows are missing, or the evaluator expects more orders than there are: OpenCompass keeps such
# questions in the denominator, we list them. QUIRK cases show bugs that are not copied.
INCOMPLETE = {
    "public-circular-data-allposs-evaluator",
    "public-missing-variants-circular",
    "public-missing-variants-all_possible",
}
COMPLETE = [name for name in CASES if name not in INCOMPLETE and "QUIRK" not in name]
BIAS = {case["name"]: case for case in golden("bias/bias.json")["cases"]}
# In `ties`/model_a the peers give every tie to the first slot; see the tests of ties below.
MODELS = [
    (name, model)
    for name in BIAS
    for model in ("model_a", "model_b")
    if (name, model) != ("ties", "model_a")
]


# ------------------------------------------------------------------ OpenCompass, complete data


def test_all_complete_golden_cases_are_tested():
    assert len(CASES) == 24
    assert len(COMPLETE) == 18


@pytest.mark.parametrize("name", COMPLETE)
def test_complete_data_gives_opencompass_figures_in_its_order(name: str):
    case = CASES[name]
    found = circular_metrics(circular_case_trials(case), case["evaluator_pattern"])
    assert list(found.values) == list(case["metrics"])
    assert dict(found.values) == pytest.approx(case["metrics"], abs=1e-9)
    assert found.incomplete == ()


NAMING = golden("opencompass/circular_naming.json")


@pytest.mark.parametrize(
    "case", NAMING["cases"], ids=lambda case: f"{case['pattern']}-{case['seed']}"
)
def test_options_that_name_others_give_opencompass_figures_under_its_names(case: Any):
    """By its own evaluator, on a set with 以上都对, "both A and B" and two options of one text."""
    samples = {
        str(qid): Sample(
            str(qid),
            each["question"],
            tuple(each["options"]),
            "ABCD".index(each["answer"]),
            refers_to_other_options=refers_to_other_options(each["options"]),
        )
        for qid, each in enumerate(NAMING["questions"])
    }
    orders = {variant_label(order): order for order in variants(4, case["pattern"])}
    trials: list[Trial] = []
    for qid, label, predicted in case["rows"]:
        sample, order = samples[str(qid)], orders[label]
        target = order.permutation.index(sample.target)
        choice = "ABCD".index(predicted)
        reading = Reading(choice, float(choice == target), "strict")
        trials.append(
            Trial(
                sample.id,
                order,
                target,
                "strict",
                {"strict": reading},
                fixed_reason=sample.fixed_reason,
            )
        )
    found = circular_metrics(trials, case["pattern"])
    own = {name: value for name, value in found.values.items() if not name.endswith(MOVABLE)}
    assert own == pytest.approx(case["values"], abs=1e-9)
    assert (found.n_circular, len(found.naming), len(found.duplicates)) == (10, 6, 1)
    without = [trial for trial in trials if not trial.fixed_reason]
    movable = circular_metrics(without, case["pattern"]).values
    assert {name: value for name, value in found.values.items() if name.endswith(MOVABLE)} == {
        f"{name}{MOVABLE}": value for name, value in movable.items() if not name.endswith("_origin")
    }


def test_the_order_of_the_rows_does_not_matter():
    case = CASES["public-circular-100q"]
    trials = circular_case_trials(case)
    assert (
        circular_metrics(trials[::-1], "circular").values
        == circular_metrics(trials, "circular").values
    )


# ------------------------------------------------------------------ our rules on incomplete data


@pytest.mark.parametrize(
    ("name", "n_origin", "n_circular", "n_incomplete"),
    [
        ("public-missing-variants-circular", 56, 41, 19),
        ("public-missing-variants-all_possible", 25, 2, 28),
        ("public-circular-data-allposs-evaluator", 40, 0, 40),
    ],
)
def test_questions_that_lack_an_order_are_left_out_and_listed(
    name: str, n_origin: int, n_circular: int, n_incomplete: int
):
    case = CASES[name]
    trials = circular_case_trials(case)
    found = circular_metrics(trials, case["evaluator_pattern"])
    counts = (found.n_origin, found.n_circular, len(found.incomplete))
    assert counts == (n_origin, n_circular, n_incomplete)
    assert found.values["acc_origin"] == pytest.approx(case["metrics"]["acc_origin"], abs=1e-9)
    rest = [t for t in trials if t.sample_id not in found.incomplete]
    order_figures = {k: v for k, v in found.values.items() if "origin" not in k}
    expected = circular_metrics(rest, case["evaluator_pattern"]).values
    assert order_figures == {k: v for k, v in expected.items() if "origin" not in k}


def test_a_missing_order_cannot_lower_the_share_of_perfect_questions():
    """OpenCompass counts "lacks" as imperfect; the question says nothing and is listed."""
    trials = asked("whole", 0, {"AB": 0, "BA": 1}) + asked("torn", 0, {"AB": 0})
    found = circular_metrics(trials, "circular")
    assert found.values["perf_circular"] == 100
    assert found.incomplete == ("torn",)
    assert (found.n_origin, found.n_circular) == (2, 1)


def test_a_figure_without_a_question_is_left_out():
    found = circular_metrics(asked("torn", 0, {"BCA": 1}), "circular")
    assert dict(found.values) == {}
    assert found.incomplete == ("torn",)


def test_nothing_at_all_has_no_figures():
    assert dict(circular_metrics([], "circular").values) == {}


def test_origin_is_the_identity_wherever_it_stands():
    case = CASES["public-QUIRK-row0-is-BCDA"]
    trials = circular_case_trials(case)
    found = circular_metrics(trials, "circular")
    assert (
        found.values
        == circular_metrics(
            sorted(trials, key=lambda t: variant_label(t.variant)), "circular"
        ).values
    )
    rows = [row for row in case["rows"] if row[1] == "ABCD"]
    right = sum(row[2] == row[4] for row in rows)
    assert found.values["acc_origin"] == pytest.approx(100 * right / len(rows))


def test_a_repeated_row_is_not_counted_twice():
    case = CASES["public-QUIRK-duplicate-rows"]
    found = circular_metrics(circular_case_trials(case), "circular")
    last = {(row[0], row[1]): row[2] == row[4] for row in case["rows"]}
    assert found.values["acc_circular"] == pytest.approx(100 * sum(last.values()) / len(last))
    perfect = [all(last[q, order] for order in ("ABCD", "BCDA", "CDAB", "DABC")) for q in range(30)]
    assert found.values["perf_circular"] == pytest.approx(100 * sum(perfect) / 30)


def test_questions_whose_options_name_others_count_in_origin_only():
    trials = [
        trial("names", "AB", 0, choice=1, fixed="naming"),
        *asked("plain", 0, {"AB": 0, "BA": 1}),
    ]
    found = circular_metrics(trials, "circular")
    assert found.naming == ("names",)
    assert found.incomplete == ()
    assert (found.n_origin, found.n_circular) == (2, 1)
    assert found.values["acc_origin"] == 50
    assert found.values["acc_circular"] == 100


def test_questions_with_options_of_the_same_text_count_in_origin_only():
    trials = [
        trial("twice", "AB", 0, choice=1, fixed="duplicates"),
        *asked("plain", 0, {"AB": 0, "BA": 1}),
    ]
    found = circular_metrics(trials, "circular")
    assert (found.duplicates, found.naming, found.incomplete) == (("twice",), (), ())
    assert (found.n_origin, found.n_circular) == (2, 1)
    assert (found.values["acc_origin"], found.values["acc_circular"]) == (50, 100)


def test_the_pattern_origin_has_no_order_figures():
    found = circular_metrics(asked("q", 0, {"AB": 0, "BA": 1}), "origin")
    assert dict(found.values) == {"acc_origin": 100, "perf_origin": 100}
    assert found.n_circular == 0


def test_another_reading_can_be_scored():
    strict = [trial("q", "AB", 0, choice=0)]
    with pytest.raises(KeyError):
        circular_metrics(strict, "origin", reading="strict")
    assert circular_metrics(strict, "origin", reading="tolerant").values["acc_origin"] == 100


# ------------------------------------------------------------------ questions of unequal length


def three_and_four_options() -> list[Trial]:
    return asked("three", 0, {"ABC": 0, "BCA": 1, "CAB": 2}) + asked(
        "four", 0, {"ABCD": 0, "BCDA": 0, "CDAB": 0, "DABC": 0}
    )


def test_every_question_weighs_the_same_however_many_options_it_has():
    assert circular_metrics(three_and_four_options(), "circular").values["acc_circular"] == 62.5


def test_more_k_asks_a_shorter_question_for_all_it_has():
    values = circular_metrics(three_and_four_options(), "circular").values
    assert [values[f"more_{k}_circular"] for k in (1, 2, 3)] == [100, 50, 50]
    assert values["perf_circular"] == 50


# ------------------------------------------------------------------ ties


def test_a_tie_earns_its_share_of_accuracy_but_is_not_right():
    trials = [tied("q", "AB", 0, among=(0, 1)), *asked("q", 0, {"BA": 1})]
    mixed = [trials[0], tied("q", "BA", 1, among=(1,))]
    values = circular_metrics(mixed, "circular").values
    assert values["acc_origin"] == 50
    assert values["acc_circular"] == 75
    assert values["perf_origin"] == 0
    assert values["more_1_circular"] == 100
    assert values["perf_circular"] == 0


def test_two_half_credits_are_not_one_right_order():
    trials = [tied("q", "AB", 0, among=(0, 1)), tied("q", "BA", 1, among=(0, 1))]
    values = circular_metrics(trials, "circular").values
    assert values["acc_circular"] == 50
    assert values["more_1_circular"] == 0


def test_a_tie_among_wrong_options_earns_nothing():
    assert circular_metrics([tied("q", "ABC", 0, among=(1, 2))], "origin").values["acc_origin"] == 0


def test_the_golden_ties_are_shared_out_instead_of_given_to_the_first():
    """The peers' argmax gives 7 of the 30 ties to a gold first slot; 1/t gives what is due."""
    case = BIAS["ties"]
    trials = bias_case_trials(case, "model_a")
    credits = []
    for question, gold in enumerate(case["gold_content"]):
        for permutation, row in zip(
            case["perm_slot_to_content"], case["model_a"]["probs"][question], strict=True
        ):
            top = [slot for slot, value in enumerate(row) if value == max(row)]
            credits.append((permutation.index(gold) in top) / len(top))
    found = circular_metrics(trials, "circular")
    assert sum(t.reading.tied for t in trials) == case["expected"]["model_a"]["n_ties"]
    assert found.values["acc_circular"] == pytest.approx(100 * sum(credits) / len(credits))
    expected = case["expected"]["model_a"]["opencompass"]
    # No question is right in all orders, with or without its ties: the one figure we share.
    assert found.values["perf_circular"] == expected["perf_circular"] == 0
    assert found.values["more_1_circular"] < expected["more_1_circular"]


# ------------------------------------------------------------------ bias.json


@pytest.mark.parametrize(("name", "model"), MODELS)
def test_the_bias_tensors_give_opencompass_figures(name: str, model: str):
    case = BIAS[name]
    values = circular_metrics(bias_case_trials(case, model), pattern_of(case)).values
    assert dict(values) == pytest.approx(case["expected"][model]["opencompass"], abs=1e-6)


@pytest.mark.parametrize(("name", "model"), MODELS)
def test_the_intervals_agree_with_the_references(name: str, model: str):
    """Wilson from statsmodels, clustered figures from inspect_ai and statsmodels."""
    case = BIAS[name]
    expected = case["expected"][model]
    found = circular_intervals(bias_case_trials(case, model), pattern_of(case))
    assert found.accuracy
    assert found.robust
    assert found.order_sensitivity
    assert found.spread
    assert found.mean_over_orders
    wanted: list[float] = [
        expected["acc_origin"],
        *expected["acc_origin_wilson95"],
        expected["perf_circular"],
        *expected["perf_wilson95"],
        expected["gap_origin_minus_perf"],
        *expected["gap_wilson95"],
        expected["sensitivity_gap"],
        expected["acc_circular"],
        *expected["acc_circular_wilson_neff95"],
        *expected["acc_circular_t95"],
        expected["se_clustered_circular"],
    ]
    accuracy = found.mean_over_orders
    assert [
        *_bounds(found.accuracy),
        *_bounds(found.robust),
        *_bounds(found.order_sensitivity),
        found.spread.value,
        *_bounds(accuracy.interval),
        accuracy.t_interval.low,
        accuracy.t_interval.high,
        accuracy.se,
    ] == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize(("name", "model"), MODELS)
def test_the_design_effect_agrees_with_the_reference(name: str, model: str):
    case = BIAS[name]
    found = circular_intervals(bias_case_trials(case, model), pattern_of(case)).mean_over_orders
    assert found
    assert found.design_effect == pytest.approx(
        case["expected"][model].get("design_effect"), abs=1e-6
    )


def test_without_a_complete_question_only_origin_has_an_interval():
    found = circular_intervals(asked("torn", 0, {"ABC": 0}), "circular")
    assert found.accuracy
    assert found.accuracy.value == 1
    assert (
        found.mean_over_orders,
        found.robust,
        found.any_order,
        found.order_sensitivity,
        found.spread,
    ) == (None,) * 5


def test_the_pattern_origin_has_only_the_interval_of_origin():
    found = circular_intervals(asked("q", 0, {"AB": 0, "BA": 1}), "origin")
    assert found.accuracy
    assert (
        found.mean_over_orders,
        found.robust,
        found.any_order,
        found.order_sensitivity,
        found.spread,
    ) == (None,) * 5


def test_nothing_at_all_has_no_interval():
    assert circular_intervals([], "circular").accuracy is None


def test_any_order_is_perf_plus_spread():
    case = BIAS["k4_additive"]
    found = circular_intervals(bias_case_trials(case, "model_a"), "circular")
    assert found.any_order
    assert found.robust
    assert found.spread
    assert found.any_order.value == pytest.approx(found.robust.value + found.spread.value)


# ------------------------------------------------------------------ properties

MODES: tuple[Pattern, ...] = ("circular", "all_possible")


@st.composite
def answered(draw: st.DrawFn) -> tuple[list[Trial], Pattern]:
    """Questions of two to four options, each answered anyhow in every order."""
    pattern = draw(st.sampled_from(MODES))
    trials: list[Trial] = []
    for question in range(draw(st.integers(1, 5))):
        n_options = draw(st.integers(2, 4))
        gold = draw(st.integers(0, n_options - 1))
        for variant in variants(n_options, pattern):
            choice = draw(st.none() | st.integers(0, n_options - 1))
            target = variant.permutation.index(gold)
            trials.append(trial(f"q{question}", variant_label(variant), target, choice=choice))
    return trials, pattern


@given(answered())
def test_perf_never_exceeds_more_k_and_more_k_falls(case: tuple[list[Trial], Pattern]):
    trials, pattern = case
    values = circular_metrics(trials, pattern).values
    for part in ("circular", pattern):
        ladder = [v for k, v in values.items() if k.startswith("more") and k.endswith(part)]
        ladder.append(values[f"perf_{part}"])
        assert ladder == sorted(ladder, reverse=True)


@given(answered())
def test_perf_never_exceeds_any_accuracy(case: tuple[list[Trial], Pattern]):
    trials, pattern = case
    values = circular_metrics(trials, pattern).values
    perf = values[f"perf_{pattern}"] - 1e-9
    assert perf <= values["acc_origin"]
    assert perf <= values[f"acc_{pattern}"]
    assert perf <= values["perf_circular"]


@given(answered(), st.randoms())
def test_figures_depend_neither_on_ids_nor_on_row_order(case: Any, random: Any):
    trials, pattern = case
    renamed = [
        trial(
            t.sample_id[::-1],
            variant_label(t.variant),
            t.target,
            choice=t.choice,
        )
        for t in trials
    ]
    random.shuffle(renamed)
    assert dict(circular_metrics(renamed, pattern).values) == pytest.approx(
        dict(circular_metrics(trials, pattern).values)
    )


@pytest.mark.parametrize("n_options", [2, 3, 4, 5])
@pytest.mark.parametrize("slot", [0, 1])
def test_a_model_that_always_picks_one_slot_is_exposed(n_options: int, slot: int):
    trials = [
        trial(f"q{gold}", variant_label(v), v.permutation.index(gold), choice=slot)
        for gold in (0, 0, 1)
        for v in variants(n_options, "circular")
    ]
    values = circular_metrics(_numbered(trials, n_options), "circular").values
    assert values["acc_circular"] == pytest.approx(100 / n_options)
    assert values["perf_circular"] == 0


@given(st.integers(2, 4), st.sampled_from(MODES))
def test_a_model_that_follows_the_content_is_not_moved_by_the_order(
    n_options: int, pattern: Pattern
):
    trials = [
        trial("q", variant_label(v), v.permutation.index(1), choice=v.permutation.index(1))
        for v in variants(n_options, pattern)
    ]
    assert set(circular_metrics(trials, pattern).values.values()) == {100.0}


def _numbered(trials: Sequence[Trial], n_options: int) -> list[Trial]:
    return [
        trial(f"{i // n_options}", variant_label(t.variant), t.target, choice=t.choice)
        for i, t in enumerate(trials)
    ]


def _bounds(interval: Any) -> list[float]:
    return [interval.value, interval.low, interval.high]
