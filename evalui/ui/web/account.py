"""Your account: tokens for scripts, another password, signing out everywhere.

Plain forms that need no script, for who has an account and came by a browser: a token of a script
changes nothing here, so that one that was lost makes no other.
"""

from functools import partial

from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from evalui.accounts.people import set_password
from evalui.accounts.sessions import sign_out_everywhere
from evalui.accounts.sign_in import sign_in
from evalui.accounts.tokens import add_token, read_tokens, revoke_token
from evalui.app.service import AppService
from evalui.errors import AccountError, NotAllowed
from evalui.ui.components.format import format_time
from evalui.ui.web.documents import document
from evalui.ui.web.doors.sign_in import small_form
from evalui.ui.web.downloads import Route
from evalui.ui.web.languages import visitor_messages

_TOKEN_DAYS = (30, 90, 365)
_LABEL_LENGTH = 80  # characters


def add_account_page(app: FastAPI, service: AppService) -> None:
    """Add the route."""
    app.api_route("/me/", methods=["GET", "POST"])(_answer(service))


def _answer(service: AppService) -> Route:
    async def answer(request: Request) -> Response:
        _require_own(service)
        fields = await small_form(request)
        if fields is None:
            return PlainTextResponse("Too large.", 413)
        if request.method == "GET":
            return await run_in_threadpool(_page, service, request)
        return await run_in_threadpool(_change, service, request, fields)

    return answer


def _require_own(service: AppService) -> None:
    person = service.person
    if service.settings.auth == "token" or person.by_token or person.is_guest or not person.name:
        raise NotAllowed("not-your-account")


def _change(service: AppService, request: Request, fields: dict[str, str]) -> Response:
    """Do what a form states; the page again with what is shown once, or with what is wrong."""
    database, person = service.database, service.person
    try:
        match fields.get("do"):
            case "token":
                return _page(service, request, secret=_new_token(service, fields))
            case "revoke":
                _revoke(service, fields.get("id", ""))
            case "password":
                _change_password(service, request, fields)
                return RedirectResponse("../", 303)
            case "sign-out":
                sign_out_everywhere(database, person.name, by=person)
                return RedirectResponse("../", 303)
            case _:
                pass
    except AccountError as error:
        return _page(service, request, error=error)
    return RedirectResponse("./", 303)


def _new_token(service: AppService, fields: dict[str, str]) -> str:
    days = fields.get("days", "")
    person = service.person
    return add_token(
        service.database,
        person.name,
        by=person,
        scope="write" if fields.get("scope") == "write" else "read",
        label=fields.get("label", "")[:_LABEL_LENGTH],
        days=int(days) if days in map(str, _TOKEN_DAYS) else _TOKEN_DAYS[0],
    )


def _revoke(service: AppService, token_id: str) -> None:
    for token in read_tokens(service.database, service.owner):
        if str(token.id) == token_id:
            revoke_token(service.database, token.id, by=service.person)


def _change_password(service: AppService, request: Request, fields: dict[str, str]) -> None:
    """Take another password from who knows the one before; raises `AccountError`."""
    if service.settings.auth != "password":
        raise NotAllowed("not-your-account")
    address = request.client.host if request.client else ""
    name = service.owner
    sign_in(service.database, name, fields.get("old", ""), address=address)
    set_password(service.database, name, fields.get("password", ""), by=service.person)


def _page(
    service: AppService, request: Request, *, secret: str = "", error: AccountError | None = None
) -> Response:
    t, person = visitor_messages(request, service.settings.language), service.person
    return document(
        request,
        t,
        "web/account.html",
        t("account.title"),
        status=400 if error else 200,
        home="../",
        about=person.name,
        problem=t.translate(error.sentence) if error else "",
        secret=secret,
        tokens=read_tokens(service.database, service.owner),
        when=partial(format_time, t),
        scopes={scope: t(f"account.scope.{scope}") for scope in ("read", "write")},
        days={str(n): t("share.days", n=n) for n in _TOKEN_DAYS},
        by_password=service.settings.auth == "password",
    )
