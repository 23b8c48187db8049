"""What surrounds pages: the head of Gradio's, and documents of what is no page of the screen."""

import hashlib
from functools import cache
from pathlib import Path
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import HTMLResponse

from evalui.messages import Messages, messages
from evalui.report.html import Child, Html, div, el, join, span
from evalui.report.icons import LOGO
from evalui.report.render.page import CHART_SCRIPTS, chart_words
from evalui.shipped_files import ASSETS
from evalui.types import Language
from evalui.ui.components.format import DOCUMENT_LANGUAGES
from evalui.ui.components.widgets import language_links, theme_button
from evalui.ui.web.languages import PARAMETER, keep_language

_PAGE_SHEETS = (
    "css/tokens.css",
    "css/parts.css",
    "css/blocks.css",
    "css/pages.css",
    "css/open.css",
    "css/models.css",
    "css/evaluate.css",
    "css/runs.css",
    "css/admin.css",
    "css/annotate.css",
    "css/samples.css",
    "css/compare.css",
    "css/shell.css",
    "css/gradio.css",
    "css/documents.css",
)
_PLAIN_SHEETS = ("css/tokens.css", "css/parts.css", "css/shell.css", "css/sign_in.css")
# The first ones before anything is drawn: the theme, and what hides the tables beside charts.
_AT_ONCE = ("js/theme.js", "js/charts.js")
_SCRIPTS = (*_AT_ONCE, "js/notices.js", "js/copy.js", "js/images.js")
_ICON = "icons/evalui.svg"
_CHARSET = Html(
    '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
)


def _for_scripts(language: Language) -> dict[str, str]:
    """What the scripts of charts and pictures read of the body of a page."""
    t = messages(language)
    return {
        "data_image": t("app.image"),
        "data_image_copied": t("app.image_copied"),
        "data_plotly": _versioned(CHART_SCRIPTS[0]),
        **chart_words(t),
    }


def plain_answer(
    request: Request, t: Messages, title: str, main: Html, *, status: int = 200, home: str = ""
) -> HTMLResponse:
    """A document of our look that is no page of the application: a sign-in form, for instance.

    Its brand leads to `home`, if that is stated.
    """
    brand = el("a" if home else "span", LOGO, t("app.name"), cls="brand", href=home or None)
    languages = language_links(
        t, lambda each: "?" + urlencode({**request.query_params, PARAMETER: each})
    )
    bar = el("header", brand, span(cls="space"), languages, theme_button(t), cls="top")
    body = el("body", div(bar, main, cls="ev"))
    page = _whole(body, f"{title} – evalui", t.language, _PLAIN_SHEETS, _AT_ONCE[:1])
    answer = HTMLResponse(page, status)
    keep_language(request, answer)
    return answer


def title_page(
    request: Request, t: Messages, title: str, *children: Child, status: int = 200
) -> HTMLResponse:
    """Such an answer of one narrow column, whose title and heading are the sentence of a key."""
    main = el("main", div(el("h1", t(title)), *children), cls="sign-in")
    return plain_answer(request, t, t(title), main, status=status)


def _whole(
    body: Html, title: str, language: Language, sheets: tuple[str, ...], scripts: tuple[str, ...]
) -> Html:
    top = el("head", _CHARSET, el("title", title), *_head(sheets, scripts))
    return join(Html("<!doctype html>"), el("html", top, body, lang=DOCUMENT_LANGUAGES[language]))


@cache
def page_head() -> bytes:
    """What stands in the head of a page of Gradio: our style sheets, and the theme at once."""
    return join(*_head(_PAGE_SHEETS, _SCRIPTS)).encode()


@cache
def page_body(language: Language) -> bytes:
    """The beginning of the body of a page of Gradio, with what our scripts read of it."""
    return el("body", **_for_scripts(language)).removesuffix("></body>").encode()


@cache
def _head(sheets: tuple[str, ...], scripts: tuple[str, ...]) -> list[Html]:
    """The style sheets and scripts; versioned, so that they can be cached."""
    drawing = el("link", rel="icon", type="image/svg+xml", href=_versioned(_ICON))
    return [
        drawing,
        *(el("link", rel="stylesheet", href=_versioned(sheet)) for sheet in sheets),
        *(el("script", src=_versioned(script), defer=script not in _AT_ONCE) for script in scripts),
    ]


def _versioned(path: str) -> str:
    content = hashlib.sha256((ASSETS / Path(path)).read_bytes()).hexdigest()
    return f"../static/{path}?{content[:8]}"
