"""Files are read by other processes, which may take so much memory and time and no more."""

import gc
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from log_examples import HARNESSES, zipped
from ui_examples import FAULTY, GOOD, MODELS

from evalui.access import LOCAL, LOCAL_PERSON, Person
from evalui.app.datasets import delete_upload, read_upload, store_upload, upload_parts
from evalui.app.evaluations import import_log, plan_run, start_run
from evalui.app.files import runners
from evalui.app.files.runners import FileProcesses
from evalui.app.files.views import UploadPart
from evalui.app.service import AppService
from evalui.datasets.model import Layout
from evalui.errors import DataError, SpecError, UnknownRun
from evalui.models.base import ModelEntry
from evalui.models.catalog import ModelState, describe
from evalui.runs.database.connection import Database
from evalui.runs.request_key import RequestKey
from evalui.runs.spec import VERSION, RunSpec
from evalui.runs.worker.main import Worker
from evalui.settings import Settings
from evalui.types import Sample
from evalui.ui.pages.evaluate.spec import form_to_spec

MEMORY_MB = 256  # less than an administrator may choose, so that a small file passes it
OPEN = '{"index": 0, "question": "Why?", "reference": "So."}\n'
LONG = "id,question,A,B,C,D,answer\n" + "".join(f"{n},Q{n}?,1,2,3,4,B\n" for n in range(20_000))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    models = tmp_path / "models.toml"
    models.write_text(MODELS, encoding="utf-8")
    return Settings(data_dir=tmp_path / "data", models=models).model_copy(
        update={"parse_memory_mb": MEMORY_MB}
    )


@pytest.fixture
def service(settings: Settings) -> Iterator[AppService]:
    files = FileProcesses(settings)
    service = AppService(settings, Database(settings.database), files)
    yield service
    files.close()
    service.database.close()


def pids(service: AppService) -> list[int]:
    runner = service.files.runner
    assert isinstance(runner, FileProcesses)
    return [slot.process.pid for slot in runner._slots if slot.process]


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
    (pid,) = pids(service)
    assert pid != os.getpid()


def test_a_large_file_says_how_many_rows_are_read(service: AppService):
    upload = store_upload(service, [("long_val.csv", LONG.encode())])
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
    (first, *_) = pids(service)
    table = service.files.columns(upload)
    assert table is not None
    assert table.headers[:2] == ("id", "question")
    assert [(cell.model, cell.questions) for cell in plan_run(service, form).cells] == [
        ("biased", 4)
    ]
    run = service.run(start_run(service, form))
    assert (run.owner, run.total) == ("local", 16)
    assert pids(service) == [first]


def test_answers_are_matched_and_found_by_the_process(service: AppService):
    upload = store_upload(service, [("ask.jsonl", OPEN.encode())])
    fields = {"uploads": [upload], "models": ["biased"], "modes": ["question_answer"]}
    run = start_run(service, form_to_spec(fields))
    Worker(service.database, service.models.catalog).run_once()
    given = store_upload(service, [("m.jsonl", b'{"index": 0, "answer": "It is."}\n')])
    assert service.files.model_names(given) == ("m",)
    parts = [UploadPart(upload, Layout())]
    file = service.files.answers_file(f"{given}.1", "m", parts)
    assert (file.matched, file.questions, file.problem) == (1, 1, "")
    assert [each.id for each in service.files.earlier_runs(parts)] == [run]


@pytest.mark.parametrize("harness", HARNESSES)
def test_a_log_is_recognised_and_imported_by_the_process(settings: Settings, harness: str):
    # Metrics of written answers take more than files of questions; this is the least there may be.
    settings = settings.model_copy(update={"parse_memory_mb": 512})
    files = FileProcesses(settings)
    service = AppService(settings, Database(settings.database), files)
    try:
        import_by_process(service, harness)
    finally:
        files.close()
        service.database.close()


def import_by_process(service: AppService, harness: str) -> None:
    upload = store_upload(service, [zipped(harness)])
    view = service.files.log(upload)
    assert view
    (pid,) = pids(service)
    run = service.run(import_log(service, upload).run_id)
    assert (run.owner, run.state) == ("local", "done")
    assert pids(service) == [pid]
    assert pid != os.getpid()


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
    assert len(pids(service)) == 1


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
    upload = store_upload(service, [("capitals_val.csv", GOOD.encode())])
    delete_upload(service, upload)
    assert service.database.rows("SELECT * FROM upload") == []
    with pytest.raises(DataError, match="no longer here"):
        read_upload(service, upload, Layout())


def test_votes_are_read_by_the_process(service: AppService):
    vote = b'{"model_a": "x", "model_b": "y", "winner": "model_a", "question": "1", "by": "ann"}\n'
    votes = service.files.votes(store_upload(service, [("votes.jsonl", vote * 2)]))
    assert [(name, len(cast)) for name, cast in votes.items()] == [("", 2)]
    assert len(pids(service)) == 1


def test_what_is_too_much_for_a_page_is_refused(settings: Settings):
    files = FileProcesses(settings.model_copy(update={"parse_memory_mb": 1024}))
    service = AppService(settings, Database(settings.database), files)
    line = f'{{"question": "{"x" * 1_800_000}", "answer": "a"}}\n'
    few = store_upload(service, [("few.jsonl", line.encode() * 2)])
    assert [len(each.text) for each in service.files.preview(few).questions] == [1_800_000] * 2
    longer = f'{{"question": "{"x" * 6_000_000}", "answer": "a"}}\n'
    many = store_upload(service, [("many.jsonl", longer.encode() * 3)])
    assert read_upload(service, many, Layout()).n_questions == 3
    with pytest.raises(DataError, match="more than a page can take"):
        service.files.preview(many)
    files.close()
    service.database.close()


def test_errors_come_back_in_words(service: AppService):
    with pytest.raises(DataError, match="no longer here"):
        read_upload(service, "0123456789abcdef", Layout())
    upload = store_upload(service, [("ask.jsonl", OPEN.encode())])
    fields = {"uploads": [upload], "modes": ["question_answer"], "earlier": ["nowhere/m"]}
    with pytest.raises(UnknownRun):
        start_run(service, form_to_spec(fields))


def test_a_process_over_its_memory_is_replaced(service: AppService):
    small = store_upload(service, [("capitals_val.csv", GOOD.encode())])
    read_upload(service, small, Layout())
    (first,) = pids(service)
    large = store_upload(service, [("large_val.csv", LONG.encode() * 8)])
    with pytest.raises(DataError, match=r"more than 0\.25 GB of memory"):
        read_upload(service, large, Layout())
    assert read_upload(service, small, Layout(kind="multiple_choice")).n_questions == 4
    (second,) = pids(service)
    assert second != first
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)


def test_a_file_has_all_the_memory_whatever_was_read_before(service: AppService):
    for place in range(2):  # each takes most of it
        file = (f"long{place}_val.csv", LONG.replace("Q", f"{place}").encode())
        assert read_upload(service, store_upload(service, [file]), Layout()).n_questions == 20_000


def test_a_request_over_its_memory_is_not_tried_again(
    service: AppService, monkeypatch: pytest.MonkeyPatch
):
    read_upload(service, store_upload(service, [("capitals_val.csv", GOOD.encode())]), Layout())
    large = store_upload(service, [("large_val.csv", LONG.encode() * 8)])
    started: list[object] = []
    start = runners.subprocess.Popen
    monkeypatch.setattr(
        runners.subprocess,
        "Popen",
        lambda *given, **named: (started.append(1), start(*given, **named))[1],
    )
    fields = {"uploads": [large], "models": ["biased"], "modes": ["multiple_choice"]}
    with pytest.raises(DataError, match=r"Working out the run took more than 0\.25 GB of memory"):
        plan_run(service, form_to_spec(fields))
    assert started == []


def test_a_request_over_its_time_ends_the_process(settings: Settings):
    quick = settings.model_copy(update={"parse_seconds": 0.2})
    files = FileProcesses(quick)
    service = AppService(settings, Database(settings.database), files)
    upload = store_upload(service, [("long_val.csv", LONG.encode())])
    with pytest.raises(DataError, match=r"longer than 0\.2 seconds"):
        read_upload(service, upload, Layout())
    assert pids(service) == []
    files.close()
    service.database.close()


def test_a_process_that_was_ended_is_replaced_unnoticed(service: AppService):
    upload = store_upload(service, [("capitals_val.csv", GOOD.encode())])
    read_upload(service, upload, Layout())
    (first,) = pids(service)
    os.kill(first, signal.SIGKILL)
    os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
    assert read_upload(service, upload, Layout(kind="multiple_choice")).n_questions == 4
    assert pids(service) != [first]


def test_our_own_mistake_is_logged_and_stated(
    service: AppService, caplog: pytest.LogCaptureFixture
):
    with pytest.raises(DataError, match="server's log"):
        service.files.runner.ask(LOCAL_PERSON, "", "columns")
    assert "TypeError" in caplog.text
    assert service.files.runner.ask(LOCAL_PERSON, "", "earlier_runs", ()) == ()


def test_one_file_is_read_once_for_all_who_wait_for_it(
    service: AppService, monkeypatch: pytest.MonkeyPatch
):
    upload = store_upload(service, [("long_val.csv", LONG.encode())])
    requests: list[str] = []
    ask = service.files.runner.ask

    def count(person: Person, near: str, method: str, *arguments: object) -> object:
        requests.append(method)
        return ask(person, near, method, *arguments)

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
    assert (requests, views) == (["view"], [20_000] * 4)


def test_a_small_file_does_not_wait_for_a_large_one(service: AppService):
    large = store_upload(service, [("long_val.csv", LONG.encode())])
    small = store_upload(service, [("capitals_val.csv", GOOD.encode())])
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


def test_a_reading_process_has_no_key(service: AppService, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.setenv("EVALUI_SECRET_KEY", "also-secret")
    read_upload(service, store_upload(service, [("capitals_val.csv", GOOD.encode())]), Layout())
    (pid,) = pids(service)
    assert b"secret" not in Path(f"/proc/{pid}/environ").read_bytes()


def test_a_reading_process_can_start_nothing_and_become_nobody_else(service: AppService):
    read_upload(service, store_upload(service, [("capitals_val.csv", GOOD.encode())]), Layout())
    (pid,) = pids(service)
    process = Path(f"/proc/{pid}")
    assert "NoNewPrivs:\t1\n" in (process / "status").read_text()
    limits = {
        line[:26].strip(): line[26:].split()[:2]
        for line in (process / "limits").read_text().splitlines()
    }
    assert limits["Max processes"] == ["0", "0"]
    assert limits["Max core file size"] == ["0", "0"]
    assert limits["Max open files"] == ["256", "256"]
    # The rest is for saying that the memory is used up.
    assert limits["Max address space"] == [str(MEMORY_MB * 2**20), str((MEMORY_MB + 32) * 2**20)]
