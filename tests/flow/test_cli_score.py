"""`evalui score choices` on probabilities whose figures other programs have computed."""

import json
from pathlib import Path
from typing import Any

import pytest

from evalui.cli import main
from evalui.types import LETTERS

_CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent.parent / "golden" / "bias" / "bias.json").read_text(encoding="utf-8")
)["cases"]


def _rows(case: dict[str, Any], model: dict[str, Any]) -> list[dict[str, Any]]:
    size = len(case["perm_slot_to_content"][0])
    return [
        {
            "id": number,
            "options": [f"text {option}" for option in range(size)],
            "answer": LETTERS[gold],
            "permutation": permutation,
            "probabilities": model["probs"][number][place],
        }
        for number, gold in enumerate(case["gold_content"])
        for place, permutation in enumerate(case["perm_slot_to_content"])
    ]


def _score(case: dict[str, Any], name: str, folder: Path, capsys: Any) -> dict[str, Any]:
    path = folder / "rows.jsonl"
    rows = _rows(case, case[name])
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert main(["score", "choices", str(path)]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", ["model_a", "model_b"])
@pytest.mark.parametrize(
    "case",
    [case for case in _CASES if case["name"].startswith("k") and case["model_a"]["probs"]],
    ids=lambda case: case["name"],
)
def test_figures_equal_those_of_opencompass_and_statsmodels(
    case: dict[str, Any], name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    told = _score(case, name, tmp_path, capsys)
    expected = case["expected"][name]
    for figure, value in expected["opencompass"].items():
        assert told[figure] == pytest.approx(value, abs=1e-6), figure
    assert told["ranges"]["acc_origin"] == pytest.approx(
        [100 * bound for bound in expected["acc_origin_wilson95"]], abs=1e-4
    )
    assert told["ranges"]["robust"] == pytest.approx(
        [100 * bound for bound in expected["perf_wilson95"]], abs=1e-4
    )
    assert told["order_sensitivity"] == pytest.approx(
        100 * expected["gap_origin_minus_perf"], abs=1e-6
    )
    (table,) = told["positions"]
    assert table["rstd"] == pytest.approx(expected["rstd_circular"], abs=1e-6)
    assert table["recalls"] == pytest.approx(
        [100 * recall for recall in expected["recalls_circular"]], abs=1e-6
    )
