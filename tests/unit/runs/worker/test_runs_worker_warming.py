"""Libraries come before they are needed, and go when nobody needs them."""

import os
import subprocess
import sys
import threading

import pytest

from evalui.errors import ModelError
from evalui.models import ModelEntry
from evalui.runs.worker import main
from evalui.runs.worker.main import WARM_S, Warming
from evalui.settings import Settings


class Clock:
    """A clock that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_nothing_is_imported_unless_it_is_requested():
    imports: list[str] = []
    warming = Warming(lambda: imports.append("torch"))
    warming.prepare()
    assert imports == []
    warming.request()
    warming.prepare()
    warming.prepare()
    assert imports == ["torch"]


def test_each_byte_of_the_server_is_a_request():
    prepared = threading.Event()
    warming = Warming(prepared.set)
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", buffering=0) as requests:
        warming.follow(requests)
        os.write(writing, b"\n")
        assert warming._requested.wait(30)
        warming.prepare()
        assert prepared.is_set()
        (follower,) = (one for one in threading.enumerate() if one.name == "warming")
        os.close(writing)  # the server is gone
        follower.join(30)
        assert not follower.is_alive()


def test_a_worker_that_holds_libraries_ends_when_it_was_idle_for_long():
    clock = Clock()
    warming = Warming(lambda: None, holds_libraries=lambda: True, clock=clock)
    clock.now = WARM_S
    assert not warming.is_over
    clock.now += 1
    assert warming.is_over


def test_work_and_requests_keep_the_libraries():
    clock = Clock()
    warming = Warming(lambda: None, holds_libraries=lambda: True, clock=clock)
    clock.now = WARM_S
    warming.touch()
    clock.now += WARM_S
    assert not warming.is_over
    warming.request()
    warming.prepare()
    clock.now += WARM_S
    assert not warming.is_over


def test_a_worker_without_libraries_stays():
    clock = Clock()
    warming = Warming(lambda: None, holds_libraries=lambda: False, clock=clock)
    clock.now = 100 * WARM_S
    assert not warming.is_over


@pytest.mark.parametrize(
    ("backends", "engine", "expected"),
    [
        (["scripted", "transformers"], "local", 1),
        (["scripted", "openai", "vllm"], "local", 0),
        (["transformers"], "ray", 0),
        (None, "local", 0),  # the file cannot be read
    ],
)
def test_libraries_are_imported_where_a_listed_model_needs_them(
    backends: list[str] | None, engine: str, expected: int, monkeypatch: pytest.MonkeyPatch
):
    imports: list[str] = []
    monkeypatch.setattr(main, "import_libraries", lambda: imports.append("torch"))

    def models() -> dict[str, ModelEntry]:
        if backends is None:
            raise ModelError("no-file", path="models.toml")
        return {name: ModelEntry(name, name) for name in backends}

    main._import_for(Settings.model_validate({"engine": engine}), models)
    assert len(imports) == expected


def test_a_worker_ends_while_its_server_still_listens():
    """Its thread must not hold the lock of a reader that Python closes at its end."""
    code = (
        "from evalui.runs.worker.main import _follow_server\n"
        "from evalui.settings import Settings\n"
        "_follow_server(Settings(engine='ray'), dict)\n"
    )
    worker = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert worker.stderr is not None
    errors = worker.stderr.read().decode()
    assert (worker.wait(), errors) == (0, "")
    assert worker.stdin is not None
    worker.stdin.close()
    worker.stderr.close()


def test_what_asks_endpoints_and_cuts_words_is_imported_before_there_is_a_run():
    program = """
import sys
from evalui.models import ModelEntry
from evalui.runs.worker import main
from evalui.settings import Settings
from evalui.scoring.texts.tokenizers import tokenize_en, tokenize_zh
later = {"aiohttp", "nltk", "jieba"}
assert not later & set(sys.modules), "they take time at the start of a worker"
main._import_for(Settings(), lambda: {"m": ModelEntry("m", "openai")})
assert later <= set(sys.modules)
before = set(sys.modules)
assert tokenize_en("It isn't late.") and tokenize_zh("今天天气很好")
assert not set(sys.modules) - before, "the first texts import nothing"
assert "torch" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)
