"""The small parts every page is made of, with their icons. Text comes in translated."""

from collections.abc import Mapping

from evalui.messages import Messages
from evalui.report.html import Html
from evalui.types import RunState
from evalui.ui.components.templates import macro

RUN_STATE_KINDS: Mapping[RunState, str] = {
    "queued": "na",
    "running": "go",
    "done": "ok",
    "failed": "bad",
    "cancelled": "warn",
}


def heading(text: str, level: int = 2) -> Html:
    """A heading."""
    return macro("widgets.html", "heading", text, level)


def page_head(title: str, below: Html | str = "", beside: Html | str = "") -> Html:
    """The one H1 of a page, what stands below it, and a button at the right."""
    return macro("widgets.html", "page_head", title, below, beside)


def status(kind: str, word: str) -> Html:
    """A state: its colour always comes with its icon and word."""
    return macro("icons.html", "status", kind, word)


def model_name(name: str, place: int, baseline: bool) -> Html:
    """A model with its marker, the same everywhere in a run."""
    return macro("icons.html", "model_name", name, place, baseline)


def note(kind: str, text: str) -> Html:
    """A sentence that must be seen; `kind` is ok, warn, bad or na."""
    return macro("widgets.html", "note", kind, text)


def alert(kind: str, text: str) -> Html | None:
    """A note that is read out at once; None without a text."""
    return macro("widgets.html", "alert", kind, text) if text else None


def done(text: str) -> Html:
    """That something was done, which is read out at once too."""
    return macro("widgets.html", "alert", "ok", text, role="status")


def link(word: str, href: str, *, cls: str = "btn") -> Html:
    """A way to another page that looks like a button."""
    return macro("widgets.html", "link", word, href, cls)


def run_state(t: Messages, state: RunState) -> Html:
    """The state of a run in a word."""
    return status(RUN_STATE_KINDS[state], t(f"runstate.{state}"))
