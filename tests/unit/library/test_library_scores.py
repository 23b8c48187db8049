"""The scoring core on plain frames: the figures of reports, and what is wrong in which row."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal, assert_series_equal

import evalui
from evalui.errors import DataError, SpecError
from evalui.library import scores
from evalui.report.imports.battles import battle_statistics, read_battles
from evalui.report.imports.predictions import score_texts as printed_texts

INPUTS = Path(__file__).parents[2] / "golden" / "net" / "inputs" / "score"
CELL = ["dataset", "model", "mode"]


def _lines(path: Path) -> pd.DataFrame:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    return pd.DataFrame(rows)


def _by_place(metrics: pd.DataFrame, names: list[str]) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    plain = metrics.astype("object").where(metrics.notna(), None)
    keys = plain[names].itertuples(index=False, name=None)
    values = plain[["value", "low", "high", "n", "unit", "direction"]]
    return dict(zip(keys, values.itertuples(index=False, name=None), strict=True))


def _shown(trials: pd.DataFrame) -> pd.DataFrame:
    """The trials of modes that show the options: of others no position was chosen."""
    return trials[~trials["mode"].astype("str").str.startswith("choices_only")]


def test_choices_of_a_run_score_as_in_its_report(choice: evalui.Run):
    scored = evalui.score_choices(_shown(choice.trials()), by=CELL)
    names = [*CELL, "group", "kind", "mean", "metric"]
    mine, report = _by_place(scored, names), _by_place(choice.metrics(), names)
    assert {place: report[place] for place in mine} == mine
    wanted = {place for place in report if place[-1].startswith(("acc_", "perf_", "more_", "rob"))}
    assert {place for place in wanted if place[2] in {name[2] for name in mine}} <= set(mine)
    assert len(mine) > 200


def test_positions_of_a_run_are_those_of_its_report(choice: evalui.Run):
    trials = choice.trials()
    for mode in ("multiple_choice", "generation"):
        own = trials[trials["mode"] == mode]
        made = evalui.position_bias(own, by=CELL)
        report = choice.positions()
        report = report[report["mode"] == mode].drop(columns="signature").reset_index(drop=True)
        # The light also knows the label mass.
        assert_frame_equal(
            made[list(report)].astype("object"), report.astype("object"), check_dtype=False
        )


def test_comparing_two_models_gives_the_pair_of_the_report(choice: evalui.Run):
    trials = choice.trials()
    pairs = choice.pairs()
    for _, pair in pairs[pairs["mode"] != "choices_only"].iterrows():
        own = trials[(trials["mode"] == pair["mode"]) & (trials["dataset"] == pair["dataset"])]
        first, second = (own[own["model"] == pair[name]] for name in ("second", "first"))
        made = evalui.compare(first, second, measure=pair["measure"]).iloc[0]
        same = ["first", "second", "n", "points", "points_low", "points_high", "se", "p"]
        assert [made[name] for name in same] == [pair[name] for name in same]
        assert made["mcnemar_exact_p"] == pair["mcnemar_exact_p"]


def test_ratings_of_battles_are_those_of_the_standings(judged: evalui.Run, open_folder: Path):
    battles, standings = _lines(open_folder / "battles.jsonl"), judged.standings()
    for judge in battles["judge"].unique():
        made = evalui.ratings(battles[battles["judge"] == judge])
        own = standings[standings["judge"] == judge].reset_index(drop=True)
        assert set(made["model"]) == set(own["model"])
        by_model = made.set_index("model").loc[own["model"].tolist()].reset_index()
        for name in ("n", "win", "tie", "lose", "elo", "elo_low", "elo_high", "bradley_terry"):
            assert_series_equal(by_model[name], own[name])
        if judge not in ("people", "panel"):
            assert by_model["opencompass_elo_std"].notna().all()
        for name in ("opencompass_elo_mean", "opencompass_elo_std"):
            if judge != "people":  # of their votes the report of a run has none
                assert_series_equal(by_model[name], own[name])


def test_opencompass_elo_of_many_battles_is_made_where_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("evalui.report.imports.battles.MEDIAN_ELO_MAX_BATTLES", 2)
    battles = _lines(INPUTS / "battles.jsonl")
    assert evalui.ratings(battles)["opencompass_elo_mean"].isna().all()
    asked = evalui.ratings(battles, opencompass_elo=True)
    assert asked["opencompass_elo_std"].between(0, 5, inclusive="neither").all()


@pytest.mark.parametrize("name", ["battles", "battles-unbeaten"])
def test_ratings_are_those_that_the_command_prints(name: str):
    path = INPUTS / f"{name}.jsonl"
    printed = battle_statistics(read_battles(path))
    made = evalui.ratings(_lines(path))
    assert made["place"].tolist() == list(range(1, len(made) + 1))
    for _, row in made.iterrows():
        model = row["model"]
        assert row["elo"] == printed["elo"]["permutations"]["median"][model]
        assert row["score"] == printed["scores"][model]
        rating = printed["bradley_terry"]["ratings"][model]
        if rating is None:
            assert pd.isna(row["bradley_terry"])
        else:
            names = ["bradley_terry", "bradley_terry_low", "bradley_terry_high"]
            assert row[names].tolist() == [rating[each] for each in ("rating", "low", "high")]


def test_raters_agree_as_far_as_the_panel_of_the_report(judged: evalui.Run, open_folder: Path):
    report = json.loads((open_folder / "report.json").read_text(encoding="utf-8"))
    panel = next(row for row in report["reliability"] if row["judge"] == "panel")
    made = evalui.agreement(judged.verdicts(), rater="judge").set_index("statistic")
    fleiss = made.loc["fleiss"]
    assert [fleiss["n"], fleiss["agreement"], fleiss["kappa"]] == [
        panel["agreement_n"],
        panel["agreement"],
        panel["kappa"],
    ]
    assert [fleiss["kappa_low"], fleiss["kappa_high"]] == [panel["kappa_low"], panel["kappa_high"]]
    assert [made.loc["cohen", "first"], made.loc["cohen", "second"]] == ["by-order", "by-length"]


def test_texts_score_as_in_the_report(judged: evalui.Run):
    trials, questions = judged.trials(), judged.questions().set_index("id")
    own = trials[trials["model"] == "careful"]
    rows = pd.DataFrame(
        {
            "prediction": own["reply"],
            "reference": [questions.loc[each, "references"] for each in own["id"]],
        }
    )
    with_reference = rows[rows["reference"].map(len) > 0]
    made = evalui.score_texts(with_reference).set_index("metric")
    metrics = judged.metrics()
    report = metrics[(metrics["model"] == "careful") & (metrics["judge"] == "")]
    means = report[report["metric"].isin(made.index)].set_index("metric")
    for name in ("rouge-l-f", "bleu-4", "token_f1"):
        assert made.loc[name, "value"] == pytest.approx(means.loc[name, "value"], rel=1e-12)


def test_texts_score_as_the_command_prints_them():
    path = INPUTS / "texts.jsonl"
    (printed,) = printed_texts(path, samples=False)
    made = evalui.score_texts(_lines(path)).set_index("metric")["value"]
    figures = json.loads(printed)
    assert (made["n"], made["empty"]) == (figures.pop("n"), figures.pop("empty"))
    for name, value in figures.items():
        assert made[name] == pytest.approx(100 * value, rel=1e-12)
    each = evalui.text_scores(_lines(path))
    assert list(each) == list(figures)
    assert each.mean()["bleu-4"] == pytest.approx(made["bleu-4"])


ROWS = pd.DataFrame(
    {
        # Option y, the right one, stands in slots B, C and A.
        "id": ["q1"] * 3 + ["q2"] * 3,
        "permutation": [(0, 1, 2), (2, 0, 1), (1, 2, 0)] * 2,
        "answer": list("BCA") * 2,
        "choice": [*"BCA", "A", None, "A"],
    }
)


def test_a_frame_is_scored_by_hand():
    made = evalui.score_choices(ROWS).set_index("metric")["value"]
    assert made["acc_origin"] == 50  # q2 says A as written
    assert made["acc_circular"] == pytest.approx(100 * (1 + 1 / 3) / 2)
    assert made["perf_circular"] == made["robust"] == 50
    assert (made["unreadable"], made["n"]) == (1, 2)


def test_orders_may_be_labels_and_frames_need_no_order():
    labelled = ROWS.drop(columns="permutation").assign(order=["ABC", "BCA", "CAB"] * 2)
    assert_frame_equal(evalui.score_choices(labelled), evalui.score_choices(ROWS))
    written = ROWS.iloc[[0, 3]].drop(columns="permutation")
    made = evalui.score_choices(written, options=3).set_index("metric")["value"]
    assert made["acc_origin"] == 50
    assert made["chance"] == 100  # both answers stand at B


def test_ties_count_with_their_credit():
    tied = ROWS.assign(tied=[False] * 4 + [True, False], credit=[0.0] * 4 + [0.5, 0.0])
    made = evalui.score_choices(tied).set_index("metric")["value"]
    assert made["acc_circular"] == pytest.approx(100 * (1 + 1.5 / 3) / 2)
    assert (made["tied"], made["unreadable"]) == (1, 0)


def test_probabilities_make_the_label_mass_and_the_light_known(choice: evalui.Run):
    trials = choice.trials()
    own = trials[(trials["mode"] == "multiple_choice") & (trials["model"] == "leans")]
    without = own.drop(columns=["p_A", "p_B", "p_C", "p_D", "label_mass"], errors="ignore")
    by_share = evalui.position_bias(own)["share_of_picks"]
    assert by_share.tolist() == evalui.position_bias(without)["share_of_picks"].tolist()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"choice": ["B", "C", "D", None, "A", "A"]}, r"Row 2: choice is 'D', .* from A to C"),
        ({"answer": [*"BCAB", None, "A"]}, r"Row 4: answer is"),
        ({"permutation": [(0, 1, 2), (0, 0, 1), (1, 2, 0)] * 2}, r"Row 1: \(0, 0, 1\) is not an"),
        ({"answer": list("BCABCB")}, r"Row 5: question 'q2' has another right option"),
        ({"id": ["q1"] * 6}, r"Row 3: question 'q1' has this order already.* by="),
        ({"fixed_order": "moved"}, r"fixed_order is 'moved', expected one of naming, duplicates"),
    ],
)
def test_a_row_that_does_not_fit_is_named(change: dict[str, Any], sentence: str):
    with pytest.raises(DataError, match=sentence):
        evalui.score_choices(ROWS.assign(**change))


def test_permutations_of_many_options_are_refused_and_rotations_are_not():
    size = 12
    rotated = [tuple((slot + step) % size for slot in range(size)) for step in range(size)]
    rows = pd.DataFrame({"id": "q", "permutation": rotated, "choice": "A"})
    rows["answer"] = ["ABCDEFGHIJKL"[order.index(0)] for order in rotated]
    assert evalui.score_choices(rows)["value"].notna().all()
    swapped = rows.assign(permutation=[*rotated[:-1], (1, 0, *range(2, size))])
    swapped.loc[size - 1, "answer"] = "B"
    with pytest.raises(DataError, match="12 options: all permutations"):
        evalui.score_choices(swapped)


def test_missing_columns_are_named():
    with pytest.raises(DataError, match="lacks choice, answer; it has id"):
        evalui.score_choices(ROWS[["id"]])
    with pytest.raises(DataError, match="number of options is missing"):
        evalui.position_bias(ROWS.drop(columns="permutation"))
    with pytest.raises(DataError, match="lacks winner"):
        evalui.ratings(pd.DataFrame({"model_a": ["x"], "model_b": ["y"]}))
    with pytest.raises(DataError, match="lacks reference"):
        evalui.score_texts(pd.DataFrame({"prediction": ["x"]}))
    with pytest.raises(DataError, match="lacks judge"):
        evalui.agreement(
            pd.DataFrame(columns=["question", "model_a", "model_b", "winner"]), rater="judge"
        )
    with pytest.raises(DataError, match="lacks model"):
        evalui.score_choices(ROWS, by="model")
    with pytest.raises(DataError, match="no rows"):
        evalui.score_choices(ROWS.iloc[:0])


def test_battles_that_are_none_are_named():
    battle = {"model_a": "x", "model_b": "y", "winner": "model_a", "question": "q"}
    for change, sentence in (
        ({"winner": "x"}, "row 1.*'x'"),
        ({"model_b": "x"}, "row 1.*itself|row 1"),
        ({"question": None}, "row 1"),
    ):
        with pytest.raises(DataError, match=sentence):
            evalui.ratings(pd.DataFrame([battle, battle | change]))


@pytest.mark.parametrize("metric", ["order_sensitivity", "readable", "tied", "acc_origin"])
def test_two_models_are_compared_in_any_metric(metric: str):
    better = ROWS.assign(choice=[*"BCA", *"BCA"])
    made = evalui.compare(better, ROWS, measure=metric).iloc[0]
    values = [
        evalui.score_choices(own).set_index("metric")["value"][metric] for own in (better, ROWS)
    ]
    assert made["points"] == pytest.approx(values[0] - values[1])
    assert made["points_low"] <= made["points"] <= made["points_high"]
    assert (made["measure"], made["n"], made["first"]) == (metric, 2, "first")


def test_metrics_of_other_answers_are_no_measure():
    for name in ("rouge-1-f", "nonsense"):
        with pytest.raises(SpecError, match=f"'{name}' here; there is robust"):
            evalui.compare(ROWS, ROWS, measure=name)


def test_frames_that_cannot_be_compared_say_why():
    with pytest.raises(DataError, match="fewer than two questions"):
        evalui.compare(ROWS, ROWS.assign(id=["p1"] * 3 + ["p2"] * 3))
    with pytest.raises(SpecError, match="'robust' here; there is accuracy"):
        evalui.compare(*[ROWS.iloc[[0, 3]]] * 2, measure="robust")
    with pytest.raises(DataError, match="differ in orders"):
        evalui.compare(ROWS, ROWS.iloc[[0, 3]], measure="accuracy")
    named = evalui.compare(ROWS.assign(model="m1"), ROWS).iloc[0]
    assert {named["first"], named["second"]} == {"m1", "second"}


@pytest.mark.parametrize(
    ("made", "declared"),
    [
        (lambda: evalui.score_choices(ROWS), scores.SCORE_COLUMNS),
        (lambda: evalui.position_bias(ROWS), scores.BIAS_COLUMNS),
        (lambda: evalui.compare(ROWS, ROWS), scores.COMPARISON_COLUMNS),
        (lambda: evalui.ratings(_lines(INPUTS / "battles.jsonl")), scores.RATING_COLUMNS),
        (lambda: evalui.score_texts(_lines(INPUTS / "texts.jsonl")), scores.TEXT_COLUMNS),
    ],
)
def test_each_result_has_its_declared_columns(made: Any, declared: Any):
    frame = made()
    assert {name: str(frame[name].dtype) for name in frame} == {
        name: column.dtype for name, column in declared.items()
    }


def test_several_replies_to_a_question_have_a_majority():
    rows = pd.DataFrame(
        {
            "id": ["a", "a", "a", "b", "b", "b"],
            "repeat": [1, 2, 3] * 2,
            "prediction": ["Rome", "Rome.", "Bern", "4", "5", "5"],
            "reference": ["Rome"] * 3 + ["4"] * 3,
        }
    )
    made = evalui.score_texts(rows).set_index("metric")["value"]
    assert made["exact_match_majority"] == 50
    assert made["exact_match_pass_at_2"] == pytest.approx(100 * (1 + 2 / 3) / 2)
    assert "exact_match_pass_at_4" not in made
    with pytest.raises(DataError, match="row 1: question a has another reference than before"):
        evalui.score_texts(rows.assign(reference=["Rome", "Bern", "Rome", "4", "4", "4"]))
    with pytest.raises(DataError, match="id"):
        evalui.score_texts(rows.drop(columns="id"))
