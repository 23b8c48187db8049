from collections.abc import Iterator
from dataclasses import replace

import pytest
from runs_examples import dataset, plans_of, sample, spec

from evalui.models.base import ModelEntry
from evalui.runs import estimate
from evalui.runs.cells import trials_to_run
from evalui.runs.database.throughput import RequestSize
from evalui.runs.estimate import count_tokens, request_size, workload

HERE = ModelEntry("here", "transformers")
THERE = ModelEntry("there", "openai")


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("答案是", 3), ("abcde", 2), ("答ab", 2)])
def test_tokens_are_guessed_by_script(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


def size(n: int = 100, **changes: object) -> RequestSize:
    (plan,) = plans_of(spec(**changes), data := dataset(n))
    return request_size(plan.mode, plan.pattern, data.samples, plan.setting)


def test_the_orders_of_a_question_share_its_words() -> None:
    origin, circular, every = (size(pattern=p) for p in ("origin", "circular", "all_possible"))
    assert origin.sent == circular.sent == every.sent
    assert origin.distinct > circular.distinct > every.distinct


def test_worked_examples_are_sent_each_time_and_distinct_once() -> None:
    without, with_two = size(), size(shots=2)
    assert with_two.sent > 2 * without.sent
    assert with_two.distinct < 1.2 * without.distinct


def test_the_look_at_some_questions_is_near_the_whole() -> None:
    (plan,) = plans_of(spec(shots=2, pattern="circular"), data := dataset(96))
    part = request_size(plan.mode, plan.pattern, data.samples, plan.setting)
    few = request_size(plan.mode, plan.pattern, data.samples[:24], plan.setting)
    assert part.distinct == pytest.approx(few.distinct, rel=0.3)
    assert part.sent == pytest.approx(few.sent, rel=0.1)


def test_of_a_question_in_many_orders_only_the_first_are_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[str] = []

    def counted(*arguments: object) -> Iterator[object]:
        for drawn in trials_to_run(*arguments):  # pyright: ignore[reportArgumentType]
            made.append(drawn[0].id)
            yield drawn

    monkeypatch.setattr(estimate, "trials_to_run", counted)
    data = dataset(samples=[sample(number, options=5) for number in range(12)])
    (plan,) = plans_of(spec(pattern="all_possible"), data)
    request_size(plan.mode, plan.pattern, data.samples, plan.setting)
    assert {made.count(each.id) for each in data.samples} == {24}  # of 120


def test_without_questions_there_is_nothing_to_compute() -> None:
    (plan,) = plans_of(spec())
    assert request_size(plan.mode, plan.pattern, (), plan.setting) == RequestSize()


def test_one_question_is_read_once() -> None:
    data = dataset(samples=[sample(1)])
    (plan,) = plans_of(spec(), data)
    found = request_size(plan.mode, plan.pattern, data.samples, plan.setting)
    assert found.distinct == found.sent > 0


def test_what_prompts_have_in_common_costs_an_endpoint_and_not_a_local_model() -> None:
    short = RequestSize(sent=100, distinct=50)
    long = replace(short, sent=500)
    assert workload(THERE, long) - workload(THERE, short) == 400
    assert workload(HERE, short) < workload(HERE, long) < 1.1 * workload(HERE, short)


def test_a_written_token_costs_more_than_one_that_is_read() -> None:
    read = RequestSize(sent=100, distinct=100)
    for entry in (HERE, THERE):
        assert workload(entry, replace(read, written=10)) > workload(entry, read) + 10


def test_a_token_written_after_a_long_prompt_costs_more_here() -> None:
    def cost(entry: ModelEntry, sent: float) -> float:
        size = RequestSize(sent=sent, distinct=10)
        return workload(entry, replace(size, written=10)) - workload(entry, size)

    assert cost(HERE, 8000) > 1.5 * cost(HERE, 100)
    assert cost(THERE, 8000) == cost(THERE, 100)
