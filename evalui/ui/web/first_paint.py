"""What a page shows before Gradio draws it: its head, the bar, and what is made without Gradio.

Gradio makes a page by scripts, which takes a second; what it is told to put into the head comes by
a script, too. So the HTML of a page, and nothing else, is completed here.
"""

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evalui.app.service import AppService
from evalui.errors import EvaluiError
from evalui.messages import Messages, messages
from evalui.report.html import Html
from evalui.types import Language
from evalui.ui.components.form import Form, read_query
from evalui.ui.components.format import DOCUMENT_LANGUAGES
from evalui.ui.components.templates import fill
from evalui.ui.top_bar import PAGES, top_bar
from evalui.ui.web.documents import page_body, page_head
from evalui.web.middleware import route_of, sender_of

First = Callable[[AppService, Messages, Form], Html]


class FirstPaint:
    """Completes the HTML of pages; `first` gives what one shows at once, by its name."""

    def __init__(
        self,
        app: ASGIApp,
        languages: Collection[Language],
        service: AppService,
        first: Mapping[str, First],
    ) -> None:
        self.app, self.languages, self.service, self.first = app, languages, service, first

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; what comes back for a page has its beginning put in."""
        named, _, name = route_of(scope).removeprefix("/").partition("/")
        language: Language | None = next((each for each in self.languages if each == named), None)
        if scope["type"] != "http" or scope["method"] != "GET" or not language or name not in PAGES:
            await self.app(scope, receive, send)
            return
        start: Message = {}
        page = bytearray()

        async def completed(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
            if message["type"] != "http.response.body":
                return
            page.extend(message.get("body", b""))
            if message.get("more_body"):
                return
            body = bytes(page)
            if start["status"] == 200:
                query = scope.get("query_string", b"").decode("latin-1")
                form = read_query(query)
                acting = self.service.acting_for(sender_of(scope))
                shell = await run_in_threadpool(self._shell, acting, language, name, form)
                body = _complete(body, language, shell)
            MutableHeaders(scope=start)["content-length"] = str(len(body))
            await send(start)
            await send({"type": "http.response.body", "body": body})

        # What is compressed could not be completed.
        plain = [each for each in scope["headers"] if each[0] != b"accept-encoding"]
        await self.app({**scope, "headers": plain}, receive, completed)

    def _shell(self, service: AppService, language: Language, name: str, form: Form) -> Html:
        t, first = messages(language), self.first.get(name)
        bar = shown = Html("")
        with suppress(EvaluiError):  # the page itself says what is wrong
            bar = top_bar(service, t, name, form)
            shown = first(service, t, form) if first else shown
        return fill("shell.html", bar=bar, first=shown)


def _complete(page: bytes, language: Language, shell: Html) -> bytes:
    # After Gradio's own style sheets, and before its scripts make a component.
    page = page.replace(b"</head>", page_head() + b"</head>", 1)
    page = page.replace(b"<body", page_body(language), 1)
    page = page.replace(b"<gradio-app", shell.encode() + b"<gradio-app", 1)
    return page.replace(b'lang="en"', f'lang="{DOCUMENT_LANGUAGES[language]}"'.encode(), 1)
