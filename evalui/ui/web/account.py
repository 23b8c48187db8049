"""Your account: notes when runs end, tokens for scripts, another password, signing out everywhere.

Plain forms that need no script, for who has an account and came by a browser: a token of a script
changes nothing here, so that one that was lost makes no other.
"""

from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from evalui.accounts.notes.preferences import NotePreferences, read_preferences, write_preferences
from evalui.accounts.people import set_password
from evalui.accounts.sessions import sign_out_everywhere
from evalui.accounts.sign_in import sign_in
from evalui.accounts.tokens import add_token, read_tokens, revoke_token
from evalui.app.service import AppService
from evalui.errors import AccountError, NotAllowed
from evalui.messages import Messages
from evalui.report.html import Child, Html, div, el
from evalui.ui.components.format import format_time
from evalui.ui.components.widgets import field, hidden, note, select, table, titled
from evalui.ui.web.documents import plain_answer
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
            case "notes":
                chosen = NotePreferences(
                    fields.get("webhook", "").strip(), fields.get("mail", "").strip()
                )
                hosts = service.settings.webhook_hosts
                write_preferences(database, chosen, hosts=hosts, by=person)
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
    by_password = service.settings.auth == "password"
    main = el(
        "main",
        el("h1", t("account.title")),
        el("p", " · ".join([person.name, *sorted(person.teams)]), cls="dim"),
        div(note("bad", t.translate(error.sentence)), role="alert") if error else None,
        _notes(service, t),
        _tokens(service, t, secret),
        _password(t) if by_password else None,
        _form("sign-out", t("account.out"), cls="btn") if by_password else None,
        cls="page stack account",
    )
    status = 400 if error else 200
    return plain_answer(request, t, t("account.title"), main, status=status, home="../")


def _notes(service: AppService, t: Messages) -> Html:
    chosen = read_preferences(service.database, service.owner)
    hosts, mails = service.settings.webhook_hosts, service.settings.smtp_url.get_secret_value()
    known = (
        t("account.hosts", names=t("list.comma").join(hosts)) if hosts else t("account.no_hosts")
    )
    return titled(
        t("account.notes"),
        el("p", t("account.notes_about"), cls="dim"),
        _form(
            "notes",
            t("account.keep"),
            field(t("account.webhook"), _input("webhook", "url", chosen.webhook), hint=known),
            field(
                t("account.mail"),
                _input("mail", "email", chosen.mail),
                hint=None if mails else t("account.no_mail"),
            ),
        ),
    )


def _tokens(service: AppService, t: Messages, secret: str) -> Html:
    rows = [
        [
            el("b", token.label or f"{token.id}"),
            t(f"account.scope.{token.scope}"),
            format_time(t, token.used) if token.used else t("account.unused"),
            format_time(t, token.expires) if token.expires else "",
            _form("revoke", t("account.revoke"), hidden("id", str(token.id)), cls="link"),
        ]
        for token in read_tokens(service.database, service.owner)
    ]
    scopes = {scope: t(f"account.scope.{scope}") for scope in ("read", "write")}
    days = {str(n): t("share.days", n=n) for n in _TOKEN_DAYS}
    once = div(el("p", t("account.once")), el("code", secret, cls="mono"), cls="note ok secret")
    return titled(
        t("account.tokens"),
        el("p", t("account.tokens_about"), cls="dim"),
        once if secret else None,
        table([t(key) for key in _HEADS], rows) if rows else None,
        _form(
            "token",
            t("account.make"),
            div(
                field(t("account.label"), _input("label", "text", "")),
                field(t("account.head.scope"), select("scope", scopes, "read")),
                field(t("account.head.until"), select("days", days, str(_TOKEN_DAYS[0]))),
                cls="fields",
            ),
        ),
    )


_HEADS = (
    "account.head.label",
    "account.head.scope",
    "account.head.used",
    "admin.link_column.ends",
    "account.head.change",
)


def _password(t: Messages) -> Html:
    old = _input("old", "password", "", autocomplete="current-password", required=True)
    new = _input("password", "password", "", autocomplete="new-password", required=True)
    return titled(
        t("account.password"),
        el("p", t("account.password_about"), cls="dim"),
        _form(
            "password",
            t("account.password_set"),
            div(field(t("account.old"), old), field(t("account.new"), new), cls="fields"),
        ),
    )


def _form(do: str, word: str, *children: Child, cls: str = "btn") -> Html:
    return el(
        "form", hidden("do", do), *children, el("button", word, cls=cls), method="post", action=""
    )


def _input(name: str, type_: str, value: str, **attributes: str | bool) -> Html:
    return el("input", type=type_, name=name, value=value, **attributes)
