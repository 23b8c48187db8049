import pytest
from battle_examples import BATTLES, CASES, battles_of
from hypothesis import given

from evalui.scoring.arena.battles import Battle, BattleTally, reorder_matrix, tallies, win_matrix


@pytest.mark.parametrize("name", CASES)
def test_counts_and_scores_agree_with_the_reference(name: str):
    expected = CASES[name]["expected"]
    counted = tallies(battles_of(CASES[name]))
    for model, row in expected["wtl_nb"].items():
        tally = counted[model]
        assert (tally.win, tally.both_good, tally.both_bad, tally.lose) == (
            row["win"],
            row["both"],
            row["neither"],
            row["lose"],
        )
        assert round(100 * tally.win / tally.n, 1) == row["win_pct"]
    assert {name: tally.score for name, tally in counted.items()} == expected["oc_score_3_1_-1_-3"]
    assert {name: tally.win_rate for name, tally in counted.items()} == pytest.approx(
        expected["mtbench_win_rate_adjusted"], abs=1e-6
    )


@pytest.mark.parametrize("name", CASES)
def test_win_matrices_agree_with_opencompass_where_it_counts_all_battles(name: str):
    expected = CASES[name]["expected"]
    battles = battles_of(CASES[name])
    # OpenCompass leaves out the battles of (a, b) in this order if a never won one of them.
    won = {(one.model_a, one.model_b) for one in battles if one.outcome == "a"}
    matrix = win_matrix([one for one in battles if (one.model_a, one.model_b) in won])
    assert len(matrix.models) > 1 or name == "two_models_all_tie"
    for row, model in enumerate(matrix.models):
        for column, other in enumerate(matrix.models):
            if row != column:
                wins = expected["win_rate_matrix"].get(model, {}).get(other, 0)
                ties = expected["tie_rate_matrix"].get(model, {}).get(other, 0)
                assert (matrix.win_share(row, column) or 0) == pytest.approx(wins, abs=1e-6)
                met = max(1, matrix.battles[row][column])
                assert matrix.ties[row][column] / met == pytest.approx(ties, abs=1e-6)


def test_battles_count_in_the_matrix_whoever_won_them():
    matrix = win_matrix(
        [Battle("x", "y", "b"), Battle("x", "y", "tie"), Battle("y", "x", "neither")]
    )
    assert matrix.battles == ((0, 3), (3, 0))
    assert (matrix.win_share(0, 1), matrix.win_share(1, 0)) == (0, pytest.approx(1 / 3))
    assert matrix.ties == ((0, 2), (2, 0))
    assert matrix.win_share(0, 0) is None


def test_not_bad_is_a_win_or_a_tie_of_good_answers():
    tally = BattleTally(win=3, both_good=2, both_bad=5, lose=1)
    assert (tally.n, tally.tie, tally.not_bad, tally.score) == (11, 7, 5, 3)


def test_a_tie_of_two_orders_keeps_what_each_said_of_the_answers():
    # The first order finds x good and y bad, the second both bad.
    both = [Battle("x", "y", "tie", judged="a"), Battle("y", "x", "tie", judged="neither")]
    counted = tallies(both)
    assert counted["x"] == BattleTally(0, 0, 0, 0, contradicted=2, contradicted_good=1)
    assert counted["y"] == BattleTally(0, 0, 0, 0, contradicted=2, contradicted_good=0)
    assert (counted["x"].tie, counted["x"].n, counted["x"].score) == (2, 2, 0)
    assert [counted[name].not_bad for name in "xy"] == [1, 0]
    assert [battle.points for battle in both] == [0.5, 0.5]


def test_what_one_order_said_is_mirrored_with_the_battle():
    battle = Battle("x", "y", "tie", "q", judged="a")
    assert battle.mirrored == Battle("y", "x", "tie", "q", judged="b")
    assert (battle.is_good, battle.mirrored.is_good) == (True, False)


def test_nothing_is_known_of_not_bad_where_no_word_says_neither():
    counted = tallies([Battle("x", "y", "tie")], says_neither=False)
    assert counted["x"].not_bad is None
    assert counted["x"].n == 1


def test_a_consistent_judge_asked_in_both_orders_gives_all_wins_to_its_favourite():
    # The better model stands on side a first and on side b in the second judging.
    battles = [
        battle
        for number in range(5)
        for battle in (
            Battle("good", "bad", "a", f"q{number}"),
            Battle("bad", "good", "b", f"q{number}"),
        )
    ]
    counted = tallies(battles)
    assert (counted["good"].win, counted["good"].lose) == (10, 0)
    assert (counted["bad"].win, counted["bad"].lose) == (0, 10)


@given(BATTLES)
def test_mirrored_battles_count_the_same(battles: list[Battle]):
    mirrored = [battle.mirrored for battle in battles]
    assert tallies(mirrored) == tallies(battles)


@given(BATTLES)
def test_every_win_is_somebodys_loss(battles: list[Battle]):
    counted = tallies(battles).values()
    assert sum(tally.win for tally in counted) == sum(tally.lose for tally in counted)
    assert sum(tally.n for tally in counted) == 2 * len(battles)


def test_a_model_does_not_meet_itself():
    with pytest.raises(AssertionError, match="itself"):
        Battle("m", "m", "a")


def test_a_matrix_in_another_order_keeps_what_each_pair_did():
    battles = [Battle("x", "y", "a"), Battle("x", "y", "a"), Battle("z", "x", "tie")]
    found = reorder_matrix(win_matrix(battles), ("z", "x", "y"))
    assert found.models == ("z", "x", "y")
    assert found.wins == ((0, 0, 0), (0, 0, 2), (0, 0, 0))
    assert found.ties == ((0, 1, 0), (1, 0, 0), (0, 0, 0))
    assert found.battles == ((0, 1, 0), (1, 0, 2), (0, 2, 0))
