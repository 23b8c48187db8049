from pathlib import Path

import pytest
from runs_examples import CATALOG, spec

from evalui.errors import DataError, FaultyRows, SpecError, UnknownRun
from evalui.runs.contest import Collected
from evalui.runs.inputs import collect, read_datasets, submit
from evalui.runs.spec import RunSpec, read_spec
from evalui.runs.store import Store
from evalui.runs.worker import Worker

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


def test_faulty_rows_stop_a_run_that_does_not_skip_them(folder: Path) -> None:
    with pytest.raises(FaultyRows, match=r"1 faults?, the first is .*line 4.*skip_faulty"):
        read_datasets(of("faulty.csv"), base=folder)


def test_all_faults_are_counted_though_few_are_kept(folder: Path) -> None:
    text = "id,question,A,B,answer\n" + "1,,a,b,C\n" * 1500
    (folder / "faulty.csv").write_text(text)
    with pytest.raises(FaultyRows, match=r"has 3000 faults"):
        read_datasets(of("faulty.csv"), base=folder)


def test_faulty_rows_are_left_out_by_choice(folder: Path) -> None:
    (loaded,) = read_datasets(of("faulty.csv", skip_faulty=True), base=folder).values()
    assert len(loaded.dataset.samples) == 2


def test_a_file_that_has_changed_is_told(folder: Path) -> None:
    with pytest.raises(SpecError, match="has changed since"):
        read_datasets(of("good.csv", sha256="0" * 64), base=folder)


def test_a_file_that_is_the_same_passes(folder: Path) -> None:
    (loaded,) = read_datasets(of("good.csv"), base=folder).values()
    again = read_datasets(of("good.csv", sha256=loaded.dataset.sha256), base=folder)
    assert list(again.values()) == [loaded]


def test_a_missing_file_is_told(folder: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere\.csv"):
        read_datasets(of("nowhere.csv"), base=folder)


def test_a_run_outlives_its_files(store: Store, folder: Path) -> None:
    asked = of("good.csv")
    run_id = submit(store, asked, read_datasets(asked, base=folder), CATALOG)
    (folder / "good.csv").unlink()
    Worker(store, lambda: CATALOG).work_once()
    assert store.run(run_id).state == "done"
    assert store.run(run_id).done == 2


def test_a_run_that_contradicts_itself_leaves_nothing(store: Store, folder: Path) -> None:
    asked = of("good.csv")
    loaded = read_datasets(asked, base=folder)
    with pytest.raises(SpecError, match="0 worked examples"):
        submit(store, asked.model_copy(update={"modes": spec(shots=5).modes}), loaded, CATALOG)
    assert (store.runs(), store.datasets()) == ([], [])


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


def collect_in(folder: Path, store: Store, asked: RunSpec) -> tuple[Collected, ...]:
    loaded = read_datasets(asked, base=folder)
    datasets = {key: upload.dataset for key, upload in loaded.items()}
    return collect(store, asked, datasets, base=folder)


def test_answers_in_a_file_are_collected_by_question(answered: Path, store: Store) -> None:
    (found,) = collect_in(answered, store, open_run(path="answers_x.jsonl"))
    assert sorted(found.answers.values()) == [("1",), ("2",)]
    assert (found.model, found.source, found.unknown) == ("x", "open.jsonl", 1)


def test_answers_of_an_earlier_run_take_part_again(answered: Path, store: Store) -> None:
    first = open_run(path="answers_x.jsonl")
    run_id = submit(
        store,
        first,
        read_datasets(first, base=answered),
        CATALOG,
        collected=collect_in(answered, store, first),
    )
    Worker(store, lambda: CATALOG).work_once(run_id)
    (again,) = collect_in(answered, store, open_run(run=run_id))
    assert sorted(again.answers.values()) == [("1",), ("2",)]


def test_answers_of_somebody_elses_run_do_not_exist(answered: Path, store: Store) -> None:
    first = open_run(path="answers_x.jsonl")
    found = collect_in(answered, store, first)
    loaded = read_datasets(first, base=answered)
    run_id = submit(store, first, loaded, CATALOG, "somebody", collected=found)
    with pytest.raises(UnknownRun):
        collect_in(answered, store, open_run(run=run_id))


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({}, "either a path or an earlier run"),
        ({"path": "answers_x.jsonl", "run": "abc"}, "either a path or an earlier run"),
        ({"path": "answers_x.jsonl", "dataset": "other"}, "Known: open"),
        ({"path": "strangers.jsonl"}, "none belongs to a question of open"),
    ],
)
def test_answers_without_a_source_or_a_question_are_refused(
    answered: Path, store: Store, answers: dict[str, str], message: str
) -> None:
    with pytest.raises((SpecError, DataError), match=message):
        collect_in(answered, store, open_run(**answers))


def test_a_run_needs_somebody_to_answer() -> None:
    with pytest.raises(SpecError, match="a model, or answers"):
        read_spec('{"datasets": ["open.jsonl"], "mode": "question_answer"}')


def test_where_answers_are_judged_no_mode_need_be_named() -> None:
    asked = read_spec(
        '{"datasets": ["o.jsonl"], "models": ["perfect"], "judging": {"judges": ["j"]}}'
    )
    assert [(mode.mode, mode.max_tokens) for mode in asked.modes] == [("question_answer", 512)]


def test_a_misspelt_field_of_the_judging_is_told() -> None:
    with pytest.raises(SpecError, match=r"judging\.order.*Known: judges, template, orders"):
        read_spec('{"datasets": ["o"], "models": ["m"], "judging": {"judges": ["j"], "order": 1}}')


@pytest.mark.parametrize(
    "mode", ['{"mode": "judge"}', '{"mode": "question_answer", "recorded": true}']
)
def test_what_belongs_elsewhere_is_refused_among_the_modes(mode: str) -> None:
    with pytest.raises(SpecError, match="judges belong under"):
        read_spec(f'{{"datasets": ["o"], "models": ["m"], "modes": [{mode}]}}')


def test_faulty_answers_stop_a_run_that_does_not_skip_them(answered: Path, store: Store) -> None:
    (answered / "answers_x.jsonl").write_text(ANSWERS + "{no json\n")
    with pytest.raises(FaultyRows, match=r"answers_x\.jsonl has 1 faults.*line 4"):
        collect_in(answered, store, open_run(path="answers_x.jsonl"))
    (found,) = collect_in(answered, store, open_run(path="answers_x.jsonl", skip_faulty=True))
    assert (len(found.answers), found.unknown) == (2, 1)


def test_an_answer_after_another_conversation_is_no_answer(answered: Path, store: Store) -> None:
    first = open_run(path="answers_x.jsonl")
    brought = collect_in(answered, store, first)
    loaded = read_datasets(first, base=answered)
    run_id = submit(store, first, loaded, CATALOG, collected=brought)
    Worker(store, lambda: CATALOG).work_once(run_id)
    (answered / "open.jsonl").write_text(OPEN.replace("}", ', "history": [["a", "b"]]}'))
    with pytest.raises(SpecError, match="none belongs to a question"):
        collect_in(answered, store, open_run(run=run_id))
