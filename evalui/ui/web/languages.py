"""The language of a visitor: chosen, kept in a cookie, or what the browser prefers."""

from fastapi import Request
from fastapi.responses import Response

from evalui.messages import LANGUAGES, Messages, language_of, messages, preferred_language
from evalui.types import Language

PARAMETER = "lang"
_COOKIE = "evalui-language"
_KEPT_S = 365 * 24 * 3600


def visitor_language(request: Request, default: str) -> Language:
    """The language chosen now or before, else what the browser prefers, else the server's."""
    chosen = request.query_params.get(PARAMETER) or request.cookies.get(_COOKIE)
    if chosen not in LANGUAGES:
        chosen = preferred_language(request.headers.get("accept-language", ""))
    return language_of(chosen, default)


def visitor_messages(request: Request, default: str) -> Messages:
    """The sentences of that language."""
    return messages(visitor_language(request, default))


def keep_language(request: Request, answer: Response) -> None:
    """Remember the language that is chosen by the address of the request, if one is."""
    chosen = request.query_params.get(PARAMETER, "")
    if chosen in LANGUAGES:
        path = request.scope.get("root_path") or "/"
        answer.set_cookie(_COOKIE, chosen, max_age=_KEPT_S, path=path, samesite="lax")
