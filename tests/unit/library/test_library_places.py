"""Where a run is: a folder, a store, its id, an address; and what is there."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import evalui
from evalui import client as client_module
from evalui.errors import DataError, SpecError, StoreError, UnknownRun
from evalui.library.places import RUN_COLUMNS


def test_a_run_is_opened_by_its_folder_its_store_and_its_id(
    choice_folder: Path, monkeypatch: pytest.MonkeyPatch
):
    listed = evalui.list_runs(choice_folder)
    (run_id,) = listed["id"]
    monkeypatch.setenv("EVALUI_DATA_DIR", str(choice_folder))
    for place in (choice_folder, choice_folder / "evalui.sqlite", run_id):
        with evalui.open(place) as run:
            assert (run.id, run.name) == (run_id, "Net: choice")
    assert evalui.list_runs()["id"].tolist() == [run_id]


def test_runs_are_listed_with_declared_columns(choice_folder: Path):
    listed = evalui.list_runs(choice_folder)
    assert {name: str(listed[name].dtype) for name in listed} == {
        name: column.dtype for name, column in RUN_COLUMNS.items()
    }
    row = listed.iloc[0]
    assert (row["state"], row["done"]) == ("done", row["total"])
    assert list(evalui.list_runs()) == list(RUN_COLUMNS)  # the data folder has no store yet
    assert len(evalui.list_runs()) == 0


def test_what_is_not_there_is_said(tmp_path: Path, choice_folder: Path):
    with pytest.raises(StoreError, match="no store at"):
        evalui.open("aRunId1234")
    with pytest.raises(StoreError, match="no store at"):
        evalui.open(tmp_path / "missing")
    with pytest.raises(StoreError, match="no store at"):
        evalui.list_runs(tmp_path)
    with pytest.raises(DataError, match="not a finished run of a harness"):
        evalui.open(tmp_path)
    with pytest.raises(UnknownRun, match="no run 'other'"):
        evalui.open(choice_folder, run="other")


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[Any, ...]]]:
    """The servers that were opened, each with its token, and the runs that were read."""
    made: list[tuple[Any, ...]] = []

    class Named:
        name = "Far"

    class Server:
        def __init__(self, url: str, token: str = "", *, insecure: bool = False) -> None:
            made.append((url, token, insecure))
            self.url = url

        def run(self, run_id: str) -> Named:
            made.append(("run", run_id))
            return Named()

    monkeypatch.setattr(client_module, "Client", Server)
    return made


@pytest.mark.parametrize(
    ("address", "url", "token"),
    [
        ("https://box/?run=abc", "https://box", ""),
        ("https://box/evalui/?token=t&run=abc&tab=bias", "https://box/evalui", "t"),
        ("https://box/evalui/r/abc", "https://box/evalui", ""),
        ("http://127.0.0.1:7860/r/abc/q/1", "http://127.0.0.1:7860", ""),
    ],
)
def test_an_address_names_its_server_and_its_run(
    servers: list[tuple[Any, ...]], address: str, url: str, token: str
):
    with evalui.open(address) as run:
        assert (run.id, run.name) == ("abc", "Far")
    assert servers == [(url, token, False), ("run", "abc")]
    evalui.open(address, token="own", insecure=True).close()
    assert servers[2] == (url, "own", True)


def test_an_address_without_a_run_is_refused(servers: list[tuple[Any, ...]]):
    with pytest.raises(SpecError, match="https://box names no run"):
        evalui.open("https://box/?lang=en")
    assert len(servers) == 1


def test_a_folder_of_another_harness_is_opened_as_a_run():
    logs = Path(__file__).parents[2] / "golden" / "harnesses" / "lmeval"
    with evalui.open(logs) as run:
        cells = run.cells()
        assert len(cells)
        assert set(cells["state"]) == {"done"}
        assert len(run.trials())
