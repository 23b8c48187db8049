"""What the browser knows of the Arena tab between two events."""

from typing import NamedTuple, Self

from evalui.ui.components.client_state import kept_text, read_kept


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
        return kept_text(self)

    @classmethod
    def read(cls, text: str) -> Self:
        """The inverse; a page that has seen nothing holds an empty field.

        Raises:
            KeptError: the text is something else.
        """
        return read_kept(cls, text)
