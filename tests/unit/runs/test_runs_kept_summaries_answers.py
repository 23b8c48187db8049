"""What the store keeps of written answers: each text is counted once, by the worker."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import pytest
from open_run_examples import add_open_run, do_run, open_spec

from evalui.report.analyses.base import Figures
from evalui.runs import kept_summaries
from evalui.runs.kept_summaries import GrowingTexts, read_answer_summary, summary_source
from evalui.runs.results import read_result, read_results
from evalui.scoring.answer_summary import AnswerSummary, summarise_answers
from evalui.scoring.pairs import AnswerPair, compare_answers
from evalui.scoring.texts.metrics import MAIN, RECALL
from evalui.scoring.texts.tally import TextTally, tally_texts
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.runs import read_cells
from evalui.store.trials import write_trials
from evalui.types import CellResult, Sample, Trial

ALONE = open_spec(judging=None)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The texts that are counted at a time, in their order."""
    texts: list[list[str]] = []

    def tallied(
        trials: Iterable[Trial], samples: Mapping[str, Sample], before: TextTally | None = None
    ) -> TextTally:
        seen = list(trials)
        texts.append([trial.reply or "" for trial in seen])
        return tally_texts(seen, samples, before)

    monkeypatch.setattr(kept_summaries, "tally_texts", tallied)
    return texts


@pytest.fixture
def summarised(monkeypatch: pytest.MonkeyPatch) -> list[CellResult]:
    """The results whose summaries are computed."""
    made: list[CellResult] = []

    def summarise(result: CellResult, tally: TextTally | None = None) -> AnswerSummary:
        made.append(result)
        return summarise_answers(result, tally)

    monkeypatch.setattr(kept_summaries, "summarise_answers", summarise)
    return made


def _summaries(database: Database, run_id: str) -> list[AnswerSummary]:
    source = summary_source(database, run_id)
    results = read_results(database, run_id)
    return [source.answers(each) for each in results if each.cell.gives == "answers"]


def _fresh(database: Database, run_id: str) -> list[AnswerSummary]:
    results = read_results(database, run_id)
    return [summarise_answers(each) for each in results if each.cell.gives == "answers"]


def test_a_worker_counts_each_text_once_and_a_reader_none(
    database: Database, counted: list[list[str]], summarised: list[CellResult]
) -> None:
    run_id = add_open_run(database)
    do_run(database, run_id)
    # With the batches of each cell, one where nothing delays it; its end has none left to count.
    right, wrong = ["Paris", "Rome", "Madrid", "Oslo"], ["Lyon", "Milan", "Sevilla", "Bergen"]
    assert [*chain.from_iterable(counted)] == right + wrong
    assert counted[-1] == []
    counted.clear()
    assert len(summarised) == 2
    for _ in range(2):
        assert _summaries(database, run_id) == _fresh(database, run_id)
    assert (counted, len(summarised)) == ([], 2)


def test_a_run_may_be_read_before_and_after_its_models_are_loaded(database: Database):
    run_id = add_open_run(database, ALONE)
    waiting, early = read_results(database, run_id), summary_source(database, run_id)
    do_run(database, run_id)
    done, late = read_results(database, run_id), summary_source(database, run_id)
    assert waiting[0].cell.signature != done[0].cell.signature  # by the model's fingerprint
    assert [late.answers(each).n for each in waiting] == [0, 0]
    assert [early.answers(each).n for each in done] == [4, 4]


def test_the_last_cell_keeps_every_pair_and_no_reader_computes_one(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[str] = []

    def counted(results: Sequence[CellResult], figure: str) -> tuple[AnswerPair, ...]:
        compared.append(figure)
        return compare_answers(results, figure)

    monkeypatch.setattr(kept_summaries, "compare_answers", counted)
    run_id = add_open_run(database, ALONE)
    do_run(database, run_id)
    assert compared == [MAIN]
    results = read_results(database, run_id)
    for _ in range(2):
        figures = Figures(results, source=summary_source(database, run_id))
        for figure in (MAIN, RECALL):
            for dataset in (None, "capitals"):
                assert figures.pairs(figure, dataset) == compare_answers(results, figure) != ()
        assert figures.pairs(MAIN, "another") == ()
    assert compared == [MAIN, RECALL]


def test_what_an_older_store_lacks_is_kept_by_its_first_reader(
    database: Database, summarised: list[CellResult]
) -> None:
    run_id = add_open_run(database, ALONE)
    do_run(database, run_id)
    with database.writing() as connection:
        connection.execute("DELETE FROM kept_figures")
    summarised.clear()
    for _ in range(2):
        assert _summaries(database, run_id) == _fresh(database, run_id)
    assert len(summarised) == 2


def test_texts_of_a_cell_at_work_are_counted_once_whoever_looks_or_goes_on(
    database: Database, counted: list[list[str]]
) -> None:
    done = add_open_run(database, ALONE)
    do_run(database, done)
    (answers, _) = read_results(database, done)
    trials = list(answers.trials)
    run_id = add_open_run(database, ALONE)
    claimed = queue.claim(database, "worker-1")
    assert claimed
    (row, _) = read_cells(database, run_id)
    queue.start_cell(database, claimed.lease, row.id, "f")
    counted.clear()

    def write(*batch: Trial) -> None:
        write_trials(database, claimed.lease, row.id, batch)

    def look() -> None:
        result = read_result(database, run_id, row.id)
        assert read_answer_summary(database, row.id, result) == summarise_answers(result)

    first = GrowingTexts(database, row)
    for batch in (trials[:1], trials[1:2]):
        write(*batch)
        first.add(batch)
    look()
    assert [*chain(*counted)] == ["Paris", "Rome"]
    write(trials[3])  # by a worker that ends before it has counted it
    look()
    assert [*chain(*counted)] == ["Paris", "Rome", "Oslo"]
    write(trials[2])
    GrowingTexts(database, row).add([trials[2]])
    look()
    assert [*chain(*counted)] == ["Paris", "Rome", "Oslo", "Oslo", "Madrid"]
