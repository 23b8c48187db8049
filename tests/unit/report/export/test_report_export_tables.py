import pandas as pd
import pytest
from bias_examples import cell_result, fond, right, with_probabilities
from export_examples import framed

from evalui.report.export import tables as made
from evalui.report.export.tables import tables
from evalui.scoring.cell_summary import summarise

bias, confusion, groups, overview, pairs, positions, readings = map(
    framed,
    (
        made.bias,
        made.confusion,
        made.groups,
        made.overview,
        made.pairs,
        made.positions,
        made.readings,
    ),
)

_SUBJECTS = {
    "q0": {"subject": "law", "subject_zh": "法学", "file": "law_val.csv", "line": "2"},
    "q1": {"subject": "art"},
    "q2": {"subject": "art"},
}


@pytest.fixture
def result(make_result):
    """q0 right in every order, q1 always A, q2 unreadable at first."""
    picks = {"q0": "right", "q1": [0, 0, 0, 0], "q2": [None, 0, 0, 0]}
    return make_result(picks, subjects=_SUBJECTS, mass=0.5)


@pytest.fixture
def summary(result):
    return summarise(result)


def test_the_overview_has_a_row_per_cell_with_shares_in_per_cent(summary):
    (row,) = overview([summary]).to_dict("records")
    assert row["acc_origin"] == pytest.approx(100 / 3)
    assert row["robust"] == pytest.approx(100 / 3)
    assert row["acc_origin_low"] < row["acc_origin"] < row["acc_origin_high"]
    assert (row["n"], row["trials"], row["unreadable"], row["chance"]) == (3, 12, 1, 25)


def test_the_overview_has_opencompass_figures_by_their_names(summary):
    (row,) = overview([summary]).to_dict("records")
    for name, value in summary.metrics.items():
        assert row[name] == pytest.approx(value)


@pytest.mark.parametrize("make", [overview, readings, groups, positions, confusion, bias])
def test_every_row_ends_with_its_signature(summary, make):
    frame = make([summary])
    assert frame.columns[-1] == "signature"
    assert set(frame["signature"]) == {"d@1|mode:generation|model:m"}


def test_a_cell_without_answers_is_a_row_without_figures(summary, make_result):
    late = summarise(make_result({}, model="late", state="failed", error="Out of memory."))
    frame = overview([late, summary])
    assert frame.loc[0, "error"] == "Out of memory."
    assert pd.isna(frame.loc[0, "acc_origin"])
    assert frame.columns[-2:].tolist() == ["error", "signature"]


def test_each_rule_of_reading_has_its_accuracy(summary):
    frame = readings([summary]).set_index("reading")
    assert frame.loc["tolerant", "accuracy"] == pytest.approx(100 / 3)
    assert frame.loc["tolerant", "unreadable"] == pytest.approx(100 / 3)


def test_groups_have_both_means_and_say_which(summary):
    frame = groups([summary]).set_index(["kind", "group", "mean"])
    assert frame.loc[("subject", "law", ""), "acc_origin"] == 100
    assert frame.loc[("subject", "law", ""), "group_zh"] == "法学"
    assert frame.loc[("all", "all", "micro"), "acc_origin"] == pytest.approx(100 / 3)
    assert frame.loc[("all", "all", "macro"), "acc_origin"] == pytest.approx(50)
    assert pd.isna(frame.loc[("all", "all", "macro"), "acc_origin_low"])


def test_positions_have_a_row_per_slot(summary):
    frame = positions([summary]).set_index("slot")
    # Each question stands once in each slot; in A all are found but the unreadable one.
    assert frame.loc["A", "recall"] == pytest.approx(100)
    assert frame.loc["B", "recall"] == pytest.approx(100 / 3)
    assert frame["picks"].sum() == 11
    assert frame.loc["A", "share_of_picks"] == pytest.approx(100 * 8 / 11)


def test_confusion_counts_every_trial_once(summary):
    frame = confusion([summary])
    assert frame["trials"].sum() == 12
    cell = frame[(frame["gold"] == "C") & (frame["picked"] == "unreadable")]
    assert cell["trials"].tolist() == [1]


def test_all_tables_of_a_run(summary):
    assert list(tables([summary])) == [
        "overview",
        "readings",
        "groups",
        "positions",
        "confusion",
        "bias",
        "pairs",
    ]


def test_nothing_makes_empty_tables():
    assert not any(table.columns for table in tables([]).values())


def test_bias_has_a_row_per_cell_and_number_of_options():
    summaries = [summarise(with_probabilities(cell_result(fond))), summarise(cell_result(right))]
    frame = bias(summaries)
    assert frame["permutation_p"].tolist() == pytest.approx([0.0, 1.0])
    assert frame["light_p"].tolist() == frame["permutation_p"].tolist()  # read one by one
    assert frame["content_pairs"].tolist() == pytest.approx([50, 100])
    assert frame["pride_after"].notna().tolist() == [True, False]
    assert frame["light"].tolist() == ["red", "green"]
    assert not [column for column in frame if frame[column].map(type).isin([list, dict]).any()]


def test_pairs_have_a_row_each_with_both_signatures():
    summaries = [
        summarise(cell_result(pick, model=model)) for model, pick in (("a", right), ("b", fond))
    ]
    (row,) = pairs(summaries).to_dict("records")
    assert (row["first"], row["second"], row["measure"]) == ("a", "b", "robust")
    assert row["points"] == pytest.approx(50)
    assert row["points_low"] < 50 < row["points_high"]
    assert row["mcnemar_first_only"] == 60
    assert row["signature_second"].endswith("model:b")


def test_one_model_has_no_row_of_pairs(summary):
    assert len(pairs([summary])) == 0
