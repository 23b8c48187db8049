"""Published sets by REST: listed, made a dataset, fetched by who may add models."""

from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from evalui.app.service import AppService

HUB = Path(__file__).parents[2] / "golden" / "benchmarks" / "hub"


@pytest.fixture(autouse=True)
def _places(desk: AppService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.settings.task_data = HUB
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))


def test_sets_are_listed_and_searched(api: TestClient):
    every = api.get("/benchmarks").json()
    assert len(every) > 50
    chosen = api.get("/benchmarks", params={"words": "zh similarity"}).json()
    assert [each["name"] for each in chosen] == ["afqmc", "bustm"]


def test_one_set_is_described(api: TestClient):
    shown = api.get("/benchmarks/MMLU").json()
    assert (shown["name"], shown["origin"], shown["questions"]) == ("mmlu", "given", 14042)
    assert shown["files"] == ["all/test-00000-of-00001.parquet"]
    assert shown["advice"] == ""
    assert shown["published"][0]["source"].startswith("arXiv:2307.09288")
    assert api.get("/benchmarks/none").status_code == 404


def test_what_is_missing_says_what_to_do_without_the_path_of_the_server(api: TestClient):
    advice = api.get("/benchmarks/arc_challenge").json()["advice"]
    assert "evalui benchmarks fetch arc_challenge" in advice
    assert "…/ai2_arc" in advice
    assert str(HUB) not in advice
    chinese = api.get("/benchmarks/humaneval", headers={"Accept-Language": "zh"}).json()
    assert "管理员" in chinese["advice"]


def test_a_set_becomes_a_dataset_that_a_run_can_name(api: TestClient):
    taken = api.post("/benchmarks/csqa/take")
    assert taken.status_code == 201, taken.text
    (part,) = taken.json()["parts"]
    assert (part["name"], part["questions"], part["worked_examples"]) == ("commonsense_qa", 40, 5)
    spec = {
        "version": 3,
        "datasets": [{"upload": taken.json()["id"]}],
        "models": ["biased"],
        "modes": [{"mode": "multiple_choice", "pattern": "circular"}],
    }
    assert api.post("/runs", json=spec).status_code == 201


def test_a_set_that_is_not_here_cannot_be_taken(api: TestClient):
    assert api.post("/benchmarks/arc_challenge/take").status_code == 422


def test_only_who_may_add_models_fetches(
    api: TestClient, become: Callable[..., None], monkeypatch: pytest.MonkeyPatch
):
    fetched: list[str] = []
    monkeypatch.setattr(
        "evalui.api.benchmarks.fetch", lambda benchmark, _: fetched.append(benchmark.name)
    )
    become("eve", "annotator")
    assert api.post("/benchmarks/csqa/fetch").status_code == 403
    become("rob", "reader")
    assert api.post("/benchmarks/csqa/take").status_code == 403
    become("otto", "operator")
    assert api.post("/benchmarks/csqa/fetch").status_code == 200
    assert fetched == ["commonsense_qa"]


def test_a_server_whose_models_are_fixed_fetches_nothing(
    api: TestClient, desk: AppService, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("evalui.api.benchmarks.fetch", lambda *_: pytest.fail("it fetched"))
    desk.settings.edit_models = False
    assert api.post("/benchmarks/csqa/fetch").status_code == 403
