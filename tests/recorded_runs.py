"""Ten recorded runs in one store, made once in a session of tests, for whoever reads results.

    def test_it(recorded_runs):             # a fixture of tests/conftest.py
        data = recorded_runs.copy(tmp_path)  # a data folder of its own, if it writes anything
        run_id = recorded_runs.ids["judged"]

| run | what it is |
|---|---|
| choice | multiple choice by scripted models in circular order, two files, three modes |
| letters | two networks by the probabilities of letters and of whole options (CP, MCP) |
| repeats | four replies to each question at temperature 0.7 |
| open | written answers, marked one by one by a judge that has the reference |
| judged | pairs of answers, compared by two judges in both orders |
| voted | pairs of answers on which three people voted and differed; some are decided |
| lm-eval, inspect | finished runs of other harnesses, imported |
| stopped | stopped by its owner when a third of it was there |
| failed | an endpoint with costs, refusals, modes that do not fit, and a cell that broke |

Questions, answers, models and specifications stand in tests/golden/net/inputs. Seeds, rules and ids
are fixed, so that all but times and folders is the same in each session. Processes of pytest-xdist
share one store.
"""

import fcntl
import io
import os
import pickle
import secrets
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evalui.app.service import AppService
from evalui.settings import Settings
from evalui.shipped_files import ASSETS

if TYPE_CHECKING:
    from endpoint_flow_examples import Place

INPUTS = Path(__file__).parent / "golden" / "net" / "inputs"
LOGS = Path(__file__).parent / "golden" / "harnesses"
NAMES = (
    *("choice", "letters", "repeats", "open", "judged"),
    *("voted", "lm-eval", "inspect", "stopped", "failed"),
)
IMPORTED = {"lm-eval": LOGS / "lmeval", "inspect": LOGS / "inspect"}
PEOPLE = ("ann", "bob", "cleo")
STOPPED_AT = 11  # sums that the endpoint answers
STOPPED_WITH = 32 + 15  # replies: all of the first model, of the second those and another question
_STORE = "evalui.sqlite"


@dataclass(frozen=True, slots=True)
class RecordedRuns:
    """The store in `folder`, which nobody changes, with the `models` of its runs.

    `ids` are those of the runs by name. Of a run that a command did, `outputs` has the folder with
    what it wrote, and `printed` what it said. The endpoint that some asked is gone.
    """

    folder: Path
    ids: Mapping[str, str]
    outputs: Mapping[str, Path]
    printed: Mapping[str, str]

    @property
    def store(self) -> Path:
        """The file of the store."""
        return self.folder / _STORE

    @property
    def models(self) -> Path:
        """The models.toml that the runs were done with."""
        return self.folder / "models.toml"

    @property
    def settings(self) -> Settings:
        """Those of a server without workers on this folder."""
        return settings_of(self.folder)

    def copy(self, folder: Path) -> Settings:
        """The settings of a server on a copy of the store in a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        for path in (self.store, self.models):
            shutil.copy(path, folder)
        return settings_of(folder)


def settings_of(folder: Path) -> Settings:
    """Those of a server without workers on a data folder with a models.toml."""
    return Settings(data_dir=folder, models=folder / "models.toml", workers=0, token=False)


def models_file(folder: Path, endpoint: str = "http://127.0.0.1:9/v1") -> Path:
    """The models.toml of the runs with this machine's places."""
    text = (INPUTS / "models.toml").read_text(encoding="utf-8")
    for name, place in (("assets", ASSETS), ("endpoint", endpoint), ("folder", folder)):
        text = text.replace(f"{{{name}}}", str(place))
    path = folder / "models.toml"
    path.write_text(text, encoding="utf-8")
    return path


def shared_by_processes(session: pytest.TempPathFactory) -> RecordedRuns:
    """The runs of this session of tests, made by the process that needs them first."""
    base = session.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "recorded-runs"
    shared.mkdir(exist_ok=True)
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = shared / "made.pickle"
        if not made.exists():
            made.write_bytes(pickle.dumps(make(shared / "data")))
        return pickle.loads(made.read_bytes())


def make(folder: Path) -> RecordedRuns:
    """Do the ten runs; some ten seconds of CPU, most of it the two networks."""
    from endpoint_flow_examples import Place

    folder.mkdir()
    place = Place(folder / "endpoint")
    place.be(delay=0)
    maker = _Maker(folder, place)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("EVALUI_DATA_DIR", str(folder / "elsewhere"))
            patch.setattr(secrets, "token_urlsafe", maker.next_id)
            return maker.make()
    finally:
        place.kill()


class _Maker:
    def __init__(self, folder: Path, place: "Place") -> None:
        self.folder = folder
        self.place = place
        self.ids: dict[str, str] = {}
        self.outputs: dict[str, Path] = {}
        self.printed: dict[str, str] = {}
        self._name = ""
        self._numbers = count()
        models_file(folder, place.url)

    def next_id(self, _: int = 0) -> str:
        """What is drawn at random elsewhere; ids of runs are its first ten characters."""
        return f"{self._name:-<10}-{next(self._numbers)}-drawn-by-the-tests"

    def make(self) -> RecordedRuns:
        for name in NAMES:
            with self._begun(name):
                if name in IMPORTED:
                    self._import(name)
                elif name == "stopped":
                    self._stop(name)
                else:
                    self._do(name)
            if name == "voted":
                self._vote(self.ids[name])
        shutil.rmtree(self.folder / "elsewhere", ignore_errors=True)
        return RecordedRuns(self.folder, self.ids, self.outputs, self.printed)

    @contextmanager
    def _begun(self, name: str) -> Iterator[None]:
        """Around what makes a run: ids count from 0, and the run is found afterwards."""
        from evalui.store.connection import Database
        from evalui.store.runs import read_runs

        self._name, self._numbers = name, count()
        yield
        with closing(Database(self.folder / _STORE)) as database:
            (self.ids[name],) = {run.id for run in read_runs(database)} - {*self.ids.values()}

    def _command(self, name: str, *arguments: str | Path) -> None:
        """Run a command, and keep what it says beside its bar."""
        from evalui.cli.main import main

        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = main([*map(str, arguments)])
        lines = [line for line in err.getvalue().splitlines() if line.startswith("evalui: ")]
        assert code in (0, 1), err.getvalue()
        said = "".join(f"{line}\n" for line in [*lines, out.getvalue()])
        self.printed[name] = f"exit code {code}\n{said}"

    def _do(self, name: str) -> None:
        out = self.folder / "out"
        out.mkdir()
        models = self.folder / "models.toml"
        if (store := self.folder / _STORE).exists():
            store.rename(out / _STORE)
        spec = INPUTS / f"{name}.json"
        self._command(name, "run", spec, "--out", out, "--models-file", models)
        (out / _STORE).rename(store)
        self.outputs[name] = out.rename(self.folder / f"out-{name}")

    def _import(self, name: str) -> None:
        arguments = ["--name", f"Net: {name}", "--database", self.folder / _STORE]
        self._command(name, "import", IMPORTED[name], *arguments)

    def _stop(self, name: str) -> None:
        """Its endpoint answers so many questions, one after the other, and no more."""
        from flow_examples import wait_until

        from evalui.local_runs import prepare_run
        from evalui.models import read_catalog
        from evalui.runs.spec import read_spec
        from evalui.runs.worker.worker import Worker
        from evalui.store import queue
        from evalui.store.connection import Database
        from evalui.store.runs import read_run

        spec = read_spec((INPUTS / f"{name}.json").read_text(encoding="utf-8"))
        catalog = read_catalog(self.folder / "models.toml")
        before = len(self.place.answered())
        self.place.be(delay=0, most=before + STOPPED_AT)
        with closing(Database(self.folder / _STORE)) as database:
            run_id = prepare_run(spec, INPUTS).queue(database, catalog)
            name = read_run(database, run_id).worker
            worker = Worker(database, lambda: catalog, name=name)
            thread = threading.Thread(target=worker.run_once, args=(run_id,))
            thread.start()
            wait_until(lambda: read_run(database, run_id).done == STOPPED_WITH)
            queue.cancel(database, run_id)
            thread.join(60)
            self.place.be(delay=0)
            stopped = read_run(database, run_id)
            assert (stopped.state, stopped.done) == ("cancelled", STOPPED_WITH), stopped

    def _vote(self, run_id: str) -> None:
        """Three people say something of every pair, and two of those they differ on are decided."""
        from evalui.app import ballots, voters
        from evalui.store.connection import Database
        from evalui.store.voting.votes import VoteInput

        said = {
            "ann": ("a", "tie", "b", "a", "neither", "skip"),
            "bob": ("a", "a", "b", "b"),
            "cleo": ("a", "tie", "a"),
        }
        with closing(Database(self.folder / _STORE)) as database:
            service = AppService(settings_of(self.folder), database)
            for person, choices in said.items():
                for number in count():
                    shown = ballots.next_ballot(service, run_id, person).ballot
                    if shown is None:
                        break
                    choice = choices[number % len(choices)]
                    comment = "clearer" if number % 3 == 0 else ""
                    mark = VoteInput(shown.pair_key, choice, comment, 2.5 + number)
                    ballots.cast_vote(service, run_id, mark, person)
            voters.end_voting(service, run_id)
            for outcome in ("a", "tie"):
                disputed = voters.disputed_pair(service, run_id)
                assert disputed
                pair = disputed.ballot.pair_key
                ballots.decide_pair(service, run_id, pair, outcome, "It has the name.", "ann")
