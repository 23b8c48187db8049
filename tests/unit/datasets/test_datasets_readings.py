"""What is read of some 600 inputs stays, to the word and the digest; see tests/readings.py."""

from pathlib import Path

import pytest
import readings
from made_files import Made

INPUTS = {each.name: each for each in readings.inputs()}
FROZEN = readings.frozen()
SURE = [each for each in INPUTS.values() if each.right is not None]


def test_each_reading_has_its_input() -> None:
    assert len(FROZEN) > 500
    assert FROZEN.keys() <= INPUTS.keys()
    assert {each.name for each in INPUTS.values() if each not in SURE} <= FROZEN.keys()


@pytest.mark.parametrize("name", FROZEN)
def test_a_file_is_read_as_before(tmp_path: Path, name: str) -> None:
    now = readings.read(INPUTS[name], tmp_path)
    assert list(readings.differences(name, FROZEN[name], now)) == []


@pytest.mark.parametrize("each", SURE, ids=lambda each: each.name)
def test_a_file_is_read_rightly_or_asked_about(tmp_path: Path, each: Made) -> None:
    assert readings.right(readings.read(each, tmp_path)) in ((), each.right)
