"""The server listens before it can answer, and says where."""

import socket

import pytest

from evalui.errors import SpecError
from evalui.web.address import address_of, listen


def test_port_0_takes_a_free_port_and_the_address_names_it():
    with listen("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        assert port > 0
        assert address_of(listener, "abc") == f"http://127.0.0.1:{port}/?token=abc"
        assert address_of(listener, "") == f"http://127.0.0.1:{port}/"


def test_a_connection_waits_until_the_server_answers():
    with listen("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()) as a:
        a.sendall(b"early")
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.recv(5) == b"early"


def test_no_answer_waits_for_the_receipt_of_its_head():
    with listen("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.mark.parametrize(("host", "shown"), [("0.0.0.0", "127.0.0.1"), ("::1", "[::1]")])
def test_the_address_is_one_that_a_browser_here_can_open(host: str, shown: str):
    with listen(host, 0) as listener:
        assert address_of(listener, "").startswith(f"http://{shown}:")


def test_a_port_that_is_taken_is_one_sentence():
    with listen("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(SpecError, match=f"Cannot listen on port {port} of 127.0.0.1: .*in use"):
            listen("127.0.0.1", port)


@pytest.mark.parametrize("host", ["203.0.113.7", "x" * 64])
def test_an_address_of_another_machine_is_one_sentence(host: str):
    with pytest.raises(SpecError, match="Cannot listen on port 0"):
        listen(host, 0)
