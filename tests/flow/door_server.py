"""A real server with accounts, and a small proxy that signs people in as oauth2-proxy does."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

from evalui.store.connection import Database

PROXY = "127.0.0.2"  # where the proxy's requests come from; all other ones are from 127.0.0.1
ROWS = b"question,A,B,C,D,answer\nWhat is 1 plus 1?,1,2,3,4,B\nWhat is 2 plus 2?,1,2,3,4,D\n"


@dataclass(frozen=True, slots=True)
class DoorServer:
    """Where the server is, and the store beside it."""

    address: str
    database: Database

    def client(self, *, source: str = "127.0.0.1", **options: Any) -> httpx.Client:
        """A browser, or a script, that follows no redirect."""
        transport = httpx.HTTPTransport(local_address=source)
        return httpx.Client(base_url=self.address, transport=transport, timeout=60, **options)


@contextmanager
def serving(folder: Path, **settings: str) -> Iterator[DoorServer]:
    """A server on a free port; it has answered once."""
    environment = os.environ | {"EVALUI_DATA_DIR": str(folder), "EVALUI_WORKERS": "0"} | settings
    process = subprocess.Popen(
        [sys.executable, "-m", "evalui.cli", "serve", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    )
    assert process.stdout
    try:
        address = process.stdout.readline().strip().rstrip("/")
        # It waits for the application, instead of being refused.
        assert httpx.get(f"{address}/healthz", timeout=100).status_code == 200
        database = Database(folder / "evalui.sqlite")
        try:
            yield DoorServer(address, database)
        finally:
            database.close()
    finally:
        process.terminate()
        process.communicate(timeout=60)


class SigningProxy(BaseHTTPRequestHandler):
    """Names the person of its cookie in headers, whatever the request says of that.

    As oauth2-proxy: no cookie leads to the provider, which here returns at once with the name as
    its code; `X-Forwarded-*` of the request are replaced, and an Authorization of its own is added.
    """

    upstream: tuple[str, int] = ("", 0)
    groups: dict[str, str] = {}  # noqa: RUF012 - of this process, by name
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        cookie = self.headers.get("Cookie", "")
        if self.path.startswith("/oauth2/callback?code="):
            self._redirect("/", f"_oauth2_proxy={self.path.rpartition('=')[2]}; HttpOnly; Path=/")
        elif "_oauth2_proxy=" not in cookie:
            self._redirect("/oauth2/start", "")
        else:
            self._pass_on(cookie.partition("_oauth2_proxy=")[2].partition(";")[0])

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, format: str, *args: Any) -> None:
        del format, args

    def _redirect(self, place: str, cookie: str) -> None:
        self.send_response(302)
        self.send_header("Location", place)
        if cookie:
            self.send_header("Set-Cookie", cookie)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _pass_on(self, name: str) -> None:
        kept = {
            key: value
            for key, value in self.headers.items()
            if not key.lower().startswith("x-forwarded-")
        }
        stated = {
            "X-Forwarded-User": f"sub-{name}",
            "X-Forwarded-Email": f"{name}@example.org",
            "X-Forwarded-Preferred-Username": name,
            "X-Forwarded-Groups": self.groups.get(name, ""),
            "X-Forwarded-For": self.client_address[0],
            "X-Forwarded-Proto": "https",
            "Authorization": "Bearer eyJhbGciOiJSUzI1NiJ9.of-the-provider",
        }
        connection = HTTPConnection(*self.upstream, source_address=(PROXY, 0), timeout=60)
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        connection.request(self.command, self.path, body, kept | stated)
        answer = connection.getresponse()
        content = answer.read()
        self.send_response(answer.status)
        for key, value in answer.getheaders():
            if key.lower() not in ("transfer-encoding", "content-length", "connection"):
                self.send_header(key, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        connection.close()


@contextmanager
def signing_proxy(address: str, groups: dict[str, str]) -> Iterator[str]:
    """The address of a proxy before the server at `address`."""
    host, port = address.removeprefix("http://").split(":")
    handler = type("Handler", (SigningProxy,), {"upstream": (host, int(port)), "groups": groups})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
