"""Families of files that people have: read rightly, asked about, or refused with what takes them.

Of the questions in tests/golden/families all are invented, the layouts are those of the programs
and sets they are named after. An expectation has under `read` the right options or the first
references (`+` between several right options; such rows may be set aside with a fault each); with
`"or": "asks"` the file may be asked about as well. Of what holds no questions nothing is read, and
what is said of it has the words under `says`.
"""

from dataclasses import dataclass
from pathlib import Path

import pytest
from layouts import Case, cases, right

from evalui.datasets import LoadResult, load
from evalui.errors import DataError
from evalui.messages import messages

CASES = {case.name: case for case in cases("families")}


@dataclass(frozen=True)
class Outcome:
    """What comes of a file: what was read of it, and all that is said of it, in English."""

    loaded: LoadResult | None
    said: str

    @property
    def asks(self) -> bool:
        """Whether nothing is read before a person has confirmed what the columns are."""
        return bool(self.loaded and not self.loaded.dataset.samples) and any(
            fault.rule.startswith("confirm-") for fault in self.loaded.faults
        )


def outcome(path: Path) -> Outcome:
    try:
        loaded = load([path])
    except DataError as error:
        return Outcome(None, str(error))
    told = messages("en").by_key
    said = [str(note) for note in loaded.notes]
    for fault in loaded.faults:
        parts = (told.get(f"fault.{fault.rule}.{part}", "") for part in ("what", "expected"))
        said += [str(fault), *parts]
    return Outcome(loaded, "\n".join(said))


def check(case: Case, found: Outcome) -> None:
    expected, loaded = case.expected, found.loaded
    if expected.get("or") == "asks" and found.asks:
        return
    samples = loaded.dataset.samples if loaded else ()
    if "says" in expected:
        assert [right(sample) for sample in samples] == []
        assert expected["says"] in found.said
    elif "asks" in expected:
        assert found.asks, found.said
    else:
        assert loaded, found.said
        check_read(case, loaded, found.said)


def check_read(case: Case, loaded: LoadResult, said: str) -> None:
    expected, samples = case.expected, loaded.dataset.samples
    several = [text for text in expected["read"] if text and " + " in text]
    whole = [right(sample) for sample in samples]
    if several and whole != expected["read"]:
        assert whole == [text for text in expected["read"] if text not in several], said
        assert loaded.n_unusable_rows == len(several)
    else:
        assert whole == expected["read"], said
        assert [fault.rule for fault in loaded.faults] == expected.get("faults", [])
    assert loaded.dataset.kind in expected.get("kinds", [expected.get("kind", "multiple_choice")])
    assert {note.rule for note in loaded.notes} >= {*expected.get("notes", [])}
    if samples:
        first = samples[0]
        assert first.question == expected.get("first", first.question)
        assert len(first.choices) == expected.get("options", len(first.choices))
        assert [turn.content for turn in first.history] == expected.get("history", [])
        assert expected.get("guidance", "") in "\n".join(["", *first.metadata.values()])
        ids = [sample.id.rpartition("/")[2] for sample in samples]
        assert ids == expected.get("ids", ids)


@pytest.mark.parametrize("name", CASES)
def test_a_file_of_a_family_is_read_rightly_asked_about_or_named(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    check(case, outcome(case.written(tmp_path)))


def test_there_are_enough_of_them() -> None:
    assert len(CASES) >= 140
