"""From nothing to the first page or figure, and the import of all that is not the screen."""

import compileall
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import evalui
from benchmarks.contest import Session, alone
from benchmarks.rows import Goal, Row

GROUP = "starting"
_CORE = "evalui.datasets, evalui.models, evalui.modes, evalui.scoring.choice.circular"
_RUNS = f"{_CORE}, evalui.runs.worker.main, evalui.report.compile"
_LIBRARIES = "from evalui.models.local import import_libraries; import_libraries()"
_LONGEST_S = 60.0
_COMMAND = "import sys; from evalui.cli.main import main; sys.exit(main())"


def rows(session: Session) -> Iterator[Row]:
    """Each in a process of its own, its files in the system's cache."""
    # pip compiles what it installs; in a checkout each process might compile it anew.
    compileall.compile_dir(Path(evalui.__file__).parent, quiet=1)
    _import(f"import {_RUNS}, evalui.server")
    yield alone(
        GROUP,
        "import of the core",
        1,
        "process",
        lambda: _import(f"import {_CORE}"),
        session,
        goal=Goal("cpu", 0.3),
        found="data, models, modes and scoring; Python's own start is counted",
    )
    yield alone(
        GROUP,
        "import of the core, runs and reports",
        1,
        "process",
        lambda: _import(f"import {_RUNS}"),
        session,
        found="all but the screen",
    )
    yield alone(
        GROUP,
        "start of Python alone",
        1,
        "process",
        lambda: _import("pass"),
        session,
    )
    yield from _scoring(session)
    yield alone(
        GROUP,
        "import of torch and transformers",
        1,
        "process",
        lambda: _import(_LIBRARIES),
        session,
        found="what a worker does before its first local model",
    )
    yield alone(
        GROUP,
        "cold start to the first page",
        1,
        "process",
        _first_page,
        session,
        goal=Goal("wall", 5),
        found="evalui serve until / answers 200; the best round",
    )


def _scoring(session: Session) -> Iterator[Row]:
    """`evalui score` of small files, which is its start."""
    numpy = alone(GROUP, "import of numpy", 1, "process", lambda: _import("import numpy"), session)
    yield numpy
    light = Goal("cpu", round(2 * numpy.ours.cpu + 0.15, 3))
    goals = {"replies": light, "choices": light, "battles": Goal("cpu", 0.8)}
    goals |= {"texts, Chinese": Goal("cpu", 1.2)}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.jsonl"
        for name, lines in _small_files().items():
            file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
            command = ["score", name.partition(",")[0], str(file)]
            yield alone(
                GROUP,
                f"evalui score {name}",
                len(lines),
                "lines",
                lambda command=command: _import(_COMMAND, *command),
                session,
                goal=goals.get(name),
                found="the whole process",
            )


def _small_files() -> dict[str, list[dict[str, object]]]:
    options = ["Paris", "Rome", "Oslo", "Bern"]
    turns = [[(slot + turn) % 4 for slot in range(4)] for turn in range(4)]
    choices = {"options": options, "answer": "B"}
    english = {"prediction": "Dr. Smith's cat isn't here.", "reference": "It's Dr. Smith's cat."}
    chinese = {"prediction": "今天天气很好，我们去公园玩。", "reference": "今天天气不错，去公园。"}
    winners = ("model_a", "model_b", "tie")
    return {
        "replies": [{"reply": "The answer is (B).", "options": options}] * 20,
        "choices": [
            choices | {"id": number, "permutation": turn, "reply": "ABCD"[number % 4]}
            for number in range(5)
            for turn in turns
        ],
        "battles": [
            {"model_a": "x", "model_b": "y", "winner": winners[number % 3], "question": number}
            for number in range(20)
        ],
        "texts, Chinese": [chinese] * 20,
        "texts, English": [english] * 20,
    }


def _import(code: str, *arguments: str) -> None:
    subprocess.run([sys.executable, "-c", code, *arguments], check=True, stdout=subprocess.DEVNULL)


def _first_page() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(
            [str(Path(sys.executable).with_name("evalui")), "serve", "--port", str(port)],
            env={
                **os.environ,
                "EVALUI_DATA_DIR": folder,
                "EVALUI_WORKERS": "0",
                "EVALUI_TOKEN": "false",
            },
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _wait(server, f"http://127.0.0.1:{port}/")
        finally:
            server.terminate()
            server.wait()


def _wait(server: "subprocess.Popen[bytes]", address: str) -> None:
    until = time.monotonic() + _LONGEST_S
    while time.monotonic() < until:
        if server.poll() is not None:
            raise RuntimeError(f"the server ended with {server.returncode}")
        try:
            with urllib.request.urlopen(address, timeout=_LONGEST_S) as page:
                if page.status == 200:
                    return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.02)  # the server tells nobody when it is ready
    raise RuntimeError(f"no page after {_LONGEST_S} s")
