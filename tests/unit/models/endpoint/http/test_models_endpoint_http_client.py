import socket
from collections.abc import Iterator

import pytest

from evalui.models.endpoint.failures import RetryableError
from evalui.models.endpoint.http import session
from evalui.models.endpoint.http.client import HttpServer


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
    server = HttpServer(deaf, key="", timeout_s=5, total_s=25)
    with pytest.raises(RetryableError, match="cannot be reached") as error:
        server.post("completions", {})
    server.close()
    assert (error.value.blame, error.value.status) == ("server", 0)
