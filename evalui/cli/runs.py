"""`evalui runs`, `evalui wait`: what is in a store, with its ids, and when a run has ended.

evalui runs [--database FILE] [--owner NAME] [--json]
evalui wait RUN [--server URL | --database FILE] [--json]
"""

import argparse
import json
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalui.access import LOCAL
from evalui.cli.remote import add_server_options, report_failures, server_client
from evalui.cli.store import opened_service
from evalui.errors import SpecError
from evalui.local_runs import load_settings

if TYPE_CHECKING:
    from evalui.client import RunDetail
    from evalui.store.runs import RunRow

_LOOK_S = 1.0  # between two looks at a store
_FIELDS = ("id", "name", "state", "done", "total", "created", "owner")  # created: s since 1970


def add_runs_commands(commands: Any) -> None:
    """Add both commands to the subparsers of `evalui`."""
    runs = commands.add_parser("runs", help="list runs with their ids, the newest first")
    runs.add_argument("--database", type=Path, help="a store, such as OUT/evalui.sqlite")
    owner = runs.add_mutually_exclusive_group()
    owner.add_argument("--owner", metavar="NAME", help="only the runs of this person")
    owner.add_argument(
        "--mine",
        dest="owner",
        action="store_const",
        const=LOCAL,
        help="only runs started on this machine without an account",
    )
    runs.add_argument("--json", action="store_true", help="as JSON")
    runs.set_defaults(command=_runs)
    wait = commands.add_parser("wait", help="wait until a run has ended; exit code 0: it is done")
    wait.add_argument("run", metavar="RUN", help="its id, as in the address of its page")
    wait.add_argument("--database", type=Path, help="a store, such as OUT/evalui.sqlite")
    add_server_options(wait, "the run is on this server")
    wait.add_argument("--json", action="store_true", help="how it ended as JSON")
    wait.set_defaults(command=_wait)


def _runs(given: argparse.Namespace) -> int:
    from evalui.store.runs import read_all_runs

    # Whoever can read the store at a shell sees the runs of everybody, as `export` does.
    with opened_service(given, read_only=True) as service:
        rows = read_all_runs(service.database)
    rows = [row for row in rows if given.owner in (None, row.owner)]
    if given.json:
        lines = list(map(_shown, rows))
        print(json.dumps(lines, ensure_ascii=False, indent=2))
        return 0
    if not rows:
        place = given.database or load_settings().database
        of_one = f" of {given.owner}" if given.owner else ""
        print(f"evalui: there are no runs{of_one} in {place}", file=sys.stderr)
    for row in rows:
        created = datetime.fromtimestamp(row.created, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
        progress = f"{row.done:,} of {row.total:,}"
        print(row.id, created, row.state, progress, row.name, row.owner, sep="\t")
    return 0


def _wait(given: argparse.Namespace) -> int:
    run: RunRow | RunDetail
    if given.server:
        if given.database:
            raise SpecError("server-options", option="--database")
        run = server_client(given).wait(given.run)
        failed = [(each, each.state, each.error) for each in run.cells if each.error]
    else:
        run, failed = _wait_here(given)
    code = report_failures(failed)
    if given.json:
        print(json.dumps(_shown(run), ensure_ascii=False))
    else:
        print(f"{run.state}: {run.name}, {run.done:,} of {run.total:,} trials")
    return code if run.state == "done" else 1


def _wait_here(given: argparse.Namespace) -> "tuple[RunRow, list[tuple[Any, str, str]]]":
    """The run of a store once it has ended, and the cells that failed."""
    from evalui.store.runs import LIVE_STATES, read_cells, read_run

    with opened_service(given, read_only=True) as service:
        while (run := read_run(service.database, given.run)).state in LIVE_STATES:
            time.sleep(_LOOK_S)
        cells = read_cells(service.database, run.id)
    return run, [(each.cell, each.state, each.error) for each in cells if each.error]


def _shown(run: "RunRow | RunDetail") -> dict[str, Any]:
    return {name: getattr(run, name) for name in _FIELDS}
