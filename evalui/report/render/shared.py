"""The page behind a link: what came of a run or a comparison, frozen, complete in one file.

It has no script, loads nothing, and leads nowhere but to its own table and its other language. The
theme is the reader's system's, or the other one by a box that only style sheets look at.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from evalui.messages import LANGUAGES, messages
from evalui.report.blocks import (
    Block,
    Bullets,
    Card,
    Details,
    Heading,
    Headline,
    Notes,
    Paragraph,
    Table,
)
from evalui.report.html import Html
from evalui.report.markup import fill
from evalui.report.render.page import document, render_blocks, style
from evalui.types import Language
from evalui.version import __version__

TABLE_LINK = "table.csv"  # in the page; who sends it puts the address of the link's table here
_SHEETS = ("css/tokens.css", "css/parts.css", "css/blocks.css", "css/shared.css")
_DARK = (
    "@media (prefers-color-scheme: dark) { :root:not(:has(#theme:checked))"
    " {\\1 color-scheme: dark; } } "
    "@media not (prefers-color-scheme: dark) { :root:has(#theme:checked)"
    " {\\1 color-scheme: dark; } }"
)
_KNOW = ("what-to-know", "know")  # keys of sections that list what to know
_SHOWN = (Heading, Headline, Card, Table, Notes)


@dataclass(frozen=True, slots=True)
class FrozenContent:
    """What a page shows; `means` are the keys of what its figures mean, under `shared.means-`."""

    facts: str
    blocks: Sequence[Block]
    means: tuple[str, ...]
    signatures: tuple[str, ...]


def shared_page(
    content: FrozenContent, title: str, *, frozen: str, until: str, language: Language
) -> str:
    """The page: verdict, tables, what they mean and what to know, and how it was measured.

    `frozen` and `until` say when it was made, and by whom and how long the link works.
    """
    t = messages(language)
    notes = tuple(_notes(content.blocks))
    means = tuple(Paragraph(t(f"shared.means-{key}")) for key in content.means)
    known = notes or (Paragraph(t("shared.well")),)
    signatures = tuple(each.replace("|", " · ") for each in content.signatures)
    verdict, rest = _verdicts(content.blocks)
    body = fill(
        "shared.html",
        t=t,
        languages=LANGUAGES,
        title=title,
        facts=content.facts,
        verdict=verdict,
        rest=rest,
        beside=render_blocks([Card(means, t("shared.means")), Card(known, t("shared.know"))]),
        made=[t("by-evalui", version=__version__), frozen, until],
        table=TABLE_LINK,
        signatures=render_blocks([Bullets(signatures, signatures=True)], filed=True),
    )
    return document(f"{title} – evalui", language, _style(), body, indexed=False)


def _verdicts(blocks: Sequence[Block]) -> tuple[Html, Html]:
    """The first verdict as the title of the page, then what belongs to it and further ones."""
    first = next((each for each in blocks if isinstance(each, Headline)), None)
    alone = len([each for each in blocks if isinstance(each, Headline)]) < 2
    rest = [each for each in blocks if isinstance(each, _SHOWN) and each is not first]
    if alone:  # the one part of a run needs no name
        rest = [each for each in rest if not isinstance(each, Heading)]
    return render_blocks([first] if first else []), render_blocks(rest, titled=True)


def _notes(blocks: Iterable[Block]) -> Iterator[Notes]:
    for block in blocks:
        if isinstance(block, Details) and block.key in _KNOW:
            yield from (each for each in block.blocks if isinstance(each, Notes))


@cache
def _style() -> str:
    return style(_SHEETS, dark=_DARK)
