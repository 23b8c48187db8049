"""Errors as application/problem+json: our sentence, in the language that a request prefers."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Request, params
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from evalui.access import Deed
from evalui.app.permissions import permission_of
from evalui.app.service import AppService
from evalui.errors import DataError, EvaluiError, SpecError, UnknownName
from evalui.messages import Messages, language_of, messages, preferred_language
from evalui.models.new_model import InvalidModelForm
from evalui.web.middleware import route_of, sender_of, status_of
from evalui.web.problems import problem_answer

MAX_BODY = 2**20  # bytes of a request without files
_MAX_DIGITS = 16  # of a length in bytes
_BY_STATUS = {404: "no-route", 405: "wrong-method", 400: "no-json-body"}


_UNKNOWN = (
    *("model-not-added", "no-upload-id", "no-person", "no-share", "no-token"),
    "limit-unknown-person",
)
# Errors whose class says less than their sentence.
_STATUS_BY_KEY = {
    **dict.fromkeys(("read-only", "models-not-yours"), 403),
    **dict.fromkeys(
        ("pair-gone", "pair-agreed", "voter-finished", "trials-gone", "request-key"),
        409,
    ),
    **dict.fromkeys(_UNKNOWN, 404),
    **dict.fromkeys(("body-too-large", "upload-too-large"), 413),
    "length-required": 411,
}


async def service_of(request: Request) -> AppService:
    """The service that the application was made with, for whoever sends the request."""
    return _service_for(request)


def _service_for(request: Request) -> AppService:
    service: AppService = request.app.state.service
    return service.acting_for(sender_of(request.scope))


async def messages_of(request: Request) -> Messages:
    """The sentences of the language that a request prefers, else of the server's."""
    preferred = preferred_language(request.headers.get("accept-language", ""))
    return messages(language_of(preferred, request.app.state.service.settings.language))


Service = Annotated[AppService, Depends(service_of)]
Words = Annotated[Messages, Depends(messages_of)]


@dataclass(frozen=True)
class Requirement:
    """What a route requires: a deed, and the name in its path of the run it is done to, if any.

    It is a dependency in name only, so that a route states it: FastAPI asks dependencies when it
    has read the body, and what is wrong with a body is nothing to tell who may not send it.
    """

    deed: Deed
    run: str = ""

    def __call__(self) -> None:
        """Nothing: `CheckedRoute` has looked."""


def requires(deed: Deed, run: str = "") -> params.Depends:
    """What a route requires, among its `dependencies`."""
    return params.Depends(Requirement(deed, run))


def permits(use_case: Callable[..., object]) -> params.Depends:
    """What a route requires that does one use case: what that declares."""
    declared = permission_of(use_case)
    if declared is None or declared.deed is None:
        raise TypeError(f"{use_case} declares no deed")
    return params.Depends(Requirement(declared.deed, declared.run))


class CheckedRoute(APIRoute):
    """A route that looks whether the sender may do its deeds before it reads anything else."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler behind the check; it raises as `AppService.require`."""
        handler = super().get_route_handler()
        declared = [each.dependency for each in self.dependencies]
        requirements = [each for each in declared if isinstance(each, Requirement)]

        def check(request: Request) -> None:
            service = _service_for(request)
            for each in requirements:
                service.require(each.deed, request.path_params[each.run] if each.run else "")

        async def checked(request: Request) -> Response:
            await run_in_threadpool(check, request)
            return await handler(request)

        return checked


def add_problems(api: FastAPI) -> None:
    """Have every error of the interface answered as a problem."""
    api.add_exception_handler(EvaluiError, _evalui_error)
    api.add_exception_handler(RequestValidationError, _invalid)
    api.add_exception_handler(HTTPException, _http_error)
    api.add_exception_handler(ClientDisconnect, _gone)


async def problem_of(request: Request, error: EvaluiError, status: int | None = None) -> Response:
    """An error as a problem."""
    t = await messages_of(request)
    # A name that a body holds is a wrong value, one in an address leads nowhere.
    is_place = isinstance(error, UnknownName) and request.method != "POST"
    otherwise = 404 if is_place else 422
    key = error.sentence.key.removeprefix("error.")
    code = status or _STATUS_BY_KEY.get(key) or status_of(error, otherwise)
    return problem_answer(code, key, t.translate(error.sentence))


async def _evalui_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, EvaluiError), "registered for nothing else"
    if isinstance(error, InvalidModelForm):
        place, reason = next(iter(error.faults.items()))
        error = SpecError("request-field", place=place, reason=reason)
    return await problem_of(request, error)


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError), "registered for nothing else"
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return await problem_of(request, SpecError("no-json-body"), 400)
    places = [part for part in first["loc"] if part != "body"]
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in places)
    reason = str(first["msg"]).removeprefix("Value error, ") + "."
    place = path.lstrip(".").encode(errors="replace").decode() or str(first["loc"][0])
    return await problem_of(request, SpecError("request-field", place=place, reason=reason))


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException), "registered for nothing else"
    key = _BY_STATUS.get(error.status_code, "no-json-body")
    values = {"method": request.method} if key == "wrong-method" else {}
    answer = await problem_of(request, SpecError(key, **values), error.status_code)
    answer.headers.update(error.headers or {})
    return answer


async def _gone(request: Request, error: Exception) -> Response:
    del request, error
    return Response(status_code=400)  # for logs alone: nobody is there to read it


class BodyLimitMiddleware:
    """Refuses a request that is larger than `MAX_BODY`, or does not state how large it is.

    `elsewhere` are routes that look for themselves.
    """

    def __init__(self, app: ASGIApp, elsewhere: tuple[str, ...]) -> None:
        self.app = app
        self.elsewhere = elsewhere

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer with a problem."""
        refusal: Response | None = None
        if scope["type"] == "http" and route_of(scope) not in self.elsewhere:
            request = Request(scope)
            try:
                check_length(request, MAX_BODY)
            except DataError as error:
                refusal = await problem_of(request, error)
        await (refusal or self.app)(scope, receive, send)


def check_length(request: Request, limit: int) -> None:
    """Make sure that a body is no larger than `limit` bytes.

    Raises:
        DataError: it is not, or may not be.
    """
    length = request.headers.get("content-length", "")
    if "transfer-encoding" in request.headers:
        raise DataError("length-required")
    if length and not (length.isdecimal() and len(length) < _MAX_DIGITS and int(length) <= limit):
        raise DataError("body-too-large", limit=f"{limit / 2**20:g} MB")
