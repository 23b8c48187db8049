"""Markdown of models and files as harmless markup; formulas keep their TeX for the browser.

HTML in the text is shown as the characters it consists of. Nothing is loaded from anywhere: an
image becomes a link that says what the text says. A formula becomes `<ev-math>` around its own
source, which assets/js/annotate.js draws with the KaTeX that comes with Gradio; without that it
stays TeX.
"""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import gradio
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from evalui.ui.components.html import Html, el

_MAX_LENGTH = 20_000  # characters that are read as Markdown; what follows is shown as it is
_MAX_HEADING_LEVEL = 6
_PAGE_LEVELS = 2  # a page has an h1 and h2 of its own; those of a text come below them
# Opening and closing marks, and whether the formula stands on lines of its own.
_MARKS = (("$$", "$$", True), (r"\[", r"\]", True), (r"\(", r"\)", False))
# As in pandoc, so that "$5 and $10" stays money: no space inside, no digit after.
_DOLLARS = re.compile(r"\$(?![\s$])((?:\\.|[^\\$])*?)(?<!\s)\$(?!\d)", re.DOTALL)
# No public address: Gradio ships KaTeX under names with a hash; without it formulas stay TeX.
_ASSETS = Path(gradio.__file__).parent / "templates" / "frontend" / "assets"


def render_markdown(text: str) -> Html:
    """The text as markup that cannot load, run or cover anything."""
    read = text[:_MAX_LENGTH]
    if len(text) > _MAX_LENGTH:
        read = read[: read.rfind("\n") + 1] or read
    rest = text[len(read) :]
    goes_on = el("p", "…") + el("pre", rest) if rest else ""
    return Html(_markdown().render(read) + goes_on)


@cache
def math_files() -> tuple[str, str]:
    """KaTeX's script and style sheet, relative to the page; "" where Gradio has none."""
    script, sheet = (
        next((f"assets/{path.name}" for path in sorted(_ASSETS.glob(pattern))), "")
        for pattern in ("katex-*.js", "katex-*.css")
    )
    return script, sheet


@cache
def _markdown() -> MarkdownIt:
    # Written answers break their lines where they mean to.
    reader = MarkdownIt("commonmark", {"html": False, "breaks": True})
    reader.enable(["table", "strikethrough"])
    reader.inline.ruler.before("escape", "formula", _inline_formula)
    reader.block.ruler.before(
        "fence", "formula", _block_formula, {"alt": ["paragraph", "blockquote", "list"]}
    )
    for name, rule in (
        ("formula", _write_formula),
        ("image", _write_image),
        ("link_open", _write_link),
        ("heading_open", _write_heading),
        ("heading_close", _write_heading),
    ):
        reader.add_render_rule(name, rule)
    return reader


def _inline_formula(state: StateInline, silent: bool) -> bool:
    for opening, closing, display in _MARKS:
        if state.src.startswith(opening, state.pos):
            start = state.pos + len(opening)
            end = state.src.find(closing, start, state.posMax)
            if end > start and state.src[start:end].strip():
                return _consume_inline(
                    state, state.src[start:end], end + len(closing), display, silent
                )
    match = _DOLLARS.match(state.src, state.pos, state.posMax)
    return bool(match) and _consume_inline(state, match[1], match.end(), False, silent)


def _consume_inline(state: StateInline, source: str, end: int, display: bool, silent: bool) -> bool:
    if not silent:
        _add(state, source, display)
    state.pos = end
    return True


def _block_formula(state: StateBlock, start: int, last: int, silent: bool) -> bool:
    """A formula on lines of its own, which may begin like a list or underline a heading."""
    if state.is_code_block(start):
        return False
    for opening, closing, display in _MARKS:
        if not display or not state.src.startswith(
            opening, state.bMarks[start] + state.tShift[start]
        ):
            continue
        if after := _after_formula(state, (start, last), (opening, closing)):
            lines = [_line(state, line) for line in range(start, after)]
            return silent or _consume_lines(state, "\n".join(lines), after, opening)
    return False


def _after_formula(state: StateBlock, lines: tuple[int, int], marks: tuple[str, str]) -> int:
    """The line after the formula, 0 if it does not end with a line or is interrupted."""
    (start, last), (opening, closing) = lines, marks
    # Each line of a paragraph may open a formula: what stopped one stops those between as well.
    stops: dict[tuple[str, int, int], int] = state.env.setdefault("formula-stops", {})
    about = (closing, last, state.level)
    if start < stops.get(about, 0):
        return 0
    for place in range(start, last):
        line = _line(state, place)
        rest = line.removeprefix(opening) if place == start else line
        if line and closing not in rest:
            continue
        if line and rest.endswith(closing) and rest.count(closing) == 1:
            return place + 1
        stops[about] = place
        return 0
    stops[about] = last
    return 0


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip()


def _consume_lines(state: StateBlock, text: str, end: int, mark: str) -> bool:
    _add(state, text[len(mark) : -len(mark)], True)
    state.line = end
    return True


def _add(state: StateInline | StateBlock, source: str, display: bool) -> None:
    token = state.push("formula", "", 0)
    token.content = source.strip()
    token.meta = {"display": display}


def _write_formula(_: RendererHTML, tokens: Sequence[Token], index: int, *rest: Any) -> str:
    del rest
    token = tokens[index]
    return el("ev-math", token.content, data_display=bool(token.meta["display"]))


def _write_image(_: RendererHTML, tokens: Sequence[Token], index: int, *rest: Any) -> str:
    del rest
    token = tokens[index]
    address = str(token.attrGet("src") or "")
    return _link(address, f"![{token.content}]({address})")


def _write_link(_: RendererHTML, tokens: Sequence[Token], index: int, *rest: Any) -> str:
    del rest
    return _link(str(tokens[index].attrGet("href") or ""), "").removesuffix("</a>")


def _link(address: str, word: str) -> Html:
    return el("a", word, href=address, target="_blank", rel="noopener noreferrer nofollow")


def _write_heading(_: RendererHTML, tokens: Sequence[Token], index: int, *rest: Any) -> str:
    del rest
    token = tokens[index]
    level = min(int(token.tag[1]) + _PAGE_LEVELS, _MAX_HEADING_LEVEL)
    return f"</h{level}>\n" if token.nesting < 0 else f"<h{level}>"
