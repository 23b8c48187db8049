"""Published sets in Python: what `evalui.benchmarks` offers, and a run of one by its name."""

import warnings
from pathlib import Path
from types import ModuleType

import pytest

import evalui
from evalui.benchmarks import harness, hub, preparing, published
from evalui.settings import Settings

HUB = Path(__file__).parents[2] / "golden" / "benchmarks" / "hub"


@pytest.fixture(autouse=True)
def _places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALUI_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("EVALUI_TASK_DATA", str(HUB))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def test_every_public_name_of_published_sets_is_there_and_kept():
    sets = evalui.benchmarks
    for name in sets.__all__:
        assert getattr(sets, name) is getattr(sets, name)
    assert set(sets.__all__) <= set(dir(sets))
    with pytest.raises(AttributeError, match="no attribute 'questions_of'"):
        _ = sets.questions_of  # pyright: ignore


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (hub, "fetch"),
        (harness, "official_figures"),
        (preparing, "availability"),
        (preparing, "missing"),
        (published, "published_figures"),
    ],
)
def test_what_the_command_does_is_a_call(module: ModuleType, name: str):
    assert getattr(evalui.benchmarks, name) is getattr(module, name)


def test_a_set_that_is_not_here_says_what_to_copy_where():
    sets, data = evalui.benchmarks, evalui.benchmarks.task_data(Settings())
    here, away = sets.find("csqa"), sets.find("ARC_c")
    assert sets.availability(here, data).origin == "given"
    assert sets.availability(away, data).origin == ""
    assert f"to {HUB}/allenai/ai2_arc" in str(sets.missing(away, data, away.split))


def test_a_set_is_evaluated_by_its_name(recwarn: pytest.WarningsRecorder):
    with evalui.evaluate(
        "csqa", models=["perfect", "always-A"], mode="multiple_choice", limit=5, progress=False
    ) as run:
        cells = run.cells()
        trials = run.trials(["dataset", "model", "choice"])
    assert set(cells["dataset"]) == {"commonsense_qa"}
    assert len(trials) == 10
    assert set(trials[trials["model"] == "always-A"]["choice"]) == {"A"}
    assert any("commonsense_qa has 40 questions here" in str(each.message) for each in recwarn)


def test_a_split_of_a_set_is_evaluated_by_its_name():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", evalui.RunWarning)
        run = evalui.evaluate(
            "csqa:train", models="always-A", mode="multiple_choice", progress=False
        )
    with run:
        assert set(run.cells()["dataset"]) == {"commonsense_qa-train"}
        assert len(run.trials(["choice"])) == 5
