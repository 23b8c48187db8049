"""Who sends a request: stated by the door of the server, read by what answers behind it."""

from collections.abc import MutableMapping
from typing import Any

from evalui.access import Person

_KEY = "evalui.person"  # of the scope of a request; mounted applications have it, too


def set_sender(scope: MutableMapping[str, Any], person: Person) -> None:
    """State who sends a request, in its own scope: the router adds to it what figures count by."""
    scope[_KEY] = person


def sender_of(scope: MutableMapping[str, Any]) -> Person | None:
    """Who sends a request, None where the door names nobody: it is whoever the server is of."""
    person = scope.get(_KEY)
    return person if isinstance(person, Person) else None
