"""Who may do what: the one decision of a box that people share.

Everything that belongs to somebody is an `Owned`; everybody who sends a request is a `Person`.
Which pages and routes require which deed stands with these; `may` alone answers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from evalui.errors import NotAllowed

Role = Literal["reader", "annotator", "operator", "admin"]
ROLES: tuple[Role, ...] = ("reader", "annotator", "operator", "admin")  # each may what those before
Scope = Literal["read", "write"]
Deed = Literal["see", "annotate", "change", "start", "add_models", "administer", "manage_accounts"]

DEEDS_WITH_A_THING: tuple[Deed, ...] = ("see", "annotate", "change")

LOCAL = "local"  # the owner of everything on a server that one person uses


@dataclass(frozen=True, slots=True)
class _Requirement:
    """What a deed requires. `by_token`: the token of a script may do it, too."""

    role: Role
    by_token: bool = False


_REQUIREMENTS: Mapping[Deed, _Requirement] = {
    "see": _Requirement("reader", by_token=True),
    "annotate": _Requirement("annotator", by_token=True),
    "change": _Requirement("annotator", by_token=True),
    "start": _Requirement("annotator", by_token=True),
    "add_models": _Requirement("operator", by_token=True),
    # The queue, limits, and what there is to see of people.
    "administer": _Requirement("admin", by_token=True),
    # Accounts, roles, invitations, sessions and tokens: a token that was lost must become no
    # password, no other token, and no more rights.
    "manage_accounts": _Requirement("admin"),
}


@dataclass(frozen=True, slots=True)
class Person:
    """Who sends a request.

    `by_token`: a script sends it with a token of theirs; one with `scope` "read" sees and does
    nothing else. A guest came by the link of one run, `guest_of`, and may only vote on it. Nobody
    at all has the name "".
    """

    name: str
    role: Role = "reader"
    scope: Scope = "write"
    guest_of: str = ""
    by_token: bool = False

    @property
    def is_guest(self) -> bool:
        """Whether the person has no account here."""
        return bool(self.guest_of)


@dataclass(frozen=True, slots=True)
class Owned:
    """What belongs to somebody: `users`, or `everyone`, see it as well, which is to use a model;
    `voters` see it and vote on it.
    """

    owner: str
    run: str = ""  # its id, if it is a run
    users: frozenset[str] = frozenset()
    voters: frozenset[str] = frozenset()
    everyone: bool = False


LOCAL_PERSON = Person(LOCAL, "admin")  # whoever is alone on a server may everything
ANONYMOUS = Person("", scope="read")


def may(person: Person, deed: Deed, thing: Owned | None = None) -> bool:
    """Whether a person may do a deed: at all, or with this thing.

    An owner may do with a thing what their role may at all, an administrator with every thing; who
    is named, what they are named for. Nobody but an owner and an administrator may change a thing,
    which includes naming others.
    """
    if person.is_guest:
        return deed == "annotate" and thing is not None and thing.run == person.guest_of
    if not person.name or (person.scope == "read" and deed != "see"):
        return False
    required = _REQUIREMENTS[deed]
    if person.by_token and not required.by_token:
        return False
    if ROLES.index(person.role) < ROLES.index(required.role):
        return False
    if thing is None or person.role == "admin" or thing.owner == person.name:
        return True
    if deed == "see":
        return thing.everyone or person.name in thing.users | thing.voters
    return deed == "annotate" and person.name in thing.voters


def require(person: Person, deed: Deed, thing: Owned | None = None) -> None:
    """Raise `NotAllowed` unless the person may do the deed."""
    if not may(person, deed, thing):
        raise NotAllowed(f"not-allowed-{deed}".replace("_", "-"))
