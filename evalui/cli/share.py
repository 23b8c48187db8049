"""`evalui share`: links to frozen pages of runs, from the command line.

    evalui share RUN [--days 7|30|90] [--address URL] | share list [--json] | share revoke ID

A link shows what it showed when it was made, to everybody who has it, until it ends.
"""

import argparse
import json
import sys
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from evalui.cli.parser import number
from evalui.local_runs import load_settings

if TYPE_CHECKING:
    from evalui.accounts.shares import Share
    from evalui.settings import Settings
    from evalui.store.connection import Database


def add_share_command(commands: Any) -> None:
    """Add `share` to the subparsers of `evalui`."""
    share = commands.add_parser("share", help="make, list and revoke links to frozen pages")
    share.add_argument("what", metavar="RUN|list|revoke", help="a run to share, or what to do")
    share.add_argument("id", nargs="?", default="", help="the link to revoke")
    share.add_argument(
        "--days",
        type=number("the number of days", 1),
        default=30,
        help="days until the link expires: 7, 30 or 90 (default: 30)",
    )
    share.add_argument("--address", help="address of the server, to print the whole link")
    share.add_argument("--json", action="store_true", help="list as JSON")
    share.set_defaults(command=_share)


def _share(given: argparse.Namespace) -> int:
    from evalui.store.connection import Database

    settings = load_settings()
    with closing(Database(settings.database)) as database:
        if given.what == "list":
            return _list(database, as_json=given.json)
        if given.what == "revoke":
            return _revoke(database, given.id)
        return _make(settings, database, given)


def _make(settings: "Settings", database: "Database", given: argparse.Namespace) -> int:
    from evalui.access import Person
    from evalui.app.service import AppService
    from evalui.app.sharing import share_run
    from evalui.store.runs import read_run

    # Who can read the store may everything; the link is the owner's, as those made on the page.
    owner = Person(read_run(database, given.what).owner, "admin")
    service = AppService(settings, database).acting_for(owner)
    link = share_run(service, given.what, given.days)
    address = given.address or settings.public_url
    if not address:
        hint = "add --address URL or set EVALUI_PUBLIC_URL to print all of it"
        print(f"evalui: append this to the address of the server; {hint}", file=sys.stderr)
    print(f"{address.rstrip('/')}/s/{link}")
    return 0


def _list(database: "Database", *, as_json: bool) -> int:
    from evalui.accounts.shares import list_shares
    from evalui.logs import printable

    shares = list_shares(database)
    if as_json:
        print(json.dumps([asdict(share) for share in shares], ensure_ascii=False, indent=1))
        return 0
    for share in shares:
        times = f"opened {share.opened}"
        print("\t".join((share.id, share.owner, printable(share.title), _works(share), times)))
    return 0


def _works(share: "Share") -> str:
    ended = share.ended
    moment = datetime.fromtimestamp(ended or share.expires, UTC)
    return f"{'ended' if ended else 'until'} {moment:%Y-%m-%d}"


def _revoke(database: "Database", share_id: str) -> int:
    from evalui.access import LOCAL_PERSON
    from evalui.accounts.shares import revoke_share

    revoke_share(database, share_id, by=LOCAL_PERSON)
    print(f"evalui: link {share_id} is revoked", file=sys.stderr)
    return 0
