"""Which characters are Chinese: the unified ideographs, extension A and the compatibility ones."""

import re

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # to stand within the brackets of a pattern
HAN_CHARACTER = re.compile(f"[{HAN}]")


def contains_han(text: str) -> bool:
    """Whether there is a Chinese character in the text."""
    return HAN_CHARACTER.search(text) is not None
