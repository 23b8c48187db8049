"""What is looked for before a slow pattern is in every match of it."""

from re import _constants as constants  # pyright: ignore
from re import _parser as parser  # pyright: ignore
from typing import Any

import pytest

from evalui.replies import grammar
from evalui.replies.grammar import Stems

PATTERNS = ("_NEGATION", "_SUPPOSED", "_TAKES_BACK")


def needed(parsed: Any) -> set[str]:
    """Texts of which every match of a parsed pattern holds one; none if that is not known."""
    found: list[set[str]] = []
    run = ""
    for kind, value in [*parsed, (None, None)]:
        if kind is constants.LITERAL:
            run += chr(value)
            continue
        if run:
            found.append({run})
            run = ""
        if kind is constants.SUBPATTERN:
            found.append(needed(value[3]))
        elif kind is constants.BRANCH and all(parts := [needed(each) for each in value[1]]):
            found.append(set[str]().union(*parts))
        elif kind in (constants.MAX_REPEAT, constants.MIN_REPEAT) and value[0]:
            found.append(needed(value[2]))
        elif kind is constants.IN and all(each is constants.LITERAL for each, _ in value):
            found.append({chr(each) for _, each in value})
    return max(filter(None, found), key=lambda texts: min(map(len, texts)), default=set[str]())


@pytest.mark.parametrize("name", PATTERNS)
def test_every_match_of_a_pattern_holds_a_stem(name: str):
    pattern, stems = getattr(grammar, name), getattr(grammar, f"{name}_STEMS")
    assert isinstance(stems, Stems)
    texts = needed(parser.parse(pattern.pattern))
    assert len(texts) > 20
    assert sorted(text for text in texts if not stems.may_be_in(text)) == []


def test_stems_of_another_script_are_looked_for_in_its_texts_alone():
    stems = Stems("not", "不")
    assert stems.may_be_in("it is not B")
    assert stems.may_be_in("不是B")
    assert not stems.may_be_in("it is B")
    assert not stems.may_be_in("是B")
