from dataclasses import replace

import pytest
from open_run_examples import CATALOG, RIGHT, capitals, open_spec
from runs_examples import dataset, plans_of, spec

from evalui.runs.estimate import Estimate, count_tokens, estimate
from evalui.runs.plan import plan_run

DATASETS = {"sums.csv": dataset()}


def test_a_model_that_was_never_timed_has_no_time() -> None:
    told = estimate(plans_of(spec(pattern="circular")), DATASETS, {})
    assert (told.requests, told.cached, told.seconds) == (24, 0, None)


def test_the_time_follows_from_the_rate_of_the_same_model_and_mode() -> None:
    rates = {("perfect", "multiple_choice", 0): 12.0, ("perfect", "cloze", 0): 1.0}
    assert estimate(plans_of(spec(pattern="circular")), DATASETS, rates).seconds == 2.0


def test_a_speed_in_the_catalog_stands_in_until_the_model_is_timed() -> None:
    (plan,) = plans_of(spec(pattern="circular"))
    plan = replace(plan, entry=replace(plan.entry, speed=100))
    told = estimate([plan], DATASETS, {})
    assert told.seconds == pytest.approx(told.tokens / 100, rel=0.01)
    assert estimate([plan], DATASETS, {("perfect", "multiple_choice", 0): 12.0}).seconds == 2.0


def test_the_nearest_number_of_shots_stands_in() -> None:
    rates = {("perfect", "multiple_choice", 0): 3.0, ("perfect", "multiple_choice", 5): 6.0}
    assert estimate(plans_of(spec(shots=2)), DATASETS, rates).seconds == 2.0


def test_one_cell_without_a_rate_leaves_the_time_unknown() -> None:
    plans = plans_of(spec(mode=["multiple_choice", "cloze"]))
    assert estimate(plans, DATASETS, {("perfect", "cloze", 0): 1.0}).seconds is None


def test_what_is_answered_already_costs_no_time() -> None:
    told = estimate(plans_of(spec(pattern="circular")), DATASETS, {}, cached=[24])
    assert (told.requests, told.cached, told.seconds) == (24, 24, 0.0)


def test_a_cell_that_cannot_run_costs_nothing() -> None:
    plans = plans_of(spec(models=["always-A"], mode="cloze"))
    assert estimate(plans, DATASETS, {}) == Estimate(0, 0, 0, 0.0)


def test_worked_examples_cost_tokens() -> None:
    without = estimate(plans_of(spec()), DATASETS, {}).tokens
    with_two = estimate(plans_of(spec(shots=2)), DATASETS, {}).tokens
    assert with_two > 2.5 * without


def test_a_conversation_costs_its_turns() -> None:
    assert estimate(plans_of(spec(chat=True)), DATASETS, {}).tokens > 6 * 10


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("答案是", 3), ("abcde", 2), ("答ab", 2)])
def test_tokens_are_guessed_by_script(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


def judged(**prices: float) -> Estimate:
    catalog = CATALOG | {"perfect": replace(CATALOG["perfect"], **prices)}
    asked = open_spec(models=["perfect"], judging={"judges": ["perfect"]})
    data = {"capitals.jsonl": capitals()}
    return estimate(plan_run(asked, data, catalog, [RIGHT]), data, {})


def test_the_judges_calls_are_told_apart() -> None:
    told = judged()
    assert (told.requests, told.judged) == (4 + 8, 8)
    assert told.dollars is None


def test_a_price_makes_a_cost() -> None:
    told = judged(input_price=2.0)
    assert told.dollars == pytest.approx(told.tokens * 2.0 / 1e6)
    written = judged(output_price=10.0)
    assert written.dollars == pytest.approx((4 * 512 + 8 * 1024) * 10.0 / 1e6)


def test_a_model_is_expected_to_write_as_much_as_it_did() -> None:
    (plan,) = plans_of(spec(mode="generation"))
    plan = replace(plan, entry=replace(plan.entry, output_price=10.0))
    longest = plan.mode.max_tokens
    assert estimate([plan], DATASETS, {}).dollars == pytest.approx(6 * longest * 10.0 / 1e6)
    known = {("perfect", "generation"): 7.5, ("always-A", "generation"): 1.0}
    told = estimate([plan], DATASETS, {}, written=known)
    assert told.dollars == pytest.approx(6 * 7.5 * 10.0 / 1e6)
