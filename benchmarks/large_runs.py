"""What each page of a run of a million trials costs its server (`python -m benchmarks.large_runs`).

Two runs of 13,889 made-up questions of 52 subjects in 24 orders by three models, 1,000,008 trials
each, their summaries kept as a worker keeps them; with `--large` one of 5,040,000 trials as well.
A new server is sent what a browser sends for each page, one after the other, each address once a
round: the event that draws it. CPU is that of the server's process,
memory the most it ever held (VmHWM); a browser that stays beside it is not counted.
"""

import argparse
import json
import os
import random
import re
import tempfile
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import numpy as np

from benchmarks.clock import Timing, best, median
from benchmarks.contest import Session
from benchmarks.pages import ROOT, Checkout, Server, serving
from benchmarks.queueing import answer_run
from benchmarks.rows import Goal, Row
from benchmarks.scripted_run import write_files
from evalui.models import read_catalog
from evalui.modes import MODES, ModeSettings
from evalui.runs.spec import RunSpec
from evalui.runs.submit import read_datasets, submit
from evalui.scoring.choice.options import variants
from evalui.shipped_files import ASSETS
from evalui.store.connection import Database
from evalui.store.runs import CellRow, RunRow, read_cells, read_runs
from evalui.types import LETTERS, LabelProbs, Sample, Trial

GROUP = "large-runs"
_QUESTIONS = 13_889  # in 24 orders by three models: a million trials
_LARGE_QUESTIONS = 35_000
_MODELS = (
    "position-biased", "noisy", "demo-late", "demo-early", "verbose", "malformed",
)  # fmt: skip
_FEW = 3  # models of the runs that are not large
_BATCH = 4096
_BIAS = (0.5, 0.0, -0.3, 0.2)  # of the positions, in log-probability
_ROUNDS = 2
_FIRST = Goal("cpu", 2)
_VIEW = Goal("cpu", 0.3)
_ROWS = Goal("cpu", 0.1)  # of 50 rows of a list
_COMPARE = Goal("cpu", 3)
_FILES = ("html",)  # that are downloaded
_MOST = Goal("memory", 700)
_OPENED = "Samples, 50 rows of another place"
_LONGEST_S = 600.0


@dataclass(frozen=True, slots=True)
class Look:
    """An address that is opened, and what it may take; one without a page is fetched as it is."""

    work: str
    query: str
    page: str = "results"
    goal: Goal | None = _VIEW
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Tab:
    """A page that is open in a browser: the number of the event that draws it, and its session."""

    place: str
    number: int
    session: str

    @classmethod
    def opened(cls, server: Server, language: str, page: str) -> Self:
        """The page as its configuration describes it."""
        place = f"{server.address}/{language}"
        with urllib.request.urlopen(f"{place}/config?page={page}") as config:
            listed: Sequence[Mapping[str, Any]] = json.load(config)["dependencies"]
        (number,) = (each["id"] for each in listed if each["api_name"].startswith("apply"))
        return cls(place, number, f"{language}-{page}")

    def show(self, query: str) -> int:
        """The bytes of what is drawn of an address."""
        event: dict[str, Any] = {"data": [], "fn_index": self.number, "session_hash": self.session}
        address = f"{self.place}/gradio_api/run/predict?{query}"
        headers = {"Content-Type": "application/json"}
        return _fetch(urllib.request.Request(address, json.dumps(event).encode(), headers))


@dataclass(frozen=True, slots=True)
class Taken:
    """What a page took, how long it is, and the most memory of the server until then, in MB."""

    spent: Timing
    size: int
    memory: float


def main() -> None:
    """Print a table of all pages of each store, the runs made before if their folder is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="a run of five million trials, too")
    parser.add_argument("--data", type=Path, help="the data folder to make and keep, or to use")
    parser.add_argument(
        "--files", nargs="*", default=_FILES, help="that are downloaded, too: xlsx takes minutes"
    )
    parser.add_argument("--rounds", type=int, default=_ROUNDS)
    parser.add_argument("--questions", type=int, default=_QUESTIONS)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = given.data or Path(folder) / "data"
        make_runs(data, given.questions, large=given.large)
        with closing(Database(data / "evalui.sqlite")) as database:
            listed = [(run, read_cells(database, run.id)) for run in read_runs(database)]
        for run, cells in listed:
            print(f"{run.name}: {run.id}, {run.done:,} trials, cells {[cell.id for cell in cells]}")
        *large, first, second = sorted(listed, key=lambda each: (-each[0].done, each[0].name))
        _measure(data, [first, second], given.rounds, given.files)
        for each in large:
            _measure(data, [each], given.rounds, given.files)


def rows(session: Session) -> Iterator[Row]:
    """The most memory of a server whose every page of a large run was opened, and 50 rows of it."""
    for questions in session.scaled(_QUESTIONS):
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder) / "data"
            make_runs(data, questions, large=False)
            with closing(Database(data / "evalui.sqlite")) as database:
                runs = [(run, read_cells(database, run.id)) for run in read_runs(database)]
            trials = runs[0][0].done
            looks = list(_looks(data, runs))
            taken = _round(data, looks)
        listed = [one for look, one in zip(looks, taken, strict=True) if _OPENED in look.work]
        whole = questions == _QUESTIONS
        yield Row(
            GROUP,
            "50 rows of Samples, at three places",
            trials,
            "trials",
            median([one.spent for one in listed]),
            goal=_ROWS if whole else None,
            found="the median; the question that is open is drawn, too",
        )
        yield Row(
            GROUP,
            f"{len(looks) - len(_FILES)} pages of a run, and report.html",
            trials,
            "trials",
            Timing(sum(one.spent.cpu for one in taken), sum(one.spent.wall for one in taken)),
            goal=_MOST if whole else None,
            megabytes=max(one.memory for one in taken),
            found=f"the server held {max(one.memory for one in taken):,.0f} MB at most",
        )


def make_runs(data: Path, questions: int, *, large: bool) -> None:
    """Make the runs that the data folder lacks."""
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    wanted = [("First", questions, _FEW), ("Second", questions, _FEW)]
    wanted += [("Large", _LARGE_QUESTIONS, len(_MODELS))] if large else []
    with closing(Database(data / "evalui.sqlite")) as database:
        known = {run.name for run in read_runs(database)}
        for seed, (name, count, models) in enumerate(wanted):
            if name not in known:
                _make_run(database, name, count, _MODELS[:models], seed)


def _make_run(database: Database, name: str, count: int, models: Sequence[str], seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = write_files(Path(folder) / f"exam-{count}", count)
        spec = RunSpec.model_validate(
            {
                "version": 2,
                "name": name,
                "datasets": [str(files)],
                "models": list(models),
                "mode": "multiple_choice",
                "pattern": "all_possible",
            }
        )
        loaded = read_datasets(spec)
    run_id = submit(database, spec, loaded, read_catalog(ASSETS / "models.toml"))
    (dataset,) = (each.dataset for each in loaded.values())
    answers = partial(_trials, dataset.samples, seed)
    answer_run(database, run_id, answers)


def _trials(samples: Sequence[Sample], seed: int, cell: CellRow) -> Iterator[Sequence[Trial]]:
    """Every order of every question, answered by what a model knows and by where options stand."""
    mode, setting = MODES["multiple_choice"], ModeSettings(shots={})
    rng = np.random.default_rng([seed, cell.id])
    skill = 1.5 - 0.2 * _MODELS.index(cell.cell.model)
    orders = variants(4, "all_possible")

    def trials() -> Iterator[Trial]:
        for sample in samples:
            assert isinstance(sample.target, int), "it is a choice"
            known = skill + rng.normal()
            drawn = rng.normal(_BIAS, 0.5, (len(orders), 4))
            for order, scores in zip(orders, drawn, strict=True):
                scores[order.permutation.index(sample.target)] += known
                logprobs = np.log(0.9) + scores - np.logaddexp.reduce(scores)
                said = LETTERS[int(scores.argmax())] if rng.random() < 0.98 else "The"
                response = LabelProbs(tuple(logprobs.tolist()), mass=0.9, top_token=said)
                yield mode.grade(sample, order, (response,), setting)

    graded = trials()
    return iter(lambda: list(islice(graded, _BATCH)), [])


def _measure(
    data: Path,
    runs: Sequence[tuple[RunRow, Sequence[CellRow]]],
    rounds: int,
    files: Sequence[str],
) -> None:
    looks = list(_looks(data, runs, files))
    taken = [_round(data, looks) for _ in range(rounds)]
    print(f"\n{runs[0][0].done:,} trials a run; least of {rounds} rounds, load {_load()}\n")
    print("| page | CPU s | wall s | page, kB | memory so far, MB | goal | met |")
    print("|---|---|---|---|---|---|---|")
    for look, *each in zip(looks, *taken, strict=True):
        spent = best([one.spent for one in each])
        met = "" if look.goal is None else "yes" if spent.cpu < look.goal.bound else "**no**"
        memory, size = max(one.memory for one in each), each[0].size / 1e3
        print(
            f"| {look.work} | {spent.cpu:.2f} | {spent.wall:.2f} | {size:,.0f} | {memory:,.0f} |"
            f" {look.goal or ''} | {met} |"
        )
    most = max(one.memory for each in taken for one in each)
    verdict = "yes" if most < _MOST.bound else "**no**"
    print(f"| most memory | | | | {most:,.0f} | {_MOST} | {verdict} |", flush=True)


def _looks(
    data: Path, runs: Sequence[tuple[RunRow, Sequence[CellRow]]], files: Sequence[str] = _FILES
) -> Iterator[Look]:
    """Every view of the first run, comparisons of all, and downloads of the first run."""
    run, cells = runs[0]
    with closing(Database(data / "evalui.sqlite")) as database:
        rows = database.rows(
            "SELECT s.id FROM sample s JOIN cell c ON s.dataset = c.dataset"
            " WHERE c.id = ? AND s.role = 'sample' ORDER BY s.place",
            (cells[0].id,),
        )
    ids = [row["id"] for row in rows]
    question = ids[random.Random(0).randrange(len(ids))]
    subject, q = question.rpartition("_test/")[0], quote(question)

    def view(name: str, **named: object) -> str:
        return f"run={run.id}&sub={name}" + "".join(f"&{key}={each}" for key, each in named.items())

    yield Look("Overview, first page of a new server", view("overview"), goal=_FIRST)
    yield Look("Overview, in another language", view("overview"), language="zh")
    yield Look("Samples, first of a cell", view("samples"))
    yield Look("Samples, the next 50 rows", view("samples", page=1))
    for place in (len(ids) // 2, len(ids) // 3, len(ids) - 1):
        yield Look(f"{_OPENED}, {place:,}", view("samples", q=quote(ids[place])), goal=_ROWS)
    for outcome in ("wrong", "right", "order_sensitive", "unreadable", "tied"):
        yield Look(f"Samples, {outcome}", view("samples", outcome=outcome))
    yield Look("Samples, a subject", view("samples", subject=subject))
    for name, value in (("gold", 1), ("picked", 1), ("rule", "forced"), ("find", "2024")):
        yield Look(f"Samples, {name}", view("samples", **{name: value}))
    yield Look("Samples, wrong, gold, picked", view("samples", outcome="wrong", gold=0, picked=1))
    yield Look("Samples, another model", view("samples", cell=cells[1].id))
    yield Look("Samples, a question by models", view("samples", q=q, by="models"))
    yield Look("Bias", view("bias"))
    yield Look("Bias, a cell of its grid", view("bias", cell=cells[0].id, slots=1, options=2))
    yield Look("Bias, of another model", view("bias", cell=cells[1].id, slots=1, options=2))
    for name in ("statistics", "calibration", "health", "report"):
        yield Look(name.capitalize(), view(name))
    yield Look("Report, with its preview", view("report", preview=1))
    yield Look("Runs, the progress of this run", f"live/{run.id}?lang=en", "")
    compare = f"run={run.id}"
    yield Look("Compare, the models of a run", compare, "compare", _COMPARE)
    if len(runs) > 1:
        pair = ",".join(str(own[0].id) for _, own in runs)
        yield Look("Compare, a model of two runs", f"cells={pair}", "compare", _COMPARE)
        every = ",".join(str(cell.id) for _, own in runs for cell in own)
        yield Look("Compare, six cells of two runs", f"cells={every}", "compare", _COMPARE)
    yield Look("Compare, a question of it", f"{compare}&q={q}", "compare")
    for name in files:
        yield Look(f"Download {name.upper()}", f"export/{run.id}.{name}?lang=en", "", None)


def _round(data: Path, looks: Sequence[Look]) -> list[Taken]:
    """Each address from one new server, when that is ready."""
    taken: list[Taken] = []
    with serving(Checkout(ROOT), data, EVALUI_WORKERS="0") as server:
        # Gradio is imported, and its app is made, once for a language: that is no page's.
        server.get("/en/config")
        tabs = {
            (language, page): Tab.opened(server, language, page)
            for language, page in sorted({(each.language, each.page) for each in looks})
            if page
        }
        for look in looks:
            before = server.spent()
            if look.page:
                size = tabs[look.language, look.page].show(look.query)
            else:
                size = _fetch(f"{server.address}/{look.query}")
            after = server.spent()
            spent = Timing(after.cpu - before.cpu, after.wall - before.wall)
            taken.append(Taken(spent, size, _peak(server)))
    return taken


def _fetch(wanted: str | urllib.request.Request) -> int:
    """The bytes of an answer, none of which is kept."""
    with urllib.request.urlopen(wanted, timeout=_LONGEST_S) as answer:
        return sum(len(part) for part in iter(lambda: answer.read(2**20), b""))


def _peak(server: Server) -> float:
    status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found, "Linux states it"
    return int(found[1]) * 1024 / 1e6


def _load() -> str:
    return ", ".join(f"{value:.1f}" for value in os.getloadavg())


if __name__ == "__main__":
    main()
