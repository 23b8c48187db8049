"""`evalui score texts` on pairs whose figures other programs have computed."""

import json
from pathlib import Path

import pytest

from evalui.cli.main import main


def test_an_exact_answer_scores_one_and_an_empty_one_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "pairs.jsonl"
    rows = [("中国的首都是北京", "中国的首都是北京"), ("", "It is Paris.")]
    path.write_text(
        "".join(json.dumps({"prediction": p, "reference": r}) + "\n" for p, r in rows),
        encoding="utf-8",
    )
    assert main(["score", "texts", str(path), "--samples"]) == 0
    whole, first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (whole["n"], whole["empty"], whole["bleu-1"]) == (2, 1, 0.5)
    assert (first["bleu-1"], second["rouge-l-f"]) == (1.0, 0.0)


def test_a_bad_row_is_told_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"prediction": "a", "reference": "a"}\n{"prediction": 5}\n')
    assert main(["score", "texts", str(path)]) == 2
    assert "line 2" in capsys.readouterr().err
