"""Blocks as a Markdown file: what is folded on the page stands under its own heading."""

import re
from collections.abc import Iterable, Iterator, Sequence

from evalui.report.blocks import (
    Block,
    Bullets,
    Card,
    ChartBlock,
    Details,
    Heading,
    Headline,
    Links,
    Notes,
    Paragraph,
    Table,
)
from evalui.report.render.text import table_texts
from evalui.report.words import join_sentences

_LOWEST = 6  # levels of headings


def as_markdown(blocks: Sequence[Block]) -> str:
    """The blocks as a Markdown file."""
    return "\n\n".join(filter(None, _parts(blocks, level=1))) + "\n"


def escaped(text: str) -> str:
    """Foreign text that stays text in Markdown and in HTML, on one line."""
    flat = re.sub(r"\s+", " ", text).strip()
    marked = re.sub(r"([\\`*_\[\]|~#!])", r"\\\1", flat)
    return marked.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _parts(blocks: Iterable[Block], level: int, title: str = "") -> Iterator[str]:
    """The texts of blocks that stand below a heading of `level`, in a card of `title`."""
    for block in blocks:
        match block:
            case Heading():
                level = block.level
                yield _heading(level, block.text)
            case Card():
                yield _heading(level + 1, block.title) if block.title else ""
                yield escaped(block.caption)
                yield escaped(block.aside)
                yield from _parts(block.blocks, level + bool(block.title), block.title)
            case Details():
                yield _heading(level + 1, block.name)
                yield escaped(block.finding)
                yield from _parts(block.blocks, level + 1)
            case Links():
                pass  # they lead to pages
            case Table():
                yield _table(block, title)
            case _:
                yield _text(block)


def _text(
    block: Headline | Paragraph | Bullets | Notes | ChartBlock,
) -> str:
    match block:
        case Headline():
            support = escaped(join_sentences(block.lead, block.support))
            return f"**{escaped(block.text)}**" + (f"\n\n{support}" if support else "")
        case Paragraph():
            return f"**{escaped(block.text)}**" if block.strong else escaped(block.text)
        case Bullets():
            form = _code_span if block.signatures else escaped
            return "\n".join(f"- {form(text)}" for text in block.texts)
        case Notes():
            texts = (": ".join(filter(None, (line.subject, line.text))) for line in block.lines)
            return "\n".join(f"- {escaped(text)}" for text in texts)
        case ChartBlock():
            alt = escaped(block.alt or block.title)
            picture = f"![{alt}]({block.file})" if block.file else ""
            return "\n\n".join(filter(None, (picture, escaped(block.caption))))


def _table(table: Table, title: str) -> str:
    heads, *rows = table_texts(table)
    rule = "|" + " --- |" * len(heads)
    text = "\n".join([_row(heads), rule, *map(_row, rows)])
    return f"![{escaped(title)}]({table.file})\n\n{text}" if table.file else text


def _heading(level: int, text: str) -> str:
    return f"{'#' * min(level, _LOWEST)} {escaped(text)}"


def _code_span(text: str) -> str:
    return f"`{' '.join(text.replace('`', '').splitlines())}`"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(escaped, cells))} |"
