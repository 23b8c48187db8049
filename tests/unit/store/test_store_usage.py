"""Tokens of cells and runs, their price today, and cells that wait."""

import pytest
from runs_examples import add_run, dataset, spec, trial

from evalui.access import LOCAL
from evalui.errors import RunLeaseLost
from evalui.messages import Sentence
from evalui.models import ModelEntry
from evalui.models.base import ModelUsage
from evalui.store import queue, usage
from evalui.store.connection import Database
from evalui.store.runs import Lease, read_cells, read_run
from evalui.store.trials import write_trials
from evalui.store.usage import ModelWait, TokenCost, remaining_seconds_of, store_throughput
from evalui.types import Usage

PRICED = {"perfect": ModelEntry("perfect", "openai", input_price=2.5, output_price=10.0)}
FREE = {"perfect": ModelEntry("perfect", "openai")}
TURNS = ((0, 1, 2, 3), (1, 2, 3, 0), (2, 3, 0, 1), (3, 0, 1, 2))
WHY = Sentence("http://a does not answer.", "error.no-answer", {"url": "http://a"})


def test_tokens_add_up_over_the_lives_of_a_cell(database: Database, lease: Lease) -> None:
    usage.add_usage(database, lease, 1, Usage(1_000_000, 200_000))
    queue.release(database, lease)
    again = queue.claim(database, "worker-2")
    assert again
    queue.start_cell(database, again.lease, 1, "f")
    usage.add_usage(database, again.lease, 1, Usage(200_000, 100_000))
    # 1.2 M at $2.50 and 0.3 M at $10 for a million
    assert usage.run_cost(database, lease.run_id, PRICED) == TokenCost(1_200_000, 300_000, 6.0)


@pytest.mark.parametrize("catalog", [FREE, {}], ids=["no price", "no longer there"])
def test_a_model_without_a_price_has_tokens_and_no_dollars(
    database: Database, lease: Lease, catalog: dict[str, ModelEntry]
) -> None:
    usage.add_usage(database, lease, 1, Usage(10, 2))
    assert usage.cell_costs(database, lease.run_id, catalog) == {1: TokenCost(10, 2)}


def test_what_is_not_counted_has_no_reported_cost(database: Database, lease: Lease) -> None:
    assert usage.cell_costs(database, lease.run_id, PRICED) == {}
    assert usage.run_cost(database, lease.run_id, PRICED) is None
    assert usage.run_costs(database, LOCAL, PRICED) == {}


def test_a_run_costs_what_its_cells_cost(database: Database) -> None:
    run_id = add_run(database, spec(models=["perfect", "always-A"]))
    claimed = queue.claim(database, "worker-1")
    assert claimed
    usage.add_usage(database, claimed.lease, 1, Usage(1_000_000, 0))
    usage.add_usage(database, claimed.lease, 2, Usage(7, 5))
    assert usage.cell_costs(database, run_id, PRICED) == {
        1: TokenCost(1_000_000, 0, 2.5),
        2: TokenCost(7, 5),
    }
    whole = TokenCost(1_000_007, 5, 2.5, is_partial=True)  # the second has no price
    assert usage.run_cost(database, run_id, PRICED) == whole
    assert usage.run_costs(database, LOCAL, PRICED) == {run_id: whole}
    assert usage.run_costs(database, "bob", PRICED) == {}


def test_who_has_lost_the_run_counts_nothing(database: Database, lease: Lease) -> None:
    queue.requeue_lost(database, worker="worker-1")
    with pytest.raises(RunLeaseLost):
        usage.add_usage(database, lease, 1, Usage(10, 2))
    with pytest.raises(RunLeaseLost):
        usage.set_wait(database, lease, 1, ModelWait(WHY, 1.0, 2.0))
    assert usage.run_cost(database, lease.run_id, FREE) is None


def test_a_wait_is_read_as_it_was_written(database: Database, lease: Lease) -> None:
    wait = ModelWait(WHY, 1_700_000_000.25, 1_700_000_060.5)
    before = read_run(database, lease.run_id).revision
    usage.set_wait(database, lease, 1, wait)
    (read,) = usage.model_waits(database, lease.run_id).values()
    assert read == wait
    assert read.reason.key == "error.no-answer"  # pyright: ignore[reportAttributeAccessIssue] # a Sentence
    assert read_run(database, lease.run_id).revision > before


def test_the_time_of_a_run_whose_model_is_gone_is_unknown(database: Database, lease: Lease) -> None:
    store_throughput(database, "perfect", "multiple_choice", 0, fingerprint="f", rate=12.0)
    assert remaining_seconds_of(database, [lease.run_id])[lease.run_id] == 2.0
    usage.set_wait(database, lease, 1, ModelWait(WHY, 1.0, 2.0))
    assert remaining_seconds_of(database, [lease.run_id])[lease.run_id] is None
    usage.clear_wait(database, lease, 1)
    assert remaining_seconds_of(database, [lease.run_id])[lease.run_id] == 2.0


@pytest.mark.parametrize("end", ["start", "finish", "stop", "fail", "release", "lose"])
def test_a_wait_ends_with_whatever_ends_the_work(
    database: Database, lease: Lease, end: str
) -> None:
    usage.set_wait(database, lease, 1, ModelWait(WHY, 1.0, 2.0))
    match end:
        case "start":
            queue.start_cell(database, lease, 1, "f")
        case "finish":
            queue.finish_cell(database, lease, 1, "It broke.")
        case "stop":
            queue.finish_cancelled(database, lease)
        case "fail":
            queue.fail(database, lease, "It broke.")
        case "release":
            queue.release(database, lease)
        case _:
            queue.requeue_lost(database, worker="worker-1")
    assert usage.model_waits(database, lease.run_id) == {}


def test_a_cost_is_printed_on_the_command_line() -> None:
    assert str(TokenCost(1_234_567, 300)) == "1,234,567 tokens read, 300 written"
    assert str(TokenCost(10, 3, 0.42)) == "10 tokens read, 3 written, US$ 0.4200 at today's prices"


def test_a_sum_says_that_a_part_of_it_has_no_price() -> None:
    priced, unpriced = TokenCost(10, 3, 0.42), TokenCost(5, 1)
    assert not (priced + priced).is_partial
    assert not (unpriced + unpriced).is_partial
    for whole in (priced + unpriced, unpriced + priced, priced + unpriced + priced):
        assert str(whole).endswith(" at today's prices, without what has no price")


def test_written_tokens_are_averaged_over_each_planned_request(
    database: Database, lease: Lease
) -> None:
    assert usage.mean_reply_tokens(database) == {}
    write_trials(database, lease, 1, [trial(1), trial(2)])  # of 24, one request each
    usage.add_usage(database, lease, 1, Usage(100, 60))
    assert usage.mean_reply_tokens(database) == {("perfect", "multiple_choice"): 30.0}


def test_what_the_cache_knew_is_not_requested_and_writes_nothing(
    database: Database, lease: Lease
) -> None:
    write_trials(database, lease, 1, [trial(number) for number in range(1, 5)])
    usage.add_usage(database, lease, 1, Usage(400, 120))
    queue.release(database, lease)
    queue.cancel(database, lease.run_id)
    add_run(database, spec(pattern="circular"))  # the same once more, of which 6 are new
    again = queue.claim(database, "worker-1")
    assert again
    (cell,) = read_cells(database, again.lease.run_id)
    queue.start_cell(database, again.lease, cell.id, "f")
    numbers = [trial(number, turn) for number in range(5) for turn in TURNS]
    write_trials(database, again.lease, cell.id, numbers)
    usage.add_usage(database, again.lease, cell.id, Usage(600, 180))
    assert usage.mean_reply_tokens(database) == {("perfect", "multiple_choice"): 30.0}


def test_cells_with_other_prompts_say_nothing_of_each_others_cache(database: Database) -> None:
    short, long = (dataset(name=name) for name in ("short", "long"))
    given = [{"path": "short.csv"}, {"path": "long.csv"}]
    add_run(database, spec(datasets=given), short, long)
    run = queue.claim(database, "worker-1")
    assert run
    for cell, read in ((1, 10), (2, 1000)):
        queue.start_cell(database, run.lease, cell, "f")
        write_trials(database, run.lease, cell, [trial(1)])
        usage.add_usage(database, run.lease, cell, Usage(read, 30))
    assert usage.mean_reply_tokens(database) == {("perfect", "multiple_choice"): 30.0}


def test_written_tokens_are_averaged_for_models_that_count_no_reading(
    database: Database, lease: Lease
) -> None:
    write_trials(database, lease, 1, [trial(1), trial(2)])
    usage.add_usage(database, lease, 1, Usage(0, 60))
    assert usage.mean_reply_tokens(database) == {("perfect", "multiple_choice"): 30.0}


def test_each_model_tells_its_requests_tokens_and_cost(database: Database) -> None:
    add_run(database, spec(models=["perfect", "always-A"]))
    claimed = queue.claim(database, "worker-1")
    assert claimed
    write_trials(database, claimed.lease, 1, [trial(1), trial(2)])  # of 24, one request each
    usage.add_usage(database, claimed.lease, 1, Usage(1_000_000, 200_000))
    assert usage.model_usages(database, claimed.id, PRICED) == (
        ModelUsage("perfect", 2, 1_000_000, 200_000, (2.5, 10.0), 4.5),
    )
    usage.add_usage(database, claimed.lease, 2, Usage(7, 5))
    first, second = usage.model_usages(database, claimed.id, PRICED)
    assert second == ModelUsage("always-A", 0, 7, 5)
    whole = usage.run_cost(database, claimed.id, PRICED)
    assert whole == TokenCost(
        first.read + second.read, first.written + second.written, first.dollars, is_partial=True
    )


def test_a_run_without_counted_tokens_has_no_usage(database: Database, lease: Lease) -> None:
    write_trials(database, lease, 1, [trial(1)])
    assert usage.model_usages(database, lease.run_id, PRICED) == ()


def test_who_is_waited_for_is_among_the_expenses(database: Database, lease: Lease) -> None:
    usage.set_wait(database, lease, 1, ModelWait(WHY, 1.0, 2.0))
    (found,) = usage.model_usages(database, lease.run_id, PRICED)
    assert (found.model, found.read, found.why, found.since) == ("perfect", 0, WHY, 1.0)
