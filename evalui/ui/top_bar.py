"""The bar above every page: the brand, where one can go, language, theme and who is signed in."""

from urllib.parse import urlencode

from evalui.access import may
from evalui.app.gallery import read_gallery
from evalui.app.service import AppService
from evalui.messages import Messages
from evalui.report.html import Html, div, el, join, span
from evalui.report.icons import LOGO
from evalui.types import Language
from evalui.ui.components.disk_notice import disk_notice
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.widgets import language_links, theme_button
from evalui.ui.sharing.notices import notice_line

# In the order of the bar.
PLACES = ("evaluate", "runs", "results", "arena", "annotate", "compare", "models", "admin")
PAGES = ("runs", "models")  # the places that are pages of Gradio, each at its name
_WITHOUT_RUN = ("evaluate", "compare", "models", "admin")  # a link to these names no run


def takes_run(place: str) -> bool:
    """Whether a link to a place names the run that is shown."""
    return place not in _WITHOUT_RUN


def link_to(place: str, run: str = "") -> str:
    """The address of a place, of a run if one is named; relative to that of a language."""
    named = {"run": run} if run else {}
    if place in PAGES:
        return f"{place}?{urlencode(named)}" if named else place
    return f"?{urlencode(named | {'tab': place})}"


def top_bar(service: AppService, t: Messages, shown: str, form: Form) -> Html:
    """The bar of one person, and the notices below it; `form` holds the parameters of the page."""
    is_guest = service.person.is_guest  # who may go nowhere else
    brand = join(LOGO, t("app.name"))
    offered = () if is_guest else (name for name in PLACES if _offers(service, name))
    places = [_link(service, t, name, shown, form) for name in offered]
    bar = el(
        "header",
        span(brand, cls="brand") if is_guest else el("a", brand, cls="brand", href="./"),
        el("nav", *places, cls="tabs", aria_label=t("app.tabs")) if places else None,
        span(cls="space"),
        language_links(t, lambda language: _in_language(shown, form, language, direct=is_guest)),
        theme_button(t),
        _person_menu(service, t),
        cls="top",
    )
    busy = el("div", cls="busy", role="status", data_word=t("app.busy"))
    disk = disk_notice(service.settings.data_dir, t)
    notes = notice_line(service, t, shown, field_value(form, "run"))
    return div(bar, busy, disk, _gallery(service, t), notes, cls="ev")


def _gallery(service: AppService, t: Messages) -> Html | None:
    """What a gallery shows, a link each; nothing on any other server."""
    gallery = read_gallery(service.settings)
    if gallery is None:
        return None
    queries = {
        "orders": gallery.orders,
        "judged": gallery.judged,
        "people": gallery.people,
        "compared": gallery.compared,
    }
    links = (el("a", t(f"gallery.{name}"), href=f"?{query}") for name, query in queries.items())
    return el("nav", span(t("gallery.about")), *links, cls="gallery")


def _offers(service: AppService, name: str) -> bool:
    """Whether the person has this place; where one person has the server, nobody is managed."""
    is_shared = service.settings.auth != "token"
    return name != "admin" or (is_shared and may(service.person, "administer"))


def _link(service: AppService, t: Messages, name: str, shown: str, form: Form) -> Html:
    run = field_value(form, "run") if takes_run(name) else ""
    live = service.queued_runs() if name == "runs" else None
    is_page = name in PAGES
    return el(
        "a",
        t(f"tab.{name}"),
        el("i", live or "", data_live_count=True) if live is not None else None,
        href=link_to(name, run),
        id=f"tab-{name}-link",
        data_to=None if is_page else name,
        data_with_run=takes_run(name),
        aria_current="page" if name == shown else None,
    )


def _person_menu(service: AppService, t: Messages) -> Html | None:
    """Who is signed in, and the way out if it leads through this server."""
    auth, name = service.settings.auth, service.person.name
    if auth == "token" or not name or service.person.is_guest:
        return None
    own = el("a", name, href="../me/", title=t("account.title"))
    if auth == "proxy":
        return span(own, cls="person")
    out = el("button", t("sign_in.out"), cls="link")
    return el("form", own, out, cls="person", method="post", action="../account/sign-out")


def _in_language(shown: str, form: Form, language: Language, *, direct: bool = False) -> str:
    """The page in another language, by way of the address that keeps the choice."""
    place = f"../{language}/?" if direct else "../?"
    named = {"tab": shown} if shown in PAGES else {}
    return place + urlencode({"lang": language} | named | form | {"lang": language}, doseq=True)
