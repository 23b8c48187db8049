"""Files are read by other processes, which may take so much memory and time and no more."""

import gc
import os
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

import pytest
from log_examples import HARNESSES, zipped
from ui_examples import FAULTY, GOOD, MODELS

from evalui.access import LOCAL, Person
from evalui.app.datasets import delete_upload, read_upload, store_upload, upload_parts
from evalui.app.evaluations import import_log, plan_run, start_run
from evalui.app.files.runners import FileProcesses
from evalui.app.files.views import UploadPart
from evalui.app.files.work import FileWork
from evalui.app.service import AppService
from evalui.datasets.model import Layout
from evalui.errors import DataError, SpecError, UnknownRun
from evalui.models.base import ModelEntry
from evalui.models.catalog import ModelState, describe
from evalui.runs.contest import AnswersSpec
from evalui.runs.spec import VERSION, RunSpec
from evalui.runs.worker.main import Worker
from evalui.settings import Settings
from evalui.store.connection import Database
from evalui.store.queue import RequestKey
from evalui.types import Sample
from evalui.ui.pages.evaluate.spec import form_to_spec

T = TypeVar("T")
OPEN = '{"index": 0, "question": "Why?", "reference": "So."}\n'
LONG = "id,question,A,B,C,D,answer\n" + "".join(f"{n},Q{n}?,1,2,3,4,B\n" for n in range(20_000))


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("box")
    models = folder / "models.toml"
    models.write_text(MODELS, encoding="utf-8")
    # The least there may be: metrics of written answers take more than files of questions.
    return Settings(data_dir=folder / "data", models=models, parse_memory_mb=512)


@pytest.fixture(scope="module")
def files(settings: Settings) -> Iterator[FileProcesses]:
    files = FileProcesses(settings)
    yield files
    files.close()


@pytest.fixture
def service(settings: Settings, files: FileProcesses) -> Iterator[AppService]:
    service = AppService(settings, Database(settings.database), files)
    yield service
    service.database.close()


def pids(service: AppService) -> list[int]:
    runner = service.files.runner
    assert isinstance(runner, FileProcesses)
    return [process.pid for slot in runner._slots if (process := slot.sandbox.process)]


def samples_here() -> int:
    gc.collect()
    # isinstance would wake what libraries load only when somebody looks at it
    return sum(type(each) is Sample for each in gc.get_objects())


def test_a_large_file_leaves_no_dataset_in_the_server(service: AppService):
    before = samples_here()
    upload = store_upload(service, [("long_val.csv", LONG.encode())])
    view, preview = read_upload(service, upload, Layout()), service.files.preview(upload)
    assert (view.n_questions, view.name, len(preview.questions)) == (20_000, "long", 3)
    assert samples_here() == before
    assert os.getpid() not in pids(service)


def test_a_large_file_says_how_many_rows_are_read(service: AppService):
    upload = store_upload(service, [("other_val.csv", LONG.encode())])
    other = store_upload(service, [("capitals_val.csv", GOOD.encode())])
    assert service.files.rows_read(upload) is None
    read_upload(service, upload, Layout())
    assert (service.files.rows_read(upload), service.files.rows_read(other)) == (10_000, None)


def test_every_request_is_answered_by_the_same_process(service: AppService):
    upload = store_upload(service, [("capitals_val.csv", FAULTY.encode())])
    fields = {"uploads": [upload], "models": ["biased"], "modes": ["multiple_choice"]}
    form = form_to_spec(fields)
    assert upload_parts(service, upload) == (upload,)
    assert len(read_upload(service, upload, Layout()).faults) == 2
    before = pids(service)
    table = service.files.columns(upload)
    assert table is not None
    assert table.headers[:2] == ("id", "question")
    assert [(cell.model, cell.questions) for cell in plan_run(service, form).cells] == [
        ("biased", 4)
    ]
    run = service.run(start_run(service, form))
    assert (run.owner, run.total) == ("local", 16)
    assert pids(service) == before


def test_what_the_process_answers_is_what_is_worked_out_here(
    service: AppService, settings: Settings
):
    here = AppService(settings, service.database)
    choices = store_upload(service, [("capitals_val.csv", FAULTY.encode())])
    written = store_upload(service, [("ask.jsonl", OPEN.encode())])
    log = store_upload(service, [zipped("helm")])
    for upload in (choices, written):
        assert read_upload(service, upload, Layout()) == read_upload(here, upload, Layout())
        assert service.files.columns(upload) == here.files.columns(upload)
        assert service.files.preview(upload) == here.files.preview(upload)
    assert service.files.log(log) == here.files.log(log)
    fields = {"uploads": [choices, written], "models": ["biased"], "modes": ["multiple_choice"]}
    form = form_to_spec(fields)
    assert plan_run(service, form) == plan_run(here, form)
    given = store_upload(service, [("m.jsonl", b'{"index": 0, "answer": "It is."}\n')])
    spec = form.model_copy(update={"answers": [AnswersSpec(upload=f"{given}.1", model="m")]})
    assert service.files.matched(spec) == here.files.matched(spec)


def test_answers_are_matched_and_found_by_the_process(service: AppService):
    upload = store_upload(service, [("ask.jsonl", OPEN.encode())])
    fields = {"uploads": [upload], "models": ["biased"], "modes": ["question_answer"]}
    run = start_run(service, form_to_spec(fields))
    Worker(service.database, service.models.catalog).run_once(run)
    given = store_upload(service, [("m.jsonl", b'{"index": 0, "answer": "It is."}\n')])
    assert service.files.model_names(given) == ("m",)
    parts = [UploadPart(upload, Layout())]
    file = service.files.answers_file(f"{given}.1", "m", parts)
    assert (file.matched, file.questions, file.problem) == (1, 1, "")
    assert [each.id for each in service.files.earlier_runs(parts)] == [run]


@pytest.mark.parametrize("harness", HARNESSES)
def test_a_log_is_recognised_and_imported_by_the_process(service: AppService, harness: str):
    upload = store_upload(service, [zipped(harness)])
    assert service.files.log(upload)
    run = service.run(import_log(service, upload).run_id)
    assert (run.owner, run.state) == ("local", "done")


def test_a_specification_is_started_by_the_process_once(service: AppService):
    upload = store_upload(service, [("capitals_val.csv", GOOD.encode())])
    spec = RunSpec.model_validate(
        {
            "version": VERSION,
            "datasets": [{"upload": upload}],
            "models": ["biased"],
            "modes": [{"mode": "multiple_choice"}],
        }
    )
    key = RequestKey("again", "digest")
    runs = {start_run(service, spec, key) for _ in range(2)}
    assert [service.run(run).owner for run in runs] == ["local"]


def test_a_model_that_is_named_often_is_described_once(
    service: AppService, monkeypatch: pytest.MonkeyPatch
):
    described: list[str] = []

    def describe_once(entry: ModelEntry) -> ModelState:
        described.append(entry.name)
        return describe(entry)

    monkeypatch.setattr("evalui.app.evaluations.describe", describe_once)
    upload = store_upload(service, [("capitals_val.csv", GOOD.encode())])
    named = {"models": ["biased"] * 3, "modes": [{"mode": "multiple_choice"}]}
    spec = RunSpec.model_validate(named | {"datasets": [{"upload": upload}]})
    with pytest.raises(SpecError):
        start_run(service, spec)
    assert described == ["biased"]


def test_an_upload_that_is_deleted_counts_no_more(service: AppService):
    upload = store_upload(service, [("deleted_val.csv", GOOD.encode())])
    kept = service.database.rows("SELECT count(*) FROM upload")[0][0]
    delete_upload(service, upload)
    assert service.database.rows("SELECT count(*) FROM upload")[0][0] == kept - 1
    with pytest.raises(DataError, match="no longer here"):
        read_upload(service, upload, Layout())


def test_votes_are_read_by_the_process(service: AppService):
    vote = b'{"model_a": "x", "model_b": "y", "winner": "model_a", "question": "1", "by": "ann"}\n'
    votes = service.files.votes(store_upload(service, [("votes.jsonl", vote * 2)]))
    assert [(name, len(cast)) for name, cast in votes.items()] == [("", 2)]


def test_errors_come_back_in_words(service: AppService):
    with pytest.raises(DataError, match="no longer here"):
        read_upload(service, "0123456789abcdef", Layout())
    upload = store_upload(service, [("ask.jsonl", OPEN.encode())])
    fields = {"uploads": [upload], "modes": ["question_answer"], "earlier": ["nowhere/m"]}
    with pytest.raises(UnknownRun):
        start_run(service, form_to_spec(fields))


def test_one_file_is_read_once_for_all_who_wait_for_it(
    service: AppService, monkeypatch: pytest.MonkeyPatch
):
    upload = store_upload(service, [("long_val.csv", LONG.encode())])
    requests: list[object] = []
    ask = service.files.runner.ask

    def count(person: Person, near: str, function: Callable[..., T], *arguments: object) -> T:
        requests.append(function)
        return ask(person, near, function, *arguments)

    monkeypatch.setattr(service.files.runner, "ask", count)
    views: list[int] = []
    threads = [
        threading.Thread(
            target=lambda: views.append(read_upload(service, upload, Layout()).n_questions)
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (requests, views) == ([FileWork.view], [20_000] * 4)


def test_a_small_file_does_not_wait_for_a_large_one(service: AppService):
    large = store_upload(service, [("large_val.csv", LONG.encode())])
    small = store_upload(service, [("small_val.csv", GOOD.encode())])
    ended: list[str] = []

    def load(upload: str, name: str) -> None:
        read_upload(service, upload, Layout())
        ended.append(name)

    threads = [
        threading.Thread(target=load, args=each) for each in ((large, "large"), (small, "small"))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(pids(service))) == 2


@pytest.mark.parametrize(("owner", "places"), [("ada", 1), (LOCAL, 2)])
def test_one_person_of_several_holds_one_process(settings: Settings, owner: str, places: int):
    runner = FileProcesses(settings)
    with runner._chosen(owner, "x") as first, runner._chosen(owner, "y") as second:
        assert len({id(first), id(second)}) == places
        with runner._chosen("bob", "z") as other:
            assert (other in (first, second)) is (places == 2)
        with runner._chosen(owner, "z") as third:
            assert third in (first, second)
    with runner._chosen(owner, "y") as again:
        assert again is second


def test_who_waits_for_many_files_is_refused_more(
    service: AppService, monkeypatch: pytest.MonkeyPatch
):
    upload = store_upload(service, [("capitals_val.csv", GOOD.encode())])
    read_upload(service, upload, Layout())
    refused: list[str] = []

    def ask(*arguments: object) -> object:  # each waits for one more
        try:
            service.files.columns(upload, Layout(sheet=f"{len(refused)}{arguments}"))
        except DataError as error:
            refused.append(str(error))
        return None

    monkeypatch.setattr(service.files.runner, "ask", ask)
    service.files.columns(upload, Layout(sheet="x"))
    assert len(refused) == 1
    assert "still being read" in refused[0]
    assert read_upload(service, upload, Layout()).n_questions == 4
