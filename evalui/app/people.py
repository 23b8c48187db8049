"""People of a shared server: accounts, limits, tokens and sessions; for administrators.

Each change stands in the audit log.
"""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from evalui.access import ROLES, Role
from evalui.accounts import audit, invitations, people, sessions, tokens
from evalui.app.permissions import requires
from evalui.app.service import AppService
from evalui.errors import SpecError
from evalui.runs.fair_queue.limits import (
    Spending,
    UserLimits,
    limits_of,
    spendings_today,
    stored_bytes,
    usual_limits,
    write_limits,
)
from evalui.runs.fair_queue.turns import set_person_priority

DELETE = "="  # in the place of an heir; no name is like this


@dataclass(frozen=True, slots=True)
class PersonUse:
    """An account with what it has at work, waiting and stored, and may have.

    `running` are names of runs, `stored` is in bytes, `today` counts from 00:00 UTC on.
    """

    account: people.Account
    limits: UserLimits
    running: Sequence[str]
    waiting: int
    today: Spending
    stored: int

    @property
    def is_new(self) -> bool:
        """Whether nobody has come by this name yet."""
        return self.account.seen is None and not self.account.has_password

    @property
    def used_up(self) -> str:
        """In what the ceiling of the day is reached, "tokens" or "dollars"; "" if it is not."""
        return self.today.used_up(self.limits)


@dataclass(frozen=True, slots=True)
class Invitation:
    """Who was invited, and once the `secret` of the link by which they choose a password.

    Behind a proxy, which signs people in by itself, there is none.
    """

    name: str
    secret: str = ""


def read_role(text: str) -> Role:
    """The role of a word; raises `SpecError` if there is none of it."""
    if text not in ROLES:
        raise SpecError("no-action")
    return text


def read_heir(text: str) -> str | None:
    """Who inherits, None for `DELETE`; raises `SpecError` for an empty word."""
    if not text:
        raise SpecError("heir-missing")
    return None if text == DELETE else text


@requires("administer")
def list_people(service: AppService) -> list[PersonUse]:
    """Everybody with an account: what they have at work, waiting and stored, and may have."""
    database, usual = service.database, usual_limits(service.settings)
    today = spendings_today(database, time.time())
    live = database.rows(
        "SELECT owner, name, state FROM run WHERE state IN ('queued', 'running') ORDER BY started"
    )
    used: list[PersonUse] = []
    for account in people.read_accounts(database):
        own = [row for row in live if row["owner"] == account.name]
        with database.reading() as connection:
            stored = stored_bytes(connection, account.name)
        used.append(
            PersonUse(
                account,
                limits_of(database, account.name, usual),
                [row["name"] for row in own if row["state"] == "running"],
                sum(row["state"] == "queued" for row in own),
                today.get(account.name, Spending()),
                stored,
            )
        )
    return used


@requires("administer")
def list_tokens(service: AppService, person: str = "") -> Sequence[tokens.ApiToken]:
    """The tokens of a person, or of all, without their secrets."""
    return tokens.read_tokens(service.database, person)


@requires("administer")
def list_audit(service: AppService, limit: int, before: int = 0) -> Sequence[audit.AuditEntry]:
    """Who changed what, the newest first; `before` an id."""
    return audit.read_audit(service.database, limit, before)


@requires("administer")
def set_limits(service: AppService, name: str, limits: UserLimits, priority: int) -> None:
    """Give a person limits and a priority; raises `SpecError` as `write_limits` does."""
    write_limits(service.database, name, limits, usual_limits(service.settings))
    set_person_priority(service.database, name, priority)
    stated = {each: value for each, value in asdict(limits).items() if value is not None}
    about: dict[str, audit.AuditValue] = {**stated, "priority": priority}
    audit.record(service.database, service.person, "set-limits", f"person {name}", **about)


@requires("manage_accounts")
def invite_person(service: AppService, name: str, role: Role) -> Invitation:
    """Make an account, and a link by which its person chooses a password."""
    account = people.add_person(service.database, name, role, by=service.person)
    return invite_again(service, account.name)


@requires("manage_accounts")
def invite_again(service: AppService, name: str) -> Invitation:
    """Make a new link for somebody with an account; the one before is void."""
    if service.settings.auth == "proxy":
        return Invitation(name)
    return Invitation(name, invitations.invite(service.database, name, by=service.person))


@requires("manage_accounts")
def withdraw_invitation(service: AppService, name: str) -> None:
    """Make the link of somebody void, and end their account if they never came."""
    invitations.withdraw(service.database, name, by=service.person)
    account = people.read_account(service.database, name)
    if not account.has_password and account.seen is None:  # nobody was ever here by this name
        people.remove_person(service.database, name, heir=None, by=service.person)


@requires("manage_accounts")
def set_role(service: AppService, name: str, role: Role) -> None:
    """Give a person another role."""
    people.set_role(service.database, name, role, by=service.person)


@requires("manage_accounts")
def set_disabled(service: AppService, name: str, *, disabled: bool) -> None:
    """Let a person in no more, or again."""
    people.set_disabled(service.database, name, disabled=disabled, by=service.person)


@requires("manage_accounts")
def remove_person(service: AppService, name: str, heir: str | None) -> None:
    """End an account; what it has goes to the heir, without one it is deleted."""
    people.remove_person(service.database, name, heir=heir, by=service.person)


@requires("manage_accounts")
def revoke_token(service: AppService, token_id: int) -> None:
    """Let a token count no more."""
    tokens.revoke_token(service.database, token_id, by=service.person)


@requires("manage_accounts")
def sign_out_others(service: AppService) -> int:
    """End the sessions of everybody but of who does it; how many there were."""
    rows = service.database.rows("SELECT DISTINCT person FROM session ORDER BY person")
    others = [row["person"] for row in rows if row["person"] != service.person.name]
    return sum(sessions.end_sessions(service.database, name, by=service.person) for name in others)
