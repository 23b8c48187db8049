"""A piece of HTML as the text that a person reads, and whether there is a picture in it."""

import re
from typing import NamedTuple

_BLOCKS = frozenset(
    (
        *("p", "div", "br", "li", "ul", "ol", "tr", "table", "h1", "h2", "h3", "h4", "h5", "h6"),
        *("pre", "blockquote", "section", "article"),
    )
)
_PICTURES = frozenset(("img", "svg", "picture", "video", "audio", "object", "embed", "canvas"))
_SILENT = frozenset(("script", "style", "head", "title", "template"))
_RAISED = str.maketrans("0123456789+-=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ")
_LOWERED = str.maketrans("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎")
_SHIFTED = {
    "sup": (re.compile(r"[0-9+\-=()n]+"), _RAISED, "^"),
    "sub": (re.compile(r"[0-9+\-=()]+"), _LOWERED, "_"),
}
_MARKUP = re.compile(r"<[a-zA-Z/!]|&[#\w]+;")


class HtmlText(NamedTuple):
    """What a piece of HTML says; `has_picture`: it also shows something."""

    text: str
    has_picture: bool


def html_text(markup: str) -> HtmlText:
    """The text of a piece of HTML, with a line for each of its blocks."""
    if not _MARKUP.search(markup):
        return HtmlText(markup.strip(), has_picture=False)
    from html.parser import HTMLParser

    pieces: list[str] = []
    shown: list[str] = []
    silent: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
            if tag in _PICTURES:
                shown.append(tag)
            elif tag in _SILENT:
                silent.append(tag)
            elif tag in _SHIFTED:
                pieces.append(f"\0{tag}\0")
            elif tag in _BLOCKS:
                pieces.append("\n")
            elif tag in ("td", "th"):
                pieces.append(" ")

        def handle_endtag(self, tag: str) -> None:
            if tag in silent:
                silent.remove(tag)
            elif tag in _SHIFTED:
                pieces.append("\0\0")
            elif tag in _BLOCKS:
                pieces.append("\n")

        def handle_data(self, data: str) -> None:
            if not silent:
                pieces.append(data.replace("\0", ""))

    reader = Reader(convert_charrefs=True)
    reader.feed(markup)
    reader.close()
    text = re.sub("\0(sup|sub)\0([^\0]*)(?:\0\0)?", _shift, "".join(pieces)).replace("\0", "")
    lines = (" ".join(line.split()) for line in text.splitlines())
    return HtmlText("\n".join(filter(None, lines)), has_picture=bool(shown))


def _shift(match: re.Match[str]) -> str:
    """Raised and lowered characters as they are, or with a sign where there are no such ones."""
    letters, table, sign = _SHIFTED[match[1]]
    content = match[2].strip()
    if letters.fullmatch(content):
        return content.translate(table)
    return f"{sign}({content})" if len(content) > 1 else f"{sign}{content}" if content else ""
