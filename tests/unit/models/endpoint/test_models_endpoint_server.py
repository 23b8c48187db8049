import socket
import threading
from collections.abc import Iterator

import pytest
from endpoint_server_examples import Reply, ToyServer

from evalui.models.endpoint import server as session
from evalui.models.endpoint.protocol import Json, RetryableError, ServerReply
from evalui.models.endpoint.server import HttpServer
from evalui.types import Usage


@pytest.fixture
def deaf() -> Iterator[str]:
    """The URL of a server whose queue of connections is full."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(listener.getsockname())
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        for each in waiting:
            each.close()


def test_a_server_that_takes_no_connection_is_to_blame(monkeypatch: pytest.MonkeyPatch, deaf: str):
    monkeypatch.setattr(session, "CONNECT_S", 0.1)
    server = HttpServer(deaf, key="", timeout_s=60, total_s=60)
    with pytest.raises(RetryableError, match="cannot be reached") as error:
        server.post("completions", {})
    server.close()
    assert (error.value.blame, error.value.status) == ("server", 0)


def test_a_large_reply_is_parsed_beside_the_loop(monkeypatch: pytest.MonkeyPatch):
    """Nothing would be sent or received while the loop itself parses it."""
    parsed: list[str] = []
    parse = HttpServer._parse_reply

    def noted(server: HttpServer, reply: ServerReply, limit: int) -> Json:
        parsed.append(threading.current_thread().name)
        return parse(server, reply, limit)

    monkeypatch.setattr(HttpServer, "_parse_reply", noted)
    with ToyServer() as toy:
        server = HttpServer(toy.url, key="", timeout_s=60, total_s=60)
        for size in (10, 2**19):
            toy.always = Reply(200, {"text": "x" * size})
            assert len(server.post("completions", {"max_tokens": 1})["text"]) == size
        server.close()
    assert parsed[0] == "endpoints"
    assert parsed[1] != "endpoints"


def test_tokens_are_counted_once_for_each_answer():
    with ToyServer() as toy:
        server = HttpServer(toy.url, key="", timeout_s=60, total_s=60)
        toy.always = Reply(200, {"usage": {"prompt_tokens": 30, "completion_tokens": 4}})
        for _ in range(3):
            server.post("completions", {})
        server.close()
    assert server.usage == Usage(90, 12)
