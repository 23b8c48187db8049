"""Layouts of published sets and office files: read rightly, asked about or refused, never wrong.

The questions of tests/golden/layouts are invented. An expectation has the right options, or the
first references, under `read`; where the file `asks` for a confirmation, they are what is read with
the columns that are proposed.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from layouts import Case, cases, right

from evalui.datasets import Layout, LoadResult, load, read_columns
from evalui.datasets.guess import guess_roles
from evalui.datasets.model import with_columns

CASES = list(cases("layouts"))
READ = [case for case in CASES if "read" in case.expected and "asks" not in case.expected]
ASKS = [case for case in CASES if "asks" in case.expected]
REFUSED = [case for case in CASES if "refused" in case.expected]


def named(some: Sequence[Case]) -> Any:
    return pytest.mark.parametrize("case", some, ids=[case.name for case in some])


def confirmed(path: Path, key: str = "") -> Layout:
    """The layout that a person confirms who is shown the guess."""
    table = read_columns([path])
    assert table is not None
    guess = guess_roles(table)
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
    check(load([case.written(tmp_path)]), case.expected)


@named(ASKS)
def test_what_is_not_clear_is_read_after_one_confirmation(tmp_path: Path, case: Case) -> None:
    path = case.written(tmp_path)
    waiting = load([path])
    assert waiting.dataset.samples == ()
    assert [fault.rule for fault in waiting.faults] == [f"confirm-{case.expected['asks']}"]
    if "read" in case.expected:
        check(load([path], layout=confirmed(path, case.expected.get("key", ""))), case.expected)


@named(REFUSED)
def test_what_holds_no_questions_is_refused(tmp_path: Path, case: Case) -> None:
    loaded = load([case.written(tmp_path)])
    assert loaded.dataset.samples == ()
    assert {*case.expected["refused"]} <= {fault.rule for fault in loaded.faults}


@named([*READ, *ASKS])
def test_the_guess_does_not_hang_on_the_names_of_the_columns_being_as_written(
    tmp_path: Path, case: Case
) -> None:
    if not case.file.endswith((".csv", ".tsv")) or case.file.startswith("x_"):
        return
    path = case.written(tmp_path)
    before = load([path])
    head, rest = case.text.split("\n", 1)
    path.write_text(f"{head.upper()}\n{rest}", encoding="utf-8", newline="")
    after = load([path])
    assert [right(sample) for sample in after.dataset.samples] == [
        right(sample) for sample in before.dataset.samples
    ]


def test_a_kind_that_is_stated_needs_no_confirmation_of_the_kind(tmp_path: Path) -> None:
    (case,) = (case for case in CASES if case.name == "sst-2")
    path = case.written(tmp_path)
    loaded = load([path], layout=replace(Layout(), kind="general_qa"))
    assert [right(sample) for sample in loaded.dataset.samples] == ["1", "0", "1"]
