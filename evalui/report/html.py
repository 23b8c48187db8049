"""Markup as a type: whatever is not `Html` is escaped where a template puts it in."""


class Html(str):
    """Markup that is safe to send as it is; only templates make it (`evalui/report/markup.py`)."""

    __slots__ = ()

    def __html__(self) -> str:
        """Itself: templates take it for markup."""
        return self
