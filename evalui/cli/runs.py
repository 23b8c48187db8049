"""`evalui runs`: what is in a store, with the ids that other commands take.

evalui runs [--database FILE] [--owner NAME] [--json]
"""

import argparse
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evalui.access import LOCAL
from evalui.cli.store import load_settings, opened_service

_FIELDS = ("id", "name", "state", "done", "total", "created", "owner")  # created: s since 1970


def add_runs_command(commands: Any) -> None:
    """Add `runs` to the subparsers of `evalui`."""
    runs = commands.add_parser("runs", help="list runs with their ids, the newest first")
    runs.add_argument("--database", type=Path, help="a store, such as OUT/evalui.sqlite")
    owner = runs.add_mutually_exclusive_group()
    owner.add_argument("--owner", metavar="NAME", help="only the runs of this person")
    owner.add_argument(
        "--mine",
        dest="owner",
        action="store_const",
        const=LOCAL,
        help="only those that were started on this machine without an account",
    )
    runs.add_argument("--json", action="store_true", help="as JSON")
    runs.set_defaults(command=_runs)


def _runs(given: argparse.Namespace) -> int:
    from evalui.runs.database.runs import read_all_runs

    # Whoever can read the store at a shell sees the runs of everybody, as `export` does.
    with opened_service(given, read_only=True) as service:
        rows = read_all_runs(service.database)
    rows = [row for row in rows if given.owner in (None, row.owner)]
    if given.json:
        lines = [{name: getattr(row, name) for name in _FIELDS} for row in rows]
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
