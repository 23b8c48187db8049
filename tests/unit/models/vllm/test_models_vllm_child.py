import contextlib
import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from vllm_examples import FAKE, PYTHON

from evalui.errors import ModelError
from evalui.models.vllm.child import EngineProcess, script
from evalui.models.vllm.process import receive, send

OPENING = {"engine": {"model": "/m", "dtype": "float32", "enforce_eager": True}, "adapter": ""}
LOOK = {"kind": "next_token", "tokens": [5, 6], "ids": [1, 2]}


@pytest.fixture
def start() -> Iterator[Callable[..., EngineProcess]]:
    """Starts children that end with the test."""
    with contextlib.ExitStack() as stack:

        def started(*command: str, **given: str) -> EngineProcess:
            environment = {**os.environ, "PYTHONPATH": str(FAKE), **given}
            child = EngineProcess("m", command or (PYTHON, str(script())), environment)
            stack.callback(child.close)
            return child

        yield started


def gone(pid: int, *, within: float = 20.0) -> bool:
    end = time.monotonic() + within
    while time.monotonic() < end:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("message", [{}, {"答": ["A", 1.5, None]}, list(range(10**5))])
def test_a_message_comes_out_as_it_went_in(message: object):
    pipe = io.BytesIO()
    send(pipe, message)
    send(pipe, "next")
    pipe.seek(0)
    assert receive(pipe) == message
    assert receive(pipe) == "next"


@pytest.mark.parametrize("cut", [1, 4, 9])
def test_a_message_cut_short_means_that_the_other_side_is_gone(cut: int):
    pipe = io.BytesIO()
    send(pipe, ["one", "two"])
    assert receive(io.BytesIO(pipe.getvalue()[:cut])) is None


def test_numbers_that_json_does_not_know_survive():
    pipe = io.BytesIO()
    send(pipe, [float("-inf"), float("nan")])
    pipe.seek(0)
    low, wrong = receive(pipe)
    assert low == float("-inf")
    assert wrong != wrong


def test_what_the_process_prints_does_not_disturb_the_answers(start: Callable[..., EngineProcess]):
    child = start()  # the fake prints a line when it opens
    assert child.open(OPENING)["version"] == "0.0.fake"
    (answer,) = child.answer([LOOK])
    assert (answer["place"], len(answer["logprobs"])) == (0, 2)


def test_answers_come_while_others_are_still_computed(
    start: Callable[..., EngineProcess], tmp_path: Path
):
    gate = tmp_path / "gate"
    child = start(FAKE_VLLM="gated", FAKE_VLLM_GATE=str(gate))
    child.open(OPENING)
    answers = child.answer([LOOK] * 40)
    next(answers)
    gate.touch()
    assert len(list(answers)) == 39


def test_what_is_no_longer_awaited_is_dropped(start: Callable[..., EngineProcess], tmp_path: Path):
    log = tmp_path / "log"
    child = start(FAKE_VLLM="slow", FAKE_VLLM_LOG=str(log))
    child.open(OPENING)
    answers = child.answer([LOOK] * 200)  # ten seconds of work
    next(answers)
    answers.close()  # type: ignore[attr-defined]
    (answer,) = child.answer([{**LOOK, "ids": [7]}])
    assert len(answer["logprobs"]) == 1
    assert len(log.read_text()) < 150


def test_an_interpreter_that_is_none_is_named(start: Callable[..., EngineProcess]):
    with pytest.raises(ModelError, match="vLLM for m cannot be started with /no/python: No such"):
        start("/no/python")


def test_a_process_that_ends_tells_its_code_and_its_last_lines(start: Callable[..., EngineProcess]):
    code = "import sys; [print(n) for n in range(50)]; sys.exit('no kernel image is available')"
    child = start(PYTHON, "-c", code)
    with pytest.raises(ModelError, match="ended with code 1") as caught:
        child.open(OPENING)
    given = str(caught.value).splitlines()
    assert given[-1] == "no kernel image is available"
    assert len(given) == 12


def test_a_process_killed_between_two_calls_is_an_error_and_no_answer(
    start: Callable[..., EngineProcess],
):
    child = start()
    child.open(OPENING)
    assert len(list(child.answer([LOOK]))) == 1
    os.kill(child.pid, signal.SIGKILL)
    with pytest.raises(ModelError, match="ended with code -9"):
        list(child.answer([LOOK]))


def test_a_process_that_will_not_end_is_ended_with_all_it_started(
    start: Callable[..., EngineProcess], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("evalui.models.vllm.child._END_S", 0.2)
    code = (
        "import os, signal, struct, subprocess, sys\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "body = str(subprocess.Popen(['sleep', '60'], start_new_session=False).pid)\n"
        'body = (\'{"ready": {"pid": %s}}\' % body).encode()\n'
        "os.write(int(sys.argv[2]), struct.pack('>I', len(body)) + body)\n"
        "signal.pause()\n"
    )
    child = start(PYTHON, "-c", code)
    started = child.open(OPENING)["pid"]
    child.close()
    assert gone(child.pid)
    assert gone(started)


def test_closing_twice_is_closing_once(
    start: Callable[..., EngineProcess], monkeypatch: pytest.MonkeyPatch
):
    child = start()
    child.open(OPENING)
    child.close()
    assert gone(child.pid)
    killed: list[int] = []  # by the second time its number may be another's
    monkeypatch.setattr("evalui.models.vllm.child.os.killpg", lambda *given: killed.append(*given))
    child.close()
    assert killed == []


def test_a_process_that_says_nothing_more_and_stays_is_ended(
    start: Callable[..., EngineProcess], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("evalui.models.vllm.child._END_S", 0.2)
    code = "import os, signal, sys; os.close(int(sys.argv[2])); signal.pause()"
    child = start(PYTHON, "-c", code)
    with pytest.raises(ModelError, match="ended with code -9"):
        child.open(OPENING)


def test_the_process_ends_when_its_parent_is_killed():
    code = (
        "import os, signal, sys\n"
        "from evalui.models.vllm.child import EngineProcess\n"
        "child = EngineProcess('m', sys.argv[1:], os.environ)\n"
        f"child.open({OPENING!r})\n"
        "print(child.pid, flush=True)\n"
        "signal.pause()\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code, PYTHON, str(script())],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(FAKE)},
        text=True,
    )
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    os.kill(pid, 0)
    parent.kill()
    parent.communicate()
    assert gone(pid)


def test_the_process_imports_nothing_of_evalui():
    source = script().read_text(encoding="utf-8")
    assert "from evalui" not in source
    assert "import evalui" not in source
