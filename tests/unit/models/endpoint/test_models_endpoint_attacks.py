"""What a broken or malicious server may send, and that it neither breaks a run nor gets a key."""

import gzip
import json
import socket
import socketserver
import threading
import zlib
from collections.abc import Iterator

import pytest
from endpoint_server_examples import MODEL, Json, Reply, ToyServer

from evalui.errors import ModelError, RequestRejected, Unreachable
from evalui.models import ModelEntry
from evalui.models.endpoint.backend import EndpointModel
from evalui.models.endpoint.config import read_endpoint
from evalui.models.endpoint.driver import RetryPolicy
from evalui.models.endpoint.logprobs import TopLogprob
from evalui.models.endpoint.probe import Capabilities
from evalui.models.endpoint.protocol import reported_model
from evalui.types import Generate, GeneratedText, LabelProbs, Message, NextToken

QUICK = RetryPolicy(initial_delay=0.001, max_delay=0.02, initial_open_time=0.02, max_open_time=0.05)
CHATS = Capabilities(chat=True, chat_top=20, reported_model=MODEL)
ASK = (Message("user", "Which one?"),)


@pytest.fixture
def server() -> Iterator[ToyServer]:
    with ToyServer() as server:
        yield server


def entry(url: str, **options: object) -> ModelEntry:
    return ModelEntry("toy model", "openai", path=MODEL, options={"base_url": url, **options})


@pytest.fixture
def model(server: ToyServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[EndpointModel]:
    monkeypatch.setenv("TOY_KEY", "sk-secret")
    endpoint = read_endpoint(entry(server.url, api_key_env="TOY_KEY", retries=1))
    model = EndpointModel("toy model", endpoint, CHATS, QUICK)
    yield model
    model.close()


def reply(content: str, **usage: object) -> Json:
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"model": MODEL, "choices": [choice], "usage": usage}


def text(model: EndpointModel) -> GeneratedText:
    ((_, found),) = model.answer([Generate(ASK, 5)])
    assert isinstance(found, GeneratedText)
    return found


def listed(server: ToyServer, model: EndpointModel, *tokens: str) -> LabelProbs:
    """What becomes of a list of these tokens at -0.5, -1.5, ..., the first of them written."""
    rows = [{"token": token, "logprob": -0.5 - place} for place, token in enumerate(tokens)]
    body = reply("A")
    body["choices"][0]["logprobs"] = {"content": [rows[0] | {"top_logprobs": rows}]}
    server.always = Reply(200, body)
    ((_, found),) = model.answer([NextToken(ASK, ("A", "B"))])
    assert isinstance(found, LabelProbs)
    return found


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_and_its_place_is_reported(
    server: ToyServer, model: EndpointModel, status: int
):
    with ToyServer() as other:
        there = f"{other.url}/chat/completions?token=secret"
        server.always = Reply(status, {}, {"location": there})
        with pytest.raises(
            RequestRejected, match=f"HTTP {status} and points to http://127.0.0.1"
        ) as told:
            text(model)
        assert not other.asked
        assert "secret" not in told.value.sentence


@pytest.mark.parametrize("location", ["", "http://[::1", "//", "/other", "http://me:pw@h/"])
def test_a_redirect_to_nowhere_is_no_crash(server: ToyServer, model: EndpointModel, location: str):
    server.always = Reply(307, {}, {"location": location} if location else {})
    with pytest.raises(RequestRejected, match="is not followed") as told:
        text(model)
    assert "pw" not in told.value.sentence


def endless(head: bytes = b"") -> Iterator[bytes]:
    yield head
    while True:
        yield b" " * 2**16


def test_a_reply_without_end_is_no_answer(server: ToyServer, model: EndpointModel):
    server.always = Reply(200, stream=endless)
    with pytest.raises(RequestRejected, match=r"sends more than 1\.0 MB"):
        text(model)
    assert server.streamed < 32 * 2**20  # what two attempts and the system's buffers take


def test_a_reply_that_unpacks_without_end_is_no_answer(server: ToyServer, model: EndpointModel):
    packed = zlib.compress(b" " * 2**26, 9, 16 + zlib.MAX_WBITS)
    server.always = Reply(200, headers={"content-encoding": "gzip"}, stream=lambda: [packed])
    with pytest.raises(RequestRejected, match=r"sends more than 1\.0 MB"):
        text(model)


def test_a_reply_in_a_packing_that_was_not_requested_is_none(
    server: ToyServer, model: EndpointModel
):
    server.always = Reply(200, headers={"content-encoding": "br"}, stream=lambda: [b"{}"])
    with pytest.raises(Unreachable, match="the encoding br, which was not requested"):
        text(model)


def test_a_packed_reply_is_read(server: ToyServer, model: EndpointModel):
    packed = gzip.compress(json.dumps(reply("A")).encode())
    server.always = Reply(200, headers={"content-encoding": "gzip"}, stream=lambda: [packed])
    assert text(model).text == "A"


def test_an_error_without_end_is_reported_by_its_beginning(server: ToyServer, model: EndpointModel):
    server.always = Reply(400, stream=lambda: endless(b"the prompt is too long"))
    with pytest.raises(RequestRejected, match="the prompt is too long"):
        text(model)
    assert server.streamed < 32 * 2**20


@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\n\r\n"])
def test_a_reply_that_drips_ends_with_its_total_time(head: bytes):
    """Each byte comes within the pause that is allowed; of the head alone, too."""
    ended = threading.Event()

    class Drips(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            try:
                self.wfile.write(head)
                while not ended.wait(0.02):
                    self.wfile.write(b"x")
            except OSError:
                pass  # whoever asked has enough

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Drips) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        slow = {"timeout_s": 5, "total_timeout_s": 0.3, "retries": 0}
        model = EndpointModel("toy model", read_endpoint(entry(url, **slow)), CHATS, QUICK)
        with pytest.raises(Unreachable, match=r"did not end its answer within 0\.3 seconds"):
            text(model)
        model.close()
        ended.set()
        server.shutdown()


def test_a_name_that_turns_into_a_metadata_address_is_not_requested(
    server: ToyServer, monkeypatch: pytest.MonkeyPatch
):
    endpoint = read_endpoint(entry(server.url.replace("127.0.0.1", "localhost")))
    model = EndpointModel("toy model", endpoint, CHATS, QUICK)
    server.always = Reply(200, reply("A"), {"connection": "close"})
    assert text(model).text == "A"
    there = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("169.254.169.254", 80))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [there])
    with pytest.raises(ModelError, match=r"is not asked: its address 169\.254\.169\.254"):
        text(model)
    model.close()
    assert len(server.asked) == 1


def test_json_that_is_too_deep_to_read_is_no_answer(server: ToyServer, model: EndpointModel):
    deep = "[" * 20_000
    server.always = Reply(200, deep, {"content-type": "application/json"})
    with pytest.raises(Unreachable, match="something else than JSON"):
        text(model)


@pytest.mark.parametrize("count", [-5, 10**30, 1.5, True, "7", None, [3]])
def test_a_count_of_tokens_that_is_none_costs_nothing(
    server: ToyServer, model: EndpointModel, count: object
):
    server.always = Reply(200, reply("A", prompt_tokens=count, completion_tokens=2))
    assert text(model).usage is not None
    assert (model.usage().prompt_tokens, model.usage().completion_tokens) == (0, 2)


def test_half_characters_in_a_reply_are_replaced(server: ToyServer, model: EndpointModel):
    server.always = Reply(200, reply("A\ud83d!"))
    assert text(model).text == "A\ufffd!"
    server.always = Reply(200, reply("A\U0001f525!"))
    assert text(model).text == "A\U0001f525!"


def test_half_characters_in_a_list_are_replaced(server: ToyServer, model: EndpointModel):
    assert listed(server, model, "\udc00", "A").top_token == "\ufffd"


def test_half_characters_in_an_error_are_replaced(server: ToyServer, model: EndpointModel):
    server.always = Reply(400, {"error": {"message": "no \ud83d"}})
    with pytest.raises(RequestRejected) as told:
        text(model)
    assert "no \ufffd" in told.value.sentence
    told.value.sentence.encode()


def test_a_number_that_is_too_long_is_no_token():
    assert TopLogprob("token_id:" + "9" * 5000, -1.0).id is None
    assert TopLogprob("token_id:123", -1.0).id == 123


def test_a_long_name_is_cut(server: ToyServer, model: EndpointModel):
    server.always = Reply(200, reply("A") | {"model": "x" * 100_000})
    with pytest.raises(RequestRejected) as told:
        text(model)
    assert len(told.value.sentence) < 1000
    assert reported_model({"model": "x" * 100_000}) != reported_model({"model": "x" * 99_999})


def test_full_width_labels_are_read(server: ToyServer, model: EndpointModel):
    assert listed(server, model, "Ａ", "（B").logprobs == pytest.approx((-0.5, -1.5))


@pytest.mark.parametrize("header", ["-5", "nan", "Wed, 21 Oct 2015 07:28:00 GMT", "soon", ""])
def test_a_wait_that_is_none_does_not_hold_a_run_up(
    server: ToyServer, model: EndpointModel, header: str
):
    server.script.append(Reply(429, {"error": "slow down"}, {"retry-after": header}))
    assert text(model).text == "You said: Which one?"


def test_a_wait_of_centuries_is_reported_as_a_day(server: ToyServer, model: EndpointModel):
    server.always = Reply(429, {"error": "slow down"}, {"retry-after": "1e300"})
    with pytest.raises(Unreachable, match="slow down") as told:
        text(model)
    assert 86000 < told.value.retry_after_s <= 86400


class _Old(socketserver.StreamRequestHandler):
    """A server of the nineties: HTTP/1.0, no length, the end of the connection ends the body."""

    def handle(self) -> None:
        length = 0
        while (line := self.rfile.readline().strip()) != b"":
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        self.rfile.read(length)
        body = b'{"choices": [{"message": {"content": "old"}, "finish_reason": "stop"}]}'
        self.wfile.write(b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + body)


def test_a_server_that_closes_each_connection_is_as_good():
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Old) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        model = EndpointModel("old", read_endpoint(entry(url)), CHATS, QUICK)
        found = dict(model.answer([Generate(ASK, 5)] * 20))
        model.close()
        server.shutdown()
    assert {each.text for each in found.values() if isinstance(each, GeneratedText)} == {"old"}
    assert len(found) == 20
