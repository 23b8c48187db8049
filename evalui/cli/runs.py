"""`evalui runs`: what is in a store, with the ids that other commands take.

evalui runs [--database FILE] [--json]
"""

import argparse
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evalui.cli.store import opened_service


def add_runs_command(commands: Any) -> None:
    """Add `runs` to the subparsers of `evalui`."""
    runs = commands.add_parser("runs", help="list runs with their ids, the newest first")
    runs.add_argument("--database", type=Path, help="a store, such as OUT/evalui.sqlite")
    runs.add_argument("--json", action="store_true", help="as JSON")
    runs.set_defaults(command=_runs)


@dataclass(frozen=True, slots=True)
class _Line:
    """A run in the list; `created` in seconds since 1970."""

    id: str
    name: str
    state: str
    done: int
    total: int
    created: float
    owner: str


def _runs(given: argparse.Namespace) -> int:
    from dataclasses import asdict

    from evalui.runs.database.runs import read_runs

    with opened_service(given, read_only=True) as service:
        lines = [
            _Line(row.id, row.name, row.state, row.done, row.total, row.created, row.owner)
            for row in read_runs(service.database, service.person)
        ]
    if given.json:
        print(json.dumps([asdict(line) for line in lines], ensure_ascii=False, indent=2))
        return 0
    for line in lines:
        created = datetime.fromtimestamp(line.created, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
        progress = f"{line.done:,} of {line.total:,}"
        print(line.id, created, line.state, progress, line.name, sep="\t")
    return 0
