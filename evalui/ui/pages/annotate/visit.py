"""Who looks at the Annotate page, and at what."""

from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote, urlencode

from evalui.accounts.guests import GUEST
from evalui.app.service import AppService
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.store.runs import RunRow
from evalui.ui.components.form import PANEL
from evalui.ui.components.templates import fill
from evalui.ui.screen import Screen

NAME_LENGTH = 60
_KEPT_NAME = "evalui-voter"  # the cookie with the name that was stated in this browser


@dataclass(frozen=True)
class Visit:
    """One drawing of the page: what it is drawn on, and the run that its address names, if any."""

    screen: Screen
    run: RunRow | None

    @property
    def t(self) -> Messages:
        """The words of the page."""
        return self.screen.t

    @property
    def service(self) -> AppService:
        """The use cases of who looks at it."""
        return self.screen.service

    @property
    def is_guest(self) -> bool:
        """Whether they came by a link to vote."""
        return self.service.person.is_guest

    @property
    def states_name(self) -> bool:
        """Whether who votes states a name: whoever has an account, or came as a guest, has one."""
        return self.service.settings.auth == "token" and not self.is_guest

    @cached_property
    def voter(self) -> str:
        """The name under which votes are kept, "" before one is stated."""
        if not self.states_name:
            return self.service.person.name
        kept = unquote(self.screen.cookies.get(_KEPT_NAME, ""))
        name = (self.screen.value("voter") or kept).strip()[:NAME_LENGTH]
        return "" if name.startswith(GUEST) else name

    @property
    def shown_name(self) -> str:
        """The same without the mark of guests."""
        return self.voter.removeprefix(GUEST) if self.is_guest else self.voter

    @property
    def leads(self) -> bool:
        """Whether they may change the run, and so see and lead its voters."""
        return self.run is not None and "change" in self.service.deeds(self.run)

    def address(self, **more: str) -> str:
        """The page of the run with these parameters alone."""
        return page_address(self.run, **more)

    def rename_address(self, pair: str = "") -> str:
        """Where another name is stated, "" where none can be; the `pair` in view stays."""
        kept = {"pair": pair} if pair else {}
        return self.address(**kept, **{PANEL: "name"}) if self.states_name else ""


def page_address(run: RunRow | None, **more: str) -> str:
    """The page of a run, or of all; `more` are further parameters."""
    query = ({"run": run.id} if run else {}) | more
    return f"annotate?{urlencode(query)}" if query else "annotate"


@dataclass(frozen=True, slots=True)
class Way:
    """A link that looks like a button: to another page, or to a file that is `saved`."""

    word: str
    href: str
    saved: bool = False


def ways(*links: Way | None) -> Html:
    """Links beside each other."""
    return fill("annotate/links.html", links=[link for link in links if link])
