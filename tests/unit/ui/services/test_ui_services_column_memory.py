"""Which column is what is remembered for the headers of a file, for each user alone."""

from pathlib import Path

import pytest

from evalui.errors import DataError
from evalui.ui.services.column_memory import ColumnMemory

HEADERS = ("prompt", "label")


def test_a_choice_is_recalled_for_the_same_headers_only(tmp_path: Path) -> None:
    memory = ColumnMemory(tmp_path / "columns", lambda: "ann")
    assert memory.recall(HEADERS) == ""
    memory.remember(HEADERS, "question=prompt")
    memory.remember(("frage", "antwort"), "question=frage")
    assert ColumnMemory(tmp_path / "columns", lambda: "ann").recall(HEADERS) == "question=prompt"
    assert memory.recall(("label", "prompt")) == ""


def test_a_choice_is_of_one_user(tmp_path: Path) -> None:
    ColumnMemory(tmp_path, lambda: "ann").remember(HEADERS, "question=prompt")
    assert ColumnMemory(tmp_path, lambda: "bob").recall(HEADERS) == ""
    assert [path.name for path in tmp_path.iterdir() if "ann" in path.name] == []


def test_an_empty_choice_forgets(tmp_path: Path) -> None:
    memory = ColumnMemory(tmp_path, lambda: "ann")
    memory.remember(HEADERS, "question=prompt")
    memory.remember(HEADERS, "")
    assert memory.recall(HEADERS) == ""


def test_a_folder_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    (tmp_path / "columns").touch()
    with pytest.raises(DataError, match="cannot be kept"):
        ColumnMemory(tmp_path / "columns", lambda: "ann").remember(HEADERS, "question=prompt")


def test_a_gallery_keeps_no_choice(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="read-only"):
        ColumnMemory(tmp_path, lambda: "ann", read_only=True).remember(HEADERS, "question=prompt")
    assert list(tmp_path.iterdir()) == []
