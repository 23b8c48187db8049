"""Layouts of published sets and office files: read rightly, asked about or refused, never wrong.

Each block of tests/golden/layouts begins with `=== name | file | expectation` and holds a file. The
questions are invented. An expectation has the right options, or the first references, under `read`;
where the file `asks` for a confirmation, they are what is read with the columns that are proposed.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from evalui.datasets import Layout, LoadResult, load, read_columns
from evalui.datasets.columns import guess_columns, with_columns
from evalui.types import Sample

GOLDEN = Path(__file__).parents[2] / "golden"


@dataclass(frozen=True)
class Case:
    """A file by its name and text, and what is to come of it."""

    name: str
    file: str
    text: str
    expected: dict[str, Any]


def cases(path: Path) -> list[Case]:
    blocks = path.read_text(encoding="utf-8").split("=== ")[1:]
    heads_and_texts = (block.split("\n", 1) for block in blocks)
    parts = ((*head.split(" | ", 2), text) for head, text in heads_and_texts)
    return [Case(name, file, text, json.loads(wanted)) for name, file, wanted, text in parts]


CASES = [case for path in sorted((GOLDEN / "layouts").glob("*.txt")) for case in cases(path)]
READ = [case for case in CASES if "read" in case.expected and "asks" not in case.expected]
ASKS = [case for case in CASES if "asks" in case.expected]
REFUSED = [case for case in CASES if "refused" in case.expected]


def named(some: Sequence[Case]) -> Any:
    return pytest.mark.parametrize("case", some, ids=[case.name for case in some])


def written(folder: Path, case: Case) -> Path:
    path = folder / case.file
    path.write_text(case.text, encoding="utf-8", newline="")
    return path


def right(sample: Sample) -> str | None:
    if isinstance(sample.target, int):
        return sample.choices[sample.target]
    return next(iter(sample.references), None)


def confirmed(path: Path, key: str = "") -> Layout:
    """The layout that a person confirms who is shown the guess."""
    table = read_columns([path])
    assert table is not None
    guess = guess_columns(table)
    roles = {role: name for name, role in zip(table.headers, guess.roles, strict=True) if role}
    return with_columns(Layout(answer_key=key or guess.answer_key, kind=guess.kind), roles)


def check(loaded: LoadResult, expected: dict[str, Any]) -> None:
    samples = loaded.dataset.samples
    assert loaded.dataset.kind == expected.get("kind", "multiple_choice")
    assert [right(sample) for sample in samples] == expected["read"]
    assert [fault.rule for fault in loaded.faults] == expected.get("faults", [])
    assert samples[0].question == expected.get("first", samples[0].question)
    assert len(samples[0].choices) == expected.get("options", len(samples[0].choices))


def test_there_are_enough_of_them() -> None:
    assert len(READ) + len(ASKS) + len(REFUSED) == len(CASES) >= 130
    assert len({case.name for case in CASES}) == len(CASES)


@named(READ)
def test_what_is_clear_is_read_without_help(tmp_path: Path, case: Case) -> None:
    check(load([written(tmp_path, case)]), case.expected)


@named(ASKS)
def test_what_is_not_clear_is_read_after_one_confirmation(tmp_path: Path, case: Case) -> None:
    path = written(tmp_path, case)
    waiting = load([path])
    assert waiting.dataset.samples == ()
    assert [fault.rule for fault in waiting.faults] == [f"confirm-{case.expected['asks']}"]
    if "read" in case.expected:
        check(load([path], layout=confirmed(path, case.expected.get("key", ""))), case.expected)


@named(REFUSED)
def test_what_holds_no_questions_is_refused(tmp_path: Path, case: Case) -> None:
    loaded = load([written(tmp_path, case)])
    assert loaded.dataset.samples == ()
    assert {*case.expected["refused"]} <= {fault.rule for fault in loaded.faults}


@named([*READ, *ASKS])
def test_the_guess_does_not_hang_on_the_names_of_the_columns_being_as_written(
    tmp_path: Path, case: Case
) -> None:
    if not case.file.endswith((".csv", ".tsv")) or case.file.startswith("x_"):
        return
    path = written(tmp_path, case)
    before = load([path])
    head, rest = case.text.split("\n", 1)
    path.write_text(f"{head.upper()}\n{rest}", encoding="utf-8", newline="")
    after = load([path])
    assert [right(sample) for sample in after.dataset.samples] == [
        right(sample) for sample in before.dataset.samples
    ]


def test_a_kind_that_is_stated_needs_no_confirmation_of_the_kind(tmp_path: Path) -> None:
    (case,) = (case for case in CASES if case.name == "sst-2")
    path = written(tmp_path, case)
    loaded = load([path], layout=replace(Layout(), kind="general_qa"))
    assert [right(sample) for sample in loaded.dataset.samples] == ["1", "0", "1"]
