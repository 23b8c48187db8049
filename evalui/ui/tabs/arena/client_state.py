"""What the browser knows of the Arena tab between two events."""

from typing import NamedTuple, Self

from evalui.ui.components.form import dump_client_state, load_client_state


class ArenaClientState(NamedTuple):
    """What is shown, kept in the browser as text.

    `place` is the arena's in the run, `revision` the run's, `sub` the open view, `filled` the
    views that show that revision. While the run goes on, nothing is drawn again before
    `refresh_after` (seconds since 1970): a large arena takes longer to work out than verdicts take
    to come in.
    """

    run: str = ""
    place: int = 0
    revision: int = -1
    sub: str = "overall"
    filled: tuple[str, ...] = ()
    refresh_after: float = 0.0

    def dump(self) -> str:
        """The value of the hidden field."""
        return dump_client_state(self)

    @classmethod
    def load(cls, text: str) -> Self:
        """The inverse; a page that has seen nothing holds an empty field.

        Raises:
            KeptError: the text is something else.
        """
        return load_client_state(cls, text)
