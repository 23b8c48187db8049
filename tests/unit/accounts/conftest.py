"""A store without people, and how fast passwords are hashed in tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from store_examples import open_database

from evalui.runs.database.connection import Database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_database(tmp_path / "evalui.sqlite")
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def cheap(request: pytest.FixtureRequest) -> None:
    request.getfixturevalue("cheap_passwords")
