"""Published sets by name, as pages and REST offer them."""

import json
from pathlib import Path

import pytest
from bubblewrap_here import needs_bubblewrap

from evalui.access import Person
from evalui.app.datasets import find_benchmarks, read_upload, take_benchmark
from evalui.app.service import AppService
from evalui.datasets.model import Layout
from evalui.errors import DataError, NotAllowed, UnknownName

HUB = Path(__file__).parents[2] / "golden" / "benchmarks" / "hub"


@pytest.fixture(autouse=True)
def _places(desk: AppService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.settings.task_data = HUB
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))


def test_sets_on_this_machine_come_first(desk: AppService):
    found = find_benchmarks(desk, "mmlu", most=20)
    here = [each.hindrance is None for each in found]
    assert found[0].benchmark.name == "mmlu"
    assert here == sorted(here, reverse=True)
    assert here.count(True) < len(here)
    assert find_benchmarks(desk, "mmlu", most=1) == found[:1]


def test_what_hinders_a_set_is_said(desk: AppService):
    (missing,) = find_benchmarks(desk, "arc_challenge", most=1)
    assert "evalui benchmarks fetch arc_challenge" in str(missing.hindrance)
    (code,) = find_benchmarks(desk, "humaneval", most=1)
    assert "EVALUI_RUN_CODE" in str(code.hindrance)
    assert find_benchmarks(desk, "nothing like it", most=9) == ()


@needs_bubblewrap
def test_a_set_of_code_is_taken_where_code_is_run(
    desk: AppService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "hub/openai/openai_humaneval/openai_humaneval/test-00000-of-00001.jsonl"
    path.parent.mkdir(parents=True)
    row = {
        "task_id": "HumanEval/0",
        "prompt": "def one():\n",
        "entry_point": "one",
        "canonical_solution": "    return 1\n",
        "test": "def check(f):\n    assert f() == 1\n",
    }
    path.write_text(json.dumps(row) + "\n")
    desk.settings.task_data = tmp_path / "hub"
    with pytest.raises(DataError, match="EVALUI_RUN_CODE"):
        take_benchmark(desk, "humaneval")
    monkeypatch.setenv("EVALUI_RUN_CODE", "true")
    (offered,) = find_benchmarks(desk, "humaneval", most=1)
    assert offered.hindrance is None
    view = read_upload(desk, take_benchmark(desk, "humaneval").upload, Layout())
    assert (view.kind, view.n_questions, view.n_references) == ("code", 1, 1)
    assert view.notes == ()


def test_a_set_becomes_an_upload_and_says_how_it_differs(desk: AppService):
    taken = take_benchmark(desk, "csqa")
    view = read_upload(desk, taken.upload, Layout())
    assert (view.name, view.n_questions, view.n_shots) == ("commonsense_qa", 40, 5)
    assert "the published split has 1221" in str(taken.notes)
    assert take_benchmark(desk, "csqa") == taken


def test_a_set_that_is_not_here_is_not_taken(desk: AppService):
    with pytest.raises(DataError, match="benchmarks fetch"):
        take_benchmark(desk, "arc_challenge")
    with pytest.raises(UnknownName):
        take_benchmark(desk, "nothing")


def test_readers_take_none(desk: AppService):
    with pytest.raises(NotAllowed):
        take_benchmark(desk.acting_for(Person("rob", "reader")), "csqa")
