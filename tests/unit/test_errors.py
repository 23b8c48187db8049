"""Whatever a user may read as an error is there in each language."""

import ast
import string
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from source_trees import nodes_of

import evalui
from evalui import errors
from evalui.errors import EvaluiError
from evalui.messages import messages

ROOT = Path(evalui.__file__).parent
SOURCES = sorted(ROOT.rglob("*.py"))
# `PatternError` becomes an error with its key above the package that raises it.
MAKERS = {"sentence", "PatternError", "LockedError"} | {
    name
    for name, made in vars(errors).items()
    if isinstance(made, type) and issubclass(made, EvaluiError)
}


class Call(NamedTuple):
    place: str
    argument: ast.expr | None
    values: set[str]

    @property
    def key(self) -> str:
        rule = self.argument.value  # type: ignore[union-attr]
        return (
            rule
            if rule.startswith(
                ("error.", "fault.", "note.", "set.", "held.", "notice.", "picture.")
            )
            else f"error.{rule}"
        )


def calls(path: Path) -> Iterator[Call]:
    for node in nodes_of(path):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in MAKERS:
            values = {str(keyword.arg) for keyword in node.keywords}
            argument = node.args[0] if len(node.args) == 1 else None
            yield Call(f"{path.relative_to(ROOT)}:{node.lineno}", argument, values)


@cache
def all_calls() -> Sequence[Call]:
    return [call for path in SOURCES for call in calls(path)]


def keyed_calls() -> Sequence[Call]:
    return [call for call in all_calls() if isinstance(call.argument, ast.Constant)]


# An error may pass on a sentence that was made elsewhere, by its name.
PASSED_ON = (ast.Name, ast.Call)


def fields(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


def test_no_error_is_raised_without_a_key():
    assert len(keyed_calls()) > 300
    bare = [call for call in all_calls() if not isinstance(call.argument, ast.Constant)]
    assert [c.place for c in bare if not isinstance(c.argument, (*PASSED_ON, ast.JoinedStr))] == []


def test_every_error_has_its_values():
    known = messages("en").by_key
    wrong = [
        call.place
        for call in keyed_calls()
        if call.key not in known or fields(known[call.key]) != call.values
    ]
    assert wrong == []


def test_another_package_raises_with_a_sentence_of_its_own():
    error = EvaluiError("The server says {no}.")
    assert str(error) == error.sentence == "The server says {no}."
    assert error.sentence.key == ""


def test_a_key_that_the_catalogue_lacks_is_a_mistake():
    with pytest.raises(KeyError):
        EvaluiError("no-such-key")
