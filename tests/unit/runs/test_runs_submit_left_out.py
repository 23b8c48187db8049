"""What a run does not evaluate is found when it is planned, kept, and given back."""

import json
from pathlib import Path

from runs_examples import CATALOG, spec

from evalui.messages import messages
from evalui.report.analyses.left_out import left_out_sentences
from evalui.runs.spec import RunSpec
from evalui.runs.submit import collect_answers, expand_entries, read_datasets, submit
from evalui.store.connection import Database
from evalui.store.runs import read_cells, read_left_out, read_runs
from evalui.types import LeftOut

GOOD = "id,question,A,B,C,D,answer\n0,One?,1,2,3,4,A\n1,Two?,1,2,3,4,B\n"
QA = '{"query": "Capital?", "response": "Beijing"}\n'


def left_out(database: Database, folder: Path, asked: RunSpec) -> tuple[LeftOut, ...]:
    asked = expand_entries(asked, base=folder)
    loaded = read_datasets(asked, base=folder)
    datasets = {key: upload.dataset for key, upload in loaded.items()}
    brought = collect_answers(database, asked, datasets, base=folder)
    run_id = submit(database, asked, loaded, CATALOG, collected=brought)
    return read_left_out(database, run_id)


def test_a_run_that_leaves_nothing_out_says_so(database: Database, tmp_path: Path) -> None:
    (tmp_path / "good.csv").write_text(GOOD)
    assert left_out(database, tmp_path, spec(datasets=["good.csv"])) == ()


def test_faulty_rows_are_counted(database: Database, tmp_path: Path) -> None:
    (tmp_path / "law_val.csv").write_text(
        GOOD + "2,Three?,1,2,3,4,E\n3,,1,2,3,4,Z\n1,?,1,2,3,4,A\n"
    )
    (tmp_path / "law_dev.csv").write_text(GOOD + "2,Three?,1,2,3,4,E\n")
    source = {"path": ["law_dev.csv", "law_val.csv"], "name": "law", "skip_faulty": True}
    assert left_out(database, tmp_path, spec(datasets=[source])) == (
        LeftOut("rows", "law", rows=3),
        LeftOut("shot-rows", "law", rows=1),
    )


def test_each_mode_is_used_for_the_datasets_it_fits(database: Database, tmp_path: Path) -> None:
    (tmp_path / "good.csv").write_text(GOOD)
    (tmp_path / "qa.jsonl").write_text(QA)
    modes = ["multiple_choice", "generation", "question_answer"]
    asked = spec(datasets=["good.csv", "qa.jsonl"], mode=modes)
    assert left_out(database, tmp_path, asked) == (
        LeftOut("open-modes", "good", mode="question_answer"),
        LeftOut("choice-modes", "qa", mode="multiple_choice, generation"),
    )
    (run,) = read_runs(database)
    cells = [(row.cell.dataset, row.cell.mode, row.state) for row in read_cells(database, run.id)]
    assert cells == [
        ("good", "multiple_choice", "waiting"),
        ("good", "generation", "waiting"),
        ("qa", "question_answer", "waiting"),
    ]


def test_a_dataset_that_no_mode_fits_is_reported_once(database: Database, tmp_path: Path) -> None:
    (tmp_path / "good.csv").write_text(GOOD)
    (tmp_path / "qa.jsonl").write_text(QA)
    asked = spec(
        datasets=["good.csv", "qa.jsonl"],
        models=["perfect", "always-A"],
        mode=["multiple_choice", "generation"],
    )
    assert left_out(database, tmp_path, asked) == (LeftOut("no-open-mode", "qa"),)


def test_a_dataset_without_contestants_is_left_out(database: Database, tmp_path: Path) -> None:
    (tmp_path / "qa.jsonl").write_text(QA)
    (tmp_path / "more.jsonl").write_text(QA.replace("Capital", "Town"))
    (tmp_path / "answers_x.jsonl").write_text(
        '{"index": 1, "answer": "1"}\n{"index": 9, "answer": "9"}\n'
    )
    answers = {"model": "x", "path": "answers_x.jsonl", "dataset": "qa"}
    values = {"datasets": ["qa.jsonl", "more.jsonl"], "answers": [answers]}
    assert left_out(database, tmp_path, RunSpec.model_validate(values)) == (
        LeftOut("nobody", "more"),
        LeftOut("answers", "qa", "x", rows=1),
    )


def test_a_mode_that_a_model_cannot_do_is_left_out(database: Database, tmp_path: Path) -> None:
    (tmp_path / "good.csv").write_text(GOOD)
    asked = spec(datasets=["good.csv"], models=["perfect", "always-A"], mode="cloze")
    why = "always-A cannot do this mode: it gives no probability of a text."
    assert left_out(database, tmp_path, asked) == (
        LeftOut("model", "good", "always-A", "cloze", why),
    )


def test_files_that_are_left_aside_are_kept_with_the_run(
    database: Database, tmp_path: Path
) -> None:
    entries = [
        {"name": "qa", "pattern": "general_qa", "dataset": "qa"},
        {"name": "law", "pattern": "ceval", "dataset": "law"},
    ]
    (tmp_path / "law").mkdir()
    (tmp_path / "law" / "default_val.csv").write_text(GOOD)
    (tmp_path / "custom_config.json").write_text(json.dumps(entries))
    assert left_out(database, tmp_path, spec(datasets=["custom_config.json"])) == (
        LeftOut("folder-missing", "law", "qa"),
    )


def test_rows_left_out_by_choice_are_not_reported_as_faulty(
    database: Database, tmp_path: Path
) -> None:
    twice = GOOD + "9,Capital of Spain?,Rome,Madrid,Madrid,Bern,B\n"
    (tmp_path / "good.csv").write_text(twice)
    skipping = {"path": "good.csv", "duplicate_options": "skip"}
    (line,) = [str(n) for n, row in enumerate(twice.splitlines(), 1) if row.startswith("9,")]
    assert left_out(database, tmp_path, spec(datasets=[skipping])) == (
        LeftOut("duplicate-options-left-out", "good", "good.csv", why=f"{line} (B = C)", rows=1),
    )


def test_every_note_that_leaves_something_out_is_known() -> None:
    sentences = messages("en").by_key
    notes = (key.partition(".") for key in sentences)
    texts = {note: sentences[f"note.{note}"] for kind, _, note in notes if kind == "note"}
    reported = {note for note, text in texts.items() if "left out" in text or "Ignored" in text}
    # Rows with options of the same text stay in the run, but for the figures over orders.
    things = [LeftOut(rule, "law") for rule in reported - {"duplicate-options"}]
    assert len(left_out_sentences(things, "en")) == len(things) > 0
