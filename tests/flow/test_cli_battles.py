"""`evalui score battles` and `score verdicts`, as somebody types them."""

import json
from pathlib import Path

import pytest

from evalui.cli.main import main


def written(folder: Path, *rows: object) -> str:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_an_unbeaten_model_has_no_finite_rating(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    battle = {"model_a": "x", "model_b": "y", "winner": "model_a"}
    assert main(["score", "battles", written(tmp_path, battle, battle)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["bradley_terry"]["finite"] is False


def test_opencompass_elo_of_many_battles_is_asked_for_by_a_flag(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    rows = [
        {"model_a": "x", "model_b": "y", "winner": f"model_{'ab'[n % 3 == 0]}"} for n in range(501)
    ]
    path = written(tmp_path, *rows)
    assert main(["score", "battles", path]) == 0
    assert json.loads(capsys.readouterr().out)["elo"]["opencompass"]["models"] is None
    assert main(["score", "battles", path, "--opencompass-elo"]) == 0
    told = json.loads(capsys.readouterr().out)["elo"]["opencompass"]["models"]
    assert told["x"]["mean"] > 1000 > told["y"]["mean"]


def test_models_that_beat_each_other_are_rated_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    one = {"model_a": "x", "model_b": "y", "winner": "model_a"}
    other = {"model_a": "y", "model_b": "x", "winner": "model_a"}
    assert main(["score", "battles", written(tmp_path, one, other)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["bradley_terry"]["finite"] is True
    assert "1000" in json.dumps(told["bradley_terry"])


def test_each_reply_of_a_judge_gets_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    rows = [
        {"format": "mtbench", "reply": "Final verdict: [[B]]"},
        {"format": "mtbench", "reply": "I cannot decide."},
    ]
    assert main(["score", "verdicts", written(tmp_path, *rows)]) == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["verdict"], second["verdict"]) == ("B", None)


@pytest.mark.parametrize("kind", ["battles", "verdicts"])
def test_a_bad_row_is_told_with_its_line(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["score", kind, written(tmp_path, {"winner": "nobody"})]) == 2
    assert "line 1" in capsys.readouterr().err
