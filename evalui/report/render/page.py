"""Blocks as HTML: a part of the screen, or one page for itself.

The page for itself loads nothing, runs nothing but what draws its charts, is light or dark as its
reader wishes, and can be printed; what is folded on the screen is open there, and links of the
screen are plain text. Without scripts the charts are tables.
"""

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any, cast

from evalui.messages import Messages, messages
from evalui.report.blocks import (
    Block,
    Bullets,
    Card,
    ChartBlock,
    Details,
    Heading,
    Headline,
    Link,
    Links,
    Notes,
    Paragraph,
    Table,
)
from evalui.report.charts.figures import PAGE_COLOURS, plotly_figure
from evalui.report.charts.values import ChartTable, chart_tables
from evalui.report.html import Html, div, el, join, span
from evalui.report.icons import status_icon
from evalui.report.render.tables import render_table
from evalui.report.render.text import merged_signature
from evalui.report.words import gap_after
from evalui.shipped_files import ASSETS
from evalui.types import Language

# Plotly for heat maps, lines and bars, and what draws charts with it.
CHART_SCRIPTS = ("js/plotly-cartesian.min.js", "js/charts.js")
# The style sheets that the screen has too, then that of a page for itself.
_SHEETS = ("css/tokens.css", "css/parts.css", "css/blocks.css", "css/page.css")


def render_blocks(
    blocks: Iterable[Block],
    *,
    filed: bool = False,
    titled: bool = False,
    suffix: str = "",
) -> Html:
    """The blocks below each other, sections that fold in one frame.

    In a `filed` page nothing is folded, and no link leads to the screen. A page that is `titled`
    has its title elsewhere, and no headline is one. `suffix` ends the ids of sections where a page
    renders twice.
    """
    drawn = _Renderer(filed, suffix, headline="h2" if filed or titled else "h1")
    return drawn.blocks(blocks)


def as_page(blocks: Sequence[Block], language: Language) -> bytes:
    """The blocks as one HTML file with its pictures inside."""
    title = next(block.text for block in blocks if isinstance(block, Heading))
    main = el("main", "\n", render_blocks(blocks, filed=True), "\n", cls="ev")
    page = document(title, language, _style(), main)
    # A lone half of a surrogate pair, which a model may write, has no form in UTF-8.
    return page.encode(errors="backslashreplace")


def document(
    title: str, language: Language, sheet: str, body: Html, *, indexed: bool = True
) -> str:
    """A page that loads nothing and runs nothing but our scripts of charts, whatever a model wrote.

    `sheet` is its style; one that is not `indexed` asks search engines to leave it alone.
    """
    scripts = _chart_scripts() if "<ev-plot " in body else ()
    allowed = " ".join(f"'sha256-{_digest(each)}'" for each in scripts) or "'none'"
    whole = el(
        "body", "\n", body, *map(_inline_script, scripts), "\n", **chart_words(messages(language))
    )
    tongue = "zh-CN" if language == "zh" else "en"
    robots = "" if indexed else '<meta name="robots" content="noindex, nofollow">\n'
    return (
        f'<!doctype html>\n<html lang="{tongue}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; img-src data: blob:; style-src 'unsafe-inline'; "
        f'script-src {allowed}">\n'
        f"{robots}<title>{escape(title)}</title>\n<style>{sheet}</style>\n</head>\n"
        f"{whole}\n</html>\n"
    )


def chart_words(t: Messages) -> Mapping[str, str]:
    """The words of the buttons of charts, as attributes of the page's body."""
    return {"data_chart_image": t("app.chart_image"), "data_chart_data": t("app.chart_data")}


@cache
def _chart_scripts() -> tuple[str, ...]:
    return tuple((ASSETS / Path(name)).read_text(encoding="utf-8") for name in CHART_SCRIPTS)


def _inline_script(script: str) -> Html:
    return Html(f"<script>{script}</script>")  # one of ours, which says no "</script>"


@cache
def _digest(script: str) -> str:
    """What a page's policy allows a script by."""
    return b64encode(sha256(script.encode()).digest()).decode()


@cache
def _style() -> str:
    return style(_SHEETS, dark="@media screen and (prefers-color-scheme: dark) { :root {\\1} }")


def style(sheets: Sequence[str], *, dark: str) -> str:
    """Style sheets as one, where `dark` says when the tokens of the dark theme, "\\1", hold.

    The screen has a switch with a script; a file follows what its reader's system prefers.
    """
    text = "\n".join((ASSETS / Path(name)).read_text(encoding="utf-8") for name in sheets)
    return re.sub(r"^\.dark \{([^}]*)\}", dark, text, flags=re.MULTILINE)


class _Renderer:
    def __init__(self, filed: bool, suffix: str, headline: str) -> None:
        self.filed = filed
        self.suffix = suffix
        self.headline = headline
        self._drawn: Counter[str] = Counter()

    def blocks(self, blocks: Iterable[Block]) -> Html:
        runs = groupby(blocks, lambda block: isinstance(block, Details))
        return join(
            *(
                el("section", *map(self.block, run), cls="disc")
                if folded
                else join(*map(self.block, run), separator="\n")
                for folded, run in runs
            ),
            separator="\n",
        )

    def block(self, block: Block) -> Html:
        match block:
            case Headline():
                return self._headline(block)
            case Links():
                return Html("") if self.filed else div(*map(_button, block.links), cls="acts")
            case Notes():
                return self._notes(block)
            case Table():
                return render_table(block, linked=not self.filed)
            case ChartBlock():
                return self._chart(block)
            case Card():
                return self._card(block)
            case Details():
                return self._details(block)
            case Bullets() if block.signatures and block.texts and not self.filed:
                return _signatures(block)
            case _:
                return _plain(block)

    def _headline(self, block: Headline) -> Html:
        lead = join(el("b", block.lead), gap_after(block.lead)) if block.lead else None
        sign = span(status_icon(block.kind), cls=block.kind) if block.kind else None
        support = el("p", sign, span(lead, block.support), cls="support")
        supported = block.lead or block.support
        # In large letters a line often ends between a number and its sign.
        text = block.text.replace(" %", "\u00a0%")
        return div(el(self.headline, text), support if supported else None, cls="headline")

    def _notes(self, block: Notes) -> Html:
        lines = (
            el(
                "li",
                status_icon(line.kind),
                span(
                    join(el("b", line.subject), " · ") if line.subject else None,
                    line.text,
                    join(gap_after(line.text), _link(line.link))
                    if line.link and not self.filed
                    else None,
                    cls="said",
                ),
                cls=line.kind,
            )
            for line in block.lines
        )
        return el("ul", *lines, cls="know")

    def _chart(self, block: ChartBlock) -> Html:
        head = el("h3", block.title) if block.title else None
        caption = el("p", block.caption, cls="meta") if block.caption else None
        links: Mapping[str, str] = {} if self.filed else block.links
        drawn = plotly_figure(block.chart, links=links, colours=PAGE_COLOURS)
        title = block.alt or block.title
        layout = cast("dict[str, Any]", drawn.to_dict()["layout"])
        size = f"width:{layout['width']}px;height:{layout['height']}px"
        plot = el(
            "ev-plot", data_figure=drawn.to_json(), role="img", aria_label=title or None, style=size
        )
        tables = (_same_as_table(table, links) for table in chart_tables(block.chart))
        same = div(*tables, cls="same")
        return el("figure", head, caption, div(plot, cls="drawn", tabindex=0), same)

    def _card(self, block: Card) -> Html:
        title = el("h2", block.title) if block.title else None
        aside = span(block.aside, cls="meta") if block.aside else None
        return el(
            "section",
            div(title, aside, cls="card-h") if title or aside else None,
            el("p", block.caption, cls="meta cap") if block.caption else None,
            self.blocks(block.blocks),
            cls="card",
        )

    def _details(self, block: Details) -> Html:
        sign = span(status_icon(block.kind), cls=block.kind) if block.kind else None
        return el(
            "details",
            el("summary", el("b", block.name), span(sign, block.finding, cls="finding")),
            div(self.blocks(block.blocks), cls="in"),
            id=self._id(block.key) if block.key else None,
            open=block.open or self.filed,
        )

    def _id(self, key: str) -> str:
        """The place of a section in the address: its key, numbered where it comes again."""
        self._drawn[key] += 1
        number = self._drawn[key]
        return key + self.suffix + (f"-{number}" if number > 1 else "")


def _same_as_table(table: ChartTable, links: Mapping[str, str]) -> Html:
    """What a chart shows, with the addresses of its cells, for keyboards and readers."""
    heads = el("tr", *(el("th", head) for head in table.heads))
    rows = (
        el(
            "tr",
            el("th", name),
            *(
                el("td", el("a", value.text, href=links[value.key]))
                if value.key in links
                else el("td", value.text)
                for value in values
            ),
        )
        for name, values in table.rows
    )
    caption = el("caption", table.title) if table.title else None
    return el("table", caption, el("thead", heads), el("tbody", *rows))


def _plain(block: Heading | Paragraph | Bullets) -> Html:
    match block:
        case Heading():
            return el(f"h{block.level}", block.text)
        case Paragraph():
            return _paragraph(block)
        case Bullets():
            return _bullets(block)


def _paragraph(block: Paragraph) -> Html:
    if not block.text:
        return Html("")
    kind = "strong" if block.strong else "meta" if block.small else "dim"
    return el("p", block.text, cls=kind)


def _bullets(block: Bullets) -> Html:
    if not block.texts:
        return Html("")
    kind = "signs" if block.signatures else "plain"
    return el(
        "ul",
        *(el("li", text) for text in block.texts),
        cls=kind,
    )


def _signatures(block: Bullets) -> Html:
    """All signatures in one line, which opens to each of them in full."""
    line = el("summary", merged_signature(block.texts))
    return el("details", line, _bullets(block), cls="signed")


def _button(link: Link) -> Html:
    current = "true" if link.current else None
    return el(
        "a", link.text, href=link.href, download=link.download, aria_current=current, cls="btn"
    )


def _link(link: Link) -> Html:
    return el("a", link.text, href=link.href, download=link.download)
