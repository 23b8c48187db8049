"""Who looks at the Annotate page, and at what."""

from dataclasses import dataclass
from urllib.parse import urlencode

from evalui.accounts.guests import GUEST
from evalui.app.service import AppService
from evalui.report.html import Html
from evalui.store.runs import RunRow
from evalui.ui.components.form import PANEL, Form, field_value
from evalui.ui.components.templates import fill

NAME_LENGTH = 60


@dataclass(frozen=True, slots=True)
class Voter:
    """Who votes: `name` as it is kept with votes, "" before it is `stated` on the page.

    It is stated where nobody has an account; else it is that of the account or of the guest.
    """

    name: str
    stated: bool = True
    guest: bool = False

    @property
    def shown_name(self) -> str:
        """The name without the mark of guests."""
        return self.name.removeprefix(GUEST) if self.guest else self.name


@dataclass(frozen=True, slots=True)
class Visit:
    """One event of a visitor: their use cases, the parameters of the address, and who they are."""

    service: AppService
    form: Form
    voter: Voter

    @property
    def run_id(self) -> str:
        """The run that the address names, "" for none."""
        return field_value(self.form, "run")

    def require_run(self) -> None:
        """Raise `UnknownRun` unless the address names a run that they may see or vote on."""
        self.service.run(self.run_id, "annotate")

    @property
    def renames(self) -> bool:
        """Whether the address is that of another name."""
        return self.voter.stated and field_value(self.form, PANEL) == "name"


def voter_of(service: AppService, stated: object) -> Voter:
    """Whoever has an account or came as a guest votes as that; all others state a name."""
    person = service.person
    if service.settings.auth != "token" or person.is_guest:
        return Voter(person.name, stated=False, guest=person.is_guest)
    name = stated.strip()[:NAME_LENGTH] if isinstance(stated, str) else ""
    return Voter("" if name.startswith(GUEST) else name)


def page_address(run: RunRow | None, **more: str) -> str:
    """The page of a run, or of all; `more` are further parameters."""
    query = ({"run": run.id} if run else {}) | more
    return f"annotate?{urlencode(query)}" if query else "annotate"


def rename_address(visit: Visit, run: RunRow | None, pair: str = "") -> str:
    """Where another name is stated, "" where none can be; the `pair` in view stays."""
    kept = {"pair": pair} if pair else {}
    return page_address(run, **kept, **{PANEL: "name"}) if visit.voter.stated else ""


@dataclass(frozen=True, slots=True)
class Way:
    """A link that looks like a button: to another page, or to a file that is `saved`."""

    word: str
    href: str
    saved: bool = False


def ways(*links: Way | None) -> Html:
    """Links beside each other."""
    return fill("annotate/links.html", links=[link for link in links if link])


def leads(visit: Visit, run: RunRow) -> bool:
    """Whether they may change the run, and so see and lead its voters."""
    return "change" in visit.service.deeds(run)
