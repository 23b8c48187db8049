import json
import re
from pathlib import Path
from typing import Any

import pytest
from runs_examples import CATALOG, spec

from evalui.access import LOCAL_PERSON, Person
from evalui.errors import DataError, FaultyRows, SpecError, UnknownRun
from evalui.runs import submit as submitting
from evalui.runs.contest import CollectedAnswers
from evalui.runs.fair_queue.limits import UserLimits
from evalui.runs.results import read_results
from evalui.runs.spec import RunSpec, read_spec, write_spec
from evalui.runs.submit import collect_answers, expand_entries, read_datasets, submit
from evalui.runs.worker.worker import Worker
from evalui.store.connection import Database
from evalui.store.datasets import add_dataset, read_dataset
from evalui.store.runs import read_cells, read_run, read_runs

HEADER = "id,question,A,B,C,D,answer\n"
GOOD = HEADER + "0,One?,1,2,3,4,A\n1,Two?,1,2,3,4,B\n"
FAULTY = GOOD + "2,Three?,1,2,3,4,E\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.csv").write_text(GOOD)
    (tmp_path / "faulty.csv").write_text(FAULTY)
    return tmp_path


def of(path: str, **fields: object) -> RunSpec:
    return spec(datasets=[{"path": path} | fields])


def test_paths_are_found_from_the_base(folder: Path) -> None:
    (loaded,) = read_datasets(of("good.csv"), base=folder).values()
    assert [sample.question for sample in loaded.dataset.samples] == ["One?", "Two?"]


def test_the_name_of_the_specification_counts(folder: Path) -> None:
    loaded = read_datasets(of("good.csv", name="midterm"), base=folder)
    assert loaded["midterm"].dataset.name == "midterm"


def test_columns_of_other_names_are_given_by_what_they_are(folder: Path) -> None:
    (folder / "exam.csv").write_text("prompt,opt1,opt2,label,topic\nOne?,1,2,2,sums\n")
    named = {"question": "prompt", "A": "opt1", "B": "opt2", "answer": "label", "subject": "topic"}
    one = of("exam.csv", columns=named, answer_key="index1")
    assert read_spec(write_spec(one)) == one
    (loaded,) = read_datasets(one, base=folder).values()
    (sample,) = loaded.dataset.samples
    assert (sample.question, sample.target, sample.subject) == ("One?", 1, "sums")


def test_a_role_that_no_column_has_is_reported_with_those_there_are() -> None:
    with pytest.raises(SpecError, match="“colour” is none of question, A, B"):
        read_spec(
            '{"datasets": [{"path": "a.csv", "columns": {"colour": "red"}}], '
            '"models": ["x"], "mode": "cloze"}'
        )


def test_faulty_rows_stop_a_run_that_does_not_skip_them(folder: Path) -> None:
    with pytest.raises(FaultyRows, match=r"faulty: 1\. The first is .*line 4.*skip_faulty"):
        read_datasets(of("faulty.csv"), base=folder)


def test_all_faults_are_counted_though_few_are_kept(folder: Path) -> None:
    text = "id,question,A,B,answer\n" + "1,,a,b,C\n" * 1500
    (folder / "faulty.csv").write_text(text)
    with pytest.raises(FaultyRows, match=r"Faults in faulty: 3000\."):
        read_datasets(of("faulty.csv"), base=folder)


def test_faulty_rows_are_left_out_by_choice(folder: Path) -> None:
    (loaded,) = read_datasets(of("faulty.csv", skip_faulty=True), base=folder).values()
    assert len(loaded.dataset.samples) == 2


def test_rows_with_options_of_the_same_text_are_left_out_by_choice(folder: Path) -> None:
    (folder / "twice.csv").write_text(GOOD + "9,Twice?,a,b,b,c,C\n")
    (kept,) = read_datasets(of("twice.csv"), base=folder).values()
    (left,) = read_datasets(of("twice.csv", duplicate_options="skip"), base=folder).values()
    assert (len(kept.dataset.samples), len(left.dataset.samples)) == (3, 2)


CLUSTERED = {
    "ceval.csv": "id,question,A,B,C,D,answer,Page\n0,One?,1,2,3,4,A,p1\n1,Two?,1,2,3,4,B,p1\n"
    "2,Three?,1,2,3,4,B,\n",
    "passages.jsonl": "".join(
        json.dumps(
            {"page": page, "passage": page, "question": text, "choices": ["1", "2"], "answer": 0}
        )
        + "\n"
        for text, page in (("One?", "p1"), ("Two?", "p1"), ("Three?", ""))
    ),
    "open.jsonl": "".join(
        json.dumps({"page": page, "query": text, "response": "1"}) + "\n"
        for text, page in (("One?", "p1"), ("Two?", "p1"), ("Three?", ""))
    ),
}


@pytest.mark.parametrize("file", CLUSTERED)
def test_a_column_names_the_questions_that_belong_together(
    database: Database, folder: Path, file: str
) -> None:
    (folder / file).write_text(CLUSTERED[file])
    for column in ("page", "passage") if file == "passages.jsonl" else ("page",):
        (loaded,) = read_datasets(of(file, cluster=column), base=folder).values()
        key = add_dataset(database, loaded.dataset)
        kept = read_dataset(database, key)
        assert [sample.cluster for sample in kept.samples] == ["p1", "p1", ""]
    with pytest.raises(DataError, match="“theme”"):
        read_datasets(of(file, cluster="theme"), base=folder)


def test_the_column_is_part_of_the_signature(database: Database, folder: Path) -> None:
    (folder / "ceval.csv").write_text(CLUSTERED["ceval.csv"])
    one = of("ceval.csv", cluster="Page")
    run = submit(database, one, read_datasets(one, base=folder), CATALOG)
    assert "|cluster:Page|" in read_cells(database, run)[0].cell.signature


def test_a_file_that_has_changed_is_reported(folder: Path) -> None:
    with pytest.raises(SpecError, match="has changed since"):
        read_datasets(of("good.csv", sha256="0" * 64), base=folder)


def test_a_file_that_is_the_same_passes(folder: Path) -> None:
    (loaded,) = read_datasets(of("good.csv"), base=folder).values()
    again = read_datasets(of("good.csv", sha256=loaded.dataset.sha256), base=folder)
    assert list(again.values()) == [loaded]


def test_a_missing_file_is_reported(folder: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere\.csv"):
        read_datasets(of("nowhere.csv"), base=folder)


def test_a_run_outlives_its_files(database: Database, folder: Path) -> None:
    asked = of("good.csv")
    run_id = submit(database, asked, read_datasets(asked, base=folder), CATALOG)
    (folder / "good.csv").unlink()
    Worker(database, lambda: CATALOG).run_once()
    assert read_run(database, run_id).state == "done"
    assert read_run(database, run_id).done == 2


def test_a_run_that_contradicts_itself_leaves_nothing(database: Database, folder: Path) -> None:
    asked = of("good.csv")
    loaded = read_datasets(asked, base=folder)
    with pytest.raises(SpecError, match="0 worked examples"):
        submit(database, asked.model_copy(update={"modes": spec(shots=5).modes}), loaded, CATALOG)
    assert read_runs(database) == []
    assert database.rows("SELECT id FROM dataset") == []


def test_a_run_queued_meanwhile_counts_against_the_limit(
    database: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = of("good.csv")
    loaded = read_datasets(asked, base=folder)
    plan_run = submitting.plan_run

    def plan_slowly(*given: Any, **named: Any) -> Any:
        monkeypatch.setattr(submitting, "plan_run", plan_run)
        submit(database, asked, loaded, CATALOG, usual=UserLimits(queued=1))
        return plan_run(*given, **named)

    monkeypatch.setattr(submitting, "plan_run", plan_slowly)
    with pytest.raises(SpecError, match="1 of your runs are already waiting"):
        submit(database, asked, loaded, CATALOG, usual=UserLimits(queued=1))
    assert len(read_runs(database)) == 1


def test_a_limit_per_subject_asks_each_subject(database: Database, tmp_path: Path) -> None:
    for subject in ("law", "logic"):
        (tmp_path / f"{subject}_val.csv").write_text(GOOD + "2,Three?,1,2,3,4,C\n")
    values = {"datasets": [{"path": ["law_val.csv", "logic_val.csv"], "name": "both"}]}
    asked = spec(version=2, limit=2, **values)
    run_id = submit(database, asked, read_datasets(asked, base=tmp_path), CATALOG)
    Worker(database, lambda: CATALOG).run_once(run_id)
    (result,) = read_results(database, run_id)
    assert list(result.samples) == ["law/0", "law/1", "logic/0", "logic/1"]
    assert len(result.trials) == 4


QA = '{"query": "Capital?", "response": "Beijing"}\n'


def _configure(folder: Path, *entries: tuple[str, str]) -> None:
    """Write a configuration of entries, each a name and a pattern, with their folders."""
    for name, pattern in entries:
        (folder / name).mkdir()
        file, rows = ("default_val.csv", GOOD) if pattern == "ceval" else ("default.jsonl", QA)
        (folder / name / file).write_text(rows)
    listed = [{"name": name, "pattern": pattern, "dataset": name} for name, pattern in entries]
    (folder / "custom_config.json").write_text(json.dumps(listed))


MIXED = (("qa", "general_qa"), ("law", "ceval"), ("logic", "ceval"))


@pytest.mark.parametrize("version", [1, 2])
def test_a_mixed_configuration_is_a_dataset_for_each_entry(tmp_path: Path, version: int) -> None:
    _configure(tmp_path, *MIXED)
    asked = expand_entries(spec(version=version, datasets=["custom_config.json"]), base=tmp_path)
    assert [source.entry for source in asked.datasets] == ["qa", "law", "logic"]
    loaded = read_datasets(asked, base=tmp_path)
    assert [(one.dataset.name, one.dataset.kind) for one in loaded.values()] == [
        ("qa", "general_qa"),
        ("law", "multiple_choice"),
        ("logic", "multiple_choice"),
    ]


@pytest.mark.parametrize(("version", "names"), [(1, ["law+logic"]), (2, ["law", "logic"])])
def test_entries_of_one_kind_are_one_dataset_in_version_1(
    tmp_path: Path, version: int, names: list[str]
) -> None:
    _configure(tmp_path, *MIXED[1:])
    asked = expand_entries(spec(version=version, datasets=["custom_config.json"]), base=tmp_path)
    # Both folders have a default_val.csv, which one dataset cannot hold.
    if version == 1:
        (tmp_path / "logic" / "default_val.csv").rename(tmp_path / "logic" / "default_dev.csv")
    loaded = read_datasets(asked, base=tmp_path)
    assert [one.dataset.name for one in loaded.values()] == names


@pytest.mark.parametrize("chosen", [{"kind": "multiple_choice"}, {"entry": "law"}])
def test_what_a_specification_chooses_of_a_configuration_stays_chosen(
    tmp_path: Path, chosen: dict[str, str]
) -> None:
    _configure(tmp_path, *MIXED[:2])
    asked = spec(version=2, datasets=[{"path": "custom_config.json"} | chosen])
    assert expand_entries(asked, base=tmp_path) == asked
    (loaded,) = read_datasets(asked, base=tmp_path).values()
    assert loaded.dataset.name == "law"


def test_a_pinned_digest_means_the_dataset_it_was_written_for(tmp_path: Path) -> None:
    _configure(tmp_path, *MIXED[:2])
    source = {"path": "custom_config.json", "kind": "general_qa"}
    (loaded,) = read_datasets(spec(datasets=[source]), base=tmp_path).values()
    pinned = {"path": "custom_config.json", "sha256": loaded.dataset.sha256}
    asked = spec(version=2, datasets=[pinned])
    assert expand_entries(asked, base=tmp_path) == asked
    (again,) = read_datasets(asked, base=tmp_path).values()
    assert again.dataset == loaded.dataset


def test_a_name_stands_before_those_of_the_entries(tmp_path: Path) -> None:
    _configure(tmp_path, *MIXED[:2])
    source = {"path": "custom_config.json", "name": "mid"}
    asked = expand_entries(spec(version=2, datasets=[source]), base=tmp_path)
    assert [source.key for source in asked.datasets] == ["mid/qa", "mid/law"]


def test_answers_of_a_configuration_belong_to_its_open_entry(
    database: Database, tmp_path: Path
) -> None:
    _configure(tmp_path, *MIXED[:2])
    (tmp_path / "answers_x.jsonl").write_text('{"index": 1, "answer": "Beijing"}\n')
    for dataset in ("", "custom_config.json", "qa"):
        answers = {"model": "x", "path": "answers_x.jsonl", "dataset": dataset}
        values = {"datasets": ["custom_config.json"], "answers": [answers]}
        asked = expand_entries(RunSpec.model_validate(values), base=tmp_path)
        loaded = read_datasets(asked, base=tmp_path)
        datasets = {key: upload.dataset for key, upload in loaded.items()}
        (found,) = collect_answers(database, asked, datasets, base=tmp_path)
        assert found.source == "qa"


def test_the_error_for_faulty_rows_shows_the_json_to_write(folder: Path) -> None:
    asked = spec(datasets=["good.csv", {"path": "faulty.csv", "name": "mid", "answer": "answer"}])
    with pytest.raises(FaultyRows) as caught:
        read_datasets(asked, base=folder)
    shown = re.search(r'"datasets": (\[.*\])', str(caught.value))
    assert shown is not None
    assert json.loads(shown[1]) == [
        {"path": "good.csv"},
        {"path": "faulty.csv", "name": "mid", "answer": "answer", "skip_faulty": True},
    ]
    again = read_spec(
        json.dumps(json.loads(write_spec(asked)) | {"datasets": json.loads(shown[1])})
    )
    assert len(read_datasets(again, base=folder)["mid"].dataset.samples) == 2


def test_a_file_that_is_read_wrongly_is_cured_by_its_columns(folder: Path) -> None:
    rows = "Hauptstadt von Norwegen?,Oslo,Rom,1\nHauptstadt von Italien?,Oslo,Rom,2\n"
    (folder / "exam.csv").write_text("Frage,erste,zweite,richtig\n" + rows)
    for skipped in (False, True):  # which cannot help
        sent = spec(datasets=["good.csv", {"path": "exam.csv", "skip_faulty": skipped}])
        with pytest.raises(FaultyRows, match="Confirm its columns") as caught:
            read_datasets(sent, base=folder)
        shown = re.search(r'"datasets": (\[.*\])', str(caught.value))
        assert shown is not None
        entries = json.loads(shown[1])
        named = {"question": "Frage", "A": "erste", "B": "zweite", "answer": "richtig"}
        assert entries[1]["columns"] == named
        again = read_spec(json.dumps(json.loads(write_spec(sent)) | {"datasets": entries}))
        loaded = read_datasets(again, base=folder)["exam.csv"]
        assert [sample.target for sample in loaded.dataset.samples] == [0, 1]


def test_a_file_with_commas_in_its_texts_is_cured_by_its_json(folder: Path) -> None:
    (folder / "exam.csv").write_text(HEADER + "0,One, or two?,1,2,3,4,A\n1,Two, then?,1,2,3,4,B\n")
    sent = of("exam.csv")
    with pytest.raises(FaultyRows) as caught:
        read_datasets(sent, base=folder)
    shown = re.search(r'"datasets": (\[.*\])', str(caught.value))
    assert shown is not None
    assert json.loads(shown[1]) == [{"path": "exam.csv", "commas_in_text": True}]
    again = read_spec(json.dumps(json.loads(write_spec(sent)) | {"datasets": json.loads(shown[1])}))
    (loaded,) = read_datasets(again, base=folder).values()
    assert [sample.question for sample in loaded.dataset.samples] == ["One, or two?", "Two, then?"]


def test_a_file_that_no_guess_cures_names_what_may(folder: Path) -> None:
    (folder / "bare.csv").write_text(HEADER + "0,One?,1,2,3,4,X\n1,Two?,1,2,3,4,Y\n")
    with pytest.raises(FaultyRows) as caught:
        read_datasets(of("bare.csv"), base=folder)
    assert all(
        f'"{name}"' in str(caught.value) for name in ("columns", "kind", "head_row", "sheet")
    )
    assert "skip_faulty" not in str(caught.value)


def test_most_rows_may_be_left_out_by_choice(folder: Path) -> None:
    (folder / "most.csv").write_text(HEADER + "0,One?,1,2,3,4,A\n" + "1,Two?,1,2,3,4,E\n" * 3)
    with pytest.raises(FaultyRows, match="not single rows"):
        read_datasets(of("most.csv"), base=folder)
    (loaded,) = read_datasets(of("most.csv", skip_faulty=True), base=folder).values()
    assert len(loaded.dataset.samples) == 1


def test_how_a_file_is_read_stands_in_its_specification() -> None:
    one = of("a.xlsx", head_row=3, sheet="Two", kind="multiple_choice")
    assert read_spec(write_spec(one)) == one
    layout = submitting.layout_of(one.datasets[0])
    assert (layout.head_row, layout.sheet, layout.kind) == (3, "Two", "multiple_choice")
    with pytest.raises(SpecError, match="head_row"):
        read_spec('{"datasets": [{"path": "a", "head_row": -2}], "models": ["x"], "mode": "cloze"}')


OPEN = '{"index": 1, "question": "One?"}\n{"index": 2, "question": "Two?"}\n'
ANSWERS = '{"index": 1, "answer": "1"}\n{"index": 2, "answer": "2"}\n{"index": 9, "answer": "9"}\n'


@pytest.fixture
def answered(folder: Path) -> Path:
    (folder / "open.jsonl").write_text(OPEN)
    (folder / "answers_x.jsonl").write_text(ANSWERS)
    (folder / "strangers.jsonl").write_text('{"index": 77, "answer": "?"}\n')
    return folder


def open_run(**answers: object) -> RunSpec:
    return RunSpec.model_validate(
        {"datasets": ["open.jsonl"], "answers": [{"model": "x", **answers}]}
    )


def collect_in(
    folder: Path, database: Database, asked: RunSpec, person: Person = LOCAL_PERSON
) -> tuple[CollectedAnswers, ...]:
    loaded = read_datasets(asked, base=folder)
    datasets = {key: upload.dataset for key, upload in loaded.items()}
    return collect_answers(database, asked, datasets, base=folder, person=person)


def test_answers_in_a_file_are_collected_by_question(answered: Path, database: Database) -> None:
    (found,) = collect_in(answered, database, open_run(path="answers_x.jsonl"))
    assert sorted(found.answers.values()) == [("1",), ("2",)]
    assert (found.model, found.source, found.unknown) == ("x", "open.jsonl", 1)


def test_answers_of_an_earlier_run_take_part_again(answered: Path, database: Database) -> None:
    first = open_run(path="answers_x.jsonl")
    run_id = submit(
        database,
        first,
        read_datasets(first, base=answered),
        CATALOG,
        collected=collect_in(answered, database, first),
    )
    Worker(database, lambda: CATALOG).run_once(run_id)
    (again,) = collect_in(answered, database, open_run(run=run_id))
    assert sorted(again.answers.values()) == [("1",), ("2",)]


def test_answers_of_another_users_run_do_not_exist(answered: Path, database: Database) -> None:
    first = open_run(path="answers_x.jsonl")
    found = collect_in(answered, database, first)
    loaded = read_datasets(first, base=answered)
    run_id = submit(database, first, loaded, CATALOG, "somebody", collected=found)
    with pytest.raises(UnknownRun):
        collect_in(answered, database, open_run(run=run_id), Person("else", "annotator"))


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({}, "either a path or an earlier run"),
        ({"path": "answers_x.jsonl", "run": "abc"}, "either a path or an earlier run"),
        ({"path": "answers_x.jsonl", "dataset": "other"}, "Known: open"),
        ({"path": "strangers.jsonl"}, "none has a question in open"),
    ],
)
def test_answers_without_a_source_or_a_question_are_refused(
    answered: Path, database: Database, answers: dict[str, str], message: str
) -> None:
    with pytest.raises((SpecError, DataError), match=message):
        collect_in(answered, database, open_run(**answers))


def test_a_run_needs_a_contestant() -> None:
    with pytest.raises(SpecError, match="a model, or answers"):
        read_spec('{"datasets": ["open.jsonl"], "mode": "question_answer"}')


def test_where_answers_are_judged_no_mode_need_be_named() -> None:
    asked = read_spec(
        '{"datasets": ["o.jsonl"], "models": ["perfect"], "judging": {"judges": ["j"]}}'
    )
    assert [(mode.mode, mode.max_tokens) for mode in asked.modes] == [("question_answer", 512)]


def test_a_misspelt_field_of_the_judging_is_reported() -> None:
    with pytest.raises(SpecError, match=r"judging\.order.*Known: judges, template, orders"):
        read_spec('{"datasets": ["o"], "models": ["m"], "judging": {"judges": ["j"], "order": 1}}')


@pytest.mark.parametrize(
    "mode", ['{"mode": "judge"}', '{"mode": "question_answer", "recorded": true}']
)
def test_what_belongs_elsewhere_is_refused_among_the_modes(mode: str) -> None:
    with pytest.raises(SpecError, match="judges belong under"):
        read_spec(f'{{"datasets": ["o"], "models": ["m"], "modes": [{mode}]}}')


def test_faulty_answers_stop_a_run_that_does_not_skip_them(
    answered: Path, database: Database
) -> None:
    (answered / "answers_x.jsonl").write_text(ANSWERS + "{no json\n")
    with pytest.raises(
        FaultyRows,
        match=r"Faults in answers_x\.jsonl: 1\..*line 4.*\"answers\": \[\{\"model\": \"x\"",
    ):
        collect_in(answered, database, open_run(path="answers_x.jsonl"))
    (found,) = collect_in(answered, database, open_run(path="answers_x.jsonl", skip_faulty=True))
    assert (len(found.answers), found.unknown) == (2, 1)


def test_an_answer_after_another_conversation_is_no_answer(
    answered: Path, database: Database
) -> None:
    first = open_run(path="answers_x.jsonl")
    brought = collect_in(answered, database, first)
    loaded = read_datasets(first, base=answered)
    run_id = submit(database, first, loaded, CATALOG, collected=brought)
    Worker(database, lambda: CATALOG).run_once(run_id)
    (answered / "open.jsonl").write_text(OPEN.replace("}", ', "history": [["a", "b"]]}'))
    with pytest.raises(SpecError, match="none has a question"):
        collect_in(answered, database, open_run(run=run_id))
