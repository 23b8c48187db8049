"""Small parts of published sets, laid out as on the hub, and a hub that has them."""

import hashlib
import json
import shutil
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from benchmark_examples import HUB, FakeHub

from evalui.settings import Settings


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A data folder of its own, and a hub's cache that is empty."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    return Settings(data_dir=tmp_path / "data", task_data=None)


@pytest.fixture
def here(settings: Settings, tmp_path: Path) -> Settings:
    """The sets lie in `EVALUI_TASK_DATA`."""
    shutil.copytree(HUB, tmp_path / "given")
    return settings.model_copy(update={"task_data": tmp_path / "given"})


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """A hub on this machine, by the addresses that the real one has."""
    fake = FakeHub()

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.answer()

        def do_GET(self) -> None:
            self.answer()

        def answer(self) -> None:
            path = unquote(urlsplit(self.path).path)
            fake.asked.append(f"{self.command} {path}")
            parts = path.strip("/").split("/")
            body, headers = None, dict[str, str]()
            if parts[:2] == ["api", "datasets"] and "revision" in parts:
                revision = "/".join(parts[parts.index("revision") + 1 :])
                if revision in fake.files:
                    body = json.dumps(fake.listing(revision)).encode()
            elif parts[0] == "datasets" and "resolve" in parts:
                at = parts.index("resolve")
                body = fake.content(parts[at + 1], "/".join(parts[at + 2 :]))
                digest = hashlib.sha1(body or b"").hexdigest()
                headers = {"X-Repo-Commit": parts[at + 1], "ETag": f'"{digest}"'}
            self.send_response(404 if body is None else 200)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body or b"")

        def log_message(self, format: str, *args: object) -> None:
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    yield fake
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def published() -> Callable[[str], dict[str, bytes]]:
    """The files of a set as the hub lists them."""

    def files(place: str) -> dict[str, bytes]:
        root = HUB / place
        paths = (path for path in sorted(root.rglob("*")) if path.is_file())
        return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}

    return files
