from pathlib import Path

import pytest
from runs_examples import CATALOG, spec

from evalui.errors import DataError, FaultyRows, SpecError
from evalui.runs.inputs import read_datasets, submit
from evalui.runs.spec import RunSpec
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
