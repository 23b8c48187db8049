"""Texts of models and files as harmless markup, and the differences of two texts.

HTML in the text is shown as the characters it consists of. Nothing is loaded from anywhere: an
image becomes a link that says what the text says. A formula becomes `<ev-math>` around its own
source, which `components/formulas.py` draws with the KaTeX that comes with Gradio; without that
it stays TeX. Differences are found word by word.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from itertools import groupby
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from evalui.pictures import Mark, mark_at
from evalui.replies import contains_han
from evalui.report.html import Html
from evalui.scoring.texts.tokenizers import tokenize_zh
from evalui.ui.components.templates import macro

_TEMPLATE = "texts.html"
_REL = "noopener noreferrer nofollow"
_MAX_LENGTH = 20_000  # characters that are read as Markdown; what follows is shown as it is
_MAX_HEADING_LEVEL = 6
_PAGE_LEVELS = 2  # a page has an h1 and h2 of its own; those of a text come below them
# Opening and closing marks, and whether the formula stands on lines of its own.
_MARKS = (("$$", "$$", True), (r"\[", r"\]", True), (r"\(", r"\)", False))
# As in pandoc, so that "$5 and $10" stays money: no space inside, no digit after.
_DOLLARS = re.compile(r"\$(?![\s$])((?:\\.|[^\\$])*?)(?<!\s)\$(?!\d)", re.DOTALL)
_WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")
_MAX_WORDS = 4000  # in both texts together; comparing longer ones would keep the page waiting
_MAX_FULL_LOOKUP_WORDS = (
    1000  # words beyond which frequent ones are no longer looked up, only carried along
)


def render_markdown(text: str, figure: Callable[[Mark], Html | str]) -> Html:
    """The text as markup that cannot load, run or cover anything but our pictures.

    `figure` draws those.
    """
    read = text[:_MAX_LENGTH]
    if len(text) > _MAX_LENGTH:
        read = read[: read.rfind("\n") + 1] or read
    rest = text[len(read) :]
    goes_on = macro(_TEMPLATE, "goes_on", rest) if rest else ""
    return Html(_markdown().render(read, {"figure": figure}) + goes_on)


@cache
def _markdown() -> MarkdownIt:
    # Written answers break their lines where they mean to.
    reader = MarkdownIt("commonmark", {"html": False, "breaks": True})
    reader.enable(["table", "strikethrough"])
    reader.inline.ruler.before("escape", "formula", _inline_formula)
    reader.inline.ruler.before("autolink", "picture", _inline_picture)
    reader.block.ruler.before(
        "fence", "formula", _block_formula, {"alt": ["paragraph", "blockquote", "list"]}
    )
    for name, rule in (
        ("formula", _write_formula),
        ("picture", _write_picture),
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


def _inline_picture(state: StateInline, silent: bool) -> bool:
    mark = mark_at(state.src, state.pos)
    if mark is None:
        return False
    if not silent:
        state.push("picture", "", 0).meta = {"mark": mark}
    state.pos += len(str(mark))
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
    return macro(_TEMPLATE, "formula", token.content, token.meta["display"])


def _write_picture(
    _: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any
) -> str:
    del options
    return macro(_TEMPLATE, "pieces", [env["figure"](tokens[index].meta["mark"])])


def _write_image(_: RendererHTML, tokens: Sequence[Token], index: int, *rest: Any) -> str:
    del rest
    token = tokens[index]
    address = str(token.attrGet("src") or "")
    return macro(_TEMPLATE, "image", address, f"![{token.content}]({address})")


def _write_link(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any
) -> str:
    address = tokens[index].attrGet("href") or ""
    tokens[index].attrs = {"href": address, "target": "_blank", "rel": _REL}
    return renderer.renderToken(tokens, index, options, env)


def _write_heading(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any
) -> str:
    token = tokens[index]
    token.tag = f"h{min(int(token.tag[1]) + _PAGE_LEVELS, _MAX_HEADING_LEVEL)}"
    return renderer.renderToken(tokens, index, options, env)


@dataclass(frozen=True, slots=True)
class DiffSegment:
    """A stretch of one text; `shared` if the other text has it too."""

    text: str
    shared: bool


@dataclass(frozen=True, slots=True)
class TextDiff:
    """A reference and a reply in pieces; joined, the pieces of each are its text.

    `compared` is False for texts that are too long: each is then one piece, neither shared nor not.
    """

    reference: tuple[DiffSegment, ...]
    reply: tuple[DiffSegment, ...]
    compared: bool = True


def diff_texts(reference: str, reply: str) -> TextDiff:
    """The two texts, split into common words and the others; case and blanks do not count."""
    first, second = split_words(reference), split_words(reply)
    if len(first) + len(second) > _MAX_WORDS:
        return TextDiff(
            (DiffSegment(reference, True),), (DiffSegment(reply, True),), compared=False
        )
    long = len(first) + len(second) > _MAX_FULL_LOOKUP_WORDS
    matcher = SequenceMatcher(None, _keys(first), _keys(second), autojunk=long)
    in_first, in_second = [False] * len(first), [False] * len(second)
    for block in matcher.get_matching_blocks():
        in_first[block.a : block.a + block.size] = [True] * block.size
        in_second[block.b : block.b + block.size] = [True] * block.size
    return TextDiff(_diff_segments(first, in_first), _diff_segments(second, in_second))


def marked(pieces: Sequence[DiffSegment], tag: str) -> Html:
    """A text whose own words stand out: by colour, and struck out (del) or underlined (ins)."""
    return macro("questions/cells.html", "marked", pieces, tag)


def closest_reference(references: Sequence[str], reply: str) -> int:
    """The place of the reference that has the most words in common with the reply."""
    words = [set(_keys(split_words(reference))) for reference in references]
    reply_words = set(_keys(split_words(reply)))
    shares = [len(each & reply_words) / (len(each | reply_words) or 1) for each in words]
    return shares.index(max(shares))


def split_words(text: str) -> list[str]:
    """The words of a text, each with the blanks after it; joined they are the text.

    >>> split_words("It is 8 km.")
    ['It ', 'is ', '8 ', 'km', '.']
    """
    cut = tokenize_zh(text) if contains_han(text) else _split(text)
    joined: list[str] = []
    for word in cut:
        if joined and (word.isspace() or joined[-1].isspace()):
            joined[-1] += word
        else:
            joined.append(word)
    return joined


def _split(text: str) -> list[str]:
    parts: list[str] = []
    end = 0
    for match in _WORD.finditer(text):
        parts += [part for part in (text[end : match.start()], match[0]) if part]
        end = match.end()
    return [*parts, text[end:]] if text[end:] else parts


def _keys(cut: Sequence[str]) -> list[str]:
    return [word.strip().casefold() for word in cut]


def _diff_segments(cut: Sequence[str], shared: Sequence[bool]) -> tuple[DiffSegment, ...]:
    pairs = groupby(zip(cut, shared, strict=True), key=lambda pair: pair[1])
    return tuple(DiffSegment("".join(word for word, _ in group), flag) for flag, group in pairs)
