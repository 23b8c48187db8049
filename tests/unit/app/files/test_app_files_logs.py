"""Finished runs of other harnesses among uploads: what each is, what it lacks, what comes of it."""

import base64
import io
import json
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from log_examples import CSV, HARNESSES, LOGS, dropped, lone_samples, loose, lying_zip, zipped
from pictured_runs import png
from PIL import Image

from evalui.access import Person
from evalui.app.datasets import read_upload, store_upload
from evalui.app.evaluations import import_log, import_log_from
from evalui.app.files import logs
from evalui.app.files.runners import FilesHere
from evalui.app.files.views import LogChoices, LogView
from evalui.app.results import export_run
from evalui.app.run_labels import mode_label
from evalui.app.service import AppService
from evalui.datasets.model import Layout
from evalui.errors import DataError, NotAllowed, SpecError
from evalui.harnesses import LogPart
from evalui.messages import messages
from evalui.store.runs import read_cells, read_runs


def log_of(desk: AppService, *files: tuple[str, bytes]) -> LogView:
    view = desk.files.log(store_upload(desk, files))
    assert view is not None
    return view


def models_of(desk: AppService, run_id: str) -> set[str]:
    return {row.cell.model for row in read_cells(desk.database, run_id)}


@pytest.mark.parametrize("harness", HARNESSES)
def test_a_dropped_folder_and_its_zip_are_the_same_run(desk: AppService, harness: str):
    as_folder, as_zip = log_of(desk, *dropped(harness)), log_of(desk, zipped(harness))
    assert as_folder == as_zip
    assert {run.harness.replace("-", "") for run in as_folder.runs} == {harness}
    assert as_folder.apart == ()
    runs = [
        import_log(desk, store_upload(desk, files))
        for files in (dropped(harness), [zipped(harness)])
    ]
    assert runs[0].sources == runs[1].sources
    assert {cell.dataset.partition(" (")[0] for cell, _ in runs[0].sources} == {
        run.dataset for run in as_folder.runs
    }


def test_decisions_that_are_dropped_are_a_run_with_its_two_kinds_of_questions(desk: AppService):
    root = LOGS.parent / "evalscope_decisions"
    files = [
        (str(path.relative_to(root)), path.read_bytes())
        for path in sorted((root / "kinds").rglob("*"))
        if path.is_file()
    ]
    view = log_of(desk, *files)
    assert [run.dataset for run in view.runs] == ["general_decision", "general_decision noul"]
    imported = import_log(desk, store_upload(desk, files))
    assert [cell.dataset for cell, _ in imported.sources] == [run.dataset for run in view.runs]
    (row, _) = read_cells(desk.database, imported.run_id)
    assert mode_label(messages("en"), row) == "decisions, imported"
    assert mode_label(messages("zh"), row) == "决策，导入"


def test_what_a_log_is_and_lacks(desk: AppService):
    view = log_of(desk, zipped("inspect"))
    # The questions of one log are those of another, shuffled: both are orders of one run.
    assert (view.n_runs, view.n_models, view.n_datasets) == (2, 1, 2)
    first = view.runs[0]
    assert (first.harness, first.version, first.model) == ("inspect", "0.3.285", "mockllm/model")
    assert first.missing == ("probabilities",)
    assert view.unnamed == ()


def test_a_model_that_no_file_states_is_asked_for(desk: AppService):
    upload = store_upload(desk, [lone_samples()])
    view = desk.files.log(upload)
    assert view
    (unnamed,) = view.unnamed
    assert (unnamed.guess, unnamed.files) == ("", (lone_samples()[0],))
    assert not view.has_folders
    for models in ((), ("",), ("  ",)):
        with pytest.raises(SpecError, match="which model"):
            import_log(desk, upload, LogChoices(models=models))
    assert read_runs(desk.database) == []
    run = import_log(desk, upload, LogChoices("Mine", models=(" qwen ",)))
    assert run.name == "Mine"
    assert models_of(desk, run.run_id) == {"qwen"}


def test_tables_of_figures_marks_and_questions_are_parts_of_their_run(desk: AppService):
    folder = LOGS.parent / "vlmevalkit/mmbench/seeded-vlm"
    paths = [*folder.glob("*AI2D*"), folder.parent / "AI2D_SEEDED.tsv"]
    upload = store_upload(desk, [(path.name, path.read_bytes()) for path in paths])
    view = desk.files.log(upload)
    assert view
    assert (view.apart, view.beside) == ((), ())
    assert [(run.model, run.dataset) for run in view.runs] == [("seeded-vlm", "AI2D_SEEDED")]
    assert view.unnamed == ()
    ((_, source),) = import_log(desk, upload).sources
    assert source.figures[0].confirmed
    assert "pictures" not in source.missing


def test_a_name_for_a_model_that_has_one_is_refused(desk: AppService):
    upload = store_upload(desk, dropped("helm"))
    with pytest.raises(SpecError, match="1 names of models were given, and 0 models have none"):
        import_log(desk, upload, LogChoices(models=("other",)))


def test_models_that_no_file_states_are_asked_for_one_by_one(desk: AppService):
    text = lone_samples()[1]
    upload = store_upload(
        desk,
        [("samples_a.jsonl", text), ("samples_a.jsonl", text.replace(b"capital", b"main town"))],
    )
    view = desk.files.log(upload)
    assert view
    assert [model.guess for model in view.unnamed] == ["", ""]  # not the numbers of the store
    with pytest.raises(SpecError, match="which model"):
        import_log(desk, upload, LogChoices(models=("first",)))
    run = import_log(desk, upload, LogChoices(models=("first", "second")))
    assert models_of(desk, run.run_id) == {"first", "second"}


def test_a_reader_of_another_package_names_no_model_after_an_upload(
    desk: AppService, monkeypatch: pytest.MonkeyPatch
):
    def read(files: Sequence[Path]) -> tuple[LogPart, ...]:
        model = files[0].parent.name
        return (LogPart("other", "d", model, "reply", (files[0].name,), lambda: iter(())),)

    monkeypatch.setattr(logs, "find_parts", read)
    assert [model.guess for model in log_of(desk, ("log.bin", b"x")).unnamed] == [""]


@pytest.mark.parametrize(
    "files",
    [[("qwen/samples_a.jsonl", lone_samples()[1])], [zipped("opencompass")]],
    ids=["folder", "zip"],
)
def test_the_folder_of_answers_is_a_guess(desk: AppService, files: list[tuple[str, bytes]]):
    upload = store_upload(desk, files)
    view = desk.files.log(upload)
    assert view
    (unnamed,) = view.unnamed
    assert unnamed.guess in ("qwen", "pick-a")
    assert models_of(desk, import_log(desk, upload).run_id) == {unnamed.guess}
    named = import_log(desk, upload, LogChoices(models=("Qwen2",)))
    assert models_of(desk, named.run_id) == {"Qwen2"}


def test_the_name_of_a_zip_is_no_guess(desk: AppService):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(*lone_samples())
    upload = store_upload(desk, [("results.zip", packed.getvalue())])
    view = desk.files.log(upload)
    assert view
    assert [model.guess for model in view.unnamed] == [""]
    run = import_log(desk, upload, LogChoices(models=("qwen",)))
    assert models_of(desk, run.run_id) == {"qwen"}


def test_files_one_by_one_lack_what_their_folders_tell(desk: AppService):
    view = log_of(desk, *loose("evalscope"))
    assert not view.has_folders
    assert len(view.unnamed) == 1
    assert all("results" in run.missing for run in view.runs)


def test_questions_beside_a_log_are_not_left_out_in_silence(desk: AppService):
    upload = store_upload(desk, [*loose("lmeval"), ("capitals.csv", CSV)])
    view = desk.files.log(upload)
    assert view
    assert view.apart == ("capitals.csv",)
    assert view.beside == ("results_2026-11-23T19-16-34.858737.json",)
    with pytest.raises(SpecError, match=r"Not part of this run: capitals\.csv"):
        import_log(desk, upload)
    with pytest.raises(SpecError, match=r"capitals\.csv"):
        import_log(desk, upload, LogChoices(without=("others.csv",)))
    assert read_runs(desk.database) == []
    assert import_log(desk, upload, LogChoices(without=("capitals.csv",))).sources


def test_no_picture_is_decoded_to_know_that_there_are_questions(
    desk: AppService, monkeypatch: pytest.MonkeyPatch
):
    uri = f"data:image/png;base64,{base64.b64encode(png('red')).decode()}"
    row = {"question": uri, "A": "x", "B": "y", "answer": "A"}
    upload = store_upload(desk, [*loose("lmeval"), ("questions.json", json.dumps([row]).encode())])
    monkeypatch.delattr(Image, "open")
    view = desk.files.log(upload)
    assert view
    assert view.apart == ("questions.json",)


def test_questions_under_the_name_of_a_file_of_the_log_are_noticed(desk: AppService):
    rows = b'[{"question": "Capital of France?", "A": "Paris", "B": "Rome", "answer": "A"}]'
    assert log_of(desk, zipped("opencompass"), ("geography.json", rows)).apart == (
        "geography.json",
    )


def test_what_a_harness_writes_beside_its_answers_is_named_and_no_hindrance(desk: AppService):
    view = log_of(desk, *loose("helm"))
    assert view.apart == ()
    assert view.beside == ("per_instance_stats.json", "run_spec.json", "stats.json")
    assert view.n_beside == 3


def test_a_dataset_is_no_log(desk: AppService):
    assert desk.files.log(store_upload(desk, [("capitals.csv", CSV)])) is None


def test_a_log_that_cannot_be_used_is_no_dataset(desk: AppService):
    results = [file for file in loose("lmeval") if file[0].startswith("results")]
    with pytest.raises(DataError, match="--log_samples"):
        desk.files.log(store_upload(desk, results))


def test_a_lying_zip_leaves_nothing(
    desk: AppService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    upload = store_upload(desk, [lying_zip(2**22)])
    monkeypatch.setattr(tempfile, "tempdir", str(temporary_folder(tmp_path)))
    assert desk.files.log(upload) is None  # reading it as a dataset says why
    with pytest.raises(DataError, match=r"lying\.zip is not a zip archive, or it is damaged"):
        read_upload(desk, upload, Layout())
    with pytest.raises(DataError, match=r"lying\.zip is damaged"):
        import_log(desk, upload)
    assert read_runs(desk.database) == []
    assert list((tmp_path / "temporary").iterdir()) == []


def test_what_was_unpacked_is_removed_though_its_process_was_ended(
    desk: AppService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    upload = store_upload(desk, [zipped("helm")])
    monkeypatch.setattr(tempfile, "tempdir", str(temporary_folder(tmp_path)))
    unpacked: list[Path] = []

    def ended(*arguments: Any) -> LogView:
        folder = arguments[-1]
        (folder / "left.json").write_bytes(b"{}")
        unpacked.append(folder)
        raise DataError("reading-too-long", n="1")

    assert isinstance(desk.files.runner, FilesHere)
    monkeypatch.setattr(desk.files.runner.work, "log", ended)
    with pytest.raises(DataError, match="took more than 1 seconds"):
        desk.files.log(upload)
    assert len(unpacked) == 1
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_log_is_unpacked_once_however_often_it_is_shown(
    desk: AppService, monkeypatch: pytest.MonkeyPatch
):
    upload = store_upload(desk, [zipped("helm")])
    shown = desk.files.log(upload)
    monkeypatch.setattr(logs, "opened_files", None)
    assert desk.files.log(upload) is shown


def test_a_bundle_says_whose_run_it_is_and_comes_back_equal(
    desk: AppService, finished: Callable[..., str]
):
    run_id = finished()
    bundle = b"".join(export_run(desk, run_id, "sqlite", "en")[1])
    upload = store_upload(desk, [("mine.sqlite", bundle)])
    view = desk.files.log(upload)
    assert view
    assert view.bundle == desk.run(run_id).name
    assert {run.harness for run in view.runs} == {"evalui"}
    assert {run.model for run in view.runs} == {"biased", "always-A"}
    again = import_log(desk, upload).run_id
    assert again != run_id
    signatures = [
        [row.cell.signature for row in read_cells(desk.database, each)] for each in (run_id, again)
    ]
    assert signatures[0] == signatures[1]


def test_a_zip_of_a_bundle_and_what_lies_beside_it(desk: AppService, finished: Callable[..., str]):
    bundle = b"".join(export_run(desk, finished(), "sqlite", "en")[1])
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("out/store.sqlite", bundle)
        archive.writestr("out/report.html", "<p>")
    upload = store_upload(desk, [("out.zip", packed.getvalue()), ("capitals.csv", CSV)])
    view = desk.files.log(upload)
    assert view
    assert (view.apart, view.beside) == (("capitals.csv",), ("report.html",))
    with pytest.raises(SpecError, match="Not part"):
        import_log(desk, upload)
    assert import_log(desk, upload, LogChoices(without=("capitals.csv",))).run_id


def test_two_bundles_are_refused(desk: AppService, finished: Callable[..., str]):
    bundle = b"".join(export_run(desk, finished(), "sqlite", "en")[1])
    upload = store_upload(desk, [("a.sqlite", bundle), ("b.sqlite", bundle)])
    with pytest.raises(DataError, match=r"one by one"):
        desk.files.log(upload)


def test_a_bundle_beside_a_log_is_not_left_out_in_silence(
    desk: AppService, finished: Callable[..., str]
):
    bundle = b"".join(export_run(desk, finished(), "sqlite", "en")[1])
    assert log_of(desk, zipped("helm"), ("mine.sqlite", bundle)).apart == ("mine.sqlite",)


def test_a_store_of_another_program_is_refused(desk: AppService, tmp_path: Path):
    with sqlite3.connect(tmp_path / "x.sqlite") as other:
        other.execute("CREATE TABLE t (a)")
    other.close()
    upload = store_upload(desk, [("x.sqlite", (tmp_path / "x.sqlite").read_bytes())])
    with pytest.raises(DataError, match="evalui"):
        desk.files.log(upload)


def test_readers_import_nothing(desk: AppService):
    upload = store_upload(desk, dropped("helm"))
    reader = desk.acting_for(Person("rob", "reader"))
    with pytest.raises(NotAllowed):
        import_log(reader, upload)
    with pytest.raises(NotAllowed):
        import_log_from(reader, "/tmp")


def test_the_upload_of_another_person_is_none(desk: AppService):
    upload = store_upload(desk, dropped("helm"))
    other = desk.acting_for(Person("eve", "annotator"))
    with pytest.raises(DataError, match="no longer here"):
        other.files.log(upload)
    with pytest.raises(DataError, match="no longer here"):
        import_log(other, upload)


def temporary_folder(folder: Path) -> Path:
    made = folder / "temporary"
    made.mkdir()
    return made
