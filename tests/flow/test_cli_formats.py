"""Published sets through `evalui run` as they come."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from evalui.cli.main import main

GOLDEN = Path(__file__).parents[1] / "golden"
_HEADER = ",Question,A,B,C,D,Answer\n"


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A catalog with a model that is always right, and one that always says A."""
    (tmp_path / "models.toml").write_text(
        "".join(
            f'[{name}]\nbackend = "scripted"\n[{name}.options]\nrule = "{rule}"\n'
            for name, rule in (("perfect", "perfect"), ("always", "always-A"))
        )
    )
    return tmp_path


def _run(folder: Path, dataset: Any, *, shots: int = 0) -> int:
    spec = {
        "datasets": [dataset],
        "models": ["perfect", "always"],
        "mode": "multiple_choice",
        "shots": shots,
    }
    (folder / "spec.json").write_text(json.dumps(spec))
    arguments = ["run", str(folder / "spec.json"), "--out", str(folder / "out")]
    return main([*arguments, "--models-file", str(folder / "models.toml")])


def _cells(folder: Path) -> list[dict[str, Any]]:
    return json.loads((folder / "out" / "report.json").read_text(encoding="utf-8"))["overview"]


def test_an_archive_laid_out_as_cmmlus_is_run_with_its_worked_examples(desk: Path):
    with zipfile.ZipFile(desk / "cmmlu.zip", "w") as packed:
        for subject in ("anatomy", "high_school_physics"):
            dev = "".join(f"{n},例{n}？,甲,乙,丙,丁,C\n" for n in range(5))
            test = "".join(f"{n},问{n}？,甲,乙,丙,丁,{'AB'[n % 2]}\n" for n in range(10))
            packed.writestr(f"dev/{subject}.csv", _HEADER + dev)
            packed.writestr(f"test/{subject}.csv", _HEADER + test)
    assert _run(desk, "cmmlu.zip", shots=5) == 0
    perfect, always = _cells(desk)
    assert (perfect["acc_origin"], always["acc_origin"]) == (100, 50)
    # Chinese questions in Chinese words; high_school_physics is not C-Eval's here.
    assert "|n:20|" in perfect["signature"]
    assert "|prompt:plain-zh.1|" in perfect["signature"]
    assert "|shots:5|" in perfect["signature"]


def test_mmlus_folders_without_headers_are_run_in_english(desk: Path):
    assert _run(desk, str(GOLDEN / "mmlu"), shots=5) == 0
    perfect, always = _cells(desk)
    assert perfect["acc_origin"] == 100
    assert always["acc_origin"] == pytest.approx(100 * 2 / 3)
    assert "|n:3|" in perfect["signature"]
    assert "|prompt:plain-en.1|" in perfect["signature"]


def test_five_options_of_commonsense_are_asked(desk: Path):
    assert _run(desk, str(GOLDEN / "csqa" / "dev_rand_split.jsonl")) == 0
    assert [cell["acc_origin"] for cell in _cells(desk)] == [100, 75]


def test_rows_with_pictures_stop_a_run_unless_they_are_left_out(
    desk: Path, capsys: pytest.CaptureFixture[str]
):
    row = {"question": "Q?", "choices": ["a", "b"]}
    rows = [row | {"answer": 0}, row | {"answer": 1, "image": {"bytes": "iVBOR", "path": None}}]
    (desk / "seen.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert _run(desk, "seen.jsonl") != 0
    assert "seen.jsonl, line 2, column image: found a picture" in capsys.readouterr().err
    assert _run(desk, {"path": "seen.jsonl", "skip_faulty": True}) == 0
    assert "|n:1|" in _cells(desk)[0]["signature"]


def test_what_is_assumed_of_a_file_is_said_before_the_figures(
    desk: Path, capsys: pytest.CaptureFixture[str]
):
    row = {"question": "Q?", "choices": ["a", "b", "c"], "answer": 1}
    (desk / "places.jsonl").write_text(json.dumps(row))
    assert _run(desk, "places.jsonl") == 0
    assert "places.jsonl: numbers under answer are taken to count the options from 0" in (
        capsys.readouterr().err
    )
    assert _run(desk, {"path": "places.jsonl", "answer_key": "index1"}) == 0
    assert "taken to count" not in capsys.readouterr().err
    assert [cell["acc_origin"] for cell in _cells(desk)] == [100, 100]
