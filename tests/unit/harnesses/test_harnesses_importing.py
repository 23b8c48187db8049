"""What every import does, whoever wrote the log: recognise, keep apart, leave nothing half done."""

import gc
import json
import tracemalloc
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from harness_examples import LOGS, choice_line, imported, report_of, write_lm_eval

from evalui.errors import DataError, SpecError, StoreError
from evalui.harnesses import importing
from evalui.harnesses.base import FlawedAnswer, LoggedAnswer, LogPart
from evalui.report.analyses.left_out import left_out_sentences
from evalui.runs.results import read_results
from evalui.runs.spec import ModeSpec
from evalui.runs.worker.worker import Worker
from evalui.scoring.comparisons import comparisons
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.imported_runs import add_imported_cell, add_imported_dataset, begin_import
from evalui.store.runs import read_cells, read_left_out, read_run, read_runs
from evalui.types import Cell, LogSource


def part_of(*answers: LoggedAnswer | FlawedAnswer, repeats: bool = False) -> LogPart:
    return LogPart(
        harness="lm-eval",
        dataset="d",
        model="m",
        evidence="reply",
        files=("f",),
        read=lambda: iter(answers),
        repeats=repeats,
    )


def answer(id_: str, options: Sequence[str] = ("x", "y"), gold: int = 0) -> LoggedAnswer:
    return LoggedAnswer(id_, f"Question {id_}?", tuple(options), gold, reply="A")


def test_one_folder_may_hold_logs_of_every_harness(database: Database):
    run = imported(database, ".")
    names = {source.harness for _, source in run.sources}
    assert names == {"lm-eval", "inspect", "evalscope", "opencompass", "helm"}
    assert read_run(database, run.run_id).state == "done"


def test_the_same_questions_are_one_dataset_for_all_models(database: Database, tmp_path: Path):
    lines = [choice_line(number) for number in range(3)]
    folders = [write_lm_eval(tmp_path / name, lines) for name in ("a", "b")]
    run = imported(database, *folders)
    cells = read_cells(database, run.run_id)
    assert [cell.cell.model for cell in cells] == ["a", "b"]
    assert len({cell.dataset_key for cell in cells}) == 1
    again = imported(database, *folders)
    assert {cell.dataset_key for cell in read_cells(database, again.run_id)} == {
        cells[0].dataset_key
    }


def test_other_questions_under_one_name_get_another(database: Database, tmp_path: Path):
    run = imported(
        database,
        write_lm_eval(tmp_path / "a", [choice_line(0)]),
        write_lm_eval(tmp_path / "b", [choice_line(7)]),
    )
    assert [cell.dataset for cell, _ in run.sources] == ["capitals", "capitals (2)"]


def test_questions_that_two_models_share_pair_where_each_has_some_of_its_own(
    database: Database, tmp_path: Path
):
    first = [choice_line(number) for number in range(4)]
    second = [choice_line(number, acc=float(number > 3)) for number in (2, 3, 5, 6)]
    for line in second[:2]:
        line["filtered_resps"] = line["filtered_resps"][::-1]
    run = imported(
        database, write_lm_eval(tmp_path / "a", first), write_lm_eval(tmp_path / "b", second)
    )
    a, b = read_results(database, run.run_id)
    assert (a.cell.dataset, b.cell.dataset) == ("capitals", "capitals")
    assert list(b.samples) == ["0", "1", "2", "3", "5", "6"]
    assert [trial.sample_id for trial in a.trials] == ["0", "1", "2", "3"]
    assert [trial.sample_id for trial in b.trials] == ["2", "3", "5", "6"]
    ((pair,),) = (each.pairs for each in comparisons(report_of(database, run).summaries))
    assert (pair.n, pair.first.model, pair.paired.difference) == (2, "a", 1.0)
    assert [(each.rule, each.what, each.rows) for each in run.left_out] == [
        ("log-lacks", "a", 2),
        ("log-lacks", "b", 2),
    ]
    again = imported(database, tmp_path / "a", tmp_path / "b")
    keys = [
        {cell.dataset_key for cell in read_cells(database, each.run_id)} for each in (run, again)
    ]
    assert keys[0] == keys[1]
    alone = imported(database, tmp_path / "a")
    assert len(read_results(database, alone.run_id)[0].samples) == 4


def test_other_options_under_an_id_are_other_questions(database: Database, tmp_path: Path):
    other = choice_line(1, arguments=[["Q1", " Lyon"], ["Q1", " Rome"]])
    run = imported(
        database,
        write_lm_eval(tmp_path / "a", [choice_line(0), choice_line(1)]),
        write_lm_eval(tmp_path / "b", [choice_line(0), other]),
    )
    assert [cell.dataset for cell, _ in run.sources] == ["capitals", "capitals (2)"]


def test_two_runs_of_one_model_are_kept_apart(database: Database, tmp_path: Path):
    folders = [tmp_path / name / "m" for name in ("first", "second")]
    run = imported(database, *(write_lm_eval(each, [choice_line()]) for each in folders))
    assert [cell.model for cell, _ in run.sources] == ["m", "m (2)"]


def test_repeats_of_an_order_are_cells_and_orders_are_not(database: Database):
    moved = answer("q", ("y", "x"), gold=1)
    part = part_of(answer("q"), moved, answer("q"), answer("q"), repeats=True)
    run = imported(database, "lmeval", reader=lambda _: (part,))
    results = read_results(database, run.run_id)
    assert [len(result.trials) for result in results] == [2, 1, 1]
    assert [result.cell.pattern for result in results] == ["circular", "origin", "origin"]
    assert [source.repeat for _, source in run.sources] == [1, 2, 3]


def test_orders_of_many_options_are_left_out(database: Database):
    options = [str(number) for number in range(8)]
    moved = answer("q", options[::-1], gold=7)
    part = part_of(answer("q", options), moved, repeats=True)
    run = imported(database, "lmeval", reader=lambda _: (part,))
    assert [(each.rule, each.rows) for each in run.left_out] == [("log-orders", 1)]


def test_a_log_that_was_cancelled_is_left_out_of_a_folder_by_name(
    database: Database, tmp_path: Path
):
    write_lm_eval(tmp_path / "m", [choice_line()])
    with zipfile.ZipFile(tmp_path / "cut.eval", "w") as archive:
        archive.writestr("header.json", json.dumps({"status": "cancelled", "eval": {"task": "t"}}))
    run = imported(database, tmp_path)
    assert [cell.dataset for cell, _ in run.sources] == ["capitals"]
    (said,) = left_out_sentences(run.left_out, "en")
    assert said.startswith("cut.eval is not finished (its state is cancelled)")
    (kept,) = left_out_sentences(read_left_out(database, run.run_id), "zh")
    assert kept.startswith("cut.eval 还没完成")
    assert imported(database, tmp_path, without=["cut.eval"]).left_out == ()
    with pytest.raises(DataError, match=r"other\.eval"):
        imported(database, tmp_path, without=["other.eval"])


def test_a_zip_of_a_folder_is_unpacked_within_its_folder(database: Database, tmp_path: Path):
    folder = write_lm_eval(tmp_path / "m", [choice_line()])
    packed = tmp_path / "log.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for path in folder.iterdir():
            archive.write(path, f"../../out/{path.name}")
    run = imported(database, packed)
    assert len(run.sources) == 1
    assert not (tmp_path.parent / "out").exists()


def test_an_error_amid_a_log_leaves_nothing(database: Database):
    def read() -> Iterator[LoggedAnswer]:
        yield answer("q")
        raise DataError("log-damaged", file="f", reason="cut")

    part = part_of(repeats=False)
    broken = LogPart(**{name: getattr(part, name) for name in LogPart.__slots__} | {"read": read})
    with pytest.raises(DataError, match="cut"):
        imported(database, "lmeval", reader=lambda _: (broken,))
    assert read_runs(database) == []
    assert database.rows("SELECT * FROM dataset") == []


def test_who_may_keep_no_more_runs_imports_none(database: Database):
    def refuse(_: object) -> None:
        raise SpecError("limit-stored", stored="1", limit="1")

    with pytest.raises(SpecError):
        imported(database, "lmeval", admit=refuse)
    assert read_runs(database) == []


def test_an_import_that_was_killed_fails_with_a_sentence(database: Database):
    lease = begin_import(database, "killed")
    dataset = add_imported_dataset(database, lease, "d", "multiple_choice", ["f"], "local")
    cell = Cell("d", "m", "cloze", "cloze", "origin", "")
    log = LogSource("lm-eval")
    plan = ModeSpec(mode="cloze", recorded=True, log=log).model_dump_json()
    add_imported_cell(database, lease, 0, dataset, cell, plan)
    assert queue.requeue_lost(database, worker=lease.worker) == 1
    Worker(database, dict).run_once()
    row = read_run(database, lease.run_id)
    assert row.state == "failed"
    assert "import the log again" in row.error


def test_an_import_on_a_full_disk_leaves_nothing_and_works_when_there_is_space(
    database: Database, tmp_path: Path
):
    log = write_lm_eval(tmp_path / "log", [choice_line(number) for number in range(3000)])
    ((pages,),) = database.rows("PRAGMA page_count")
    database.rows(f"PRAGMA max_page_count = {pages + 60}")
    with pytest.raises(StoreError, match="The disk is full"):
        imported(database, log)
    assert read_runs(database) == []
    assert database.rows("SELECT * FROM dataset") == []
    database.rows(f"PRAGMA max_page_count = {pages + 100_000}")
    run = read_run(database, imported(database, log).run_id)
    assert (run.state, run.done) == ("done", 3000)


def test_files_that_are_no_log_are_named_with_what_is_read(database: Database):
    with pytest.raises(DataError, match=r"questions.py.*evalscope, helm"):
        imported(database, "make/questions.py")


def test_a_golden_table_needs_its_mapping(database: Database):
    with pytest.raises(DataError, match="needs --mapping"):
        imported(database, "table")
    assert (LOGS / "table/answers.csv").exists()


def test_slow_answers_are_written_as_they_come(database: Database, monkeypatch: pytest.MonkeyPatch):
    # Else a worker would take the run for one that lost its reader.
    monkeypatch.setattr(importing, "_FLUSH_S", 0.0)
    reported: list[int] = []
    part = part_of(*(answer(f"q{number}") for number in range(3)))
    imported(database, "lmeval", reader=lambda _: (part,), progress=reported.append)
    assert reported == [1, 1, 1, 0]


_MOST_BYTES = 400  # of memory for one more sample: its id, and a share of what is written


@pytest.mark.slow
def test_one_more_sample_takes_few_bytes_while_a_log_is_read(
    database: Database, monkeypatch: pytest.MonkeyPatch
):
    # A million are to fit into a gigabyte with all else.
    monkeypatch.setattr(importing, "_BATCH", 512)

    def peak(n: int) -> int:
        def read() -> Iterator[LoggedAnswer]:
            for number in range(n):
                yield answer(f"{n}/{number}", (f"x{number}", f"y{number}"))

        part = replace(part_of(), read=read)
        gc.collect()
        tracemalloc.start()
        imported(database, "lmeval", reader=lambda _: (part,))
        reached = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return reached

    peak(1024)  # what is made once
    assert (peak(8192) - peak(2048)) / 6144 < _MOST_BYTES
