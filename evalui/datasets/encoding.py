"""Bytes become text, without losing a character, or the file is refused with a reason.

Nearly every string of bytes is a text in some encoding: what the text then is decides. Each older
encoding has signs that a text is really written in it.
"""

import codecs
import re
from collections.abc import Callable, Iterator
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
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_SNIFF_BYTES = (
    4096  # bytes in which UTF-16 without a mark is detected: the header's ASCII names are there
)
_LOOKED_AT_CHARS = 200_000  # of a text, for those beyond ASCII
_JUDGED_CHARS = 20_000  # by which an encoding is judged
_MIN_FIT = 0.7  # share of these that are usual in a text of the encoding
_TRADITIONAL_SHARE = 0.2  # of the characters of a traditional Chinese text are in no GB2312
_VOWEL_SHARE = 0.32  # of the letters of Cyrillic texts, at least
_MIN_SYLLABLES = 16  # characters
_SYLLABLE_SHARE = 0.95  # of the characters; the others are Chinese ones in a Korean text
_ASCII_COMPATIBLE = ("utf-8", "gb18030")  # no other character has a byte below the space in it
# Control characters that no text has; tab, line breaks and form feed are text.
_CONTROL = bytes((*range(9), *range(14, 32)))
# Letters beyond ASCII of languages that the code page of Western Europe writes. Texts in other code
# pages come out as letters of several of them.
_WESTERN = tuple(
    frozenset(letters + letters.upper())
    for letters in (
        *("äöüß", "àâæçéèêëîïôœùûü", "áéíñóúü", "áâãàçéêíóôõú", "àèéìòóù"),
        *("åäöé", "æøåé"),
    )
)
_WESTERN_SIGNS = frozenset("«»„“”‚‘’–—…•¿¡°€£§²³½ªº·×")
_WORD = re.compile(r"[^\W\d_]+")


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
    if data.startswith(_LFS_POINTER):
        raise DataError("lfs-pointer", file=name)
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
    fit, best = max(_fits(data), key=lambda each: each[0], default=(0, None))
    return best if fit >= _MIN_FIT else None


def _fits(data: bytes) -> Iterator[tuple[float, DecodedText]]:
    """The text in each encoding in which it is one, with how usual such a text is.

    Of a few characters that are as usual in several, the first is the likeliest.
    """
    for encoding, fit in (
        ("gb18030", _fit_chinese),
        ("cp950", _fit_traditional),
        ("cp932", _fit_japanese),
        ("euc_jp", _fit_japanese),
        ("cp949", _fit_korean),
        ("cp1251", _fit_cyrillic),
        ("cp1252", _fit_western),
    ):
        if read := _decode_strict(data, encoding):
            by_words = encoding.startswith("cp125")
            beginning = read.text[:_LOOKED_AT_CHARS]
            judged = beginning if by_words else _foreign(beginning)
            yield fit(judged[:_JUDGED_CHARS]) if judged else 0, read


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


def _fit_chinese(foreign: str) -> float:
    # Latin-1 and Big5 come out as rare characters or private ones, real Chinese is mostly within
    # the old GB2312, whose usual characters stand first. EUC-KR's syllables stand among them, from
    # B0A1 to C8FE, where 58 % of the characters of Chinese texts are.
    codes = [char.encode("gb2312", "ignore")[:1] for char in foreign]
    written = [code for code in codes if code >= b"\xb0"]
    syllables = sum(code < b"\xc9" for code in written)
    if len(written) >= _MIN_SYLLABLES and syllables >= _SYLLABLE_SHARE * len(written):
        return 0
    if any("\ue000" <= char <= "\uf8ff" for char in foreign) or _has_kana(foreign):
        return 0  # the kana of EUC-JP have the same bytes as GB2312's
    # Traditional characters are in GB18030 alone.
    return min(1, sum(map(bool, codes)) / len(codes) + _TRADITIONAL_SHARE)


def _fit_traditional(foreign: str) -> float:
    codes = [char.encode("cp950", "ignore")[:1] for char in foreign]
    return sum(b"\xa1" <= code <= b"\xc6" for code in codes) / len(codes)


def _fit_japanese(foreign: str) -> float:
    usual = sum(b"\x81" <= char.encode("cp932", "ignore")[:1] <= b"\x97" for char in foreign)
    return usual / len(foreign) if _has_kana(foreign) else 0


def _has_kana(foreign: str) -> bool:
    return 10 * sum("぀" <= char <= "ヿ" for char in foreign) >= len(foreign)


def _fit_korean(foreign: str) -> float:
    # Japanese comes out as syllables that only the extension of EUC-KR has.
    usual = (char.encode("euc_kr", "ignore") for char in foreign)
    syllables = sum(b"\xb0" <= code[:1] <= b"\xc8" for code in usual)
    return syllables / len(foreign) if syllables >= _MIN_SYLLABLES else 0


def _fit_cyrillic(text: str) -> float:
    # The letters of Hebrew have the same bytes, and other shares.
    foreign = _foreign(text).casefold()
    if sum(map(foreign.count, "аеиоуыэюяіїє")) < _VOWEL_SHARE * len(foreign):
        return 0
    return _share_in_words(text, lambda word: all("Ѐ" <= char <= "џ" for char in word))


def _fit_western(text: str) -> float:
    foreign = {char for char in _foreign(text) if char.isalpha()}
    if not any(foreign <= letters for letters in _WESTERN):
        return 0
    return _share_in_words(text, lambda word: 2 * len(_foreign(word)) <= len(word) + 1)


def _share_in_words(text: str, is_word: Callable[[str], bool]) -> float:
    """The share of the characters beyond ASCII that stand in words, or are signs beside them."""
    good = sum(char in _WESTERN_SIGNS for char in text)
    for word in _WORD.findall(text):
        foreign = len(_foreign(word))
        if foreign and is_word(word) and (word[1:].islower() or word.isupper() or len(word) == 1):
            good += foreign
    return good / max(1, len(_foreign(text)))


def _foreign(text: str) -> str:
    return "".join(char for char in text if char > "\x7f")


def _is_binary(text: str, encoded: bytes) -> bool:
    # A stray control character comes with text copied from a PDF; a zero or many do not.
    controls = len(encoded) - len(encoded.translate(None, _CONTROL))
    return controls > 0 and (b"\0" in encoded or 100 * controls > len(text))
