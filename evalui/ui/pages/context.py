"""What every page has: its language, and the use cases of whoever sends an event."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evalui.app.service import AppService
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.ui.components.form import Form
from evalui.ui.published import PublishedRuns
from evalui.ui.top_bar import top_bar
from evalui.web.middleware import sender_of

if TYPE_CHECKING:  # the pages are made once it has been imported
    import gradio as gr

# How every event of a page is sent: its values as they are, past the queue, for no other client.
EVENTS: dict[str, Any] = {
    "queue": False,
    "show_progress": "hidden",
    "api_visibility": "private",
    "preprocess": False,
}
# How `gr.render` draws a document, on the events that it names.
DRAWING: dict[str, Any] = {"queue": False, "show_progress": "hidden"}


@dataclass(frozen=True, slots=True)
class SharedAnswer:
    """Which answer serves several: what names it among those of its listener, and its version.

    `sent` replaces data of the event that has it made.
    """

    name: Hashable
    version: Hashable
    sent: Mapping[str, str] = field(default_factory=dict[str, str])


# What an event of these data and fields shares for the person of a service, None if nothing.
SharedBy = Callable[[AppService, Mapping[str, object], Sequence[object]], SharedAnswer | None]


def _nothing() -> None:
    """Nothing is to be started."""


@dataclass(frozen=True, slots=True)
class PageContext:
    """One language of the application.

    `warm` starts what whoever starts a run may soon need. `published` is one for all languages.
    """

    service_of_all: AppService
    t: Messages
    warm: Callable[[], None] = _nothing
    published: PublishedRuns = field(default_factory=PublishedRuns)
    shared: dict[Callable[..., Any], SharedBy] = field(default_factory=dict[Any, Any])

    def share(self, listeners: Sequence[Callable[..., Any]], by: SharedBy) -> None:
        """Let what these listeners answer be made once for all to whom `by` gives the same."""
        self.shared.update(dict.fromkeys(listeners, by))

    def service(self, request: "gr.Request", *, ballot_of: str = "") -> AppService:
        """The use cases of who sends an event; guests of the run `ballot_of` have it, too.

        Raises:
            NotAllowed: they may not look at anything.
        """
        assert request.request is not None, "an event comes by a request"
        service = self.service_of_all.acting_for(sender_of(request.request.scope))
        if ballot_of and service.person.is_guest:
            service.require("annotate", ballot_of)
        else:
            service.require("see")
        return service

    def bar(self, service: AppService, page: str, form: Form) -> Html:
        """The bar above a page whose address has these parameters."""
        return top_bar(service, self.t, page, form)
