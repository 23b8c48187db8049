"""`evalui run` on SWIFT's own example configuration, which has both kinds of questions."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from evalui.cli.main import main

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "swift" / "mixed_run.json"
BOTH = ["multiple_choice", "question_answer"]


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """SWIFT's example folder beside a catalog of one scripted model."""
    shutil.copytree(ROOT / "assets" / "samples" / "swift", tmp_path / "swift")
    (tmp_path / "models.toml").write_text(
        '[perfect]\nbackend = "scripted"\nbaseline = true\n[perfect.options]\nrule = "perfect"\n'
    )
    return tmp_path


def run(folder: Path, **change: Any) -> int:
    spec = {"datasets": ["swift/custom_config.json"], "models": ["perfect"], "mode": BOTH}
    (folder / "spec.json").write_text(json.dumps(spec | change))
    models = str(folder / "models.toml")
    out = str(folder / "out")
    return main(["run", str(folder / "spec.json"), "--out", out, "--models-file", models])


def report(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "out" / "report.json").read_text(encoding="utf-8"))


def left_out(capsys: pytest.CaptureFixture[str]) -> list[str]:
    said = capsys.readouterr().err.splitlines()
    prefix = "evalui: left out: "
    return [line.removeprefix(prefix) for line in said if line.startswith(prefix)]


@pytest.mark.parametrize("version", [1, 2])
def test_both_kinds_of_a_configuration_are_evaluated_in_one_run(
    desk: Path, version: int, capsys: pytest.CaptureFixture[str]
):
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert run(desk, version=version) == 0
    told, found = left_out(capsys), report(desk)
    assert [
        {name: source[name] for name in ("path", "entry")} for source in found["spec"]["datasets"]
    ] == golden["datasets"]
    cells = [*found["answers"], *found["overview"]]
    assert [
        {
            "dataset": cell["dataset"],
            "mode": cell["mode"],
            "state": cell["state"],
            "n": cell["n"],
            "digest": cell["signature"].partition("|")[0].partition("@")[2],
        }
        for cell in cells
    ] == golden["cells"]
    assert found["answers"][0]["rouge-l-f"] == pytest.approx(100)
    assert found["overview"][0]["acc_origin"] == 100
    assert told == golden["left_out"]
    page = (desk / "out" / "report.md").read_text(encoding="utf-8").replace("\\_", "_")
    assert [
        sentence for sentence in golden["left_out"] if f"- The run: {sentence}" not in page
    ] == []


def test_the_specification_in_the_report_is_the_same_run(desk: Path):
    assert run(desk, version=2) == 0
    first = report(desk)
    (desk / "swift" / "again.json").write_text(json.dumps(first["spec"]))
    models = str(desk / "models.toml")
    arguments = ["run", str(desk / "swift" / "again.json"), "--out", str(desk / "out")]
    assert main([*arguments, "--models-file", models]) == 0
    assert report(desk) == first


def test_a_dataset_that_no_mode_fits_is_said_and_the_other_is_evaluated(
    desk: Path, capsys: pytest.CaptureFixture[str]
):
    assert run(desk, version=2, mode="multiple_choice") == 1
    assert left_out(capsys) == [
        "custom_general_qa was not evaluated: its questions have no options, and no mode of this "
        "run is for answers in writing."
    ]
    found = {cell["dataset"]: cell["state"] for cell in report(desk)["overview"]}
    assert found == {"custom_general_qa": "impossible", "custom_ceval": "done"}


def test_a_run_in_which_no_mode_fits_is_an_error(desk: Path, capsys: pytest.CaptureFixture[str]):
    shutil.rmtree(desk / "swift" / "custom_general_qa")
    assert run(desk, version=2, mode="question_answer") == 2
    error = capsys.readouterr().err
    assert "Nothing in this run can be evaluated. custom_ceval has options to choose from" in error
    assert error.count("\n") == 1


def test_faulty_rows_of_one_entry_stop_the_run_with_the_json_that_leaves_them_out(
    desk: Path, capsys: pytest.CaptureFixture[str]
):
    with (desk / "swift" / "custom_ceval" / "default_val.csv").open("a", encoding="utf-8") as file:
        file.write("9,不完整的一行,一,二,三,四,Z,\n")
    assert run(desk, version=2) == 2
    error = capsys.readouterr().err
    shown = '"datasets": [' + error.partition('"datasets": [')[2].strip()
    assert run(desk, version=2, **json.loads("{" + shown + "}")) == 0
    assert "Faulty rows left out of custom_ceval: 1." in left_out(capsys)
