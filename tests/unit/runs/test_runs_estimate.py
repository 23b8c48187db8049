from dataclasses import replace
from typing import Any

import pytest
from open_run_examples import CATALOG, RIGHT, capitals, open_spec
from runs_examples import dataset, plans_of, spec

from evalui.modes.multiple_choice import MultipleChoice
from evalui.runs.estimate import Estimate, estimate
from evalui.runs.plan import plan_run
from evalui.types import Request, Sample

DATASETS = {"sums.csv": dataset()}


def test_a_plan_and_its_estimate_render_as_much_however_many_questions_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rendered: list[str] = []

    def plan(mode: MultipleChoice, sample: Sample, *rest: Any) -> tuple[Request, ...]:
        rendered.append(sample.id)
        return plan_one(mode, sample, *rest)

    plan_one = MultipleChoice.plan
    monkeypatch.setattr(MultipleChoice, "plan", plan)
    counts: list[int] = []
    for n in (240, 2400):
        big = dataset(n)
        plans = plans_of(spec(models=["perfect", "always-A"], pattern="all_possible"), big)
        assert [plan.total for plan in plans] == [24 * n] * 2
        # One request of each cell tells how many there are, and one at which temperature.
        assert len(rendered) == 4
        estimate(plans, {"sums.csv": big})
        counts.append(len(rendered))
        rendered.clear()
    assert counts == [4 + 24 * 24] * 2


def test_what_is_answered_already_is_stated() -> None:
    estimated = estimate(plans_of(spec(pattern="circular")), DATASETS, cached=[20])
    assert (estimated.requests, estimated.cached) == (24, 20)


def test_a_cell_that_cannot_run_costs_nothing() -> None:
    plans = plans_of(spec(models=["always-A"], mode="cloze"))
    assert estimate(plans, DATASETS) == Estimate(0, 0, 0)


def test_worked_examples_cost_tokens() -> None:
    without = estimate(plans_of(spec()), DATASETS).tokens
    with_two = estimate(plans_of(spec(shots=2)), DATASETS).tokens
    assert with_two > 2.5 * without


def test_a_conversation_costs_its_turns() -> None:
    assert estimate(plans_of(spec(chat=True)), DATASETS).tokens > 6 * 10


def judged(**prices: float) -> Estimate:
    catalog = CATALOG | {"perfect": replace(CATALOG["perfect"], **prices)}
    asked = open_spec(models=["perfect"], judging={"judges": ["perfect"]})
    data = {"capitals.jsonl": capitals()}
    return estimate(plan_run(asked, data, catalog, [RIGHT]), data)


def test_the_judges_calls_are_distinguished() -> None:
    estimated = judged()
    assert (estimated.requests, estimated.judged) == (4 + 8, 8)
    assert estimated.dollars is None


def test_a_price_makes_a_cost() -> None:
    estimated = judged(input_price=2.0)
    assert estimated.dollars == pytest.approx(estimated.tokens * 2.0 / 1e6)
    written = judged(output_price=10.0)
    assert written.dollars == pytest.approx((4 * 512 + 8 * 1024) * 10.0 / 1e6)


def test_a_model_is_expected_to_write_as_much_as_it_did() -> None:
    (plan,) = plans_of(spec(mode="generation"))
    plan = replace(plan, entry=replace(plan.entry, output_price=10.0))
    longest = plan.mode.max_tokens
    assert estimate([plan], DATASETS).dollars == pytest.approx(6 * longest * 10.0 / 1e6)
    known = {("perfect", "generation"): 7.5, ("always-A", "generation"): 1.0}
    estimated = estimate([plan], DATASETS, reply_tokens=known)
    assert estimated.dollars == pytest.approx(6 * 7.5 * 10.0 / 1e6)
