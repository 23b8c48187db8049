"""What the browser knows of the Arena tab between two events."""

import json
from typing import NamedTuple, Self


class Seen(NamedTuple):
    """What is shown, kept in the browser as text.

    `place` is the arena's in the run, `revision` the run's, `sub` the open view, `filled` the
    views that show that revision. While the run goes on, nothing is drawn again before `rest`
    (seconds since 1970): a large arena takes longer to work out than verdicts take to come in.
    """

    run: str = ""
    place: int = 0
    revision: int = -1
    sub: str = "overall"
    filled: tuple[str, ...] = ()
    rest: float = 0.0

    def text(self) -> str:
        """The value of the hidden field."""
        return json.dumps(self)

    @classmethod
    def read(cls, text: str) -> Self:
        """The inverse; a page that has seen nothing holds an empty field."""
        if not text:
            return cls()
        run, place, revision, sub, filled, rest = json.loads(text)
        return cls(run, place, revision, sub, tuple(filled), rest)
