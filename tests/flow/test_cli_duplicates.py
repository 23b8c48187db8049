"""Options of the same text through `evalui run`: one row of nine, as real benchmarks have it."""

import json
from pathlib import Path
from typing import Any

import pytest

from evalui.cli.main import main

_HEADER = "id,question,A,B,C,D,answer\n"
# Options B and C are the same and B is right, as in a published file on computer networks.
_TWICE = "8,Which is wrong of switching?,reserves a line,may reorder,may reorder,needs buffers,B\n"
_LINE = "net_val.csv: rows with options of the same text"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Nine questions, the last with two equal options, and models that follow a rule."""
    rows = "".join(
        f"{n},What is {n} plus {n}?,{2 * n},{2 * n + 1},{2 * n + 2},{2 * n + 3},A\n"
        for n in range(8)
    )
    (tmp_path / "net_val.csv").write_text(_HEADER + rows + _TWICE)
    (tmp_path / "models.toml").write_text(
        "".join(
            f'[{rule}]\nbackend = "scripted"\n[{rule}.options]\nrule = "{rule}"\n'
            for rule in ("perfect", "always-A")
        )
    )
    return tmp_path


def _run(folder: Path, **dataset: Any) -> dict[str, dict[str, Any]]:
    """The figures of `perfect` by mode."""
    modes = ["multiple_choice", "cloze", "generation"]
    spec = {
        "datasets": [{"path": "net_val.csv"} | dataset],
        "models": ["perfect"],
        "mode": modes,
        "pattern": "circular",
    }
    (folder / "spec.json").write_text(json.dumps(spec))
    out, models = folder / "out", folder / "models.toml"
    arguments = ["run", str(folder / "spec.json"), "--out", str(out), "--models-file", str(models)]
    assert main(arguments) == 0
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    cells, shown = report["overview"], report["positions"]
    assert ["duplicate-options:1" in cell["signature"] for cell in cells] == (
        [not dataset] * len(modes)
    )
    return {
        cell["mode"]: cell | {"shown": [row for row in shown if row["mode"] == cell["mode"]]}
        for cell in cells
    }


def test_the_row_counts_in_accuracy_and_in_no_figure_over_orders(
    folder: Path, capsys: pytest.CaptureFixture[str]
):
    found = _run(folder)
    assert f"{_LINE}, by line: 10 (B = C). They count in" in capsys.readouterr().err
    for mode in ("multiple_choice", "generation"):
        figures = found[mode]
        assert (figures["n"], figures["acc_origin"]) == (9, 100)
        assert (figures["n_all_orders"], figures["perf_circular_movable"]) == (8, 100)
        assert figures["perf_circular"] == pytest.approx(100 * 8 / 9)  # a letter counts as itself
        assert figures["duplicate_options"] == 1
        assert {slot["questions"] for slot in figures["shown"]} == {8}
    # Their texts are equally probable: half of the question is right, and no position is told.
    assert found["cloze"]["acc_origin"] == pytest.approx(100 * 8.5 / 9)
    assert found["cloze"]["tied"] == 1
    report = (folder / "out" / "report.md").read_text(encoding="utf-8")
    assert "Questions with options of the same text: 1." in report
    assert "Questions with options of the same text: 1." in (
        folder / "out" / "report.html"
    ).read_text(encoding="utf-8")


def test_by_choice_the_row_is_left_out_and_said_to_be(
    folder: Path, capsys: pytest.CaptureFixture[str]
):
    found = _run(folder, duplicate_options="skip")
    told = capsys.readouterr().err
    assert "left out: Rows of net_val.csv with options of the same text" in told
    assert "left out as requested: 1, by line 10 (B = C)." in told
    assert [figures["n"] for figures in found.values()] == [8, 8, 8]
    assert found["cloze"]["acc_origin"] == 100
    assert found["multiple_choice"]["duplicate_options"] == 0
