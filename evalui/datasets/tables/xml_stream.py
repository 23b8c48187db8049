"""XML read as a stream: nothing of it is kept but what handlers keep, and it may declare nothing.

Entities are how a small text is made to fill a memory; no file of questions needs them.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol
from xml.parsers import expat

from evalui.errors import DataError

Attributes = Mapping[str, str]

_MAX_NESTING = 1_000_000  # elements and comments that are open, as far as that can be counted


class XmlHandler(Protocol):
    """What is done with the parts of a document, by the names of its elements."""

    def start(self, name: str, attributes: Attributes, /) -> None:
        """An element begins."""
        ...

    def end(self, name: str, /) -> None:
        """An element ends."""
        ...

    def text(self, content: str, /) -> None:
        """A piece of text."""
        ...


class XmlDamage(ValueError):
    """XML that cannot be read."""


def parse_xml(
    pieces: Iterable[bytes],
    handler: XmlHandler,
    file: str,
    *,
    prefixed: bool = False,
    locate: Callable[[Callable[[], int]], None] | None = None,
) -> None:
    """Give a document to a handler; `locate` takes what tells the line of the document.

    Elements come without the prefix of the first one, whatever it is, so that what has no prefix or
    that one is the document's own; all keep theirs if they are wanted `prefixed`.

    Raises:
        DataError: it declares a document type or entities.
        XmlDamage: it is no XML.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.buffer_size = 2**16

    def refuse(*_: object) -> None:
        raise DataError("xml-entities", file=file)

    def start_first(name: str, attributes: dict[str, str]) -> None:
        prefix = "" if prefixed else name.rpartition(":")[0]
        if prefix:
            _without_prefix(parser, handler, f"{prefix}:")
        else:
            # Most files have none, and a call less at each of a million cells.
            parser.StartElementHandler = handler.start
            parser.EndElementHandler = handler.end
        handler.start(name.removeprefix(f"{prefix}:"), attributes)

    if locate:
        locate(lambda: parser.CurrentLineNumber)
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.CharacterDataHandler = handler.text
    parser.StartElementHandler = start_first
    depth = 0
    try:
        for piece in pieces:
            # Counted so since a call at each of a million elements takes as long as the rest.
            depth += piece.count(b"<") - 2 * piece.count(b"</") - piece.count(b"/>")
            if depth > _MAX_NESTING:
                raise XmlDamage("its elements are nested too deeply")
            parser.Parse(piece, False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise XmlDamage(str(error)) from error


def _without_prefix(parser: expat.XMLParserType, handler: XmlHandler, prefix: str) -> None:
    def start(name: str, attributes: dict[str, str]) -> None:
        handler.start(name.removeprefix(prefix), attributes)

    def end(name: str) -> None:
        handler.end(name.removeprefix(prefix))

    parser.StartElementHandler = start
    parser.EndElementHandler = end
