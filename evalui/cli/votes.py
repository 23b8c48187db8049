"""`evalui votes`, `evalui assign`: what people voted on a run, and who votes on what.

evalui votes RUN [--csv]
evalui assign RUN --people ann,ben,guest:Mia [--overlap 2]
"""

import argparse
import sys
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalui.access import LOCAL_PERSON
from evalui.errors import StoreError

if TYPE_CHECKING:
    from evalui.settings import Settings
    from evalui.ui.services.service import AppService


def add_votes_commands(commands: Any, load_settings: "Callable[[], Settings]") -> None:
    """Add both commands to the subparsers of `evalui`."""
    votes = commands.add_parser("votes", help="print what people voted on a run")
    votes.add_argument("--csv", action="store_true", help="as CSV (default: JSON Lines)")
    votes.set_defaults(command=_votes)
    assign = commands.add_parser("assign", help="assign the pairs of a run to people")
    assign.add_argument(
        "--people", required=True, metavar="A,B,C", help="who votes; '' lets everybody vote"
    )
    assign.add_argument("--overlap", type=int, default=1, metavar="K", help="votes on each pair")
    assign.set_defaults(command=_assign)
    for command in (votes, assign):
        command.add_argument("run", metavar="RUN", help="its id, as in the address of its page")
        command.add_argument("--database", type=Path, help="the store of the server")
        command.set_defaults(load_settings=load_settings)


def _votes(given: argparse.Namespace) -> int:
    from evalui.ui.services.team_votes import vote_file

    with _service(given, read_only=True) as service:
        sys.stdout.buffer.writelines(vote_file(service, given.run, "csv" if given.csv else "jsonl"))
        sys.stdout.buffer.flush()
    return 0


def _assign(given: argparse.Namespace) -> int:
    from evalui.runs.database.voting.plans import count_pairs
    from evalui.ui.services.team_votes import assign_people

    people = [name.strip() for name in given.people.split(",") if name.strip()]
    with _service(given, read_only=False) as service:
        assign_people(service, given.run, people, given.overlap)
        assigned = service.voter_pairs.assignment(given.run) or {}
    for name in dict.fromkeys(people):
        print(f"{name}\t{count_pairs(assigned, name)}")
    return 0


@contextmanager
def _service(given: argparse.Namespace, *, read_only: bool) -> "Generator[AppService]":
    """The store as who is signed in to this machine sees it."""
    from evalui.runs.database.connection import Database
    from evalui.ui.current_person import acting_as
    from evalui.ui.services.service import AppService

    settings: Settings = given.load_settings()
    path: Path = given.database or settings.database
    if not path.exists():
        raise StoreError("no-store", path=str(path))
    settings = settings.model_copy(update={"data_dir": path.parent, "read_only": read_only})
    with closing(Database(path, read_only=read_only)) as database, acting_as(LOCAL_PERSON):
        yield AppService(settings, database)
