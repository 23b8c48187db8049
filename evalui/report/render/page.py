"""The blocks of a report as Markdown, and as one page for itself.

The page has no script, loads nothing, is light or dark as its reader wishes, and can be printed.
"""

import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from html import escape

from evalui.report.blocks import Block, Bullets, Heading, Paragraph, Picture, ReportTable
from evalui.report.charts.theme import DARK, LIGHT
from evalui.types import Language

# A cell that holds a figure, and so belongs to the right.
_FIGURE = re.compile(r"[+−-]?(US\$ )?[\d.]|N/A$|–$|< 0")
_WIDE_TABLE_COLUMNS = 7  # columns, above which a range may stand below its figure
_DOTS_PER_PIXEL = 1.5625  # dots of a picture per pixel of a page
_STYLE = """
:root { color-scheme: light dark; --bg: #F6F6F3; --surface: #FFFFFF; --sunken: #F0F0EC;
  --line: #E2E2DC; --strong: #8B8F8C; --ink: #1A1D1F; --ink-2: #4C5257; --ink-3: #666C71; }
@media screen and (prefers-color-scheme: dark) { :root { --bg: #121416; --surface: #1A1D20;
  --sunken: #22262A; --line: #30353A; --strong: #7B838A; --ink: #ECEDEE; --ink-2: #B9BFC4;
  --ink-3: #949BA1; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--bg); color: var(--ink); font: 14px/20px -apple-system,
  BlinkMacSystemFont, "Segoe UI", Inter, Roboto, "Helvetica Neue", Arial, "PingFang SC",
  "Hiragino Sans GB", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: break-word; }
main { max-width: 1080px; margin: 0 auto; padding: 32px 24px 48px; }
h1 { font-size: 28px; line-height: 36px; font-weight: 600; margin: 0 0 24px; }
h2 { font-size: 20px; line-height: 28px; font-weight: 600; margin: 48px 0 12px; padding-top: 16px;
  border-top: 1px solid var(--line); }
h3 { font-size: 16px; line-height: 24px; font-weight: 600; margin: 32px 0 8px; }
h1, h2, h3 { break-after: avoid; }
p { margin: 0 0 12px; color: var(--ink-2); max-width: 76ch; }
p.lead { font-size: 18px; line-height: 26px; font-weight: 600; color: var(--ink); }
ul { margin: 0 0 16px; padding-left: 20px; color: var(--ink-2); max-width: 76ch; }
li { margin-bottom: 4px; }
ul.signs { list-style: none; padding: 0; max-width: none; font: 11px/16px ui-monospace, "SF Mono",
  Menlo, Consolas, "DejaVu Sans Mono", monospace; color: var(--ink-3); overflow-wrap: anywhere; }
.table, figure { margin: 0 0 16px; overflow-x: auto; }
.table { background: var(--surface); border: 1px solid var(--line); border-radius: 6px; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: 8px 16px; text-align: left; vertical-align: top;
  border-top: 1px solid var(--line); }
thead th { font-size: 12px; line-height: 16px; color: var(--ink-2); font-weight: 600; border-top: 0;
  border-bottom: 1px solid var(--strong); vertical-align: bottom; }
tbody tr:first-child > * { border-top: 0; }
tbody th { font-weight: 600; min-width: 8em; }
.r { text-align: right; white-space: nowrap; }
small { font-size: 12px; color: var(--ink-3); white-space: nowrap; }
.wide .r { white-space: normal; }
.wide td { min-width: 5.5em; } .wide td:not(.r) { min-width: 8em; }
figure img { display: block; max-width: max(100%, 560px); height: auto;
  border: 1px solid var(--line); border-radius: 6px; }
@media (max-width: 640px) { main { padding: 16px 16px 32px; } h1 { font-size: 24px; }
  th, td { padding: 8px 12px; } }
@media print { body { background: none; font-size: 10pt; } main { max-width: none; padding: 0; }
  .table, figure { overflow: visible; border: 0; } th, td { padding: 4px 8px; }
  tr, figure, li { break-inside: avoid; } .r { white-space: normal; }
  figure img { max-width: 100%; border: 0; } }
"""


def as_markdown(blocks: Sequence[Block]) -> str:
    """The blocks as a Markdown file."""
    return "\n\n".join(text for block in blocks if (text := _block_markdown(block))) + "\n"


def escaped(text: str) -> str:
    """Foreign text that stays text in Markdown and in HTML, on one line."""
    flat = re.sub(r"\s+", " ", text).strip()
    marked = re.sub(r"([\\`*_\[\]|~#!])", r"\\\1", flat)
    return marked.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def as_page(blocks: Sequence[Block], language: Language) -> bytes:
    """The blocks as one HTML file with its pictures inside."""
    title = next(block.text for block in blocks if isinstance(block, Heading))
    tongue = "zh-CN" if language == "zh" else "en"
    body = "\n".join(filter(None, map(_element, blocks)))
    page = (
        f'<!doctype html>\n<html lang="{tongue}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        # The page loads nothing and runs nothing, whatever a model wrote.
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">\n"
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )
    # A lone half of a surrogate pair, which a model may write, has no form in UTF-8.
    return page.encode(errors="backslashreplace")


def pictures(blocks: Sequence[Block]) -> Iterator[tuple[str, bytes]]:
    """The pictures for themselves as the Markdown names them, for light pages."""
    return ((each.file, each.draw(LIGHT)) for each in blocks if isinstance(each, Picture))


def _element(block: Block) -> str:
    match block:
        case Heading():
            return f"<h{block.level}>{escape(block.text)}</h{block.level}>"
        case Paragraph():
            opening = '<p class="lead">' if block.strong else "<p>"
            return f"{opening}{escape(block.text)}</p>" if block.text else ""
        case Bullets():
            return _bullets(block)
        case ReportTable():
            return _table(block)
        case Picture():
            return _picture(block)


def _bullets(block: Bullets) -> str:
    items = "".join(f"<li>{escape(text)}</li>" for text in block.texts)
    opening = '<ul class="signs">' if block.signatures else "<ul>"
    return f"{opening}{items}</ul>" if items else ""


def _table(table: ReportTable) -> str:
    right = [
        bool(table.rows) and place > 0 and all(_FIGURE.match(row[place]) for row in table.rows)
        for place in range(len(table.head))
    ]
    head = "".join(
        f'<th scope="col"{_alignment(to_right)}>{escape(cell)}</th>'
        for cell, to_right in zip(table.head, right, strict=True)
    )
    rows = "\n".join(_row(row, right) for row in table.rows)
    kind = "table wide" if len(table.head) > _WIDE_TABLE_COLUMNS else "table"
    return (
        f'<div class="{kind}" tabindex="0"><table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody></table></div>"
    )


def _row(row: Sequence[str], right: Sequence[bool]) -> str:
    first = f'<th scope="row">{escape(row[0])}</th>'
    rest = "".join(
        f"<td{_alignment(to_right)}>{_with_range(cell)}</td>"
        for cell, to_right in zip(row[1:], right[1:], strict=True)
    )
    return f"<tr>{first}{rest}</tr>"


def _alignment(right: bool) -> str:
    return ' class="r"' if right else ""


def _with_range(cell: str) -> str:
    """The cell with its range, "(60–72)", set small."""
    safe = escape(cell)
    return re.sub(r"([(（][+−\d.,]+ ?[–…] ?[+−\d.,-]+[)）].*)$", r"<small>\1</small>", safe)


def _picture(picture: Picture) -> str:
    light, dark = (picture.draw(theme) for theme in (LIGHT, DARK))
    wide = round(int.from_bytes(light[16:20]) / _DOTS_PER_PIXEL)  # where a PNG says its width
    source = f'<source srcset="{_inline(dark)}" media="screen and (prefers-color-scheme: dark)">'
    image = f'<img src="{_inline(light)}" width="{wide}" alt="{escape(picture.alt)}">'
    return f'<figure tabindex="0"><picture>{source}{image}</picture></figure>'


def _inline(png: bytes) -> str:
    return f"data:image/png;base64,{b64encode(png).decode()}"


# ---------------------------------------------------------------- Markdown


def _block_markdown(block: Block) -> str:
    match block:
        case Heading():
            return f"{'#' * block.level} {escaped(block.text)}"
        case Paragraph():
            return f"**{escaped(block.text)}**" if block.strong else escaped(block.text)
        case Bullets():
            form = _code_span if block.signatures else escaped
            return "\n".join(f"- {form(text)}" for text in block.texts)
        case ReportTable():
            rule = "|" + " --- |" * len(block.head)
            return "\n".join([_markdown_row(block.head), rule, *map(_markdown_row, block.rows)])
        case Picture():
            return f"![{escaped(block.alt)}]({block.file})"


def _code_span(text: str) -> str:
    return f"`{text.replace('`', '')}`"


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(escaped, cells))} |"
