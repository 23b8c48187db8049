"""The client without a server: what it sends, and what it makes of what comes."""

import io
import json
import stat
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from evalui import client as module
from evalui.api.links import LinkMade
from evalui.client import Client
from evalui.errors import EvaluiError, Unreachable


def run_json(revision: int, state: str = "running") -> str:
    """A run as an event holds it."""
    fixed = {"id": "r1", "name": "n", "owner": "o", "done": revision, "total": 9, "error": ""}
    times = {"created": 1.0, "started": None, "finished": None, "cancelling": False}
    return json.dumps(fixed | times | {"revision": revision, "state": state})


def event(revision: int, kind: str = "progress", state: str = "running") -> bytes:
    return f"id: {revision}\nevent: {kind}\ndata: {run_json(revision, state)}\n\n".encode()


class Answer:
    """What a server sends, in pieces; an exception among them breaks the connection off."""

    def __init__(self, *pieces: bytes | Exception, headers: dict[str, str] | None = None):
        self._pieces = pieces
        self.headers = headers or {}

    def pieces(self) -> Generator[bytes]:
        for piece in self._pieces:
            if isinstance(piece, Exception):
                raise piece
            yield piece


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The requests so far, the answers to the next ones put in by the test."""
    log: list[Any] = []
    monkeypatch.setattr(module, "_RETRY_S", 0.0)
    return log


def answering(sent: list[Any], *answers: Answer | EvaluiError) -> Client:
    made, left = Client("http://127.0.0.1:9"), list(answers)

    @contextmanager
    def send(verb: str, path: str, body: bytes = b"", **more: str) -> Generator[Answer]:
        sent.append((verb, path, body, more))
        answer = left.pop(0)
        if isinstance(answer, EvaluiError):
            raise answer
        yield answer

    made._sent = send
    return made


def test_runs_are_listed_page_by_page(sent: list[Any]):
    pages = [
        json.dumps({"runs": [json.loads(run_json(n))], "next": "" if n == 2 else "r1"})
        for n in (1, 2)
    ]
    client = answering(sent, *(Answer(page.encode()) for page in pages))
    assert [each.revision for each in client.runs()] == [1, 2]
    assert [path for _, path, *_ in sent] == ["runs", "runs?cursor=r1"]


AWAY = Unreachable("server-away", url="u", reason="r")


def test_events_go_on_past_a_restart_where_they_were(sent: list[Any]):
    client = answering(
        sent,
        Answer(event(1), b": still here\n\n", event(2)[:9], event(2)[9:], AWAY),
        AWAY,
        Answer(),  # ten minutes are over
        Answer(event(3), event(4, "end", "done")),
    )
    assert [each.revision for each in client.events("r1")] == [1, 2, 3, 4]
    assert [more["Last_Event_ID"] for *_, more in sent] == ["", "2", "2", "2"]
    assert not sent[0][1].endswith("?")


def test_a_server_that_stays_away_is_given_up(sent: list[Any], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_PATIENCE_S", -1.0)
    with pytest.raises(Unreachable):
        list(answering(sent, AWAY).events("r1"))


def test_trials_are_read_page_by_page_until_none_comes(sent: list[Any]):
    def cursor(text: str) -> dict[str, str]:
        return {"next-cursor": text}

    client = answering(
        sent,
        Answer(b'{"id": 1}\n{"i', b'd": 2}\n', headers=cursor("0.2")),
        Answer(b'{"id": 3}\n', headers=cursor("1.3")),
        Answer(headers=cursor("1.3")),  # the run goes on
    )
    assert [trial["id"] for trial in client.trials("r1")] == [1, 2, 3]
    assert [path.partition("=")[2] for _, path, *_ in sent] == ["0.0", "0.2", "1.3"]


def test_a_picture_comes_as_its_file(sent: list[Any]):
    client = answering(sent, Answer(b"\x89P", b"NG"))
    assert client.picture("r1", "0a") == b"\x89PNG"
    assert sent[0][:2] == ("GET", "runs/r1/pictures/0a")


def test_a_report_is_private_and_stays_in_its_folder(sent: list[Any], tmp_path: Path):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in ("report.md", "../outside.md", "/absolute.md"):
            archive.writestr(name, name)
    content = packed.getvalue()
    answering(sent, Answer(content[:50], content[50:])).report("r1", tmp_path / "out")
    names = {path.name for path in (tmp_path / "out").rglob("*.md")}
    assert names == {"report.md", "outside.md", "absolute.md"}
    assert not (tmp_path / "outside.md").exists()
    assert stat.S_IMODE((tmp_path / "out" / "report.md").stat().st_mode) == 0o600


def test_files_are_sent_with_the_folder_that_states_their_split(sent: list[Any], tmp_path: Path):
    for split in ("dev", "val"):
        (tmp_path / split).mkdir()
        (tmp_path / split / 'a"b.csv').write_bytes(b"\r\n--x")
    described = {
        "id": "u",
        "files": [],
        "bytes": 1,
        "created": 1.0,
        "parts": [],
        "problem": "",
        "state": "ready",
        "rows_read": 0,
    }
    client = answering(sent, *(Answer(json.dumps(described).encode()) for _ in range(2)))
    assert client.upload([tmp_path / "dev" / 'a"b.csv', tmp_path / "val" / 'a"b.csv']).id == "u"
    client.upload([tmp_path])
    (_, _, body, more), (_, _, packed, _) = sent
    assert b'filename="dev/a%22b.csv"\r\n\r\n\r\n--x\r\n' in body
    boundary = more["Content_Type"].partition("boundary=")[2].encode()
    assert body.count(b"--" + boundary) == 3
    assert f'filename="{tmp_path.name}.zip"'.encode() in packed


def test_the_same_run_can_be_started_again(sent: list[Any]):
    client = answering(sent, AWAY, AWAY, AWAY)
    for key in ("", "", "mine"):
        with pytest.raises(Unreachable):
            client.start({"datasets": []}, key)
    keys = [more["Idempotency_Key"] for *_, more in sent]
    assert len(set(keys)) == 3
    assert keys[2] == "mine"


def test_any_route_is_called_with_the_kind_of_its_answer(sent: list[Any]):
    client = answering(sent, Answer(b'{"id": "x", ', b'"address": "/s/x"}'), Answer(b'{"id": 3}'))
    assert client.call(LinkMade, "POST", "runs/r1/links?days=7") == LinkMade(id="x", address="/s/x")
    assert sent[0][:3] == ("POST", "runs/r1/links?days=7", b"")
    with pytest.raises(ValidationError):
        client.call(LinkMade, "POST", "runs/r1/links")
