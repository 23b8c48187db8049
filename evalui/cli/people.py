"""`evalui users`, `tokens`: who may use a shared server, from its command line.

    evalui users list | add, invite, role, passwd, sign-out, disable, enable, remove NAME
    evalui tokens list | add USER | revoke ID

What is made once (a password, a link, a token) is the only line on standard output. A password is
read from standard input where that is no terminal, so that no list of processes has it.
"""

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from evalui.access import LOCAL_PERSON, ROLES
from evalui.cli.parser import number
from evalui.local_runs import load_settings
from evalui.logs import printable

if TYPE_CHECKING:
    from evalui.settings import Settings
    from evalui.store.connection import Database

_ME = LOCAL_PERSON  # in the audit log; who is signed in to the machine is not known


def add_people_commands(commands: Any) -> None:
    """Add both commands to the subparsers of `evalui`."""
    users = _group(commands, "users", "add, invite, list and remove people")
    add = _action(users, "add NAME", "add a person; the password comes by stdin or is made")
    add.add_argument("--role", choices=ROLES, required=True)
    link = _action(users, "invite NAME", "print a link to choose a password, once")
    link.add_argument("--role", choices=ROLES, help="also add the person, with this role")
    link.add_argument(
        "--address", help="address of the server (default: EVALUI_PUBLIC_URL, or this machine)"
    )
    _action(users, "list", "list everybody").add_argument("--json", action="store_true")
    _action(users, "role NAME", "change the role of a person").add_argument("role", choices=ROLES)
    _action(users, "passwd NAME", "set a password and end all sessions")
    _action(users, "sign-out NAME", "end all sessions of a person")
    _action(users, "disable NAME", "disable an account at once")
    _action(users, "enable NAME", "enable a disabled account")
    remove = _action(users, "remove NAME", "remove a person, with what is theirs")
    choice = remove.add_mutually_exclusive_group(required=True)
    choice.add_argument(
        "--hand-over-to", metavar="NAME", help="person who gets the runs, files and links"
    )
    choice.add_argument("--delete", action="store_true", help="delete runs, files and links")

    tokens = _group(commands, "tokens", "add, list and revoke tokens of scripts")
    token = _action(tokens, "add USER", "print a new token")
    token.add_argument("--scope", choices=("read", "write"), default="read")
    token.add_argument("--label", default="", help="what it is for")
    token.add_argument(
        "--days",
        type=number("the number of days", 0, kind=float),
        help="days until it expires (default: until revoked)",
    )
    _action(tokens, "list", "list tokens, without secrets").add_argument(
        "--json", action="store_true"
    )
    _action(tokens, "revoke ID", "revoke a token")


def _group(commands: Any, name: str, about: str) -> Any:
    group = commands.add_parser(name, help=about)
    group.set_defaults(group=name, command=_command)
    return group.add_subparsers(required=True, metavar="ACTION")


def _action(group: Any, usage: str, about: str) -> argparse.ArgumentParser:
    """One action, by its name and what it takes."""
    name, *arguments = usage.split()
    parser: argparse.ArgumentParser = group.add_parser(name, help=about)
    parser.set_defaults(action=name)
    for argument in arguments:
        kind = (
            number("an ID", 0) if argument == "ID" else str.casefold
        )  # names are stored in small letters
        parser.add_argument(argument.lower(), metavar=argument, type=kind)
    return parser


def _command(given: argparse.Namespace) -> int:
    from evalui.store.connection import Database

    settings = load_settings()
    actions = {"users": _users, "tokens": _tokens}[given.group]
    with closing(Database(settings.database)) as database:
        made = actions(database, given, settings)[given.action]()
    if given.action == "list":
        _print_all(made, as_json=given.json)
        return 0
    what = " ".join(str(given.__dict__[key]) for key in ("name", "user", "id") if key in given)
    print(f"evalui: {given.group} {given.action} {what}: done", file=sys.stderr)
    if made:
        print(made)
    return 0


# What each action does; what it returns is made once, and shown this once.
_Actions = Mapping[str, Callable[[], Any]]


def _users(database: "Database", given: argparse.Namespace, settings: "Settings") -> _Actions:
    from evalui.accounts import people
    from evalui.accounts.invitations import invite
    from evalui.accounts.sessions import sign_out_everywhere

    def add() -> str:
        password, shown = _password()
        people.add_person(database, given.name, given.role, by=_ME, password=password)
        return shown

    def passwd() -> str:
        password, shown = _password()
        people.set_password(database, given.name, password, by=_ME)
        return shown

    def link() -> str:
        if given.role:
            people.add_person(database, given.name, given.role, by=_ME)
        address = given.address or settings.public_url or f"http://127.0.0.1:{settings.port}"
        return f"{address.rstrip('/')}/invitation/{invite(database, given.name, by=_ME)}"

    def sign_out() -> str:
        ended = sign_out_everywhere(database, given.name, by=_ME)
        return f"sessions: {ended.sessions}, tokens: {ended.tokens}"

    def disable(*, disabled: bool) -> None:
        people.set_disabled(database, given.name, disabled=disabled, by=_ME)

    return {
        "add": add,
        "invite": link,
        "list": lambda: people.read_accounts(database),
        "role": lambda: people.set_role(database, given.name, given.role, by=_ME),
        "passwd": passwd,
        "sign-out": sign_out,
        "disable": lambda: disable(disabled=True),
        "enable": lambda: disable(disabled=False),
        "remove": lambda: people.remove_person(
            database, given.name, heir=given.hand_over_to, by=_ME
        ),
    }


def _tokens(database: "Database", given: argparse.Namespace, _: "Settings") -> _Actions:
    from evalui.accounts.tokens import add_token, read_tokens, revoke_token

    def add() -> str:
        fields = {"scope": given.scope, "label": given.label, "days": given.days}
        return add_token(database, given.user, by=_ME, **fields)

    return {
        "add": add,
        "list": lambda: read_tokens(database),
        "revoke": lambda: revoke_token(database, given.id, by=_ME),
    }


def _password() -> tuple[str, str]:
    """A password from standard input; else one made here, and again what is to be shown of it."""
    from evalui.accounts.passwords import made_password

    given = "" if sys.stdin.isatty() else sys.stdin.readline().rstrip("\r\n")
    made = "" if given else made_password()
    return given or made, made


def _print_all(rows: Sequence[Any], *, as_json: bool) -> None:
    """Dataclasses, each a line of its fields, or all as JSON."""
    fields = [asdict(row) for row in rows]
    if as_json:
        print(json.dumps(fields, ensure_ascii=False, indent=2))
        return
    for row in fields:
        print("\t".join(_cell(name, value) for name, value in row.items()))


def _cell(name: str, value: object) -> str:
    if isinstance(value, bool):
        return name if value else ""
    if isinstance(value, float):
        return f"{name} {datetime.fromtimestamp(value).astimezone():%Y-%m-%d %H:%M}"
    return "" if value is None else printable(str(value))
