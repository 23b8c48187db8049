"""The bar above every page: the brand, where one can go, language, theme and who is signed in."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlencode

from evalui.access import may
from evalui.app.evaluations import count_live_runs
from evalui.app.gallery import read_gallery
from evalui.app.service import AppService
from evalui.messages import LANGUAGES, Messages
from evalui.report.html import Html
from evalui.types import Language
from evalui.ui.components.disk_notice import disk_notice
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.templates import fill
from evalui.ui.sharing.notices import notice_line

# The pages, each at its name, in the order of the bar.
PAGES = ("evaluate", "runs", "results", "arena", "annotate", "compare", "models", "admin")
_OF_RUN = ("runs", "results", "annotate")  # a link to these names the run that is shown


@dataclass(frozen=True, slots=True)
class Place:
    """A link of the bar; `live` counts the runs that are going on."""

    name: str
    address: str
    live: int | None


def top_bar(service: AppService, t: Messages, shown: str, form: Form) -> Html:
    """The bar of one person, and the notices below it; `form` holds the parameters of the page."""
    person, auth = service.person, service.settings.auth
    gallery = _gallery(service)
    offered = () if person.is_guest else (name for name in PAGES if _offers(service, name))
    return fill(
        "top_bar.html",
        t=t,
        shown=shown,
        is_guest=person.is_guest,  # who may go nowhere else
        places=[_place(service, name, form) for name in offered],
        languages=LANGUAGES,
        in_language=partial(_in_language, shown, form, direct=person.is_guest),
        person="" if auth == "token" or person.is_guest else person.name,
        signs_out=auth != "proxy",  # else the way out does not lead through this server
        disk=disk_notice(service.settings.data_dir, t) or "",
        gallery=gallery,
        # Who looks at a gallery has begun none of its runs.
        notes="" if gallery else notice_line(service, t, shown, field_value(form, "run")) or "",
    )


def _gallery(service: AppService) -> Mapping[str, str]:
    """The addresses of what a gallery shows; none on any other server."""
    gallery = read_gallery(service.settings)
    if gallery is None:
        return {}
    return {
        "orders": gallery.orders,
        "judged": gallery.judged,
        "people": gallery.people,
        "compared": gallery.compared,
    }


def _offers(service: AppService, name: str) -> bool:
    """Whether the person has this place; where one person has the server, nobody is managed."""
    is_shared = service.settings.auth != "token"
    return name != "admin" or (is_shared and may(service.person, "administer"))


def _place(service: AppService, name: str, form: Form) -> Place:
    run = field_value(form, "run") if name in _OF_RUN else ""
    address = f"{name}?{urlencode({'run': run})}" if run else name
    return Place(name, address, count_live_runs(service) if name == "runs" else None)


def _in_language(shown: str, form: Form, language: Language, *, direct: bool = False) -> str:
    """The page in another language, by way of the address that keeps the choice."""
    place = f"../{language}/?" if direct else "../?"
    named = {"tab": shown} if shown in PAGES else {}
    return place + urlencode({"lang": language} | named | form | {"lang": language}, doseq=True)
