"""One pair of answers with all that was said of it."""

import pytest
from open_examples import judge_result

from evalui.scoring.arena.figures import Arena, arena
from evalui.scoring.arena.people import disagreements, judged_duels
from evalui.types import ConflictRule, Duel, Outcome


def _first(number: int, first: str, second: str) -> Outcome:
    """Whoever is shown first wins; `late` wins every even question."""
    if number % 2 == 0 and "late" in (first, second):
        return "a" if first == "late" else "b"
    return "a"


@pytest.fixture
def judged() -> Arena:
    return arena(judge_result(decide=_first))


def test_an_item_has_both_orders_from_one_side(judged: Arena):
    found = judged_duels(judged)
    assert len(found) == 36
    item = found[0]
    assert item.duel == Duel("cn-0", "late", "early")
    assert item.original_order
    assert item.swapped_order
    assert (item.original_order.duel.model_a, item.swapped_order.duel.model_a) == ("late", "early")
    assert (item.outcome, item.flipped) == ("a", False)


@pytest.mark.parametrize(("conflict", "outcome"), [("tie", "tie"), ("half", "tie"), ("drop", None)])
def test_orders_that_differ_count_by_the_rule(conflict: ConflictRule, outcome: Outcome | None):
    found = judged_duels(arena(judge_result(decide=_first, conflict=conflict)))
    (item,) = [one for one in found if one.duel == Duel("en-1", "late", "early")]
    assert (item.outcome, item.flipped) == (outcome, True)


def test_one_order_alone_is_an_item_too():
    found = judged_duels(arena(judge_result(decide=_first, orders="single")))
    assert len(found) == 36
    assert all(
        one.original_order and one.swapped_order is None and not one.flipped for one in found
    )
    assert {one.outcome for one in found} == {"a"}


def test_an_unreadable_order_is_kept_and_does_not_contradict():
    def decide(number: int, first: str, second: str) -> Outcome | None:
        del number, second
        return "a" if first == "late" else None

    found = judged_duels(arena(judge_result(models=("late", "early"), decide=decide)))
    assert all(one.outcome == "a" and one.swapped_order and not one.flipped for one in found)


def test_an_item_on_which_all_agree_is_no_disagreement(judged: Arena):
    first, second, *_ = judged_duels(judged)
    voted: dict[Duel, dict[str, Outcome]] = {
        first.duel: {"ann": "a", "bob": "a"},
        second.duel: {"ann": "a", "bob": "tie"},
    }
    (found,) = disagreements(judged_duels(judged), voted)
    assert (found.duel, found.judge, found.people) == (
        second.duel,
        "a",
        {"ann": "a", "bob": "tie"},
    )


def test_people_may_disagree_with_the_judge_alone(judged: Arena):
    (first, *_) = judged_duels(judged)
    (found,) = disagreements(judged_duels(judged), {first.duel: {"ann": "b"}})
    assert (found.judge, found.people) == ("a", {"ann": "b"})


def test_neither_is_a_tie_to_a_judge_without_a_word_for_it():
    voted: dict[Duel, dict[str, Outcome]] = {
        Duel("cn-0", "late", "early"): {"ann": "neither"},
        Duel("cn-2", "late", "early"): {"ann": "neither", "bob": "tie"},
    }
    coarse = judged_duels(arena(judge_result(decide=_tie)))
    assert [one.duel.sample_id for one in disagreements(coarse, voted)] == ["cn-2"]
    strict = judged_duels(arena(judge_result(decide=_neither_once)))
    assert [one.duel.sample_id for one in disagreements(strict, voted)] == ["cn-0", "cn-2"]


def _tie(number: int, first: str, second: str) -> Outcome:
    del number, first, second
    return "tie"


def _neither_once(number: int, first: str, second: str) -> Outcome:
    del first, second
    return "neither" if number == 11 else "tie"
