"""The key of an endpoint reaches its server alone: no file, page, log or process list has it."""

import io
import json
import os
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from drawn_page import DrawnPage
from flow_examples import wait_until
from ui_admin_examples import Administrator

from evalui.access import Person
from evalui.accounts.audit import read_audit
from evalui.accounts.people import add_person
from evalui.app.datasets import store_upload
from evalui.app.evaluations import start_run
from evalui.app.results import export_run
from evalui.app.service import AppService
from evalui.messages import LANGUAGES
from evalui.models.endpoint.keys import SECRET_VARIABLE
from evalui.settings import Settings
from evalui.store.connection import Database
from evalui.store.runs import read_cells, read_run
from evalui.ui.current_person import acting_as, current_person
from evalui.ui.pages.admin.views import VIEWS
from evalui.ui.pages.evaluate.spec import form_to_spec

KEY, WRONG_KEY = "sk-flow-secret-3141", "sk-flow-secret-2718"
QUESTIONS = "question,A,B,answer\nOne and one?,2,3,A\nTwo and two?,5,4,B\n"


class Guarded(BaseHTTPRequestHandler):
    """Answers A to whoever has the key, and tells all others which key they sent."""

    def do_GET(self) -> None:
        self._send({"data": [{"id": "m"}]})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        message = {"role": "assistant", "content": "A"}
        self._send({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})

    def _send(self, answer: object) -> None:
        given = self.headers["authorization"]
        fits = given == f"Bearer {KEY}"
        error = {"error": {"message": f"{given} is not known here"}}
        body = json.dumps(answer if fits else error).encode()
        self.send_response(200 if fits else 401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""


@pytest.fixture
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Guarded) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{served.server_port}/v1"
        served.shutdown()


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppService]:
    monkeypatch.delenv(SECRET_VARIABLE, raising=False)
    (tmp_path / "models.toml").write_text("", encoding="utf-8")
    settings = Settings(data_dir=tmp_path / "data", models=tmp_path / "models.toml", workers=0)
    settings.data_dir.mkdir()
    yield (made := AppService(settings, Database(settings.database)).with_sender(current_person))
    made.database.close()


def started(desk: AppService, model: str) -> str:
    upload = store_upload(desk, [("sums.csv", QUESTIONS.encode())])
    chosen = {"uploads": [upload], "models": [model], "modes": ["generation"]}
    return start_run(desk, form_to_spec(chosen))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_key_is_sent_to_its_server_and_stands_nowhere(
    desk: AppService, address: str, tmp_path: Path
) -> None:
    for name, key in (("far", KEY), ("wrong", WRONG_KEY)):
        fields = {"Model, as the server calls it": "m", "Base URL": address}
        form = DrawnPage("models", desk, "add=endpoint")
        assert form.press("Add model", **fields, Name=name, Key=key)[0] == f"?#model-{name}"
    assert list(desk.models.catalog()) == ["far", "wrong"]
    wait_until(lambda: not any(each.pending for each in desk.models.current_statuses().values()))

    run_id = started(desk, "far")
    desk.models.queue_test("far", desk.owner)
    desk.models.queue_test("wrong", desk.owner)
    models, database = str(desk.settings.models), str(desk.settings.database)
    command = [sys.executable, "-m", "evalui.cli", "worker", "--database", database]
    with (tmp_path / "log").open("wb") as log:
        worker = subprocess.Popen(
            [*command, "--models-file", models], stdout=log, stderr=subprocess.STDOUT
        )
        try:
            wait_until(lambda: read_run(desk.database, run_id).state in ("done", "failed"))
            tests = desk.models.tests
            wait_until(lambda: not any(each.is_pending for each in tests(desk.owner).values()))
            process = Path(f"/proc/{worker.pid}")
            seen = [process.joinpath(name).read_bytes() for name in ("cmdline", "environ")]
        finally:
            worker.terminate()
            worker.wait(100)

    assert read_run(desk.database, run_id).state == "done"
    assert [cell.done for cell in read_cells(desk.database, run_id)] == [4]
    failed = desk.models.tests(desk.owner)["wrong"]
    assert "***" in failed.error, "the server said which key it was given"
    forms = ("", "edit=far", "add=endpoint")
    seen += [DrawnPage("models", desk, form).text.encode() for form in forms]
    seen.append(DrawnPage("runs", desk, {"run": run_id}).text.encode())
    seen += [
        b"".join(export_run(desk, run_id, kind, "en")[1]) for kind in ("json", "csv", "html", "md")
    ]
    seen += [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(seen) > 12
    for text in seen:
        for key in (KEY, WRONG_KEY):
            assert key.encode() not in text


def unpacked(file: bytes) -> list[bytes]:
    """A file, or what is in it if it is an archive."""
    if not zipfile.is_zipfile(io.BytesIO(file)):
        return [file]
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        return [archive.read(name) for name in archive.namelist()]


def processes() -> list[bytes]:
    """The command lines and environments of all processes that this user may look at."""
    seen: list[bytes] = []
    for path in [*Path("/proc").glob("[0-9]*/cmdline"), *Path("/proc").glob("[0-9]*/environ")]:
        try:
            seen.append(path.read_bytes())
        except OSError:  # ended just now, or another user's
            continue
    return seen


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_who_is_named_uses_a_key_that_stands_nowhere(
    desk: AppService, address: str, tmp_path: Path
) -> None:
    settings = desk.settings.model_copy(update={"auth": "password"})
    box = AppService(settings, desk.database).with_sender(current_person)
    ann, bob = Person("ann", "operator"), Person("bob", "annotator")
    eve, root = Person("eve", "operator"), Person("root", "admin")
    fields = {"Model, as the server calls it": "m", "Base URL": address, "Key": KEY}
    named = {"Everyone on this server": False, "Who may use it": ["bob"]}
    for person in (ann, bob):
        add_person(desk.database, person.name, person.role, by=root)
    with acting_as(ann):
        form = DrawnPage("models", box, "add=endpoint")
        assert form.press("Add model", **fields, **named, Name="far")[0] == "?#model-far"
    with acting_as(bob):
        wait_until(lambda: not any(each.pending for each in box.models.current_statuses().values()))
        run_id = started(box, "far")
    command = [sys.executable, "-m", "evalui.cli", "worker", "--models-file", str(settings.models)]
    with (tmp_path / "log").open("wb") as log:
        worker = subprocess.Popen(
            [*command, "--database", str(settings.database)], stdout=log, stderr=log
        )
        try:
            wait_until(lambda: read_run(box.database, run_id).state in ("done", "failed"))
            seen = processes()
            assert any(str(worker.args[-1]).encode() in each for each in seen)  # type: ignore[index]
        finally:
            worker.terminate()
            worker.wait(100)

    assert [cell.done for cell in read_cells(box.database, run_id)] == [4]
    for language in LANGUAGES:
        for person in (ann, bob, eve, root):
            with acting_as(person):
                seen.append(DrawnPage("models", box, "", language).text.encode())
        with acting_as(ann):
            seen.append(DrawnPage("models", box, "edit=far", language).text.encode())
        admin = Administrator(box, language, root)
        seen += [admin.sees(sub=view).encode() for view in VIEWS]
    with acting_as(bob):
        seen.append(DrawnPage("runs", box, {"run": run_id}).text.encode())
        for kind in ("json", "csv", "html", "md", "xlsx", "zip"):
            seen += unpacked(b"".join(export_run(box, run_id, kind, "en")[1]))
    seen.append(repr(read_audit(box.database)).encode())
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"evalui.sqlite", "evalui.sqlite-wal", "log"} <= {path.name for path in kept}
    seen += [path.read_bytes() for path in kept]
    assert KEY not in "".join(os.environ.values())
    assert [text for text in seen if KEY.encode() in text] == []
