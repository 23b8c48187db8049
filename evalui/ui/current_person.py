"""Who sends the request that is being answered: set by the door, read for routes and the log.

Events of Gradio, some of which run in tasks of their own, read it from their request.

It hands the person on to the use cases of `app`, which read it nowhere themselves.
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from evalui.access import Person

_person: ContextVar[Person | None] = ContextVar("_person", default=None)


@contextmanager
def acting_as(person: Person) -> Generator[None]:
    """Within, and in the threads and tasks begun here, requests are this person's."""
    token = _person.set(person)
    try:
        yield
    finally:
        _person.reset(token)


def current_person() -> Person | None:
    """Who sends the request, None outside of one."""
    return _person.get()
