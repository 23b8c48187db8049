"""`evalui gate`: stop a build whose model is worse than the one before.

evalui gate BASELINE CANDIDATE --metric M --allow POINTS [--junit FILE]
"""

import argparse
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from evalui.cli.parser import number
from evalui.cli.store import write_text
from evalui.errors import SpecError, StoreError
from evalui.local_runs import STORE_NAME, load_settings
from evalui.messages.command_help import GATE_HELP

if TYPE_CHECKING:
    from evalui.store.connection import Database
    from evalui.types import CellResult


def add_gate_command(commands: Any) -> None:
    """Add `gate` to the subparsers of `evalui`."""
    gate = commands.add_parser(
        "gate",
        help="compare a candidate with its baseline; the exit code can stop a build",
        description=GATE_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for side in ("baseline", "candidate"):
        gate.add_argument(side, metavar=side.upper(), help="a folder, a log, or the id of a run")
        gate.add_argument(f"--{side}-model", default="", help="the model, if there are several")
    gate.add_argument(
        "--metric", default="accuracy", help="the metric to compare (default: accuracy)"
    )
    gate.add_argument(
        "--allow",
        type=number("the loss allowed in points", 0, 100, kind=float),
        required=True,
        metavar="POINTS",
        help="points by which it may be worse",
    )
    gate.add_argument("--dataset", default="", help="the only dataset to compare")
    gate.add_argument("--junit", type=Path, metavar="FILE", help="write a JUnit file, too")
    gate.add_argument("--database", type=Path, help="store in which ids of runs are looked up")
    gate.set_defaults(command=_gate)


def _gate(given: argparse.Namespace) -> int:
    from evalui.report.gate import exit_code, junit_xml, run_gate

    with (
        _results(given, given.baseline, given.baseline_model) as baseline,
        _results(given, given.candidate, given.candidate_model) as candidate,
    ):
        checks = run_gate(baseline, candidate, given.metric, given.allow)
    for check in checks:
        print(check.text)
    if given.junit:
        write_text(given.junit, junit_xml(checks))
    return exit_code(checks)


@contextmanager
def _results(given: argparse.Namespace, name: str, model: str) -> "Generator[Sequence[CellResult]]":
    """The cells that a name stands for, of one model and dataset where they are named."""
    from evalui.runs.results import read_results

    with _opened_run(given, name) as (database, run_id):
        results = read_results(database, run_id)
        kept = [each for each in results if model in ("", each.cell.model)]
        if not kept:
            known = ", ".join(dict.fromkeys(each.cell.model for each in results))
            raise SpecError("gate-model-unknown", name=name, model=model, known=known)
        yield [each for each in kept if given.dataset in ("", each.cell.dataset)]


@contextmanager
def _opened_run(given: argparse.Namespace, name: str) -> "Generator[tuple[Database, str]]":
    """The store and the id of a run: that of a folder of `evalui run`, of a log, or of an id.

    Raises:
        DataError: a path is no log.
        StoreError: there is no such run or store.
    """
    from evalui.harnesses.importing import import_run
    from evalui.store.connection import Database
    from evalui.store.runs import read_runs

    path = Path(name)
    if not path.exists():
        store: Path = given.database or load_settings().database
        if not store.exists():
            raise StoreError("gate-unknown", name=name, path=str(store))
        with closing(Database(store, read_only=True)) as database:
            yield database, name
        return
    store = path / STORE_NAME if path.is_dir() else path
    if store.suffix == ".sqlite" and store.is_file():
        with closing(Database(store, read_only=True)) as database:
            if not (runs := read_runs(database)):
                raise StoreError("gate-empty", path=str(store))
            yield database, runs[0].id
        return
    with (
        TemporaryDirectory(prefix="evalui-") as folder,
        closing(Database(Path(folder) / STORE_NAME)) as database,
    ):
        yield database, import_run(database, [path]).run_id
