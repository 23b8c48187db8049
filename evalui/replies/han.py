"""Which characters are Chinese: the unified ideographs, extension A and the compatibility ones."""

import re

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # to stand within the brackets of a pattern
HAN_CHARACTER = re.compile(f"[{HAN}]")


def contains_han(text: str) -> bool:
    """Whether there is a Chinese character in the text."""
    return HAN_CHARACTER.search(text) is not None


_LATIN_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]{2,}")
# Where a text quotes much in another language, what it asks stands at its beginning or its end.
_ASKED = re.compile(rf"^\W*[{HAN}]{{5}}|[{HAN}]{{5}}\W*$")
_NOT_CHINESE = re.compile("[\u3040-\u30ff\u1100-\u11ff\uac00-\ud7af]")  # Japanese, Korean


def is_chinese(text: str) -> bool:
    """Whether a text is written in Chinese, by its script: most of it, or what it asks.

    It has at least as many Chinese characters as Latin words, and few of Japanese or Korean.
    """
    characters = len(HAN_CHARACTER.findall(text))
    if not characters or 4 * len(_NOT_CHINESE.findall(text)) >= characters:
        return False
    return characters >= len(_LATIN_WORD.findall(text)) or bool(_ASKED.search(text))
