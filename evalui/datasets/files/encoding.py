"""Bytes become text, without losing a character, or the file is refused with a reason."""

import codecs
from collections.abc import Sequence
from typing import NamedTuple

from evalui.errors import DataError
from evalui.messages import sentence

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MAGIC = (
    (b"PK\x03\x04", "error.magic-zip"),
    (b"\xd0\xcf\x11\xe0", "error.magic-office"),
    (b"%PDF", "error.magic-pdf"),
    (b"\x1f\x8b", "error.magic-gzip"),
    (b"SQLite format 3\x00", "error.magic-sqlite"),
)
_SNIFF_BYTES = (
    4096  # bytes in which UTF-16 without a mark is detected: the header's ASCII names are there
)
_MIN_SYLLABLES = 16  # characters
_SYLLABLE_SHARE = 0.95  # of the characters; the others are Chinese ones in a Korean text
_ASCII_COMPATIBLE = ("utf-8", "gb18030")  # no other character has a byte below the space in it
# Control characters that no text has; tab, line breaks and form feed are text.
_CONTROL = bytes((*range(9), *range(14, 32)))


class DecodedText(NamedTuple):
    """A file's text with "\\n" as the only line break, and how it was encoded."""

    text: str
    encoding: str


def decode(data: bytes, name: str) -> DecodedText:
    """The text of a file; raises `DataError` if it has none or cannot be read as text."""
    if not data:
        raise DataError("empty-file", file=name)
    for magic, kind in _MAGIC:
        if data.startswith(magic):
            raise DataError("not-text", file=name, what=sentence(kind))
    decoded = _detect_and_decode(data)
    if decoded is None:
        raise DataError("unknown-encoding", file=name)
    text = decoded.text
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if _is_binary(text, data if decoded.encoding in _ASCII_COMPATIBLE else text.encode()):
        raise DataError("binary-file", file=name)
    if not text.strip("\ufeff").strip():
        raise DataError("empty-file", file=name)
    return DecodedText(text, decoded.encoding)


def _detect_and_decode(data: bytes) -> DecodedText | None:
    for bom, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(bom):
            return _decode_strict(data[len(bom) :], encoding)
    if unmarked := _utf16_by_zeros(data[:_SNIFF_BYTES]):
        return _decode_strict(data, unmarked)
    if utf8 := _decode_strict(data, "utf-8"):
        return utf8
    chinese = _decode_strict(data, "gb18030")
    return chinese if chinese and _is_chinese(chinese.text) else None


def _decode_strict(data: bytes, encoding: str) -> DecodedText | None:
    try:
        return DecodedText(data.decode(encoding), encoding)
    except UnicodeDecodeError:
        return None


def _utf16_by_zeros(head: bytes) -> str:
    # ASCII in UTF-16 has its zeros on one side only, and a header has plenty of it.
    first, second = head[0::2].count(0), head[1::2].count(0)
    if second > 4 * first and second >= 4:
        return "utf-16-le"
    if first > 4 * second and first >= 4:
        return "utf-16-be"
    return ""


def _is_chinese(text: str) -> bool:
    # GB18030 gives nearly every byte string a meaning: Latin-1 and Big5 come out as rare
    # characters or private ones, real Chinese is mostly within the old GB2312.
    foreign = [char for char in text if char > "\x7f"]
    if any("\ue000" <= char <= "\uf8ff" for char in foreign) or _is_korean(foreign):
        return False
    common = len("".join(foreign).encode("gb2312", "ignore")) // 2
    return 2 * common >= len(foreign)


def _is_korean(foreign: Sequence[str]) -> bool:
    # EUC-KR's syllables are GB2312's characters from B0A1 to C8FE, of which 58 % of the characters
    # of Chinese texts are.
    codes = [char.encode("gb2312", "ignore").hex() for char in foreign]
    written = [code for code in codes if code >= "b0"]
    syllables = sum(code < "c9" for code in written)
    return len(written) >= _MIN_SYLLABLES and syllables >= _SYLLABLE_SHARE * len(written)


def _is_binary(text: str, encoded: bytes) -> bool:
    # A stray control character comes with text copied from a PDF; a zero or many do not.
    controls = len(encoded) - len(encoded.translate(None, _CONTROL))
    return controls > 0 and (b"\0" in encoded or 100 * controls > len(text))
