"""Tables of blocks as LaTeX, to be put into a paper: \\usepackage{booktabs} sets their lines."""

import re
from collections.abc import Iterable, Iterator, Sequence

from evalui.report.blocks import Block, Card, Details, Heading, Table
from evalui.report.render.text import table_texts

# What has a meaning of its own in LaTeX.
_SIGNS = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "−": r"$-$",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}
_SIGN = re.compile("|".join(map(re.escape, _SIGNS)))


def as_latex(blocks: Sequence[Block], keys: Sequence[str] = ()) -> str:
    """Each lead table, and the tables of the sections with these `keys`, below each other.

    Of a section with several tables each is named after the heading above it, too.
    """
    return "\n".join(_environment(title, table) for title, table in _tables(blocks, keys))


def escape_latex(text: str) -> str:
    """A text that stays text in LaTeX."""
    return _SIGN.sub(lambda match: _SIGNS[match[0]], text)


def _tables(
    blocks: Iterable[Block], keys: Sequence[str], title: str = "", *, every: bool = False
) -> Iterator[tuple[str, Table]]:
    caption = title
    for block in blocks:
        match block:
            case Heading() if every:
                caption = f"{title}: {block.text}"
            case Card():
                yield from _tables(block.blocks, keys, block.title, every=every)
            case Details() if block.key in keys:
                yield from _tables(block.blocks, keys, block.name, every=True)
            case Table() if block.lead or every:
                yield caption, block
            case _:
                pass


def _environment(title: str, table: Table) -> str:
    heads, *rows = table_texts(table)
    sides = ("r" if column.right else "l" for column in table.columns if column.axis is None)
    lines = [
        r"\begin{table}",
        rf"  \caption{{{escape_latex(title)}}}",
        rf"  \begin{{tabular}}{{{''.join(sides)}}}",
        r"    \toprule",
        _row(heads),
        r"    \midrule",
        *map(_row, rows),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return f"    {' & '.join(map(escape_latex, cells))} \\\\"
