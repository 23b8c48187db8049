"""Guests of a run at every door: which cookie is whose, and the few addresses they may open.

A guest has a cookie for each link they came by. What they do is restricted further by the deeds
that their person may do: `annotate`, on that run.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from urllib.parse import parse_qsl, urlsplit

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.types import Scope

from evalui.access import ANONYMOUS, Person
from evalui.accounts.guests import person_of_guest
from evalui.accounts.secrets import digest_of
from evalui.store.connection import Database
from evalui.ui.top_bar import PAGES
from evalui.web.address import cookie_name
from evalui.web.middleware import route_of

_COOKIE = "evalui-guest-"
_MOST_COOKIES = 8  # that are looked at
_OPEN = re.compile(r"/[a-z]{2}/(?P<rest>.*)")  # of which `Doors` let little through
_FILES = "/static/"
_PICTURE = re.compile(r"/pictures/(?P<run>[^/]+)/[^/]+")
_BALLOT = "annotate"  # the page of it; in old links, the tab
_PARAMETERS = frozenset({"run", "lang"})  # of a ballot


def guest_cookie(link: str) -> str:
    """The name of the cookie of those who came by a link."""
    return _COOKIE + digest_of(link)[:12]


def find_guest(database: Database, scope: Scope) -> Person | None:
    """Whose request this is, None if no guest sends it or guests may not open the address.

    Raises:
        StoreError: the store cannot be read.
    """
    headers = Headers(scope=scope)
    cookies = cookie_parser(headers.get("cookie", ""))
    ours = cookie_name(scope, _COOKIE)
    secrets = [value for name, value in cookies.items() if name.startswith(ours)]
    route, page = route_of(scope), _OPEN.fullmatch(route_of(scope))
    if secrets and route.startswith(_FILES):
        return ANONYMOUS  # files of the program, the same for everybody
    picture = _PICTURE.fullmatch(route)
    is_closed = page is None or page["rest"] in set(PAGES) - {_BALLOT}
    if not secrets or (is_closed and not picture):
        return None
    known = (person_of_guest(database, secret) for secret in secrets[:_MOST_COOKIES])
    guests = [one for one in known if one is not None]
    if picture:
        return next((one for one in guests if one.guest_of == picture["run"]), None)
    assert page, "what is no page is closed"
    is_page = page["rest"] in ("", _BALLOT)
    if not is_page and scope["method"] != "POST":  # Gradio's files and what its page is
        return next(iter(guests), None)
    return _of_ballot(guests, *_opened(scope, headers))


def _opened(scope: Scope, headers: Headers) -> tuple[str, dict[str, str]]:
    """The page that is opened, or that sends something, and its parameters."""
    path, query = route_of(scope), scope.get("query_string", b"").decode("latin-1")
    if scope["method"] == "POST":
        path = query = ""
        with suppress(ValueError):  # half an address in brackets
            sent_by = urlsplit(headers.get("referer", ""))
            path, query = sent_by.path, sent_by.query
    return path.rpartition("/")[2], dict(parse_qsl(query, keep_blank_values=True))


def _of_ballot(guests: Sequence[Person], page: str, parameters: Mapping[str, str]) -> Person | None:
    """The guest of the run that a page is about, if it is a ballot."""
    known = {name: value for name, value in parameters.items() if name != "tab"}
    if _BALLOT not in (page, None if page else parameters.get("tab")):
        return None
    if not known.keys() <= _PARAMETERS:
        return None
    return next((one for one in guests if one.guest_of == known.get("run")), None)
