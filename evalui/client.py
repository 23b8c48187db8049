"""A typed client of a server, see docs/api.md; every method raises `EvaluiError`."""

import io
import json
import secrets
import time
import zipfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from evalui.api.schemas import (
    CellProgress as CellProgress,  # for those who show one
)
from evalui.api.schemas import (
    ModelShown,
    RunDetail,
    RunPage,
    RunProgress,
    UploadedDatasets,
)
from evalui.errors import EvaluiError, SpecError, Unreachable
from evalui.messages import Sentence
from evalui.models.endpoint.limits import host_of, is_http_url, is_loopback, literal_ip
from evalui.models.endpoint.server import BegunReply, ExchangeFailed, exchange
from evalui.web.schemas import Problem

_CONNECT_S, _SILENCE_S = 10.0, 600.0  # a server reads large files
_TOTAL_S = 7 * 24 * 3600.0  # a run is followed for days
_PATIENCE_S, _RETRY_S = 120.0, 1.0  # for a server that is started again while a run is followed
T = TypeVar("T")
Run = RunProgress | str  # a run, or its id


class Client:
    """The server at `url`; `insecure` sends the token over plain http to another machine."""

    def __init__(self, url: str, token: str = "", *, insecure: bool = False) -> None:
        if not is_http_url(url) or set(url) & set("@?#"):
            raise SpecError("server-address")
        self.url, host = url.rstrip("/"), literal_ip(host_of(url)) or host_of(url)
        if token and not (url.startswith("https:") or is_loopback(host) or insecure):
            raise SpecError("server-plain", host=host)
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def upload(
        self, paths: Sequence[str | Path], on_progress: Callable[[UploadedDatasets], object] = id
    ) -> UploadedDatasets:
        """Upload the files of one dataset, folders as archives; what was read of them.

        `on_progress` is called every few seconds while the server reads.
        """
        boundary, parts = secrets.token_hex(16), list[bytes]()
        for name, content in map(_named, map(Path, paths)):
            field = f'Content-Disposition: form-data; name="files"; filename="{name}"'
            parts += [f"--{boundary}\r\n{field}\r\n\r\n".encode(), content, b"\r\n"]
        body = b"".join([*parts, f"--{boundary}--\r\n".encode()])
        kind = f"multipart/form-data; boundary={boundary}"
        read = self.call(UploadedDatasets, "POST", "datasets", body, Content_Type=kind)
        while read.state in ("waiting", "reading"):
            on_progress(read)
            read = self.call(UploadedDatasets, "GET", f"datasets/{read.id}")
        return read

    def start(self, spec: Mapping[str, Any], key: str = "") -> RunDetail:
        """Start a run of docs/specification.md with `upload` ids for paths; one for each `key`."""
        once = {"Idempotency_Key": key or secrets.token_urlsafe(16)}
        return self.call(RunDetail, "POST", "runs", json.dumps(spec).encode(), **once)

    def run(self, run: Run) -> RunDetail:
        """A run as it is now, with its cells."""
        return self.call(RunDetail, "GET", f"runs/{run}")

    def runs(self) -> Iterator[RunProgress]:
        """The runs of the sender, everyone's, and those to vote on, the newest first."""
        page = self.call(RunPage, "GET", "runs")
        yield from page.runs
        while page.next:
            page = self.call(RunPage, "GET", f"runs?cursor={page.next}")
            yield from page.runs

    def events(self, run: Run) -> Iterator[RunProgress]:
        """The run with each change until it has ended, also past a restart of the server."""
        seen, is_over, last = "", False, time.monotonic()
        while not is_over:
            try:
                with self._sent("GET", f"runs/{run}/events", Last_Event_ID=seen) as answer:
                    for line in _lines(answer.pieces()):
                        name, _, value = line.decode().partition(": ")
                        is_over = is_over or (name, value) == ("event", "end")
                        if name == "data":
                            progress = RunProgress.model_validate_json(value)
                            seen, last = str(progress.revision), time.monotonic()
                            yield progress
            except Unreachable:
                if time.monotonic() > last + _PATIENCE_S:
                    raise
            time.sleep(0 if is_over else _RETRY_S)

    def wait(self, run: Run, on_progress: Callable[[RunProgress], object] = id) -> RunDetail:
        """The run once it has ended; `on_progress` is called with each change."""
        for progress in self.events(run):
            on_progress(progress)
        return self.run(run)

    def trials(self, run: Run) -> Iterator[dict[str, Any]]:
        """The trials so far, each as a line of trials.jsonl."""
        path, cursor, last = f"runs/{run}/trials?cursor=", "0.0", ""
        while cursor not in ("", last):
            with self._sent("GET", path + cursor) as answer:
                last, cursor = cursor, answer.headers.get("next-cursor", "")
                yield from map(json.loads, _lines(answer.pieces()))

    def picture(self, run: Run, picture: str) -> bytes:
        """The file of a picture that questions of a run name as `<picture:...>`."""
        with self._sent("GET", f"runs/{run}/pictures/{picture}") as answer:
            return b"".join(answer.pieces())

    def report(self, run: Run, folder: str | Path) -> None:
        """Write all files of the report into a folder, each readable by its owner alone."""
        with TemporaryFile() as file, self._sent("GET", f"runs/{run}/report.zip") as answer:
            file.writelines(answer.pieces())
            with zipfile.ZipFile(file) as archive:
                for name in archive.namelist():
                    Path(archive.extract(name, folder)).chmod(0o600)

    def models(self) -> list[ModelShown]:
        """The models of the server."""
        return self.call(list[ModelShown], "GET", "models")

    def call(self, kind: type[T], verb: str, path: str, body: bytes = b"", **more: str) -> T:
        """The answer of any route below /api/v1 as a `kind`; `more` are header fields."""
        with self._sent(verb, path, body, **more) as answer:
            return TypeAdapter(kind).validate_json(b"".join(answer.pieces()))

    @contextmanager
    def _sent(self, verb: str, path: str, body: bytes = b"", **more: str) -> Generator[BegunReply]:
        fields = {"Content_Type": "application/json"} | more | self._headers
        sent = {name.replace("_", "-"): value for name, value in fields.items()}
        where = f"{self.url}/api/v1/{path}"
        try:
            with exchange(
                verb,
                where,
                body,
                headers=sent,
                connect_s=_CONNECT_S,
                timeout_s=_SILENCE_S,
                total_s=_TOTAL_S,
            ) as got:
                if got.status >= 300:
                    raise _refused(got.status, b"".join(got.pieces()))
                yield got
        except ExchangeFailed as error:
            raise Unreachable("server-away", url=self.url, reason=str(error)) from error
        except ValidationError as error:
            raise EvaluiError("server-foreign", url=self.url) from error


def _refused(status: int, body: bytes) -> EvaluiError:
    try:
        problem = Problem.model_validate_json(body)
    except ValidationError:  # of a proxy, or the page for who has no token
        return EvaluiError("server-refused", status=status)
    return EvaluiError(Sentence(problem.detail, problem.key))


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        yield from lines


def _named(path: Path) -> tuple[str, bytes]:
    """A file as it is uploaded, its folder before its name, which may state the split."""
    if path.is_dir():
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(each for each in path.rglob("*") if each.is_file()):
                archive.write(file, file.relative_to(path))
        return f"{path.resolve().name}.zip", packed.getvalue()
    return f"{path.resolve().parent.name}/{path.name}".replace('"', "%22"), path.read_bytes()
