"""`evalui score choices` on probabilities whose figures other programs have computed."""

import json
from pathlib import Path
from typing import Any

import pytest

from evalui.cli.main import main
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


def _score(
    case: dict[str, Any], name: str, folder: Path, capsys: Any, *options: str
) -> dict[str, Any]:
    path = folder / "rows.jsonl"
    rows = _rows(case, case[name])
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert main(["score", "choices", str(path), *options]) == 0
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
    assert [told["acc_origin_low"], told["acc_origin_high"]] == pytest.approx(
        [100 * bound for bound in expected["acc_origin_wilson95"]], abs=1e-4
    )
    assert [told["robust_low"], told["robust_high"]] == pytest.approx(
        [100 * bound for bound in expected["perf_wilson95"]], abs=1e-4
    )
    assert told["order_sensitivity"] == pytest.approx(
        100 * expected["gap_origin_minus_perf"], abs=1e-6
    )
    slots = told["positions"]
    assert slots[0]["rstd"] == pytest.approx(expected["rstd_circular"], abs=1e-6)
    assert [slot["recall"] for slot in slots] == pytest.approx(
        [100 * recall for recall in expected["recalls_circular"]], abs=1e-6
    )


@pytest.mark.parametrize("name", ["model_a", "model_b"])
@pytest.mark.parametrize(
    "case",
    [case for case in _CASES if case["name"] in ("k2", "k3", "k4_additive", "k4_unsure", "k5")],
    ids=lambda case: case["name"],
)
def test_all_tells_option_bias_as_other_programs_do(
    case: dict[str, Any], name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    told = _score(case, name, tmp_path, capsys, "--all")
    (bias,) = told["bias"]
    expected = case["expected"][name]
    for figure, value in (
        (bias["rstd"], expected["rstd_circular"]),
        (bias["rstd_original"], expected["rstd_origin"]),
        (bias["ckld"], expected["ckld_circular"]),
        (bias["ckld_smoothed"], expected["ckld_circular_smoothed_half"]),
        (bias["cochran_q"], expected["cochran_q"]),
        (bias["wald_t2"], expected["wald_clustered_T2"]),
        (bias["content_pairs"], 100 * expected["pair_agree_content"]),
        (bias["position_plurality"], 100 * expected["ppa_position"]),
        (bias["majority_vote"], 100 * expected["vote"]["half"]),
        (bias["permutation_average"], 100 * expected["permavg_acc"]),
        (bias["pride_after"], 100 * expected["pride_debiased_acc_origin"]),
        (bias["calibration_ece"], 100 * expected["ece10_origin"]),
        (bias["brier_all_orders"], expected["brier_circular"]),
        (told["mean_over_orders_se"], 100 * expected["se_clustered_circular"]),
        (told["design_effect"], expected["design_effect"]),
    ):
        assert figure == pytest.approx(value, abs=1e-4)
    assert [slot["share"] for slot in told["priors"]] == pytest.approx(
        [100 * share for share in expected["pride_prior"]], abs=1e-6
    )
    # 999 draws against 20 000: three standard errors of the former are 0.05 at most.
    assert bias["permutation_p"] == pytest.approx(expected["perm_test_p_approx"], abs=0.05)


def test_without_all_the_output_is_what_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    case = next(case for case in _CASES if case["name"] == "k4_additive")
    short = _score(case, "model_a", tmp_path, capsys)
    whole = _score(case, "model_a", tmp_path, capsys, "--all")
    bias = {"consistency", "flips", "priors", "bias"}
    sureness = {"calibration", "calibration_figures", "risk_coverage", "thresholds", "gates"}
    assert set(whole) - set(short) == bias | sureness
    assert {key for key in short if short[key] not in (None, whole[key])} == {"positions"}


def test_an_infinite_divergence_is_still_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    row = {"options": ["u", "v"], "answer": "A", "reply": "A"}
    path = tmp_path / "rows.jsonl"
    rows = [row | {"id": "q", "permutation": order} for order in ([0, 1], [1, 0])]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert main(["score", "choices", str(path), "--all"]) == 0
    text = capsys.readouterr().out
    (bias,) = json.loads(text)["bias"]
    assert (bias["ckld"], bias["ckld_infinite"], bias["never_chosen"]) == (None, True, "B")
    assert "Infinity" not in text
    assert "NaN" not in text
