"""The page behind a link for guests, `/vote/SECRET`: a name is stated, then voting begins."""

from functools import partial
from urllib.parse import urlencode

from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from evalui.accounts.guests import LONGEST_DAYS, admit_guest, person_of_guest, run_of_link
from evalui.app.service import AppService
from evalui.errors import AccountError
from evalui.messages import Messages
from evalui.ui.web.documents import document
from evalui.ui.web.doors.guests import guest_cookie
from evalui.ui.web.doors.sign_in import small_form
from evalui.ui.web.languages import visitor_messages
from evalui.web.address import cookie_name, keep_cookie

_KEPT_S = LONGEST_DAYS * 24 * 3600  # the cookie, which says nothing once its link is closed


def add_guest_pages(app: FastAPI, service: AppService) -> None:
    """Add the routes; whoever has the link may open them."""
    pages = _GuestPages(service)
    app.api_route("/vote/{secret}", methods=["GET", "POST"])(pages.answer)


class _GuestPages:
    def __init__(self, service: AppService) -> None:
        self._service = service

    async def answer(self, secret: str, request: Request) -> Response:
        """The form for a name; with one that is sent or was stated before, the first pair."""
        fields = await small_form(request)
        if fields is None:
            return PlainTextResponse("Too large.", 413)
        name = fields.get("name", "") if request.method == "POST" else None
        database = self._service.database
        try:
            run_id = await run_in_threadpool(run_of_link, database, secret)
        except AccountError as error:
            why = self._sentence(request, error)
            return self._page(request, "web/ended.html", "guest.ended", 404, problem=why)
        own = request.cookies.get(cookie_name(request.scope, guest_cookie(secret)), "")
        guest = await run_in_threadpool(person_of_guest, database, own) if own else None
        problem = ""
        if guest is None and name is not None:
            try:
                address = request.client.host if request.client else ""
                admit = partial(admit_guest, database, secret, name, address=address)
                own = await run_in_threadpool(admit)
            except AccountError as error:
                problem = self._sentence(request, error)
            else:
                return self._ballot(request, secret, run_id, own)
        if guest is not None:
            return self._ballot(request, secret, run_id, own)
        answer = self._form(request, name or "", problem)
        if not own:  # so that the style sheets of this page are sent
            self._keep(request, answer, secret, "-")
        return answer

    def _ballot(self, request: Request, secret: str, run_id: str, own: str) -> Response:
        page = f"annotate?{urlencode({'run': run_id})}"
        answer = RedirectResponse(f"../{self._messages(request).language}/{page}", 303)
        self._keep(request, answer, secret, own)
        return answer

    def _form(self, request: Request, name: str, problem: str) -> Response:
        status = 400 if problem else 200
        return self._page(
            request, "web/guest.html", "guest.title", status, name=name, problem=problem
        )

    def _page(
        self, request: Request, template: str, title: str, status: int, **values: str
    ) -> Response:
        t = self._messages(request)
        answer = document(request, t, template, t(title), status=status, **values)
        answer.headers["X-Robots-Tag"] = "noindex"
        return answer

    def _sentence(self, request: Request, error: AccountError) -> str:
        return self._messages(request).translate(error.sentence)

    def _messages(self, request: Request) -> Messages:
        return visitor_messages(request, self._service.settings.language)

    def _keep(self, request: Request, answer: Response, link: str, secret: str) -> None:
        keep_cookie(answer, request.scope, guest_cookie(link), secret, _KEPT_S)
