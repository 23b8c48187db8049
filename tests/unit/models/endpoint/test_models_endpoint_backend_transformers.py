"""A real server that writes and takes `logprobs` without giving any."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from endpoint_server_examples import DECISIONS_UNTRIED

from evalui.errors import Unreachable
from evalui.models import Model, ModelEntry
from evalui.models.endpoint.backend import OpenAIBackend
from evalui.models.local import TransformersBackend
from evalui.shipped_files import ASSETS
from evalui.types import Generate, GeneratedText, Message

FOLDER = ASSETS / "models" / "demo-late"
COMMAND = Path(sys.executable).with_name("transformers")
START_S = 180  # on a machine that has much else to do
STARTS = 3  # another process may take the port before the server does
TAKEN = "address already in use"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not COMMAND.exists(), reason=f"{COMMAND} is missing"),
]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    for _ in range(STARTS):
        log = tmp_path_factory.mktemp("serve") / "log.txt"
        server, port = _start(log)
        try:
            if _answers(server, f"http://127.0.0.1:{port}/v1", log):
                yield f"http://127.0.0.1:{port}/v1"
                return
        finally:
            _end(server)
    pytest.fail(f"{STARTS} ports were taken one after the other")


def _start(log: Path) -> tuple[subprocess.Popen[bytes], int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # Without a cache folder the list of models is an error of the server.
    own = {"HF_HUB_CACHE": str(log.parent), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    command = [COMMAND, "serve", FOLDER, "--host", "127.0.0.1", "--port", str(port)]
    with log.open("wb") as told:
        server = subprocess.Popen(
            command, env={**os.environ, **own}, stdout=told, stderr=subprocess.STDOUT
        )
    return server, port


def _answers(server: subprocess.Popen[bytes], url: str, log: Path) -> bool:
    """Wait for a first reply, for which the model is loaded; False if the port was taken."""
    turns = [{"role": "user", "content": "Hello"}]
    body = json.dumps({"model": str(FOLDER), "messages": turns, "max_tokens": 1}).encode()
    asked = urllib.request.Request(
        f"{url}/chat/completions", body, {"content-type": "application/json"}
    )
    until = time.monotonic() + START_S
    while time.monotonic() < until and server.poll() is None:
        try:
            with urllib.request.urlopen(asked, timeout=START_S):
                return server.poll() is None
        except OSError:
            time.sleep(0.2)
    told = log.read_text(errors="replace")
    if server.poll() is not None and TAKEN in told.lower():
        return False
    pytest.fail(f"transformers serve did not start: {told[-2000:]}")


def _end(server: subprocess.Popen[bytes]) -> None:
    server.terminate()
    try:
        server.wait(30)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


@pytest.fixture(scope="module")
def entry(url: str) -> ModelEntry:
    return ModelEntry("served", "openai", path=str(FOLDER), options={"base_url": url})


def known(entry: ModelEntry) -> OpenAIBackend:
    """A backend that has been told what the server can do, however long it took."""
    backend, until = OpenAIBackend(), time.monotonic() + START_S
    while not backend.abilities(entry) and time.monotonic() < until:
        time.sleep(0.2)
    return backend


def opened(entry: ModelEntry) -> Model:
    """The model, which is not opened while the server is too busy to be asked."""
    backend, until = OpenAIBackend(), time.monotonic() + START_S
    while True:
        try:
            return backend.open(entry)
        except Unreachable:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)


def test_it_can_write_and_what_it_ignores_is_not_taken_for_an_ability(entry: ModelEntry):
    backend = known(entry)
    assert backend.problem(entry) == ""
    assert backend.abilities(entry) == {"generate"}
    assert backend.missing_reasons(entry) == {
        "next_token": "it ignores logprobs and answers without them; ask for replies instead",
        "loglik": "it ignores echo and answers without the prompt; ask for replies instead",
        "decide": DECISIONS_UNTRIED,
    }


def test_it_writes_what_the_model_writes_here(entry: ModelEntry):
    question = "Question: Which is hot?\nA. ice\nB. fire\nC. sand\nD. wood\nAnswer:"
    requests = [Generate(question, 8), Generate((Message("user", question),), 8)]
    here = TransformersBackend().open(
        ModelEntry("here", "transformers", path=str(FOLDER), device="cpu", dtype="float32")
    )
    there = opened(entry)
    mine, theirs = dict(here.answer(requests)), dict(there.answer(requests))
    there.close()
    here.close()
    for key in range(2):
        one, other = mine[key], theirs[key]
        assert isinstance(one, GeneratedText)
        assert isinstance(other, GeneratedText)
        assert (one.text, one.finish_reason) == (other.text, other.finish_reason)
