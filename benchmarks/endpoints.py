"""Requests to a server, beside lm-eval and Inspect: how many a second, and what each costs.

All ask one server of ours (`endpoint_server.py`) the same questions, in turn, each in a process of
its own. The ideal is what the server's latencies come to at the stated width: requests times their
mean, by the width.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.clock import Timing, median
from benchmarks.contest import Session
from benchmarks.endpoint_server import BUSY_LIMIT, MANNERS
from benchmarks.environments import PeerMissing
from benchmarks.peer import Missing, Peer, opened, started
from benchmarks.rows import Goal, Row

GROUP = "endpoints"
_ROOT = Path(__file__).parents[1]
_WIDTHS = {8: 1500, 64: 6000, 256: 8000}  # requests, at each number in flight
_INSPECT_SHARE = 20  # it is asked for so many times fewer; its seconds are told for all
_MANNERS = (("exponential", 64, 1000), ("tail", 256, 4000))
_LIMITED = 12_000  # requests to a server that refuses a tenth by chance, and to one that does not
_HARD = (("busy", 64, 6000), ("errors", 64, 4000))
_WHOLE = 10_000  # requests of a run
_JUDGED = 1667  # questions to each contestant of a judged run: 10,002 requests with the judge's
_CONTESTANTS = ("one", "two", "three")  # any two are judged, so the judge has as many requests
_JUDGED_WIDTH = 64
_CPU_RATIO = 0.67  # of lm-eval's CPU to ours, at least
_RATE_RATIO = 1.0  # of our requests a second to lm-eval's, at least
_LIMITED_RATIO = 0.5  # of the time without refusals to that with a tenth refused, at least
_MEMORY_MB = 400  # of the process that sends the requests, at most
_RUN_CPU_S = 0.6e-3  # of CPU a request of a whole run, at most
_JUDGED_OVER_IDEAL = 1.3  # times the ideal that a judged run takes, at most


@dataclass(frozen=True, slots=True)
class Server:
    """The server that all ask; it listens on this machine."""

    port: int

    def url(self, manner: str, name: str = "a") -> str:
        """A base URL at which it answers in a manner of `MANNERS`."""
        return f"http://127.0.0.1:{self.port}/{manner}/{name}/v1"

    def counts(self) -> dict[str, int]:
        """What it was asked since this was called last."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/stat") as reply:
            return json.load(reply)


@dataclass(frozen=True, slots=True)
class _Side:
    """What one program came to: `timing` is for all requests, `n` how many it was asked for."""

    name: str
    timing: Timing
    n: int
    megabytes: float = 0.0
    built_on: tuple[str, ...] = ()

    def told(self, count: int, ideal: float) -> str:
        rate, cost = count / self.timing.wall, 1000 * self.timing.cpu / count
        over = self.timing.wall / ideal
        return f"{rate:,.0f}/s, {cost:.2f} ms, {over:.2f} x ideal, {self.megabytes:.0f} MB"


def rows(session: Session) -> Iterator[Row]:
    """Three widths beside two peers, other servers, and whole runs."""
    with fake_server() as server:
        for width, full in _WIDTHS.items():
            count = session.scaled(full)[-1]
            yield from _beside_peers(session, server, width, count)
        for manner, width, full in (*_MANNERS, *_HARD):
            count = session.scaled(full)[-1]
            yield _alone(session, server, manner, width, count)
        yield _limited(session, server, session.scaled(_LIMITED)[-1])
        yield from _whole_run(server, session.scaled(_WHOLE)[-1])
        yield from _judged_run(server, session.scaled(_JUDGED)[-1])


@contextmanager
def fake_server() -> Generator[Server]:
    """The server in a process of its own."""
    command = [sys.executable, str(Path(__file__).with_name("endpoint_server.py"))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout, "opened with a pipe"
        try:
            yield Server(int(process.stdout.readline()))
        finally:
            process.kill()


def _prompts(count: int) -> list[str]:
    return [
        f"Question {n}: what is the capital of country {n}? Think.\n"
        "A. one\nB. two\nC. three\nD. four\nAnswer:"
        for n in range(count)
    ]


def _beside_peers(session: Session, server: Server, width: int, count: int) -> Iterator[Row]:
    few = max(width, count // _INSPECT_SHARE)
    jobs = {str(n): {"width": width, "prompts": _prompts(n)} for n in {count, few}}
    work = {"url": server.url("fixed"), "jobs": jobs}
    ideal = count * MANNERS["fixed"].mean / width
    with (
        _ours(work) as us,
        opened("lmeval_chat", session.peers, work, environment="lmeval") as lmeval,
        opened("inspect", session.peers, work) as inspect,
    ):
        asked = ((us, count), (lmeval, count), (inspect, few))
        found: dict[int, list[_Side]] = {}
        for _ in range(session.rounds):
            for place, (peer, n) in enumerate(asked):
                found.setdefault(place, []).append(_round(peer, n, count))
        ours, *theirs = (_middle(sides) for sides in found.values())
        for side in theirs:
            has_run = side.timing.wall > 0
            row = Row(
                group=GROUP,
                work=f"20 ms, {width} in flight",
                count=count,
                unit="requests",
                ours=ours.timing,
                peer=side.name if side.n == count else f"{side.name}, {side.n} of them",
                built_on=side.built_on,
                theirs=side.timing if has_run else None,
                found=f"{ours.told(count, ideal)}; peer "
                f"{side.told(count, ideal) if has_run else 'not run'}",
                rounds=(session.rounds, session.rounds),
            )
            if side.name.startswith("lm-eval"):
                yield replace(row, goal=Goal("ratio", _CPU_RATIO))
                yield replace(
                    row,
                    work=f"{row.work}, requests a second",
                    goal=Goal("ratio", _RATE_RATIO),
                    by="wall",
                )
            else:
                yield row
        yield _memory_row(f"20 ms, {width} in flight", count, ours)


def _memory_row(work: str, count: int, side: _Side) -> Row:
    return Row(
        group=GROUP,
        work=f"{work}, memory",
        count=count,
        unit="requests",
        ours=side.timing,
        goal=Goal("memory", _MEMORY_MB),
        megabytes=side.megabytes,
        found=f"{side.megabytes:.0f} MB",
    )


@contextmanager
def _ours(work: dict[str, Any]) -> Generator[Peer | Missing]:
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(_ROOT)
    try:
        with started("evalui_chat", Path(sys.executable), work) as peer:
            yield peer
    finally:
        os.environ.pop("PYTHONPATH")
        if before is not None:
            os.environ["PYTHONPATH"] = before


def _round(peer: Peer | Missing, n: int, count: int) -> _Side:
    if isinstance(peer, Missing):
        return _Side(f"{peer.name}: not run, {peer.reason}", Timing(0, 0), n)
    try:
        timing, result = peer.round(str(n))
    except PeerMissing as error:
        return _Side(f"{peer.name}: failed, {error}", Timing(0, 0), n)
    assert result["answered"] == n, "every request is answered"
    scaled = Timing(timing.cpu * count / n, timing.wall * count / n)
    return _Side(peer.name, scaled, n, result["megabytes"], peer.built_on)


def _middle(sides: Sequence[_Side]) -> _Side:
    most = max(side.megabytes for side in sides)
    return replace(sides[-1], timing=median([side.timing for side in sides]), megabytes=most)


def _alone(session: Session, server: Server, manner: str, width: int, count: int) -> Row:
    work = {
        "url": server.url(manner),
        "jobs": {str(count): {"width": width, "prompts": _prompts(count)}},
    }
    at_once = min(width, BUSY_LIMIT) if manner == "busy" else width
    ideal = count * MANNERS[manner].mean / at_once
    sides: list[_Side] = []
    refused: list[int] = []
    with _ours(work) as us:
        for _ in range(session.rounds):
            server.counts()
            sides.append(_round(us, count, count))
            refused.append(server.counts()["refused"])
    side = _middle(sides)
    return Row(
        group=GROUP,
        work=f"{manner}, {width} in flight",
        count=count,
        unit="requests",
        ours=side.timing,
        found=f"{side.told(count, ideal)}, {statistics.median(refused):.0f} refused",
        rounds=(0, session.rounds),
    )


def _limited(session: Session, server: Server, count: int) -> Row:
    """Refusals by chance beside none, in turn: a round of each after the other."""
    sides: dict[str, list[_Side]] = {"fixed": [], "limited": []}
    refused: list[int] = []
    jobs = {str(count): {"width": 64, "prompts": _prompts(count)}}
    with (
        _ours({"url": server.url("fixed"), "jobs": jobs}) as plain,
        _ours({"url": server.url("limited"), "jobs": jobs}) as limited,
    ):
        for _ in range(session.rounds):
            sides["fixed"].append(_round(plain, count, count))
            server.counts()
            sides["limited"].append(_round(limited, count, count))
            refused.append(server.counts()["refused"])
    without, with_ = (_middle(each) for each in sides.values())
    return Row(
        group=GROUP,
        work="a tenth refused by chance, 64 in flight",
        count=count,
        unit="requests",
        ours=with_.timing,
        peer="ours without refusals",
        theirs=without.timing,
        goal=Goal("ratio", _LIMITED_RATIO),
        by="wall",
        found=f"{with_.timing.wall / without.timing.wall:.2f} times as long; "
        f"{statistics.median(refused):.0f} refused, each for 1 s",
        rounds=(session.rounds, session.rounds),
    )


def _whole_run(server: Server, count: int) -> Iterator[Row]:
    """Multiple choice: the model is asked once for each question."""
    head = "id,question,A,B,C,D,answer\n"
    # Options of their own for each question: a reply to the same ones is read once.
    lines = (
        f"{n},Question {n}: what is it?,one {n},two {n},three {n},four {n},B\n"
        for n in range(count)
    )
    models = {"fake": server.url("fixed")}
    spec = {"datasets": ["questions.csv"], "models": ["fake"], "mode": "generation"}
    side = _run(models, {"questions.csv": head + "".join(lines)}, spec | {"pattern": "origin"})
    work = "evalui run, 20 ms, 64 in flight"
    yield Row(
        group=GROUP,
        work=work,
        count=count,
        unit="requests",
        ours=side.timing,
        goal=Goal("cpu", round(_RUN_CPU_S * count, 3)),
        found=side.told(count, count * MANNERS["fixed"].mean / 64),
    )
    yield _memory_row(work, count, side)


def _judged_run(server: Server, questions: int) -> Iterator[Row]:
    """Three models answer and a fourth judges each two of them, each at a server of its own.

    The ideal is what the server with the most requests, the judge's, needs for them by itself.
    """
    name = "questions.jsonl"
    lines = (
        json.dumps({"id": str(n), "question": f"Question {n}: what is it?", "answer": "B"}) + "\n"
        for n in range(questions)
    )
    models = {each: server.url("exponential", each) for each in (*_CONTESTANTS, "judge")}
    judging = {"judges": ["judge"], "orders": "single"}
    spec = {"datasets": [name], "models": list(_CONTESTANTS), "judging": judging}
    server.counts()
    side = _run(models, {name: "".join(lines)}, spec)
    count, judged = 2 * len(_CONTESTANTS) * questions, len(_CONTESTANTS) * questions
    answered = server.counts()["answered"]
    assert answered == count, f"{answered} of {count} answers and verdicts were asked for"
    ideal = judged * MANNERS["exponential"].mean / _JUDGED_WIDTH
    work = "evalui run, 3 models and a judge, exponential, 64 in flight each"
    yield Row(
        group=GROUP,
        work=work,
        count=count,
        unit="requests",
        ours=side.timing,
        goal=Goal("wall", round(_JUDGED_OVER_IDEAL * ideal, 3)),
        found=side.told(count, ideal),
    )
    yield _memory_row(work, count, side)


def _run(models: Mapping[str, str], files: Mapping[str, str], spec: Mapping[str, object]) -> _Side:
    """`evalui run` from files to a report, in a process of its own; `models` have a URL each."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in files.items():
            (folder / file).write_text(text)
        entries = (
            f'[{model}]\nbackend = "openai"\npath = "{model}"\nchat = true\n'
            f'options = {{ base_url = "{url}", concurrency = 64, api = "chat" }}\n'
            for model, url in models.items()
        )
        (folder / "models.toml").write_text("".join(entries))
        (folder / "spec.json").write_text(json.dumps(dict(spec)))
        command = [sys.executable, "-m", "evalui.cli", "run", "spec.json", "--out", "out"]
        began = time.perf_counter()
        process = subprocess.Popen(
            [*command, "--models-file", "models.toml"],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(_ROOT), "EVALUI_DATA_DIR": str(folder / "data")},
            stdout=subprocess.DEVNULL,
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = Timing(usage.ru_utime + usage.ru_stime, time.perf_counter() - began)
        assert status == 0, "the run has ended well"
    return _Side("", seconds, 0, usage.ru_maxrss / 1024)
