"""Tokens of cells and runs, their price today, and cells that wait."""

import pytest
from runs_examples import add_run, dataset, spec, trial

from evalui.errors import RunLeaseLost
from evalui.messages import sentence
from evalui.models import ModelEntry
from evalui.runs.access import LOCAL
from evalui.runs.database import usage
from evalui.runs.database.records import Lease
from evalui.runs.database.store import Store
from evalui.runs.database.throughput import Throughput, store_throughput
from evalui.runs.database.usage import ModelUsage, ModelWait, TokenCost
from evalui.types import Usage

PRICED = {"perfect": ModelEntry("perfect", "openai", input_price=2.5, output_price=10.0)}
FREE = {"perfect": ModelEntry("perfect", "openai")}
TURNS = ((0, 1, 2, 3), (1, 2, 3, 0), (2, 3, 0, 1), (3, 0, 1, 2))
WHY = Sentence("http://a does not answer.", "error.no-answer", {"url": "http://a"})


def test_tokens_add_up_over_the_lives_of_a_cell(store: Store, lease: Lease) -> None:
    usage.add_usage(store.database, lease, 1, Usage(1_000_000, 200_000))
    store.release(lease)
    again = store.claim("worker-2")
    assert again
    store.start_cell(again.lease, 1, "f")
    usage.add_usage(store.database, again.lease, 1, Usage(200_000, 100_000))
    # 1.2 M at $2.50 and 0.3 M at $10 for a million
    assert usage.run_cost(store.database, lease.run_id, PRICED) == TokenCost(
        1_200_000, 300_000, 6.0
    )


@pytest.mark.parametrize("catalog", [FREE, {}], ids=["no price", "no longer there"])
def test_a_model_without_a_price_has_tokens_and_no_dollars(
    store: Store, lease: Lease, catalog: dict[str, ModelEntry]
) -> None:
    usage.add_usage(store.database, lease, 1, Usage(10, 2))
    assert usage.cell_costs(store.database, lease.run_id, catalog) == {1: TokenCost(10, 2)}


def test_what_nobody_counts_costs_nothing_that_is_told(store: Store, lease: Lease) -> None:
    assert usage.cell_costs(store.database, lease.run_id, PRICED) == {}
    assert usage.run_cost(store.database, lease.run_id, PRICED) is None
    assert usage.run_costs(store.database, LOCAL, PRICED) == {}


def test_a_run_costs_what_its_cells_cost(store: Store) -> None:
    run_id = add_run(store, spec(models=["perfect", "always-A"]))
    claimed = store.claim("worker-1")
    assert claimed
    usage.add_usage(store.database, claimed.lease, 1, Usage(1_000_000, 0))
    usage.add_usage(store.database, claimed.lease, 2, Usage(7, 5))
    assert usage.cell_costs(store.database, run_id, PRICED) == {
        1: TokenCost(1_000_000, 0, 2.5),
        2: TokenCost(7, 5),
    }
    whole = TokenCost(1_000_007, 5, 2.5, is_partial=True)  # nobody knows a price of the second
    assert usage.run_cost(store.database, run_id, PRICED) == whole
    assert usage.run_costs(store.database, LOCAL, PRICED) == {run_id: whole}
    assert usage.run_costs(store.database, "bob", PRICED) == {}


def test_who_has_lost_the_run_counts_nothing(store: Store, lease: Lease) -> None:
    store.requeue_worker("worker-1")
    with pytest.raises(RunLeaseLost):
        usage.add_usage(store.database, lease, 1, Usage(10, 2))
    with pytest.raises(RunLeaseLost):
        usage.set_wait(store.database, lease, 1, ModelWait(WHY, 1.0, 2.0))
    assert usage.run_cost(store.database, lease.run_id, FREE) is None


def test_a_wait_is_read_as_it_was_told(store: Store, lease: Lease) -> None:
    told = ModelWait(WHY, 1_700_000_000.25, 1_700_000_060.5)
    before = store.revision(lease.run_id)
    usage.set_wait(store.database, lease, 1, told)
    (read,) = usage.model_waits(store.database, lease.run_id).values()
    assert read == told
    assert read.reason.key == "error.no-answer"  # pyright: ignore[reportAttributeAccessIssue] # a Sentence
    assert store.revision(lease.run_id) > before


def test_nobody_knows_how_long_a_run_takes_whose_model_is_gone(store: Store, lease: Lease) -> None:
    pace = Throughput(12.0)
    store_throughput(
        store.database, "perfect", "multiple_choice", 0, fingerprint="f", throughput=pace
    )
    assert store.remaining_seconds(lease.run_id) == 2.0
    usage.set_wait(store.database, lease, 1, ModelWait(WHY, 1.0, 2.0))
    assert store.remaining_seconds(lease.run_id) is None
    usage.clear_wait(store.database, lease, 1)
    assert store.remaining_seconds(lease.run_id) == 2.0


@pytest.mark.parametrize("end", ["start", "finish", "stop", "fail", "release", "lose"])
def test_a_wait_ends_with_whatever_ends_the_work(store: Store, lease: Lease, end: str) -> None:
    usage.set_wait(store.database, lease, 1, ModelWait(WHY, 1.0, 2.0))
    match end:
        case "start":
            store.start_cell(lease, 1, "f")
        case "finish":
            store.finish_cell(lease, 1, "It broke.")
        case "stop":
            store.finish_cancelled(lease)
        case "fail":
            store.fail(lease, "It broke.")
        case "release":
            store.release(lease)
        case _:
            store.requeue_worker("worker-1")
    assert usage.model_waits(store.database, lease.run_id) == {}


def test_a_charge_is_told_on_the_command_line() -> None:
    assert str(TokenCost(1_234_567, 300)) == "1,234,567 tokens read, 300 written"
    assert str(TokenCost(10, 3, 0.42)) == "10 tokens read, 3 written, US$ 0.4200 at today's prices"


def test_a_sum_says_that_a_part_of_it_has_no_price() -> None:
    priced, unpriced = TokenCost(10, 3, 0.42), TokenCost(5, 1)
    assert not (priced + priced).is_partial
    assert not (unpriced + unpriced).is_partial
    for whole in (priced + unpriced, unpriced + priced, priced + unpriced + priced):
        assert str(whole).endswith(" at today's prices, without what has no price")


def test_how_much_a_model_writes_is_told_for_each_planned_request(
    store: Store, lease: Lease
) -> None:
    assert usage.mean_reply_tokens(store.database) == {}
    store.write_trials(lease, 1, [trial(1), trial(2)])  # of 24, one request each
    usage.add_usage(store.database, lease, 1, Usage(100, 60))
    assert usage.mean_reply_tokens(store.database) == {("perfect", "multiple_choice"): 30.0}


def test_what_the_cache_knew_is_not_asked_and_writes_nothing(store: Store, lease: Lease) -> None:
    store.write_trials(lease, 1, [trial(number) for number in range(1, 5)])
    usage.add_usage(store.database, lease, 1, Usage(400, 120))
    store.release(lease)
    store.cancel(lease.run_id)
    add_run(store, spec(pattern="circular"))  # the same once more, of which 6 are new
    again = store.claim("worker-1")
    assert again
    (cell,) = store.cells(again.lease.run_id)
    store.start_cell(again.lease, cell.id, "f")
    numbers = [trial(number, turn) for number in range(5) for turn in TURNS]
    store.write_trials(again.lease, cell.id, numbers)
    usage.add_usage(store.database, again.lease, cell.id, Usage(600, 180))
    assert usage.mean_reply_tokens(store.database) == {("perfect", "multiple_choice"): 30.0}


def test_cells_with_other_prompts_say_nothing_of_each_others_cache(store: Store) -> None:
    short, long = (dataset(name=name) for name in ("short", "long"))
    given = [{"path": "short.csv"}, {"path": "long.csv"}]
    add_run(store, spec(datasets=given), short, long)
    run = store.claim("worker-1")
    assert run
    for cell, read in ((1, 10), (2, 1000)):
        store.start_cell(run.lease, cell, "f")
        store.write_trials(run.lease, cell, [trial(1)])
        usage.add_usage(store.database, run.lease, cell, Usage(read, 30))
    assert usage.mean_reply_tokens(store.database) == {("perfect", "multiple_choice"): 30.0}


def test_how_much_is_written_is_told_of_models_that_count_no_reading(
    store: Store, lease: Lease
) -> None:
    store.write_trials(lease, 1, [trial(1), trial(2)])
    usage.add_usage(store.database, lease, 1, Usage(0, 60))
    assert usage.mean_reply_tokens(store.database) == {("perfect", "multiple_choice"): 30.0}


def test_each_model_tells_its_requests_tokens_and_cost(store: Store) -> None:
    add_run(store, spec(models=["perfect", "always-A"]))
    claimed = store.claim("worker-1")
    assert claimed
    store.write_trials(claimed.lease, 1, [trial(1), trial(2)])  # of 24, one request each
    usage.add_usage(store.database, claimed.lease, 1, Usage(1_000_000, 200_000))
    assert usage.model_usages(store.database, claimed.id, PRICED) == (
        ModelUsage("perfect", 2, 1_000_000, 200_000, (2.5, 10.0), 4.5),
    )
    usage.add_usage(store.database, claimed.lease, 2, Usage(7, 5))
    first, second = usage.model_usages(store.database, claimed.id, PRICED)
    assert second == ModelUsage("always-A", 0, 7, 5)
    whole = usage.run_cost(store.database, claimed.id, PRICED)
    assert whole == TokenCost(
        first.read + second.read, first.written + second.written, first.dollars, is_partial=True
    )


def test_a_run_whose_tokens_nobody_counts_has_no_expenses(store: Store, lease: Lease) -> None:
    store.write_trials(lease, 1, [trial(1)])
    assert usage.model_usages(store.database, lease.run_id, PRICED) == ()


def test_who_is_waited_for_is_among_the_expenses(store: Store, lease: Lease) -> None:
    usage.set_wait(store.database, lease, 1, ModelWait(WHY, 1.0, 2.0))
    (found,) = usage.model_usages(store.database, lease.run_id, PRICED)
    assert (found.model, found.read, found.why, found.since) == ("perfect", 0, WHY, 1.0)
