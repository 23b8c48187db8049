"""`evalui votes`, `evalui assign`: what people voted on a run, and who votes on what.

evalui votes RUN [--csv] [--close]
evalui assign RUN --people ann,ben,guest:Mia [--overlap 2]
"""

import argparse
import sys
from pathlib import Path
from typing import Any

from evalui.cli.parser import number
from evalui.cli.store import opened_service


def add_votes_commands(commands: Any) -> None:
    """Add both commands to the subparsers of `evalui`."""
    votes = commands.add_parser("votes", help="print what people voted on a run")
    votes.add_argument("--csv", action="store_true", help="as CSV (default: JSON Lines)")
    votes.add_argument(
        "--close", action="store_true", help="close the vote of everybody first; it stays closed"
    )
    votes.set_defaults(command=_votes)
    assign = commands.add_parser("assign", help="assign the pairs of a run to people")
    assign.add_argument(
        "--people",
        required=True,
        metavar="A,B,C",
        help="names of the people who vote; '' lets everybody vote",
    )
    assign.add_argument(
        "--overlap",
        type=number("the overlap", 1),
        default=1,
        metavar="K",
        help="votes on each pair",
    )
    assign.set_defaults(command=_assign)
    for command in (votes, assign):
        command.add_argument(
            "run", metavar="RUN", help="id of the run, as in the address of its page"
        )
        command.add_argument("--database", type=Path, help="the store of the server")


def _votes(given: argparse.Namespace) -> int:
    from evalui.app.voters import end_voting, vote_file

    with opened_service(given, read_only=not given.close) as service:
        if given.close:
            end_voting(service, given.run)
        sys.stdout.buffer.writelines(vote_file(service, given.run, "csv" if given.csv else "jsonl"))
        sys.stdout.buffer.flush()
    return 0


def _assign(given: argparse.Namespace) -> int:
    from evalui.app.voters import assign_people
    from evalui.store.voting.plans import count_pairs

    people = [name.strip() for name in given.people.split(",") if name.strip()]
    with opened_service(given, read_only=False) as service:
        assign_people(service, given.run, people, given.overlap)
        assigned = service.voter_pairs.assignment(given.run) or {}
    for name in dict.fromkeys(people):
        print(f"{name}\t{count_pairs(assigned, name)}")
    return 0
