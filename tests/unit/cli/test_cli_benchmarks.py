"""Published sets from the command line: listed, described, run by name."""

import json
from pathlib import Path

import pytest

from evalui.benchmarks import harness
from evalui.benchmarks.harness import OfficialFigure, OfficialResult
from evalui.benchmarks.places import TaskData
from evalui.cli.main import main
from evalui.models import Model

HUB = Path(__file__).parents[2] / "golden" / "benchmarks" / "hub"
SPEC = {
    "version": 3,
    "datasets": ["csqa"],
    "models": ["perfect", "always-A"],
    "modes": [{"mode": "multiple_choice", "pattern": "circular"}],
    "limit": 5,
}


@pytest.fixture(autouse=True)
def _places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALUI_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("EVALUI_TASK_DATA", str(HUB))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def test_each_set_is_listed_with_where_it_is(capsys: pytest.CaptureFixture[str]):
    assert main(["benchmarks", "list"]) == 0
    rows = {
        line.split("\t")[0]: line.split("\t")[1:] for line in capsys.readouterr().out.splitlines()
    }
    assert len(rows) > 50
    assert rows["mmlu"] == ["MMLU", "knowledge", "en", "14042", "given"]
    assert rows["arc_challenge"][-1] == "-"
    assert rows["lambada"][-1] == "continuation"


def test_words_search(capsys: pytest.CaptureFixture[str]):
    assert main(["benchmarks", "search", "zh", "inference"]) == 0
    names = [line.split("\t")[0] for line in capsys.readouterr().out.splitlines()]
    assert names == ["cmnli", "ocnli", "ocnli_fc"]
    assert main(["benchmarks", "search", "nothing", "fits"]) == 0
    assert "no set matches" in capsys.readouterr().err


def test_a_set_is_shown_with_its_licence_and_published_figures(capsys: pytest.CaptureFixture[str]):
    assert main(["benchmarks", "show", "MMLU"]) == 0
    shown = capsys.readouterr().out
    assert "licence:\tMIT" in shown
    assert f"here:\t{HUB}/cais/mmlu" in shown
    assert "published:\tLlama 2 70B\t68.9 %\t5-shot\tarXiv:2307.09288, table 3" in shown


def test_the_bytes_of_a_download_are_shown_where_they_are_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    sizes = {"a/test-0.parquet": 2_000, "a/train-0.parquet": 500}
    monkeypatch.setattr("evalui.benchmarks.hub.download_sizes", lambda *_: sizes)
    assert main(["benchmarks", "show", "ARC_c", "--download"]) == 0
    line = "download:\t2500 bytes\ta/test-0.parquet, a/train-0.parquet"
    assert line in capsys.readouterr().out.splitlines()
    assert main(["benchmarks", "show", "ARC_c"]) == 0
    assert "download:" not in capsys.readouterr().out


def test_a_set_that_is_not_here_says_what_to_copy_where(capsys: pytest.CaptureFixture[str]):
    assert main(["benchmarks", "show", "ARC_c"]) == 0
    assert f"(part: ARC-Challenge) to {HUB}/allenai/ai2_arc" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "nothing"], "no published set"),
        (["fetch", "bustm"], "from github.com/CLUEbenchmark/FewCLUE"),
        (["official", "afqmc", "--model", "perfect"], "neither a published set"),
        (["official", "humaneval", "--model", "perfect"], "neither a published set"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
):
    assert main(["benchmarks", *arguments]) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert len(shown.splitlines()) == 1


def test_official_figures_are_printed_with_their_versions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    asked: list[tuple[object, ...]] = []

    def official(name: str, model: Model, data: TaskData, **settings: int) -> OfficialResult:
        asked.append((name, model.name, data.given, settings))
        acc = OfficialFigure("mmlu_anatomy", "acc", "none", 0.225, 0.06687, 40, 5, "1.0")
        whole = OfficialFigure("mmlu", "acc", "none", 0.25, None, 40, 5, "2")
        raw = {"results": {"mmlu": {"acc,none": 0.25}}, "samples": {"mmlu": ["long"]}}
        return OfficialResult((acc, whole), "0.4.13", raw)

    monkeypatch.setattr(harness, "harness_version", lambda: "0.4.13")
    monkeypatch.setattr(harness, "official_figures", official)
    command = ["benchmarks", "official", "MMLU", "--model", "always-A", "--shots", "5"]
    assert main([*command, "--limit", "9", "--json", "figures.json"]) == 0
    assert asked == [("MMLU", "always-A", HUB, {"shots": 5, "limit": 9})]
    printed = capsys.readouterr()
    assert printed.out.splitlines()[:2] == [
        "mmlu_anatomy\tacc\tnone\t0.2250 ± 0.0669\tn=40\tshots=5\ttask version 1.0",
        "mmlu\tacc\tnone\t0.2500\tn=40\tshots=5\ttask version 2",
    ]
    assert (
        "published:\tLlama 2 70B\t68.9 %\t5-shot\tarXiv:2307.09288, table 3"
        in printed.out.splitlines()
    )
    assert printed.err.splitlines()[-1] == "evalui: figures of lm-eval 0.4.13"
    assert json.loads((tmp_path / "figures.json").read_text()) == {
        "results": {"mmlu": {"acc,none": 0.25}}
    }


def test_a_specification_names_a_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "spec.json").write_text(json.dumps(SPEC))
    assert main(["run", "spec.json", "--out", "out"]) == 0
    report = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    assert "commonsense_qa@" in str(report)
    assert "commonsense_qa has 40 questions here" in capsys.readouterr().err


def test_an_option_names_a_set(tmp_path: Path):
    run = ["run", "--model", "always-A", "--dataset", "csqa", "--limit", "5", "--out", "out"]
    assert main(run) == 0
    report = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    (cell,) = report["overview"]
    assert (cell["dataset"], cell["n"]) == ("commonsense_qa", 5)


def test_a_folder_of_the_same_name_wins(tmp_path: Path):
    (tmp_path / "csqa").mkdir()
    (tmp_path / "csqa" / "own.csv").write_text("id,question,A,B,answer\n1,2+2?,4,5,A\n")
    (tmp_path / "spec.json").write_text(json.dumps(SPEC))
    assert main(["run", "spec.json", "--out", "out"]) == 0
    assert "commonsense_qa" not in (tmp_path / "out" / "report.json").read_text("utf-8")


def test_a_set_that_is_not_here_ends_a_run_before_it_begins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "spec.json").write_text(json.dumps(SPEC | {"datasets": ["arc_challenge"]}))
    assert main(["run", "spec.json", "--out", "out"]) == 2
    assert "evalui benchmarks fetch arc_challenge" in capsys.readouterr().err


def test_a_digest_pins_the_questions(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    pinned = {"path": "csqa", "sha256": "0" * 64}
    (tmp_path / "spec.json").write_text(json.dumps(SPEC | {"datasets": [pinned]}))
    assert main(["run", "spec.json", "--out", "out"]) == 2
    assert "00000000" in capsys.readouterr().err
