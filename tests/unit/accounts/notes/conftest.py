"""A store with a person whose runs end."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from store_examples import open_database

from evalui.access import LOCAL_PERSON as ME
from evalui.accounts.people import add_person
from evalui.runs.database.connection import Database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_database(tmp_path / "evalui.sqlite")
    add_person(opened, "ann", "annotator", by=ME)
    yield opened
    opened.close()


@pytest.fixture
def ended(database: Database) -> Callable[..., str]:
    """A run that ends in a state, without any cells."""
    made: list[str] = []

    def end(state: str = "done", *, owner: str = "ann", name: str = "Midterm") -> str:
        run_id = f"run{len(made)}"
        made.append(run_id)
        with database.writing() as connection:
            connection.execute(
                "INSERT INTO run (id, owner, name, spec, state, created, queued)"
                " VALUES (?, ?, ?, '', 'running', 1, 1)",
                (run_id, owner, name),
            )
            connection.execute(
                "UPDATE run SET state = ?, finished = 2 WHERE id = ?", (state, run_id)
            )
        return run_id

    return end
