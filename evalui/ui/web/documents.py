"""What surrounds pages: the head of Gradio's, and documents of what is no page of the screen."""

import hashlib
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import HTMLResponse

from evalui.messages import LANGUAGES, Messages, messages
from evalui.report.render.page import CHART_SCRIPTS, chart_words
from evalui.shipped_files import ASSETS
from evalui.types import Language
from evalui.ui.components.format import DOCUMENT_LANGUAGES
from evalui.ui.components.templates import fill
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
_SCRIPTS = (
    *_AT_ONCE,
    "js/page.js",
    "js/files.js",
    "js/form.js",
    "js/lists.js",
    "js/compare.js",
    "js/formulas.js",
    "js/ballot.js",
    "js/live.js",
    "js/notices.js",
    "js/copy.js",
    "js/images.js",
    "js/pictures.js",
)


def _for_scripts(language: Language) -> dict[str, str]:
    """What the scripts of charts and pictures read of the body of a page."""
    t = messages(language)
    return {
        "data-image": t("app.image"),
        "data-image-copied": t("app.image_copied"),
        "data-picture-close": t("picture.close"),
        "data-plotly": _versioned(CHART_SCRIPTS[0]),
        **chart_words(t),
    }


def document(
    request: Request,
    t: Messages,
    template: str,
    title: str,
    *,
    status: int = 200,
    home: str = "",
    **values: Any,
) -> HTMLResponse:
    """A document of our look that is no page of the application: a sign-in form, for instance.

    The template extends "web/document.html", whose brand leads to `home`, if that is stated.
    """
    page = fill(
        template,
        t=t,
        title=title,
        lang=DOCUMENT_LANGUAGES[t.language],
        home=home,
        languages=LANGUAGES,
        in_language=partial(_in_language, request),
        **_head(_PLAIN_SHEETS, _AT_ONCE[:1]),
        **values,
    )
    answer = HTMLResponse(page, status)
    keep_language(request, answer)
    return answer


def _in_language(request: Request, language: Language) -> str:
    return "?" + urlencode({**request.query_params, PARAMETER: language})


@cache
def page_head() -> bytes:
    """What stands in the head of a page of Gradio: our style sheets, and the theme at once."""
    return fill("web/head.html", **_head(_PAGE_SHEETS, _SCRIPTS)).encode()


@cache
def page_body(language: Language) -> bytes:
    """The beginning of the body of a page of Gradio, with what our scripts read of it."""
    return fill("web/body.html", data=_for_scripts(language)).encode()


def _head(sheets: tuple[str, ...], scripts: tuple[str, ...]) -> dict[str, Any]:
    return {"sheets": sheets, "scripts": scripts, "at_once": _AT_ONCE, "versioned": _versioned}


@cache
def _versioned(path: str) -> str:
    """The address of a file of ours, with what tells its versions apart in caches."""
    content = hashlib.sha256((ASSETS / Path(path)).read_bytes()).hexdigest()
    return f"../static/{path}?{content[:8]}"
