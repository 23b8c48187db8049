"""What the store keeps of judges: their arenas are computed once, by the worker."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from open_run_examples import add_open_run, do_run, open_spec

from evalui.report.compile import compile_report
from evalui.runs import kept_summaries
from evalui.runs.kept_summaries import read_arena, summary_source
from evalui.runs.results import read_results
from evalui.scoring.arena import figures
from evalui.scoring.arena.figures import Arena, arena_of_judges
from evalui.scoring.arena.question_groups import question_groups
from evalui.scoring.arena.verdicts import verdicts_of
from evalui.store.connection import Database
from evalui.store.runs import read_cells
from evalui.types import CellResult, Verdict

PANEL = open_spec(judging={"judges": ["first-biased-judge", "reference-judge"]})


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Of how many judges each arena is that is computed."""
    made: list[int] = []

    def counted(results: Sequence[CellResult]) -> Arena:
        made.append(len(results))
        return arena_of_judges(results)

    monkeypatch.setattr(kept_summaries, "arena_of_judges", counted)
    return made


def _arenas(database: Database, run_id: str) -> tuple[Arena, ...]:
    source = summary_source(database, run_id)
    return compile_report("", read_results(database, run_id), source=source).arenas


def _check_equal(kept: Sequence[Arena], fresh: Sequence[Arena]) -> None:
    assert [one.by for one in kept] == [one.by for one in fresh]
    for one, other in zip(kept, fresh, strict=True):
        assert (len(one.verdicts), len(one.battles)) == (len(other.verdicts), len(other.battles))
        whole = replace(one, verdicts=tuple(one.verdicts), battles=tuple(one.battles))
        assert whole == other


def test_a_worker_keeps_each_judge_and_their_panel(database: Database, computed: list[int]) -> None:
    run_id = add_open_run(database, PANEL)
    do_run(database, run_id)
    assert sorted(computed) == [1, 1, 2]
    kept = _arenas(database, run_id)
    assert len(computed) == 3
    assert [one.by for one in kept] == ["panel", "first-biased-judge", "reference-judge"]
    _check_equal(kept, compile_report("", read_results(database, run_id)).arenas)


def test_what_an_older_store_lacks_is_kept_by_its_first_reader(
    database: Database, computed: list[int]
) -> None:
    run_id = add_open_run(database, PANEL)
    do_run(database, run_id)
    with database.writing() as connection:
        connection.execute("DELETE FROM kept_figures")
    computed.clear()
    first = _arenas(database, run_id)
    _check_equal(_arenas(database, run_id), first)
    assert computed == [2, 1, 1]


def test_verdicts_are_read_where_they_are_wanted(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = add_open_run(database)
    do_run(database, run_id)
    read: list[CellResult] = []

    def counted(result: CellResult) -> tuple[Verdict, ...]:
        read.append(result)
        return verdicts_of(result)

    monkeypatch.setattr(figures, "verdicts_of", counted)
    (arena,) = _arenas(database, run_id)
    assert (len(arena.verdicts), len(arena.battles)) == (8, 8)
    assert (question_groups(arena), read) == ((), [])  # its questions name no capability
    assert arena.verdicts[0].duel.sample_id == "capitals/France"
    assert len(list(arena.battles)) == len(arena.battles)
    assert len(read) == 1


def test_a_judge_at_work_is_computed_and_an_ended_one_states_its_error(
    database: Database, computed: list[int]
) -> None:
    run_id = add_open_run(database)
    do_run(database, run_id)
    ids = {row.cell: row.id for row in read_cells(database, run_id)}
    *_, judged = read_results(database, run_id)
    failed = replace(judged, state="failed", error="The disk is full.")
    found = read_arena(database, ids, [failed])
    assert (found.state, found.error) == ("failed", "The disk is full.")
    assert computed == [1]
    read_arena(database, ids, [replace(judged, state="running")])
    assert computed == [1, 1]


def test_a_worker_keeps_opencompass_elo_of_any_number_of_battles(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = add_open_run(database, PANEL)
    do_run(database, run_id)
    few = [[one.opencompass_elo for one in each.standings] for each in _arenas(database, run_id)]
    monkeypatch.setattr("evalui.scoring.arena.elo.MEDIAN_ELO_MAX_BATTLES", 1)
    again = add_open_run(database, PANEL)
    do_run(database, again)
    many = [[one.opencompass_elo for one in each.standings] for each in _arenas(database, again)]
    assert many == few
    assert all(map(any, many))  # verdicts of each judge, and of the panel
    with database.writing() as connection:  # a reader does not wait for shuffles
        connection.execute("DELETE FROM kept_figures")
    assert not any(
        one.opencompass_elo for each in _arenas(database, again) for one in each.standings
    )
