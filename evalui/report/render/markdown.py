"""Blocks as a Markdown file: what is folded on the page stands under its own heading."""

import re
from collections.abc import Container, Iterable, Iterator, Sequence

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


def as_markdown(blocks: Sequence[Block], drawn: Container[str] | None = None) -> str:
    """The blocks as a Markdown file; of their pictures it links those that are `drawn`, or all."""
    return "\n\n".join(filter(None, _parts(blocks, drawn, level=1))) + "\n"


def escaped(text: str) -> str:
    """Foreign text that stays text in Markdown and in HTML, on one line."""
    flat = re.sub(r"\s+", " ", text).strip()
    marked = re.sub(r"([\\`*_\[\]|~#!])", r"\\\1", flat)
    return marked.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _parts(
    blocks: Iterable[Block], drawn: Container[str] | None, level: int, title: str = ""
) -> Iterator[str]:
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
                yield from _parts(block.blocks, drawn, level + bool(block.title), block.title)
            case Details():
                yield _heading(level + 1, block.name)
                yield escaped(block.finding)
                yield from _parts(block.blocks, drawn, level + 1)
            case Links():
                pass  # they lead to pages
            case ChartBlock():
                yield _picture(block.alt or block.title, block.file, drawn)
                yield escaped(block.caption)
            case Table():
                yield _picture(title, block.file, drawn)
                yield _table(block)
            case _:
                yield _text(block)


def _picture(words: str, file: str, drawn: Container[str] | None) -> str:
    return f"![{escaped(words)}]({file})" if file and (drawn is None or file in drawn) else ""


def _text(block: Headline | Paragraph | Bullets | Notes) -> str:
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


def _table(table: Table) -> str:
    heads, *rows = table_texts(table)
    rule = "|" + " --- |" * len(heads)
    return "\n".join([_row(heads), rule, *map(_row, rows)])


def _heading(level: int, text: str) -> str:
    return f"{'#' * min(level, _LOWEST)} {escaped(text)}"


def _code_span(text: str) -> str:
    return f"`{' '.join(text.replace('`', '').splitlines())}`"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(escaped, cells))} |"
