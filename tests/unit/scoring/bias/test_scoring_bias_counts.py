from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scoring_examples import (
    asked,
    bias_case_trials,
    golden,
    pattern_of,
    position_tables,
    tied,
    trial,
)

from evalui.proportions import wilson_interval
from evalui.scoring.bias.counts import PositionTable
from evalui.scoring.choice.options import variant_label, variants
from evalui.scoring.statistics.intervals import clustered_mean
from evalui.types import Trial

BIAS = {case["name"]: case for case in golden("bias/bias.json")["cases"]}
MODELS = [
    (name, model)
    for name in BIAS
    for model in ("model_a", "model_b")
    if (name, model) != ("ties", "model_a")
]


def table_of(name: str, model: str) -> tuple[PositionTable, dict[str, Any]]:
    case = BIAS[name]
    (table,) = position_tables(bias_case_trials(case, model), pattern_of(case))
    return table, case["expected"][model]


@pytest.mark.parametrize(("name", "model"), MODELS)
def test_the_confusion_agrees_with_the_reference(name: str, model: str):
    table, expected = table_of(name, model)
    rows = [[*row, lost] for row, lost in zip(table.counts, table.unreadable, strict=True)]
    assert rows == expected["confusion_gold_by_pred_plus_unparsed"]
    assert sum(table.tied) == expected.get("n_ties", 0)
    assert sum(table.unreadable) == expected["n_unparsed"]


@pytest.mark.parametrize(("name", "model"), MODELS)
def test_recalls_and_their_spread_agree_with_the_reference(name: str, model: str):
    table, expected = table_of(name, model)
    assert [r and r.value for r in table.recalls] == pytest.approx(expected["recalls_circular"])
    assert table.rstd == pytest.approx(expected["rstd_circular"], abs=1e-6)


@pytest.mark.parametrize(("name", "model"), [m for m in MODELS if m[0] != "k4_all_possible"])
def test_recall_intervals_are_wilsons_where_a_question_has_one_trial_per_slot(
    name: str, model: str
):
    table, expected = table_of(name, model)
    bounds = [bound for r in table.recalls if r for bound in (r.low, r.high)]
    wanted = [bound for pair in expected["recalls_wilson95"] for bound in pair]
    assert bounds == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize(("name", "model"), MODELS)
def test_slot_shares_agree_with_the_reference(name: str, model: str):
    table, expected = table_of(name, model)
    assert list(table.slot_counts) == expected["slot_counts"]
    assert [s and s.value for s in table.shares] == pytest.approx(expected["slot_share"], abs=1e-6)


@pytest.mark.parametrize(("name", "model"), MODELS)
def test_the_original_order_alone_agrees_with_sklearn(name: str, model: str):
    case = BIAS[name]
    expected = case["expected"][model]
    (table,) = position_tables(bias_case_trials(case, model), "origin")
    assert [r and r.value for r in table.recalls] == pytest.approx(expected["recalls_origin"])
    assert table.rstd == pytest.approx(expected["rstd_origin"], abs=1e-6)


def test_the_reference_turns_ties_into_a_bias_that_is_not_there():
    """All that differs from the argmax table is its first column, and by the ties exactly."""
    table, expected = table_of("ties", "model_a")
    rows = np.array(expected["confusion_gold_by_pred_plus_unparsed"])
    assert sum(table.tied) == expected["n_ties"]
    case = BIAS["ties"]
    moved = np.zeros((4, 4), dtype=int)
    for question, gold in enumerate(case["gold_content"]):
        for permutation, row in zip(
            case["perm_slot_to_content"], case["model_a"]["probs"][question], strict=True
        ):
            if row.count(max(row)) > 1:
                moved[permutation.index(gold), row.index(max(row))] += 1
    assert (np.array(table.counts) + moved).tolist() == rows[:, :4].tolist()
    assert moved.sum(axis=1).tolist() == list(table.tied)
    assert moved[:, 0].sum() > 20


def always(slot: int, *, questions: int, n_options: int = 4) -> list[Trial]:
    return [
        trial(f"q{q}", variant_label(v), v.permutation.index(q % n_options), choice=slot)
        for q in range(questions)
        for v in variants(n_options, "circular")
    ]


def test_a_model_that_always_picks_a_slot_has_one_full_column():
    (table,) = position_tables(always(2, questions=10), "circular")
    assert table.counts == ((0, 0, 10, 0),) * 4
    assert [s and s.value for s in table.shares] == [0, 0, 1, 0]
    assert table.rstd == pytest.approx(100 * np.std([0, 0, 1, 0]))


def test_the_share_interval_is_the_clustered_t_interval():
    """share -+ t(n-1) sd(per-question share) / sqrt(n), here with n = 2 and sd = sqrt(1/8)."""
    trials = asked("q", 0, {"AB": 0, "BA": 0}) + asked("r", 0, {"AB": 0, "BA": 1})
    (table,) = position_tables(trials, "circular")
    share = table.shares[0]
    assert share
    assert (share.value, share.n) == (0.75, 2)
    half = 12.706204736 * np.sqrt(1 / 8) / np.sqrt(2)
    assert (share.low, share.high) == pytest.approx((max(0, 0.75 - half), 1.0))


def test_numbers_of_options_are_never_pooled():
    trials = always(0, questions=3) + asked("short", 1, {"ABC": 2, "BCA": 2, "CAB": 0})
    tables = position_tables(trials, "circular")
    assert [(t.n_options, t.n_questions, t.n_trials) for t in tables] == [(3, 1, 3), (4, 3, 12)]
    assert [t.chance for t in tables] == [1 / 3, 1 / 4]


def test_questions_that_lack_an_order_or_name_options_are_left_out():
    torn = asked("torn", 0, {"AB": 1})
    naming = [trial("names", v, 0, choice=1, fixed="naming") for v in ("AB", "BA")]
    whole = asked("whole", 0, {"AB": 0, "BA": 0})
    (table,) = position_tables(torn + naming + whole, "circular")
    assert table.counts == ((1, 0), (1, 0))


def test_no_question_gives_no_table():
    assert position_tables(asked("torn", 0, {"AB": 1}), "circular") == ()


def test_an_unreadable_answer_is_a_miss_and_no_choice():
    trials = asked("q", 0, {"AB": None, "BA": 1})
    (table,) = position_tables(trials, "circular")
    assert table.unreadable == (1, 0)
    assert [r and r.value for r in table.recalls] == [0.0, 1.0]
    assert [s and s.value for s in table.shares] == [0.0, 1.0]


def test_a_tie_is_neither_a_hit_nor_a_miss_nor_a_choice():
    trials = [tied("q", "AB", 0, among=(0, 1)), tied("q", "BA", 1, among=(1,))]
    (table,) = position_tables(trials, "circular")
    assert table.tied == (1, 0)
    assert table.counts == ((0, 0), (0, 1))
    assert table.recalls[0] is None
    assert table.rstd is None


def test_answers_that_all_cannot_be_read_have_no_share():
    (table,) = position_tables(asked("q", 0, {"AB": None, "BA": None}), "circular")
    assert table.shares == (None, None)
    assert [r and r.value for r in table.recalls] == [0.0, 0.0]


def test_recall_over_all_orders_is_clustered_by_question():
    """With six orders each question stands twice in each slot, so rows are not independent."""
    trials = [
        trial(f"q{q}", variant_label(v), v.permutation.index(0), choice=v.permutation.index(q % 2))
        for q in range(20)
        for v in variants(3, "all_possible")
    ]
    (table,) = position_tables(trials, "all_possible")
    recall = table.recalls[0]
    assert recall == clustered_mean(np.array([1.0, 0.0] * 10), np.full(20, 2)).interval
    assert recall.high - recall.low > wilson_interval(20, 40).high - wilson_interval(20, 40).low


@given(st.lists(st.lists(st.none() | st.integers(0, 2), min_size=3, max_size=3), min_size=1))
def test_every_trial_is_counted_once(answers: list[list[int | None]]):
    trials = [
        t
        for q, row in enumerate(answers)
        for t in asked(f"q{q}", q % 3, dict(zip(("ABC", "BCA", "CAB"), row, strict=True)))
    ]
    (table,) = position_tables(trials, "circular")
    counted = sum(map(sum, table.counts)) + sum(table.unreadable) + sum(table.tied)
    assert counted == table.n_trials == len(trials)
    readable = [share.value for share in table.shares if share]
    assert not readable or sum(readable) == pytest.approx(1)
