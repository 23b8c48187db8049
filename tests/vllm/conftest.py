"""A real vLLM in an environment of its own, which EVALUI_VLLM_PYTHON names.

`scripts/install_vllm_cpu.sh` makes one; `make test-vllm` runs these tests with it.
"""

import os
import random
import socket
import subprocess
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from vllm_questions import DEMO

from evalui.models import Model, ModelEntry, open_model
from evalui.models.vllm import VllmModel

_START_S = 180  # a server on a busy machine


@pytest.fixture(scope="session")
def python() -> str:
    """The interpreter that has vLLM."""
    named = os.environ.get("EVALUI_VLLM_PYTHON", "")
    if not named:
        pytest.skip("EVALUI_VLLM_PYTHON is not set: no vLLM to test against")
    # Relative names are the project's: pytest may be run from anywhere.
    return str(Path(__file__).parents[2] / named)


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Two threads on two busy cores are many times slower than one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVALUI_THREADS", "1")
        patch.setenv("OMP_NUM_THREADS", "1")
        yield


@pytest.fixture(scope="session")
def entry(python: str) -> ModelEntry:
    options: dict[str, Any] = {"python": python, "eager": True}
    return ModelEntry("late", "vllm", str(DEMO), dtype="float32", max_length=510, options=options)


@pytest.fixture(scope="session")
def ours(entry: ModelEntry) -> Iterator[VllmModel]:
    """vLLM in a process of ours, of which closing must leave nothing."""
    model = open_model(entry)
    assert isinstance(model, VllmModel)
    yield model
    model.close()
    with pytest.raises(ProcessLookupError):
        os.killpg(model.pid, 0)


@pytest.fixture(scope="session")
def reference() -> Iterator[Model]:
    """The same model in transformers."""
    entry = ModelEntry(
        "late", "transformers", str(DEMO), dtype="float32", device="cpu", max_length=510
    )
    model = open_model(entry)
    yield model
    model.close()


@pytest.fixture(scope="session")
def server(python: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of vLLM's own server."""
    with serving(python, DEMO, tmp_path_factory.mktemp("server")) as url:
        yield url


@contextmanager
def serving(python: str, model: Path, logs: Path, *arguments: str) -> Generator[str]:
    """The URL of a vLLM server of the model, which is called demo there."""
    # Outside the range from which the kernel takes ports for outgoing connections.
    port = next(port for port in iter(lambda: random.randrange(20_000, 32_000), 0) if _free(port))
    # With vllm-cpu the command `vllm serve` does not start; this module is what it would run.
    command = [python, "-m", "vllm.entrypoints.openai.api_server", "--model", str(model)]
    command += ["--served-model-name", "demo", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--dtype", "float32", "--max-model-len", "512", "--enforce-eager", *arguments]
    outside = {
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_LOGGING_LEVEL": "WARNING",
        "VLLM_NO_USAGE_STATS": "1",
        "HF_HUB_OFFLINE": "1",
        "TORCHDYNAMO_DISABLE": "1",
    }
    log = logs / "log.txt"
    with log.open("wb") as file:
        process = subprocess.Popen(
            command, env={**os.environ, **outside}, stdout=file, stderr=subprocess.STDOUT
        )
    try:
        _wait(process, f"http://127.0.0.1:{port}/health", log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free(port: int) -> bool:
    with socket.socket() as nobody:
        return nobody.connect_ex(("127.0.0.1", port)) != 0


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    end = time.monotonic() + _START_S
    while time.monotonic() < end and process.poll() is None:
        try:
            if httpx.get(url, timeout=2).status_code == httpx.codes.OK:
                return
        except httpx.HTTPError:
            time.sleep(0.5)
    pytest.fail("the server did not start:\n" + log.read_text()[-3000:])
