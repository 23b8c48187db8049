"""Which column is what is remembered for the headers of a file, for each user alone."""

from pathlib import Path

import pytest

from evalui.app.column_memory import ColumnMemory, fitting_layout
from evalui.app.datasets import store_upload
from evalui.app.service import AppService
from evalui.datasets.model import Layout, columns_of, with_columns
from evalui.errors import DataError

HEADERS = ("prompt", "label")
PROMPT = Layout(question="prompt")
OWN = "Frage,erste,zweite,dritte,richtig,stimmt\n"
NAMED = {"question": "Frage", "A": "erste", "B": "zweite", "C": "dritte", "answer": "richtig"}


def test_a_choice_is_recalled_for_the_same_headers_only(tmp_path: Path) -> None:
    memory = ColumnMemory(tmp_path / "columns", lambda: "ann")
    assert memory.recall(HEADERS) is None
    memory.remember(HEADERS, PROMPT)
    memory.remember(("frage", "antwort"), Layout(question="frage"))
    assert ColumnMemory(tmp_path / "columns", lambda: "ann").recall(HEADERS) == PROMPT
    assert memory.recall(("label", "prompt")) is None


def test_a_choice_is_of_one_user(tmp_path: Path) -> None:
    ColumnMemory(tmp_path, lambda: "ann").remember(HEADERS, PROMPT)
    assert ColumnMemory(tmp_path, lambda: "bob").recall(HEADERS) is None
    assert [path.name for path in tmp_path.iterdir() if "ann" in path.name] == []


def test_an_empty_choice_forgets(tmp_path: Path) -> None:
    memory = ColumnMemory(tmp_path, lambda: "ann")
    memory.remember(HEADERS, PROMPT)
    memory.remember(HEADERS, None)
    assert memory.recall(HEADERS) is None


def test_a_folder_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    (tmp_path / "columns").touch()
    with pytest.raises(DataError, match="cannot be kept"):
        ColumnMemory(tmp_path / "columns", lambda: "ann").remember(HEADERS, PROMPT)


def test_a_gallery_keeps_no_choice(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="read-only"):
        ColumnMemory(tmp_path, lambda: "ann", read_only=True).remember(HEADERS, PROMPT)
    assert list(tmp_path.iterdir()) == []


def fitting(desk: AppService, rows: str, layout: Layout) -> Layout | None:
    """What is recalled for a file of these rows after the layout was used for another."""
    desk.column_memory.remember(OWN.strip().split(","), layout)
    upload = store_upload(desk, [("exam.csv", (OWN + rows).encode())])
    return fitting_layout(desk.column_memory, desk.files, upload)


def test_columns_that_fit_are_recalled_with_their_kind(desk: AppService) -> None:
    chosen = with_columns(Layout(answer_key="index1", kind="multiple_choice"), NAMED)
    assert fitting(desk, "Eins?,a,b,c,1,\nZwei?,a,b,c,3,\n", chosen) == chosen


@pytest.mark.parametrize(
    ("rows", "key"),
    [
        ("Eins?,a,b,c,,A\nZwei?,a,b,c,,B\n", "letter"),  # the answers stand elsewhere
        ("Eins?,a,b,c,A,\nZwei?,a,b,c,B,\n", "index1"),  # and are written otherwise
        ("Eins?,a,b,,1,\n" * 20 + "Zwei?,a,b,c,0,\n", "index1"),  # one 0 tells from where
    ],
)
def test_columns_that_do_not_fit_are_not_used(desk: AppService, rows: str, key: str) -> None:
    assert fitting(desk, rows, with_columns(Layout(answer_key=key), NAMED)) is None


def test_a_choice_that_reads_less_than_nobody_s_help_is_not_used(desk: AppService) -> None:
    headers = "question,A,B,answer,vote"
    text = headers + "\n" + "Q?,a,b,A,B\n" * 9 + "Q?,a,b,A,\n"
    chosen = with_columns(Layout(), {"question": "question", "A": "A", "B": "B", "answer": "vote"})
    assert columns_of(chosen)["answer"] == "vote"
    desk.column_memory.remember(headers.split(","), chosen)
    upload = store_upload(desk, [("known.csv", text.encode())])
    assert fitting_layout(desk.column_memory, desk.files, upload) is None


def test_nothing_is_recalled_for_a_file_without_columns(desk: AppService) -> None:
    upload = store_upload(desk, [("qa.jsonl", b'{"query": "Who?"}\n')])
    assert fitting_layout(desk.column_memory, desk.files, upload) is None
