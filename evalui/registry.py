"""A registry is a dictionary with a good error."""

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from evalui.errors import UnknownName

T = TypeVar("T")


class Registry(Generic[T]):
    """Things by name; `kind` is what an error calls them.

    >>> modes: Registry[int] = Registry("mode")
    >>> _ = modes.register("cloze")(1)
    >>> modes["cloze"]
    1
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._entries: dict[str, T] = {}

    def register(self, name: str) -> Callable[[T], T]:
        """Return a decorator that stores a thing under `name`, which must be free."""

        def store(thing: T) -> T:
            assert name not in self._entries, f"{self.kind} {name!r} is registered twice"
            self._entries[name] = thing
            return thing

        return store

    def __getitem__(self, name: str) -> T:
        """The thing called `name`; raises `UnknownName` with the known names."""
        if name not in self._entries:
            known = ", ".join(sorted(self._entries)) or "none"
            raise UnknownName(
                "unknown-name",
                kind=self.kind,
                name=name,
                known=known,
            )
        return self._entries[name]

    def __contains__(self, name: object) -> bool:
        """Whether something is registered under `name`."""
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        """The names in the order they were registered."""
        return iter(self._entries)
