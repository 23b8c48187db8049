"""An arena's figures, from trials as they are stored."""

import math
import random
from dataclasses import replace
from typing import Any

import pytest
from open_examples import (
    MODELS,
    answers_result,
    contestant,
    judge_result,
    judge_trial,
    judged_run,
    opencompass_cases,
    opencompass_result,
    rating_result,
    votes,
)

from evalui.messages import messages
from evalui.report.analyses.arena import standings_card
from evalui.report.analyses.base import OpenContext
from evalui.report.blocks import Table
from evalui.report.figures.arena import win_matrix_of
from evalui.report.frames.arena import standings
from evalui.scoring.arena.battles import BattleTally
from evalui.scoring.arena.bradley_terry import Rating
from evalui.scoring.arena.figures import Arena, arena, arenas, best_first, human_arena
from evalui.scoring.arena.pooled import PoolFilter, pool_arenas
from evalui.types import Cell, CellResult, Outcome


def _better(number: int, first: str, second: str) -> Outcome:
    """`late` beats all, but loses every fourth question; the others always draw."""
    if "late" not in (first, second):
        return "neither"
    return "a" if (first == "late") == (number % 4 > 0) else "b"


def _first(number: int, first: str, second: str) -> Outcome:
    del number, first, second
    return "a"


def _alphabet(number: int, first: str, second: str) -> Outcome:
    del number
    return "a" if first < second else "b"


def _silent(number: int, first: str, second: str) -> None:
    del number, first, second


# ---------------------------------------------------------------- counts


def test_each_showing_is_a_battle_of_the_right_models():
    found = arena(judge_result(decide=_better))
    assert (found.questions, found.pairs, found.done, found.planned) == (12, 3, 72, 72)
    assert len(found.battles) == 72
    # Against two models in two orders: nine questions won, three lost.
    assert found.standings[0].model == "late"
    assert found.standings[0].tally == BattleTally(win=36, both_good=0, both_bad=0, lose=12)
    assert found.shares["late", "weak"].value == pytest.approx(0.75)
    won, lost = found.shares["late", "weak"], found.shares["weak", "late"]
    assert lost.low <= lost.value <= lost.high
    assert (lost.value, lost.low, lost.high) == pytest.approx((0.25, 1 - won.high, 1 - won.low))
    assert found.shares["early", "weak"].value == 0.5
    assert found.reliability.flip_rate
    assert found.reliability.flip_rate.value == 0


@pytest.mark.parametrize(
    ("conflict", "battles", "share"), [("tie", 72, 0.5), ("half", 72, 0.5), ("drop", 0, None)]
)
def test_orders_that_differ_count_by_the_rule(conflict: Any, battles: int, share: float | None):
    found = arena(judge_result(decide=_first, conflict=conflict))
    assert len(found.battles) == battles
    met = found.shares.get(("late", "early"))
    assert (met and met.value) == share
    assert found.reliability.flip_rate
    assert found.reliability.flip_rate.value == 1
    assert found.comparisons
    assert (found.comparisons.extracted, found.comparisons.consistent) == (72, 0)


def _worst_is_called_bad_half_of_the_time(number: int, first: str, second: str) -> Outcome:
    """`weak` always loses, unless it is shown first: then both are bad."""
    if first == "weak":
        return "neither"
    return _alphabet(number, first, second) if second != "weak" else "a"


def test_no_rule_calls_an_answer_good_that_no_order_called_good():
    found = {
        rule: arena(judge_result(decide=_worst_is_called_bad_half_of_the_time, conflict=rule))
        for rule in ("tie", "half", "drop")
    }
    good = {
        rule: {name: each.value for name, each in of.not_bad.items()} for rule, of in found.items()
    }
    assert good["tie"] == good["half"]
    assert good["tie"]["weak"] == 0
    # Of its 48 showings `early` wins 24 against `late` and 12 against `weak`.
    assert good["tie"]["early"] == pytest.approx(36 / 48)
    tallies_of = {one.model: one.tally for one in found["tie"].standings}
    assert tallies_of["weak"].tie == tallies_of["weak"].contradicted == 48


def test_opencompass_counts_stand_beside_under_any_rule():
    for rule in ("tie", "half", "drop"):
        made = arena(judge_result(conflict=rule))
        agreed = arena(judge_result(conflict="drop")).standings
        wanted = {one.model: one.tally for one in agreed}
        assert {one.model: one.opencompass for one in made.standings} == wanted


def test_not_bad_is_not_known_where_verdicts_have_no_word_for_it():
    found = arena(replace(judge_result(decide=_better), says_neither=False))
    assert found.not_bad == {}
    assert {one.tally.not_bad for one in found.standings} == {None}
    assert {
        tally.not_bad for row in found.dimensions for tally in row.tallies.values() if tally
    } == {None}


def test_a_strong_verdict_weighs_in_battles_shares_elo_and_bradley_terry():
    def much(number: int, first: str, second: str) -> Outcome:
        return _better(number, first, second)

    plain = judge_result(models=("late", "early"), n=40, decide=much)
    trials = tuple(
        replace(trial, scores={**trial.scores, "strength": (3.0 if at % 8 < 6 else 1.0,)})
        for at, trial in enumerate(plain.trials)
    )
    once = arena(replace(plain, trials=trials))
    thrice = arena(replace(plain, trials=trials, strong=3))
    assert (once.strong, thrice.strong) == (1, 3)
    strong = sum(verdict.strength == 3 for verdict in thrice.verdicts)
    assert len(thrice.battles) == len(once.battles) + 2 * strong
    late, early = thrice.standings
    assert (late.tally.n, late.tally.win + late.tally.lose) == (len(thrice.battles),) * 2
    won = sum(
        battle.points if battle.model_a == "late" else 1 - battle.points
        for battle in thrice.battles
    )
    assert thrice.shares["late", "early"].value == pytest.approx(won / len(thrice.battles))
    assert thrice.shares["late", "early"].n == once.shares["late", "early"].n == 40
    assert late.rating
    assert once.standings[0].rating
    gap = 400 * math.log10(won / (len(thrice.battles) - won))
    assert late.rating.value - (early.rating.value if early.rating else 0) == pytest.approx(gap)
    assert late.elo != once.standings[0].elo
    # OpenCompass has no strong verdicts.
    assert late.opencompass == once.standings[0].tally


def test_ratings_ranks_and_the_lead_have_ranges():
    found = arena(judge_result(n=60, decide=_better))
    best, *others = found.standings
    assert best.rating
    assert best.rating.low is not None
    assert best.rating.low < best.rating.value
    assert best.elo_low is not None
    assert best.elo_high is not None
    assert best.elo_low < best.elo < best.elo_high
    assert (best.rank_low, best.rank_high) == (1, 1)
    assert [one.with_leader for one in found.standings] == [True, False, False]
    assert found.lead
    value, low, high = found.lead
    # Three wins to one is 400 log10(3) against each.
    assert value == pytest.approx(190.85, abs=0.01)
    assert 0 < low < value < high
    assert all(one.styled for one in others)


def test_an_unbeaten_model_has_no_finite_rating_and_still_leads():
    found = arena(judge_result(decide=_alphabet))
    assert [one.model for one in found.standings] == ["early", "late", "weak"]
    assert all(one.rating is None and one.rank_low is None for one in found.standings)
    assert [one.with_leader for one in found.standings] == [True, False, False]
    assert found.lead is None
    assert found.connection
    assert found.connection.unbeaten == ("early",)


def test_islands_are_told_and_not_rated():
    models = ("v", "w", "x", "y")
    asked = answers_result("v").samples
    shown = [(0, 1), (1, 0), (2, 3), (3, 2)]
    trials = tuple(
        judge_trial(key, pair, "a" if number % 2 else "tie")
        for number, key in enumerate(asked)
        for pair in shown
    )
    cell = Cell("open-qa", "j", "judge", "Judge", "origin", "s", "verdicts")
    people_met = tuple(contestant(name, asked) for name in models)
    found = arena(CellResult(cell, asked, trials, len(trials), contestants=people_met))
    assert found.connection
    assert found.connection.disconnected_groups == (("v", "w"), ("x", "y"))
    assert all(one.rating is None for one in found.standings)
    assert ("v", "x") not in found.shares


# ---------------------------------------------------------------- incomplete runs


def test_a_run_that_has_not_begun_is_an_arena_without_figures():
    found = arena(judge_result(done=0))
    assert (found.done, found.planned, found.questions) == (0, 72, 0)
    assert found.standings == ()
    assert found.matrix is None
    assert found.connection is None
    assert found.lead is None
    assert found.reliability.judge == "judge-local"
    assert found.state == "running"


@pytest.mark.parametrize("done", [1, 2, 7])
def test_a_run_under_way_shows_what_is_there(done: int):
    found = arena(judge_result(done=done))
    assert (found.done, found.questions) == (done, 1 + (done > 6))
    assert sum(one.tally.n for one in found.standings) == 2 * done


def test_one_contestant_has_nobody_to_meet():
    found = arena(judge_result(models=("late",)))
    assert (found.planned, found.standings, found.battles) == (0, (), ())


def test_unreadable_verdicts_are_kept_and_make_no_battle():
    found = arena(judge_result(decide=_silent))
    assert (found.done, found.questions, found.battles) == (72, 0, ())
    assert found.reliability.unreadable
    assert found.reliability.unreadable.value == 1


def test_a_failed_judge_is_told_with_its_error():
    result = replace(judge_result(done=0), state="failed", error="No answer.")
    (found,) = arenas([result])
    assert (found.state, found.error) == ("failed", "No answer.")


# ---------------------------------------------------------------- judges, panel, people


def test_one_judge_is_one_arena():
    assert [one.by for one in arenas(judged_run())] == ["judge-local"]


def test_several_judges_form_a_panel_that_comes_first():
    results = [
        judge_result(judge="one", decide=_better),
        judge_result(judge="two", decide=_better),
        judge_result(judge="odd", decide=_first),
    ]
    panel, *each = arenas(results)
    assert (panel.by, panel.judges) == ("panel", ("one", "two", "odd"))
    assert [one.by for one in each] == ["one", "two", "odd"]
    assert (panel.done, panel.planned) == (72, 72)
    # Two of three say the same of every showing.
    assert panel.battles == each[0].battles
    assert panel.agreement
    assert panel.agreement.raw.value < 1
    assert all(judge.cell.signature in panel.signature for judge in results)


def test_a_panel_is_under_way_while_a_judge_is():
    panel, *_ = arenas([judge_result(judge="one"), judge_result(judge="two", done=10)])
    assert panel.state == "running"


def test_ratings_of_single_answers_are_no_arena():
    assert arenas([rating_result({"late": [9, 8], "weak": [1, None]})]) == ()


def test_datasets_have_arenas_of_their_own():
    found = arenas([judge_result(dataset="one"), judge_result(dataset="two")])
    assert [(one.dataset, one.by) for one in found] == [
        ("one", "judge-local"),
        ("two", "judge-local"),
    ]


def test_people_have_an_arena_in_which_each_vote_counts():
    judged = arena(judge_result())
    found = human_arena([*votes("ann", decide=_better), *votes("bob", decide=_first)], judged)
    assert (found.by, found.judges) == ("people", ("ann", "bob"))
    assert len(found.battles) == 72
    assert found.reliability.judge == "people"
    assert found.signature.startswith("open-qa@1|by:people|people:2|votes:72|")
    assert found.agreement
    assert {one.model for one in found.standings} == set(MODELS)


def test_the_signature_tells_how_ratings_are_made():
    result = judge_result()
    told = arena(result).signature
    assert told.startswith(result.cell.signature)
    assert "|elo:k32,scale400,start1000,orders1000|bradley-terry:resamples1000" in told
    assert told.endswith("|style:resamples200")


def test_very_many_battles_are_played_in_fewer_orders_and_the_signature_tells(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("evalui.scoring.arena.figures._MANY_BATTLES", 36)
    found = arena(judge_result())
    assert len(found.battles) == 72
    assert found.elo_orders == 500
    assert "orders500|bradley-terry:resamples1000|style:resamples100" in found.signature
    assert found.styled
    assert found.styled.resamples == 100
    monkeypatch.setattr("evalui.scoring.arena.figures._MANY_BATTLES", 1)
    least = arena(judge_result())
    assert least.elo_orders == 100
    assert {one.model for one in least.standings} == set(MODELS)


def test_the_same_run_gives_the_same_figures():
    assert arena(judge_result()) == arena(judge_result())


# ---------------------------------------------------------------- the report of 2023


@pytest.mark.parametrize(
    "name",
    [
        "public-double-order-separate-dirs",
        "public-mixed-langs-bad-replies",
        "public-four-models-refm",
        "public-english-only",
    ],
)
def test_opencompass_figures_come_from_trials_to_the_last_digit(name: str):
    case = opencompass_cases()[name]
    told, found = case["parsed"], arena(opencompass_result(case))
    assert found.comparisons
    assert found.comparisons.total == told["comparisons"]
    assert found.comparisons.meaningful == told["meaningful"]
    assert found.comparisons.extracted == told["extracted"]
    assert found.comparisons.consistent == len(case["kept_rows"])
    _same_stats(found, told)
    for one in found.standings:
        # Its mean of ten medians over other random orders than ours.
        golden_elo = float(told["elo"]["elo_score [Mean]"][one.model])
        assert one.elo == pytest.approx(golden_elo, abs=3)


@pytest.mark.parametrize(
    "name",
    [
        "public-double-order-separate-dirs",
        "public-mixed-langs-bad-replies",
        "public-four-models-refm",
        "public-english-only",
        "public-QUIRK-model-absent-in-cn",
    ],
)
@pytest.mark.parametrize("conflict", ["tie", "drop"])
def test_opencompass_elo_is_its_to_the_printed_digit_in_whatever_order_verdicts_came(
    name: str, conflict: Any
):
    case = opencompass_cases()[name]
    result = opencompass_result(case)
    mixed = random.Random(3).sample(result.trials, len(result.trials))
    found = arena(replace(result, trials=tuple(mixed), conflict=conflict))
    told = case["parsed"]["elo"]
    assert {
        one.model: one.opencompass_elo and one.opencompass_elo.printed for one in found.standings
    } == {
        model: (mean, told["elo_score [Std]"][model])
        for model, mean in told["elo_score [Mean]"].items()
    }


def test_opencompass_elo_is_that_of_judges_and_panels_whose_verdicts_are_all_in():
    def computed(made: Arena) -> set[bool]:
        return {one.opencompass_elo is not None for one in made.standings}

    judged = [judge_result(judge="one"), judge_result(judge="two")]
    assert [computed(made) for made in arenas(judged)] == [{True}] * 3
    assert computed(arena(judge_result(done=40))) == {False}
    people = human_arena(votes("ann", decide=_better), arena(judge_result()))
    assert computed(people) == {False}
    assert computed(pool_arenas(arenas(judged), PoolFilter())) == {False}


def test_opencompass_elo_is_not_made_of_many_battles(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("evalui.scoring.arena.elo.MEDIAN_ELO_MAX_BATTLES", 72)
    assert all(one.opencompass_elo for one in arena(judge_result(decide=_better)).standings)
    monkeypatch.setattr("evalui.scoring.arena.elo.MEDIAN_ELO_MAX_BATTLES", 71)
    assert not any(one.opencompass_elo for one in arena(judge_result(decide=_better)).standings)


def _same_stats(found: Arena, told: dict[str, Any]) -> None:
    prefix = {"overall": "LANG", "language": "LANG", "capability": "CAPA"}
    rows = {f"{prefix[one.kind]}: {one.name}": one.tallies for one in found.dimensions}
    assert set(rows) == set(told["stats"])
    for row, tallies in rows.items():
        for model, tally in tallies.items():
            if tally is None:
                assert told["stats"][row].get(model, "N/A") == "N/A"
                continue
            shares = (tally.win, tally.tie, tally.lose, tally.not_bad)
            shown = " / ".join(f"{100 * share / tally.n:.1f}%" for share in shares)
            assert told["stats"][row][model] == shown
            assert told["scores"][row][model] == str(tally.score)


def test_equal_models_stand_in_the_order_of_the_run():
    elos = {"b": 1000.0, "c": 1010.0, "a": 1000.0}
    assert best_first(("b", "c", "a"), {}, elos) == ["c", "b", "a"]
    ratings = {
        name: Rating(value, None, None) for name, value in zip("bca", (5, 4, 5 + 1e-9), strict=True)
    }
    assert best_first(("b", "c", "a"), ratings, elos) == ["b", "a", "c"]


def test_every_list_of_models_has_the_order_of_the_standings():
    found = arena(judge_result(models=("weak", "early", "late")))
    order = [one.model for one in found.standings]
    assert found.headline == "bradley_terry"
    ratings = [one.rating.value for one in found.standings if one.rating]
    assert ratings == sorted(ratings, reverse=True)
    assert found.matrix
    assert list(found.matrix.models) == order
    assert [row["model"] for row in standings([found])] == order
    (lead,) = standings_card(found, OpenContext("en", order)).blocks
    assert isinstance(lead, Table)
    assert [getattr(row[1], "name", "") for row in lead.rows] == order
    columns = win_matrix_of(found, messages("en")).to_dict()["layout"]["xaxis"]["ticktext"]
    assert columns == [f"<b>{name}</b>" for name in order]


def test_what_is_made_of_an_arena_is_made_once_and_anew_for_a_changed_one():
    found = arena(judge_result())
    made: list[Arena] = []

    def make(of: Arena) -> int:
        made.append(of)
        return len(of.battles)

    for _ in range(2):
        assert found.remember("n", lambda: make(found)) == len(found.battles)
    changed = replace(found, battles=())
    assert changed.remember("n", lambda: make(changed)) == 0
    assert len(made) == 2
