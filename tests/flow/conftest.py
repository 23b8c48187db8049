"""An office with one model."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from flow_examples import Office, undisturbed_trials

from evalui.types import Trial


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    opened = Office(tmp_path)
    opened.hire()
    yield opened
    opened.close()


@pytest.fixture
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Trial, ...]]:
    """The trials of the same run when nothing happens to it."""
    return undisturbed_trials(tmp_path_factory.mktemp("undisturbed"))
