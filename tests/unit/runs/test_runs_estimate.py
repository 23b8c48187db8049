from dataclasses import replace
from typing import Any

import pytest
from open_run_examples import CATALOG, RIGHT, capitals, open_spec
from runs_examples import dataset, plans_of, spec

from evalui.models.base import ModelEntry, traits_of
from evalui.modes.multiple_choice import MultipleChoice
from evalui.runs.database.throughput import LoadingTimes, RequestSize, Throughput
from evalui.runs.estimate import Estimate, TimeRange, estimate, request_size, workload
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
        estimate(plans, {"sums.csv": big}, {})
        counts.append(len(rendered))
        rendered.clear()
    assert counts == [4 + 24 * 24] * 2


def test_a_model_that_was_never_timed_has_no_time() -> None:
    estimated = estimate(plans_of(spec(pattern="circular")), DATASETS, {})
    assert (estimated.requests, estimated.cached, estimated.seconds) == (24, 0, None)


def pace(
    rate: float, *, sent: float = 30.0, distinct: float = 20.0, written: float = 0.0
) -> Throughput:
    return Throughput(rate, RequestSize(sent, distinct, written))


def test_the_time_follows_from_the_speed_of_the_same_model_and_mode() -> None:
    letters = estimate(
        plans_of(spec(pattern="circular")),
        DATASETS,
        {("perfect", "multiple_choice", 0): [pace(12.0)]},
    )
    assert letters.seconds is not None
    paces = {("perfect", "multiple_choice", 0): [pace(24.0)], ("perfect", "cloze", 0): [pace(1.0)]}
    twice = estimate(plans_of(spec(pattern="circular")), DATASETS, paces)
    assert twice.seconds == pytest.approx(letters.seconds / 2)


def test_requests_of_the_measured_size_take_as_long() -> None:
    (plan,) = plans_of(spec(pattern="circular"))
    size = request_size(plan.mode, plan.pattern, dataset().samples, plan.setting)
    paces = {("perfect", "multiple_choice", 0): [Throughput(12.0, size)]}
    assert estimate([plan], DATASETS, paces).seconds == pytest.approx(24 / 12)


def test_a_speed_in_the_catalog_stands_in_until_the_model_is_timed() -> None:
    (plan,) = plans_of(spec(pattern="circular"))
    plan = replace(plan, entry=replace(plan.entry, speed=100))
    size = request_size(plan.mode, plan.pattern, dataset().samples, plan.setting)
    estimated = estimate([plan], DATASETS, {})
    assert estimated.seconds == pytest.approx(24 * workload(plan.entry, size) / 100)
    timed = {("perfect", "multiple_choice", 0): [Throughput(12.0, size)]}
    assert estimate([plan], DATASETS, timed).seconds == pytest.approx(2.0)


def test_the_speed_at_the_nearest_size_counts() -> None:
    (plan,) = plans_of(spec(shots=2))
    size = request_size(plan.mode, plan.pattern, dataset().samples, plan.setting)
    far = replace(size, sent=50 * size.sent, distinct=50 * size.distinct)
    paces = {
        ("perfect", "multiple_choice", 0): [Throughput(1000.0, far)],
        ("perfect", "multiple_choice", 2): [Throughput(3.0, size)],
    }
    assert estimate([plan], DATASETS, paces).seconds == pytest.approx(2.0)


def test_longer_requests_take_longer_than_the_measured_ones() -> None:
    (short,), (long,) = plans_of(spec()), plans_of(spec(shots=2))
    size = request_size(short.mode, short.pattern, dataset().samples, short.setting)
    paces = {("perfect", "multiple_choice", 0): [Throughput(6.0, size)]}
    seconds = estimate([long], DATASETS, paces).seconds
    assert seconds is not None
    assert seconds > estimate([short], DATASETS, paces).seconds


def test_a_speed_measured_without_a_size_is_not_used() -> None:
    paces = {("perfect", "multiple_choice", 0): [Throughput(12.0)]}
    assert estimate(plans_of(spec()), DATASETS, paces).seconds is None


def test_another_mode_with_requests_of_the_same_kind_stands_in() -> None:
    paces = {("perfect", "cloze", 0): [pace(12.0)]}
    assert estimate(plans_of(spec()), DATASETS, paces).seconds is not None
    written = {("perfect", "generation", 0): [pace(12.0, written=5.0)]}
    assert estimate(plans_of(spec()), DATASETS, written).seconds is None


def test_scored_prompts_tell_how_fast_a_model_reads_before_it_ever_wrote() -> None:
    (plan,) = plans_of(spec(mode="generation"))
    # What an endpoint writes takes time, what a rule does none; the speed was measured otherwise.
    plan = replace(plan, entry=replace(plan.entry, backend="openai", speed=10**9))
    size = request_size(plan.mode, plan.pattern, dataset().samples, plan.setting)
    paces = {("perfect", "cloze", 0): [Throughput(12.0, size)]}
    seconds = estimate([plan], DATASETS, paces).seconds
    letter = workload(plan.entry, replace(size, written=4)) / workload(plan.entry, size)
    assert seconds == pytest.approx(6 / 12 * letter)


def test_a_reply_is_expected_as_long_as_the_models_were() -> None:
    plans = plans_of(spec(mode="generation"))
    brief, wordy = (
        estimate(plans, DATASETS, {("perfect", "generation", 0): [pace(12.0, written=written)]})
        for written in (0.0, 1000.0)
    )
    # Beside a thousand tokens of a reply the prompt is nothing.
    assert wordy.seconds == pytest.approx(6 / 12, rel=0.05)
    assert brief.seconds != pytest.approx(wordy.seconds, rel=0.05)


@pytest.mark.parametrize(
    ("loading", "seconds"),
    [
        (LoadingTimes(), 6 + 2 + 0.5 + 4),
        (LoadingTimes(cold={"one": 7.0}), 7 + 0.5 + 4),
        (LoadingTimes(cold={"two": 9.0}), 9 + 0.5 + 4),
        (LoadingTimes(warm={"two": 0.2}, is_warm=True), 0.5 + 2 + 0.2),
        (LoadingTimes(is_warm=True, loaded=frozenset({"one"})), 0.5 + 4),
        (LoadingTimes(is_warm=True, loaded=frozenset({"two"})), 0.5 + 2 + 0.5 + 4),
    ],
)
def test_models_that_compute_here_are_loaded_first(loading: LoadingTimes, seconds: float) -> None:
    (plan,) = plans_of(spec())
    entries = [
        ModelEntry("one", "transformers", parameters=10**9, speed=10**12),
        ModelEntry("two", "transformers", parameters=2 * 10**9, speed=10**12),
        ModelEntry("gpt", "openai", speed=10**12),
    ]
    plans = [replace(plan, entry=entry) for entry in entries]
    found = estimate(plans, DATASETS, {}, loading=loading).seconds
    assert found == pytest.approx(seconds, abs=0.01)


@pytest.mark.parametrize(
    ("rates", "usual", "low", "high"),
    [
        ([12.0], 2.0, 1.0, 4.0),  # one speed: the next may be half or twice as much
        ([12.0, 12.0], 2.0, 2 / 2**0.5, 2 * 2**0.5),
        ([6.0, 12.0, 24.0], 2.0, 1 / 2 ** (1 / 3), 4 * 2 ** (1 / 3)),
        ([12.0] * 12, 2.0, 2 / 2 ** (1 / 12), 2 * 2 ** (1 / 12)),
    ],
    ids=["one", "two alike", "three apart", "twelve alike"],
)
def test_the_range_is_as_wide_as_the_speeds_measured_lie_apart(
    rates: list[float], usual: float, low: float, high: float
) -> None:
    (plan,) = plans_of(spec(pattern="circular"))
    size = request_size(plan.mode, plan.pattern, dataset().samples, plan.setting)
    speeds = {("perfect", "multiple_choice", 0): [Throughput(rate, size) for rate in rates]}
    estimated = estimate([plan], DATASETS, speeds)
    assert estimated.seconds == pytest.approx(usual)
    assert estimated.range == TimeRange(pytest.approx(low), pytest.approx(high), "measured")


def test_a_speed_of_requests_of_another_size_leaves_more_open() -> None:
    (plan,) = plans_of(spec(pattern="circular"))
    size = request_size(plan.mode, plan.pattern, dataset().samples, plan.setting)
    widths: list[float] = []
    for times in (1, 4, 16):
        larger = replace(size, sent=times * size.sent, distinct=times * size.distinct)
        speeds = {("perfect", "multiple_choice", 0): [Throughput(12.0, larger)]}
        found = estimate([plan], DATASETS, speeds).range
        assert found
        widths.append(found.high / found.low)
    assert widths[0] == pytest.approx(4)
    assert widths == sorted(widths)
    assert widths[2] > 3 * widths[1]


def test_a_speed_that_the_catalog_states_is_a_guess_of_a_wide_range() -> None:
    (plan,) = plans_of(spec(pattern="circular"))
    plan = replace(plan, entry=replace(plan.entry, speed=100))
    estimated = estimate([plan], DATASETS, {})
    assert estimated.seconds is not None
    low, high = estimated.seconds / 5, estimated.seconds * 5
    assert estimated.range == TimeRange(pytest.approx(low), pytest.approx(high), "guessed")


def test_another_mode_of_the_model_makes_a_guess() -> None:
    speeds = {("perfect", "cloze", 0): [pace(12.0)]}
    found = estimate(plans_of(spec()), DATASETS, speeds).range
    assert found
    assert found.source == "guessed"
    assert found.high / found.low >= 25


def test_a_reply_nobody_has_seen_may_be_short_or_long() -> None:
    (plan,) = plans_of(spec(mode="generation"))
    endpoint = replace(plan, entry=replace(plan.entry, backend="openai", speed=1000))
    assert traits_of(endpoint.entry).remote
    found = estimate([endpoint], DATASETS, {})
    assert found.range
    assert found.seconds is not None
    assert found.range.high / found.seconds > 5
    assert found.seconds / found.range.low > 5
    ruled = replace(plan, entry=replace(plan.entry, speed=1000))
    brief = estimate([ruled], DATASETS, {})
    assert brief.seconds is not None
    assert brief.seconds < found.seconds
    assert brief.range
    assert brief.range.high / brief.range.low == pytest.approx(25)


def test_one_guess_makes_the_whole_time_a_guess() -> None:
    plans = plans_of(spec(mode=["multiple_choice", "cloze"]))
    speeds = {("perfect", "multiple_choice", 0): [pace(12.0)]}
    both = estimate(plans, DATASETS, speeds).range
    assert both
    assert both.source == "guessed"
    speeds |= {("perfect", "cloze", 0): [pace(12.0)]}
    both = estimate(plans, DATASETS, speeds).range
    assert both
    assert both.source == "measured"


@pytest.mark.parametrize(
    ("loading", "expected"),
    [
        (LoadingTimes(cold={"one": 10.0}), TimeRange(5.0, 20.0, "measured")),
        (LoadingTimes(warm={"one": 1.0}, is_warm=True), TimeRange(0.5, 2.0, "measured")),
        (LoadingTimes(cold={"two": 10.0}), TimeRange(2.0, 50.0, "guessed")),
        (LoadingTimes(loaded=frozenset({"one"})), TimeRange(0.0, 0.0, "measured")),
    ],
    ids=["first of a worker", "later one", "never loaded", "loaded"],
)
def test_loading_has_a_range_of_its_own(loading: LoadingTimes, expected: TimeRange) -> None:
    (plan,) = plans_of(spec())
    plan = replace(plan, entry=ModelEntry("one", "transformers", parameters=10**9))
    speeds = {("one", "multiple_choice", 0): [pace(1e12)]}
    found = estimate([plan], DATASETS, speeds, loading=loading).range
    assert found
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-6)
    assert found.source == expected.source


def test_one_cell_without_a_rate_leaves_the_time_unknown() -> None:
    plans = plans_of(spec(mode=["generation", "cloze"]))
    paces = {("perfect", "generation", 0): [pace(1.0, written=2.0)]}
    assert estimate(plans, DATASETS, paces).seconds is None


def test_what_is_answered_already_costs_no_time() -> None:
    estimated = estimate(plans_of(spec(pattern="circular")), DATASETS, {}, cached=[24])
    assert (estimated.requests, estimated.cached, estimated.seconds) == (24, 24, 0.0)


def test_a_cell_that_cannot_run_costs_nothing() -> None:
    plans = plans_of(spec(models=["always-A"], mode="cloze"))
    assert estimate(plans, DATASETS, {}) == Estimate(
        0, 0, 0, 0.0, range=TimeRange(0.0, 0.0, "measured")
    )


def test_worked_examples_cost_tokens() -> None:
    without = estimate(plans_of(spec()), DATASETS, {}).tokens
    with_two = estimate(plans_of(spec(shots=2)), DATASETS, {}).tokens
    assert with_two > 2.5 * without


def test_a_conversation_costs_its_turns() -> None:
    assert estimate(plans_of(spec(chat=True)), DATASETS, {}).tokens > 6 * 10


def judged(**prices: float) -> Estimate:
    catalog = CATALOG | {"perfect": replace(CATALOG["perfect"], **prices)}
    asked = open_spec(models=["perfect"], judging={"judges": ["perfect"]})
    data = {"capitals.jsonl": capitals()}
    return estimate(plan_run(asked, data, catalog, [RIGHT]), data, {})


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
    assert estimate([plan], DATASETS, {}).dollars == pytest.approx(6 * longest * 10.0 / 1e6)
    known = {("perfect", "generation"): 7.5, ("always-A", "generation"): 1.0}
    estimated = estimate([plan], DATASETS, {}, reply_tokens=known)
    assert estimated.dollars == pytest.approx(6 * 7.5 * 10.0 / 1e6)
