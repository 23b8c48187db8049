"""A real server that writes and takes `logprobs` without giving any."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalui.models import ModelEntry
from evalui.models.openai import OpenAIBackend
from evalui.models.transformers import TransformersBackend
from evalui.settings import ASSETS
from evalui.types import Generate, Message, Text

FOLDER = ASSETS / "models" / "demo-late"
COMMAND = Path(sys.executable).with_name("transformers")
START_S = 90

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not COMMAND.exists(), reason=f"{COMMAND} is missing"),
]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tmp_path_factory.mktemp("serve")
    # Without a cache folder the list of models is an error of the server.
    own = {"HF_HUB_CACHE": str(folder), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    with (folder / "log.txt").open("wb") as log:
        server = subprocess.Popen(
            [COMMAND, "serve", FOLDER, "--host", "127.0.0.1", "--port", str(port)],
            env={**os.environ, **own},
            stdout=log,
            stderr=log,
        )
    try:
        _wait(server, port, folder / "log.txt")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait(30)


def _wait(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until and server.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    pytest.fail(f"transformers serve did not start: {log.read_text(errors='replace')[-2000:]}")


@pytest.fixture(scope="module")
def entry(url: str) -> ModelEntry:
    return ModelEntry("served", "openai", path=str(FOLDER), options={"base_url": url})


def test_it_can_write_and_what_it_ignores_is_not_taken_for_an_ability(entry: ModelEntry):
    backend = OpenAIBackend()
    assert backend.problem(entry) == ""
    assert backend.abilities(entry) == {"generate"}
    assert backend.lacks(entry) == {
        "next_token": "it ignores logprobs and answers without them",
        "loglik": "it ignores echo and answers without the prompt",
    }


def test_it_writes_what_the_model_writes_here(entry: ModelEntry):
    question = "Question: Which is hot?\nA. ice\nB. fire\nC. sand\nD. wood\nAnswer:"
    requests = [Generate(question, 8), Generate((Message("user", question),), 8)]
    here = TransformersBackend().open(
        ModelEntry("here", "transformers", path=str(FOLDER), device="cpu", dtype="float32")
    )
    there = OpenAIBackend().open(entry)
    mine, theirs = dict(here.answer(requests)), dict(there.answer(requests))
    there.close()
    here.close()
    for key in range(2):
        one, other = mine[key], theirs[key]
        assert isinstance(one, Text)
        assert isinstance(other, Text)
        assert (one.text, one.finish_reason) == (other.text, other.finish_reason)
