"""A page of one paragraph in each language, for answers that the application itself cannot give."""

from collections.abc import Callable

from evalui.messages import LANGUAGES, Messages, messages
from evalui.ui.components.html import Html, el, join

_STYLE = Html(
    "<style>:root{color-scheme:light dark}"
    "body{font:1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}"
    "h1{font-size:1.25rem}p{overflow-wrap:anywhere}</style>"
)
_CHARSET = Html('<meta charset="utf-8"><meta name="viewport" content="width=device-width">')


def plain_page(title: str, about: Callable[[Messages], str]) -> Html:
    """The document; `title` is the key of the headings, `about` gives the text below each."""
    sections = (
        el("section", el("h1", t(title)), el("p", *_code_spans(about(t))), lang=language)
        for language, t in ((language, messages(language)) for language in LANGUAGES)
    )
    head = el("head", _CHARSET, el("title", messages("en")(title)), _STYLE)
    return join(Html("<!doctype html>"), el("html", head, el("body", *sections), lang="en"))


def _code_spans(said: str) -> list[Html | str]:
    """The text with what stands between backticks as code."""
    return [el("code", part) if place % 2 else part for place, part in enumerate(said.split("`"))]
