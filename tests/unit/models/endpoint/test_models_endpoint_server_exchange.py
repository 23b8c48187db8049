"""Exchanges of those who wait in another thread: the client of a server."""

import socketserver
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from endpoint_server_examples import Names, Reply, ToyServer

from evalui.errors import ModelError
from evalui.models.endpoint import server as module
from evalui.models.endpoint.server import ExchangeFailed, exchange

METADATA = "169.254.169.254"
TIMES = {"timeout_s": 60.0, "total_s": 60.0, "connect_s": 60.0}


@pytest.fixture
def server() -> Iterator[ToyServer]:
    with ToyServer() as server:
        yield server


def named(server: ToyServer) -> str:
    """The server's URL under a name that no system resolves."""
    return server.url.replace("127.0.0.1", "model.invalid")


def status(url: str, **more: Any) -> int:
    with exchange("GET", url, **{"headers": {}, **TIMES, **more}) as reply:
        return reply.status


def test_a_reply_comes_in_pieces_with_its_head(server: ToyServer):
    go_on = threading.Event()

    def stream() -> Iterator[bytes]:
        yield b"one "
        assert go_on.wait(60), "the first piece was not passed on"
        yield b"two"

    server.always = Reply(201, headers={"Next-Cursor": "7"}, stream=stream)
    with exchange("POST", server.url, b"{}", headers={"X-Mine": "a"}, **TIMES) as reply:
        pieces = reply.pieces()
        found = next(pieces)
        go_on.set()
        found += b"".join(pieces)
        assert (reply.status, reply.headers["next-cursor"], found) == (201, "7", b"one two")
    ((path, _, sent),) = server.asked
    assert (path, sent["x-mine"]) == ("/v1", "a")
    assert sent["accept-encoding"] == "identity"  # it is handed over as it comes


def test_what_is_read_no_further_is_let_go(server: ToyServer):
    ended = threading.Event()

    def endless() -> Iterator[bytes]:
        try:
            while True:
                yield b" " * 2**16
        finally:
            ended.set()

    server.always = Reply(200, stream=endless)
    with exchange("POST", server.url, b"{}", headers={}, **TIMES) as reply:
        next(reply.pieces())
    assert ended.wait(60)


def test_large_content_is_sent_whole(server: ToyServer):
    server.always = Reply(200)
    content = b'{"text": "' + b"x" * 2**21 + b'"}'
    with exchange("POST", server.url, content, headers={}, **TIMES) as reply:
        assert reply.status == 200
    assert server.posts("v1") == [{"text": "x" * 2**21}]


def test_a_redirect_is_not_followed(server: ToyServer):
    with ToyServer() as other:
        server.always = Reply(307, {}, {"location": other.url})
        assert status(server.url) == 307
        assert not other.asked


def test_the_address_that_was_checked_is_the_one_connected_to(server: ToyServer):
    server.always, names = Reply(200), Names(["127.0.0.1"], [METADATA])
    assert status(named(server), resolve=names) == 200
    with pytest.raises(ModelError, match=METADATA):
        status(named(server), resolve=names)
    assert len(server.asked) == 1


@pytest.mark.parametrize("host", [METADATA, "2852039166", "[::ffff:169.254.169.254]"])
def test_an_address_that_is_written_as_such_is_checked_too(host: str):
    with pytest.raises(ModelError, match="metadata"):
        status(f"http://{host}/v1")


def test_a_host_outside_of_the_allowed_networks_gets_no_request(server: ToyServer):
    server.always, names = Reply(200), Names(["127.0.0.1"])
    assert status(named(server), resolve=names, allowed=["127.0.0.0/8"]) == 200
    with pytest.raises(ModelError, match="EVALUI_ENDPOINT_HOSTS"):
        status(named(server), resolve=names, allowed=["10.0.0.0/8"])
    assert len(server.asked) == 1


def test_requests_go_over_the_proxy(monkeypatch: pytest.MonkeyPatch, server: ToyServer):
    monkeypatch.setenv("http_proxy", server.url.removesuffix("/v1"))
    server.always = Reply(200)
    assert status("http://model.invalid/v1/models", resolve=Names()) == 200
    assert server.asked[0][0] == "http://model.invalid/v1/models"


class Listener(socketserver.ThreadingTCPServer):
    """Counts the requests that it is sent, and does what the test says with each."""

    daemon_threads = True

    def __init__(self, answer: Any) -> None:
        super().__init__(("127.0.0.1", 0), socketserver.StreamRequestHandler)
        self.answer = answer
        self.taken = 0
        self.url = f"http://127.0.0.1:{self.server_address[1]}/"

    def finish_request(self, request: Any, _: Any) -> None:
        self.taken += 1
        self.answer(request)

    def __enter__(self) -> "Listener":
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


def test_a_reply_that_drips_ends_with_its_total_time():
    ended = threading.Event()

    def drip(connection: Any) -> None:
        try:
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            while not ended.wait(0.02):
                connection.sendall(b"x")
        except OSError:
            pass  # whoever asked has enough

    with Listener(drip) as server:
        with pytest.raises(ExchangeFailed):
            read(server.url, total_s=0.5)
        ended.set()


def read(url: str, **times: float) -> bytes:
    with exchange("GET", url, headers={}, **TIMES | times) as reply:
        return b"".join(reply.pieces())


def test_a_request_that_is_not_taken_ends_with_its_time(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_MIN_UPLOAD_RATE", 2**30)
    ended = threading.Event()
    times = {"connect_s": 0.3, "timeout_s": 0.3, "total_s": 6000.0}
    with Listener(lambda _: ended.wait(100)) as server:
        with (
            pytest.raises(ExchangeFailed),
            exchange("POST", server.url, b"x" * 2**26, headers={}, **times),
        ):
            pass
        ended.set()


def test_nothing_is_sent_twice():
    """The server takes what it is sent and goes away without a word."""
    with Listener(lambda connection: connection.recv(2**16)) as server:
        with (
            pytest.raises(ExchangeFailed),
            exchange("POST", server.url, b"{}", headers={}, **TIMES),
        ):
            pass
        assert server.taken == 1


def test_a_reply_that_is_cut_off_is_reported(server: ToyServer):
    server.always = Reply(200, {"text": "x" * 100}, cut=True)
    with exchange("GET", server.url, headers={}, **TIMES) as reply, pytest.raises(ExchangeFailed):
        list(reply.pieces())
