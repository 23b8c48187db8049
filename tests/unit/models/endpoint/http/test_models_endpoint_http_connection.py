import socket
from collections.abc import Iterator

import httpcore
import pytest
from endpoint_server_examples import Names, Reply, ToyServer

from evalui.errors import ModelError
from evalui.models.endpoint.http.connection import (
    CheckedNetworkBackend,
    TotalTimeoutExceeded,
    _DeadlineStream,
    connection_pool,
)

METADATA = "169.254.169.254"


@pytest.fixture
def server() -> Iterator[ToyServer]:
    with ToyServer() as server:
        server.always = Reply(200, {}, {"connection": "close"})
        yield server


def named(server: ToyServer) -> str:
    """The server's URL under a name that no system resolves."""
    return server.url.replace("127.0.0.1", "model.invalid")


def test_the_address_that_was_checked_is_the_one_connected_to(server: ToyServer):
    names = Names(["127.0.0.1"])
    with connection_pool(named(server), 5.0, resolve=names) as pool:
        assert pool.request("GET", named(server)).status == 200
    assert names.asked == 1


def test_a_name_that_resolves_differently_the_second_time_is_refused(server: ToyServer):
    names = Names(["127.0.0.1"], [METADATA])
    with connection_pool(named(server), 5.0, resolve=names) as pool:
        pool.request("GET", named(server))
        with pytest.raises(ModelError, match=METADATA):
            pool.request("GET", named(server))
    assert len(server.asked) == 1


def test_each_address_of_a_name_is_checked(server: ToyServer):
    names = Names([METADATA, "::ffff:169.254.169.254", "127.0.0.1"])
    with connection_pool(named(server), 5.0, resolve=names) as pool:
        assert pool.request("GET", named(server)).status == 200


def test_a_name_that_resolves_outside_of_the_allowed_networks_gets_no_request(server: ToyServer):
    names = Names(["127.0.0.1"])
    url = named(server)
    with connection_pool(url, 5.0, resolve=names, allowed=["127.0.0.0/8"]) as pool:
        assert pool.request("GET", url).status == 200
    with (
        connection_pool(url, 5.0, resolve=names, allowed=["10.0.0.0/8"]) as pool,
        pytest.raises(ModelError, match="EVALUI_ENDPOINT_HOSTS"),
    ):
        pool.request("GET", url)
    assert len(server.asked) == 1


def test_a_proxy_resolves_only_names_that_are_allowed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("http_proxy", "http://proxy.invalid:3128")
    connection_pool("http://model.invalid/v1", 5.0, allowed=["model.invalid"]).close()
    with pytest.raises(ModelError, match="EVALUI_ENDPOINT_HOSTS"):
        connection_pool("http://other.invalid/v1", 5.0, allowed=["model.invalid", "10.0.0.0/8"])


def test_a_refused_address_is_not_tried_after_one_that_does_not_answer(
    monkeypatch: pytest.MonkeyPatch,
):
    tried: list[str] = []

    def connect(address: tuple[str, int], *_: object, **__: object) -> socket.socket:
        tried.append(address[0])
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", connect)
    wire = CheckedNetworkBackend(5.0, Names(["127.0.0.1", METADATA, "127.0.0.2"]))
    with pytest.raises(httpcore.ConnectError):
        wire.connect_tcp("model.invalid", 80)
    assert tried == ["127.0.0.1", "127.0.0.2"]


class Dripping(httpcore.NetworkStream):
    """Gives one byte a second, by a clock that it turns itself."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waits: list[float | None] = []

    def clock(self) -> float:
        return self.now

    def read(self, _: int, timeout: float | None = None) -> bytes:
        self.waits.append(timeout)
        self.now += 1.0
        return b"x"

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        pass

    def close(self) -> None:
        pass


class Slow(httpcore.NetworkStream):
    """Takes three seconds for whatever it is given at once."""

    def __init__(self) -> None:
        self.now = 0.0
        self.sent = b""
        self.waits: list[float | None] = []

    def clock(self) -> float:
        return self.now

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.now += 3.0
        self.sent += buffer
        self.waits.append(timeout)


def test_a_reply_that_drips_ends_with_its_total_time():
    drips = Dripping()
    timed = _DeadlineStream(drips, 10.0, drips.clock)
    timed.write(b"GET")
    with pytest.raises(TotalTimeoutExceeded):
        list(iter(lambda: timed.read(1, timeout=4.0), b""))
    assert drips.waits == [4.0] * 7 + [3.0, 2.0, 1.0]


def test_a_request_that_is_taken_slowly_ends_with_its_total_time():
    slow = Slow()
    timed = _DeadlineStream(slow, 10.0, slow.clock)
    with pytest.raises(TotalTimeoutExceeded):
        timed.write(b"x" * 2**22, timeout=4.0)
    assert slow.waits == [4.0] * 3 + [1.0]


def test_a_request_is_sent_whole():
    slow = Slow()
    whole = bytes(range(256)) * 600
    _DeadlineStream(slow, 10.0, slow.clock).write(whole)
    assert slow.sent == whole


def test_the_next_exchange_has_its_own_time():
    drips = Dripping()
    timed = _DeadlineStream(drips, 10.0, drips.clock)
    for _ in range(3):
        timed.write(b"GET")
        assert [timed.read(1) for _ in range(9)] == [b"x"] * 9


def test_requests_go_over_the_proxy(monkeypatch: pytest.MonkeyPatch, server: ToyServer):
    monkeypatch.setenv("http_proxy", server.url.removesuffix("/v1"))
    with connection_pool("http://model.invalid/v1", 5.0) as pool:
        assert pool.request("GET", "http://model.invalid/v1/models").status == 200
    assert server.asked[0][0] == "http://model.invalid/v1/models"
