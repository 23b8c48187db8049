"""The table of mistakes that tests must notice fits the code; `make mutations` tries them."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "tests" / "mutations" / "mutations.toml"
MUTATIONS: dict[str, dict[str, Any]] = tomllib.loads(TABLE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", MUTATIONS)
def test_its_text_stands_once_in_its_file_and_its_tests_are_there(name: str):
    mutation = MUTATIONS[name]
    text = (ROOT / mutation["file"]).read_text(encoding="utf-8")
    assert text.count(mutation["old"]) == 1
    changed = text.replace(mutation["old"], mutation["new"])
    assert changed != text
    compile(changed, mutation["file"], "exec")
    assert all((ROOT / test.partition("::")[0]).exists() for test in mutation["tests"])
