"""Summaries that the store keeps: equal to new ones, and computed once."""

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from pydantic import TypeAdapter
from runs_examples import trial

from evalui.errors import StoreError
from evalui.runs import kept_summaries
from evalui.runs.kept_summaries import read_summary, summarise_ending, summary_source
from evalui.runs.results import read_result
from evalui.scoring.cell_summary import Summary, summarise
from evalui.scoring.metrics import METRICS, Metric
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.runs import Lease, read_cells
from evalui.store.trials import write_trials
from evalui.types import CellResult

ORDERS = ((0, 1, 2, 3), (3, 0, 1, 2), (2, 3, 0, 1), (1, 2, 3, 0))


class OfAnotherForm(TypeAdapter[Summary]):
    """What reads summaries of a version that has a field more."""

    def json_schema(self, **_: Any) -> dict[str, Any]:
        return {**super().json_schema(), "one field": "more"}


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[CellResult]:
    """The results whose summaries are computed."""
    made: list[CellResult] = []

    def counted(result: CellResult) -> Summary:
        made.append(result)
        return summarise(result)

    monkeypatch.setattr(kept_summaries, "summarise", counted)
    return made


def _ended(database: Database, lease: Lease, n: int = 6) -> CellResult:
    write_trials(
        database, lease, 1, [trial(number, order) for number in range(n) for order in ORDERS]
    )
    (row,) = read_cells(database, lease.run_id)
    summarise_ending(database, row)
    queue.finish_cell(database, lease, 1)
    return read_result(database, lease.run_id, 1)


def test_what_a_worker_kept_is_read_and_not_computed(
    database: Database, lease: Lease, computed: list[CellResult]
) -> None:
    result = _ended(database, lease)
    assert len(computed) == 1
    for _ in range(2):
        summary = summary_source(database, lease.run_id).choices(result)
        assert summary == summarise(result)
        assert (summary.n, summary.state) == (6, "done")
    assert len(computed) == 1


def test_a_cell_at_work_is_computed_and_not_kept(
    database: Database, lease: Lease, computed: list[CellResult]
) -> None:
    write_trials(database, lease, 1, [trial(0)])
    result = read_result(database, lease.run_id, 1)
    for _ in range(2):
        assert read_summary(database, 1, result).done == 1
    assert len(computed) == 2


def test_what_an_older_store_lacks_is_kept_by_its_first_reader(
    database: Database, lease: Lease, computed: list[CellResult]
) -> None:
    result = _ended(database, lease)
    with database.writing() as connection:
        connection.execute("DELETE FROM kept_figures")
    computed.clear()
    assert read_summary(database, 1, result) == read_summary(database, 1, result)
    assert len(computed) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda patch: patch.setattr(kept_summaries, "FIGURES_VERSION", "another"),
        lambda patch: patch.setattr(kept_summaries, "__version__", "0.0"),
        lambda patch: patch.setattr(kept_summaries, "plugin_versions", lambda _: ("other 1",)),
        lambda patch: patch.setattr(kept_summaries, "_adapter", lambda _: OfAnotherForm(Summary)),
        lambda patch: patch.setitem(METRICS._entries, "trials", Metric("trials", len)),  # pyright: ignore[reportPrivateUsage]
    ],
)
def test_another_version_computes_anew(
    database: Database,
    lease: Lease,
    computed: list[CellResult],
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[pytest.MonkeyPatch], None],
) -> None:
    result = _ended(database, lease)
    kept_summaries._version.cache_clear()  # pyright: ignore[reportPrivateUsage]
    change(monkeypatch)
    read_summary(database, 1, result)
    kept_summaries._version.cache_clear()  # pyright: ignore[reportPrivateUsage]
    assert len(computed) == 2


def test_more_trials_are_another_summary(database: Database, lease: Lease) -> None:
    before = read_summary(database, 1, _ended(database, lease, 3))
    with database.writing() as connection:
        connection.execute("UPDATE cell SET state = 'running'")
    after = read_summary(database, 1, _ended(database, lease))
    assert (before.n, after.n) == (3, 6)


def test_the_error_and_state_are_those_of_the_cell(database: Database, lease: Lease) -> None:
    result = replace(_ended(database, lease), state="failed", error="The disk is full.")
    summary = read_summary(database, 1, result)
    assert (summary.state, summary.error) == ("failed", "The disk is full.")


def test_a_store_that_is_read_only_keeps_nothing_and_reads(
    database: Database, lease: Lease
) -> None:
    result = _ended(database, lease)
    with database.writing() as connection:
        connection.execute("DELETE FROM kept_figures")
    shown = Database(database.path, read_only=True)
    assert read_summary(shown, 1, result) == summarise(result)
    assert database.rows("SELECT * FROM kept_figures") == []
    with pytest.raises(StoreError), shown.writing():
        pass
    shown.close()


def test_a_full_disk_keeps_nothing_and_the_reader_has_the_figures(
    database: Database, lease: Lease, caplog: pytest.LogCaptureFixture
) -> None:
    result = _ended(database, lease)
    with database.writing() as connection:
        connection.execute("DELETE FROM kept_figures")
    database.row("PRAGMA query_only = ON")
    with caplog.at_level(logging.WARNING):
        assert read_summary(database, 1, result) == summarise(result)
    assert "The summary of a cell cannot be kept" in caplog.text


def test_a_figure_that_fails_leaves_the_run_as_it_is(
    database: Database,
    lease: Lease,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(result: CellResult) -> Summary:
        raise ZeroDivisionError(result.cell.model)

    monkeypatch.setattr(kept_summaries, "summarise", broken)
    with caplog.at_level(logging.ERROR):
        _ended(database, lease)
    assert "The summary of perfect on sums failed" in caplog.text
    assert database.rows("SELECT * FROM kept_figures") == []


def test_every_figure_comes_back_from_the_store(make_result: Callable[..., CellResult]) -> None:
    """Also what is not a number, and what has whole numbers for keys."""
    result = make_result(
        {"a": [0, 1, 2, 3], "b": "right", "c": [None, "tie", 0, 0], "d": [1, 1, 1, 1]},
        subjects={"a": {"subject": "law"}, "b": {"subject": "art"}},
        mass=0.5,
    )
    summary = summarise(result)
    odd = replace(summary, figures={"x": float("inf"), "y": None}, priors={4: ()})
    for made in (summary, odd):
        encoded = kept_summaries._encode(made)  # pyright: ignore[reportPrivateUsage]
        assert kept_summaries._decode(encoded, Summary) == made  # pyright: ignore[reportPrivateUsage]
