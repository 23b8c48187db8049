import random
from dataclasses import replace

import pytest
from judging_examples import contestant, said, showing

from evalui.proportions import wilson_interval
from evalui.scoring.arena.battles import Battle, tallies
from evalui.scoring.arena.categories import not_bad_shares
from evalui.scoring.arena.verdicts import (
    UNWORDED_RULES,
    ConflictRule,
    battles_from_verdicts,
    judge_reliability,
    judge_verdicts,
    panel_verdicts,
)
from evalui.scoring.choice.decisions import NAMED
from evalui.types import NO_REFERENCE, Contestant, Duel, Reading, Trial, Variant, Verdict


def test_a_trial_names_the_contestants_it_showed_and_keeps_what_was_said():
    trial = showing("q1", (2, 0), "b", injected=(0.0, 1.0), strength=(3.0,))
    assert judge_verdicts([trial], ["x", "y", "z"], "gpt") == (
        Verdict(Duel("q1", "z", "x"), "b", "gpt", "announced", "the reply", 3, True),
    )


def test_an_unreadable_trial_stays_without_an_outcome():
    (verdict,) = judge_verdicts([showing("q1", (0, 1), None)], ["x", "y"], "gpt")
    assert (verdict.outcome, verdict.rule) == (None, "unparsed")


def test_ratings_of_single_answers_are_no_duels():
    rating = Trial("q1", Variant((0,)), 0, "rating", {"rating": Reading(0, 0.7, "announced")})
    assert judge_verdicts([rating], ["x", "y"], "gpt") == ()


CHANGED = [said("q", "xy", "A"), said("q", "yx", "A")]  # the first shown wins both times


@pytest.mark.parametrize(
    ("conflict", "wanted"),
    [
        ("tie", [("x", "y", "tie"), ("y", "x", "tie")]),
        ("half", [("x", "y", "a"), ("y", "x", "a")]),
        ("drop", []),
    ],
)
def test_two_orders_that_differ_follow_the_rule(
    conflict: ConflictRule, wanted: list[tuple[str, ...]]
):
    found = [
        (one.model_a, one.model_b, one.outcome) for one in battles_from_verdicts(CHANGED, conflict)
    ]
    assert found == wanted


@pytest.mark.parametrize("conflict", ["tie", "half", "drop"])
@pytest.mark.parametrize(("there", "back"), [("A", "B"), ("B", "A"), ("C", "C"), ("D", "D")])
def test_two_orders_that_agree_count_twice(conflict: ConflictRule, there: str, back: str):
    first, second = battles_from_verdicts([said("q", "xy", there), said("q", "yx", back)], conflict)
    assert first == second.mirrored
    assert first.question == "q"


@pytest.mark.parametrize("conflict", ["tie", "half"])
@pytest.mark.parametrize(
    ("there", "back", "good"),
    [
        ("A", "A", (1, 1)),  # each wins when it is shown first
        ("A", "D", (1, 0)),
        ("A", "C", (2, 1)),
        ("C", "D", (1, 1)),
        ("D", "A", (0, 1)),
    ],
)
def test_not_bad_is_what_each_order_said_of_the_answer_under_any_rule_that_keeps_both(
    conflict: ConflictRule, there: str, back: str, good: tuple[int, int]
):
    fought = battles_from_verdicts([said("q", "xy", there), said("q", "yx", back)], conflict)
    counted, shares = tallies(fought), not_bad_shares(fought)
    assert tuple(counted[name].not_bad for name in "xy") == good
    assert tuple(2 * shares[name].value for name in "xy") == good


def test_orders_that_contradict_each_other_are_ties_of_neither_kind():
    fought = battles_from_verdicts([said("q", "xy", "C"), said("q", "yx", "D")], "tie")
    counted = tallies(fought)["x"]
    assert (counted.both_good, counted.both_bad, counted.contradicted) == (0, 0, 2)
    assert (counted.tie, counted.score, counted.win_rate) == (2, 0, 0.5)


def _much(question: str, models: str, letter: str, strength: int = 3) -> Verdict:
    return replace(said(question, models, letter), strength=strength)


@pytest.mark.parametrize(("strong", "counts"), [(1, [1, 1]), (3, [3, 1])])
def test_much_better_is_as_many_battles_as_is_chosen(strong: int, counts: list[int]):
    judged = [_much("q1", "xy", "A"), _much("q2", "xy", "B", strength=1)]
    fought = battles_from_verdicts(judged, "tie", strong=strong)
    assert [sum(one.question == q for one in fought) for q in ("q1", "q2")] == counts


def test_much_better_counts_once_where_the_other_order_contradicts_it():
    judged = [_much("q", "xy", "A"), _much("q", "yx", "A")]
    counts = {
        rule: len(battles_from_verdicts(judged, rule, strong=3)) for rule in ("tie", "half", "drop")
    }
    assert counts == {"tie": 2, "half": 6, "drop": 0}


def test_what_was_asked_again_and_what_came_of_it_is_counted():
    judged = [
        said("q1", "xy", "A"),
        replace(said("q2", "xy", "B"), retried=True),
        replace(said("q3", "xy", "-"), retried=True),
        *(replace(said("q4", "xy", "A"), rule=rule) for rule in UNWORDED_RULES),
    ]
    assert NAMED in UNWORDED_RULES  # a decision without probabilities is no text
    found = judge_reliability(judged, [])
    assert (found.retried, found.recovered, found.as_text) == (2, 1, 2)


def test_a_trial_with_two_replies_was_asked_again():
    first = showing("q1", (0, 1), "a")
    twice = [replace(first, turns=("Hm.", "[[A]]")), replace(first, scores={"retried": (1.0,)})]
    once = [first, replace(first, scores={"retried": (0.0,)})]
    found = judge_verdicts([*twice, *once], ["x", "y"], "gpt")
    assert [one.retried for one in found] == [True, True, False, False]


def test_a_tie_of_good_answers_and_one_of_bad_ones_differ():
    assert battles_from_verdicts([said("q", "xy", "C"), said("q", "yx", "D")], "drop") == ()


@pytest.mark.parametrize("conflict", ["tie", "half", "drop"])
def test_a_verdict_whose_other_order_is_unreadable_counts_as_it_is(conflict: ConflictRule):
    one_sided = [said("q", "xy", "A"), said("q", "yx", "-")]
    assert battles_from_verdicts(one_sided, conflict) == (Battle("x", "y", "a", "q"),)


def test_orders_are_paired_within_a_question_and_a_judge():
    apart = [
        said("q1", "xy", "A"),
        said("q2", "yx", "A"),
        said("q1", "yx", "A", by="other"),
        said("q3", "xy", "A", by="other"),
        said("q3", "yx", "A"),
    ]
    assert [one.outcome for one in battles_from_verdicts(apart, "drop")] == ["a"] * 5


def test_a_consistent_judge_gives_no_balance_of_wins_and_losses():
    # Where the second order's letters are booked on the wrong sides, x wins as often as it loses.
    both = [one for n in range(5) for one in (said(f"q{n}", "xy", "A"), said(f"q{n}", "yx", "B"))]
    counted = tallies(battles_from_verdicts(both, "tie"))
    assert (counted["x"].win, counted["x"].lose) == (10, 0)
    assert (counted["y"].win, counted["y"].lose) == (0, 10)


def test_flips_are_a_share_of_the_pairs_read_in_both_orders():
    judged = [
        *CHANGED,
        said("q2", "xy", "A"),
        said("q2", "yx", "B"),
        said("q3", "xy", "C"),
        said("q3", "yx", "D"),
        said("q4", "xy", "A"),
        said("q4", "yx", "-"),
    ]
    found = judge_reliability(judged, [])
    assert found.flip_rate == wilson_interval(2, 3)
    assert (found.judge, found.n) == ("judge", 8)
    assert found.unreadable is not None
    assert (found.unreadable.value, found.unreadable.n) == (1 / 8, 8)


def test_the_first_answer_wins_every_decided_verdict_of_a_judge_that_looks_no_further():
    judged = [*CHANGED, said("q2", "xy", "A"), said("q3", "xy", "C"), said("q4", "xy", "-")]
    first = judge_reliability(judged, []).first_wins
    assert first is not None
    assert (first.value, first.n) == (1.0, 3)
    assert first.high == 1.0
    # Two questions, not three judgements, bear this witness.
    assert first.low == pytest.approx(wilson_interval(2, 2).low)


def test_longer_and_listed_answers_are_counted_among_those_that_differ():
    contestants = [
        contestant("x", q1="long answer", q2="same", q3="- a\n- b", q4="1. a\n2. b\n3. c"),
        contestant("y", q1="short", q2="size", q3="- ab\nb", q4="* a\nlong long long long"),
    ]
    judged = [
        said("q1", "xy", "A"),  # longer wins
        said("q2", "xy", "A"),  # as long
        said("q3", "yx", "B"),  # one character longer, more items
        said("q4", "xy", "B"),  # longer, fewer items
        said("q5", "xy", "A"),  # unknown
        said("q1", "yx", "C"),  # not decided
    ]
    found = judge_reliability(judged, contestants)
    assert found.longer_wins == wilson_interval(3, 3)
    assert found.more_items_wins == wilson_interval(1, 2)


def test_all_turns_of_an_answer_are_its_length():
    contestants = [
        Contestant("x", {"q": ("ab", "cd")}),
        Contestant("y", {"q": ("abc",)}),
    ]
    assert judge_reliability([said("q", "xy", "A")], contestants).longer_wins == wilson_interval(
        1, 1
    )


def test_nothing_can_be_said_of_a_judge_without_readable_verdicts():
    found = judge_reliability([said("q", "xy", "-"), said("r", "xy", "-")], [])
    assert found.unreadable == wilson_interval(2, 2)
    assert (found.flip_rate, found.first_wins, found.longer_wins, found.more_items_wins) == (
        None,
        None,
        None,
        None,
    )
    assert judge_reliability([], []).unreadable is None


def test_injected_answers_are_counted_by_showing():
    judged = judge_verdicts(
        [showing("q", (0, 1), "a", injected=(1.0, 1.0)), showing("q", (1, 0), None)], "xy", "gpt"
    )
    assert judge_reliability(judged, []).injected == 1


@pytest.mark.slow
def test_the_range_of_flips_holds_the_truth_though_pairs_of_a_question_go_together():
    # Three pairs of each question, all flipped or none: 40 questions say what 40 say, not 120.
    held, runs = 0, 400
    for seed in range(runs):
        rng = random.Random(seed)
        judged = [
            one
            for n in range(40)
            for flipped in [rng.random() < 0.3]
            for pair in ("uv", "uw", "vw")
            for one in (
                said(f"q{n}", pair, "A"),
                said(f"q{n}", pair[::-1], "A" if flipped else "B"),
            )
        ]
        flips = judge_reliability(judged, []).flip_rate
        assert flips is not None
        held += flips.low <= 0.3 <= flips.high
    assert 0.92 <= held / runs <= 0.98


@pytest.mark.parametrize(
    ("letters", "outcome"),
    [
        ("AAB", "a"),
        ("ABC", None),
        ("AB", None),
        ("AA-", "a"),
        ("A--", None),  # one of three judges is no majority
        ("---", None),
        ("DD", "neither"),
    ],
)
def test_a_panel_decides_by_more_than_half_of_its_judges(letters: str, outcome: str | None):
    (verdict,) = panel_verdicts(
        [[said("q", "xy", letter, by=str(n))] for n, letter in enumerate(letters)]
    )
    assert (verdict.outcome, verdict.rater) == (outcome, "panel")
    assert verdict.rule == ("majority" if outcome else "no-majority")


def test_a_panel_votes_on_each_showing_alone():
    decided = panel_verdicts([[said("q", "xy", "A"), said("q", "yx", "A")], [said("q", "xy", "A")]])
    assert [(one.duel.model_a, one.outcome) for one in decided] == [("x", "a"), ("y", "a")]


def test_what_was_not_judged_for_lack_of_a_reference_is_apart_from_what_cannot_be_read():
    told = [
        Verdict(Duel("1", "x", "y"), "a", "j", "announced"),
        Verdict(Duel("2", "x", "y"), None, "j", "unparsed"),
        Verdict(Duel("3", "x", "y"), None, "j", NO_REFERENCE),
        Verdict(Duel("4", "x", "y"), None, "j", NO_REFERENCE),
    ]
    found = judge_reliability(told, ())
    assert (found.n, found.unreferenced) == (4, 2)
    assert found.unreadable is not None
    assert (found.unreadable.value, found.unreadable.n) == (0.5, 2)


def test_a_panel_lacks_a_reference_where_all_of_its_judges_do():
    duel, other = Duel("1", "x", "y"), Duel("2", "x", "y")
    bare = [Verdict(duel, None, by, NO_REFERENCE) for by in "jk"]
    mixed = [Verdict(other, None, "j", NO_REFERENCE), Verdict(other, None, "k", "unparsed")]
    said = panel_verdicts([[bare[0], mixed[0]], [bare[1], mixed[1]]])
    assert [one.rule for one in said] == [NO_REFERENCE, "no-majority"]
