"""Whatever a user may read as an error is there in each language."""

import ast
import string
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import evalui
from evalui import errors
from evalui.errors import EvaluiError
from evalui.ui.text import text

ROOT = Path(evalui.__file__).parent
# The command line, and what only it calls, speaks English.
ENGLISH = ("cli.py", "predictions.py", "texts.py", "battles.py", "errors.py")
SOURCES = sorted(path for path in ROOT.rglob("*.py") if path.name not in ENGLISH)
MAKERS = {"sentence"} | {
    name
    for name, made in vars(errors).items()
    if isinstance(made, type) and issubclass(made, EvaluiError)
}


class Told(NamedTuple):
    place: str
    arguments: list[ast.expr]
    values: set[str]

    @property
    def template(self) -> str:
        return self.arguments[0].value  # type: ignore[attr-defined]

    @property
    def rule(self) -> str:
        return self.arguments[1].value  # type: ignore[attr-defined]


def calls(path: Path) -> Iterator[Told]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in MAKERS:
            values = {str(keyword.arg) for keyword in node.keywords}
            yield Told(f"{path.relative_to(ROOT)}:{node.lineno}", node.args, values)


CALLS = [told for path in SOURCES for told in calls(path)]
# An error may pass on a sentence that was made elsewhere, by its name.
RULED = [told for told in CALLS if len(told.arguments) == 2]
PASSED_ON = (ast.Name, ast.Call)


def fields(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


def test_no_error_is_raised_without_a_rule():
    bare = [told for told in CALLS if told not in RULED]
    assert [t.place for t in bare if not isinstance(t.arguments[0], PASSED_ON)] == []


@pytest.mark.parametrize("told", RULED, ids=lambda told: told.place)
def test_every_error_has_its_values_and_its_chinese_sentence(told: Told):
    assert fields(told.template) == told.values
    assert fields(text("zh").words[f"error.{told.rule}"]) <= told.values


def test_a_rule_means_one_sentence_only():
    assert {told.rule: told.template for told in RULED} == {
        told.rule: told.template for told in reversed(RULED)
    }


def test_no_chinese_sentence_is_left_over():
    chinese = {key for key in text("zh").words if key.startswith("error.")}
    assert chinese == {f"error.{told.rule}" for told in RULED}
