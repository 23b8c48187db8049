"""What people add to a judge."""

import pytest
from open_examples import judge_result, votes

from evalui.scoring.arena.figures import Arena, arena
from evalui.scoring.arena.people import people_figures
from evalui.types import Duel, Outcome, Verdict

_MIRROR: dict[Outcome | None, Outcome] = {"a": "b", "b": "a"}


def _fair(number: int, first: str, second: str) -> Outcome:
    """The better in both orders: late, then early, then weak; a tie on every fourth question."""
    order = ("late", "early", "weak")
    if number % 4 == 0:
        return "tie"
    return "a" if order.index(first) < order.index(second) else "b"


def _contrary(number: int, first: str, second: str) -> Outcome:
    return _MIRROR.get(_fair(number, first, second), "tie")


def _first(number: int, first: str, second: str) -> Outcome:
    del number, first, second
    return "a"


def _bad(number: int, first: str, second: str) -> Outcome:
    found = _fair(number, first, second)
    return "neither" if found == "tie" else found


@pytest.fixture
def judged() -> Arena:
    return arena(judge_result(decide=_fair))


def _vote(by: str, winner: Outcome, *, first: str = "late", second: str = "early") -> Verdict:
    return Verdict(Duel("cn-0", first, second), winner, by)


def test_a_person_who_sees_it_as_the_judge_does_agrees_fully(judged: Arena):
    found = people_figures(judged, votes("ann", decide=_fair))
    assert (found.votes, found.people, found.unmatched_votes) == (36, 1, 0)
    assert found.agreement
    assert found.agreement.raw.value == 1
    assert found.agreement.kappa
    assert found.agreement.kappa.value == pytest.approx(1)
    assert found.disagreements == ()


def test_votes_on_exchanged_sides_are_turned_back(judged: Arena):
    turned = [
        Verdict(
            Duel(vote.duel.sample_id, vote.duel.model_b, vote.duel.model_a),
            _MIRROR.get(vote.outcome, "tie"),
            "ann",
        )
        for vote in votes("ann", decide=_fair)
    ]
    found = people_figures(judged, turned)
    assert found.agreement
    assert found.agreement.raw.value == 1
    assert found.human_arena
    assert found.human_arena.standings[0].model == "late"


def test_a_contrary_person_agrees_on_ties_only(judged: Arena):
    found = people_figures(judged, votes("eve", decide=_contrary))
    assert found.agreement
    # Three questions of twelve are ties.
    assert found.agreement.raw.value == pytest.approx(0.25)
    assert found.agreement.kappa
    assert found.agreement.kappa.value < 0
    assert len(found.disagreements) == 27
    first = found.disagreements[0]
    assert (first.judge, dict(first.people)) == ("a", {"eve": "b"})


def test_the_last_vote_of_a_person_on_an_item_counts(judged: Arena):
    found = people_figures(
        judged, [_vote("ann", "a"), _vote("ann", "a", first="early", second="late")]
    )
    assert found.votes == 1
    assert found.human_arena
    assert [one.model for one in found.human_arena.standings] == ["early", "late"]


def test_the_judge_is_compared_with_the_majority(judged: Arena):
    cast = [_vote("ann", "a"), _vote("bob", "a"), _vote("eve", "tie")]
    found = people_figures(judged, cast)
    assert found.agreement
    # The judge calls this item a tie, two of three people do not.
    assert (found.agreement.n, found.agreement.raw.value) == (1, 0)
    assert found.by_person["eve"].raw.value == 1
    assert found.between_people["ann", "bob"].raw.value == 1
    assert found.between_people["ann", "eve"].raw.value == 0


def test_people_who_are_split_have_no_majority(judged: Arena):
    found = people_figures(judged, [_vote("ann", "a"), _vote("eve", "tie")])
    assert found.agreement is None
    assert found.votes == 2


def test_orders_that_differ_are_the_judges_tie():
    judged = arena(judge_result(decide=_first))
    found = people_figures(judged, [_vote("ann", "tie")])
    assert found.agreement
    assert found.agreement.raw.value == 1
    dropped = arena(judge_result(decide=_first, conflict="drop"))
    assert people_figures(dropped, [_vote("ann", "tie")]).agreement is None


def test_a_judge_without_a_word_for_neither_is_not_blamed_for_it(judged: Arena):
    found = people_figures(judged, votes("ann", decide=_bad))
    assert found.agreement
    assert found.agreement.raw.value == 1
    four_way = arena(judge_result(decide=lambda n, a, b: "neither" if n == 1 else _fair(n, a, b)))
    strict = people_figures(four_way, votes("ann", decide=_bad)).agreement
    assert strict
    assert strict.raw.value == pytest.approx(8 / 12)


def test_a_voter_unlike_the_others_is_found(judged: Arena):
    cast = [vote for name in ("ann", "bob", "cid") for vote in votes(name, decide=_fair)]
    found = people_figures(judged, [*cast, *votes("eve", decide=_contrary)])
    assert [voter.name for voter in found.voters if voter.outlier] == ["eve"]


def test_votes_correct_the_win_rate_of_the_judge(judged: Arena):
    # People saw half of the questions and always prefer `weak`, which the judge never does.
    cast = [
        Verdict(vote.duel, "b", "ann")
        for vote in votes("ann", n=6)
        if (vote.duel.model_a, vote.duel.model_b) == ("late", "weak")
    ]
    rate = people_figures(judged, cast).prediction_powered["late", "weak"]
    assert rate.judge.value == pytest.approx((9 + 3 / 2) / 12)
    assert rate.human
    assert rate.human.value == 0
    assert rate.combined
    assert rate.combined.value < rate.judge.value
    assert people_figures(judged, []).prediction_powered["late", "weak"].human is None


def test_votes_on_what_the_run_does_not_have_are_counted_apart(judged: Arena):
    strange = [
        _vote("ann", "a", second="nobody"),
        Verdict(Duel("cn-999", "late", "early"), "a", "ann"),
    ]
    found = people_figures(judged, [*strange, _vote("ann", "a")])
    assert (found.votes, found.unmatched_votes) == (1, 2)


def test_without_votes_there_are_no_figures_of_people(judged: Arena):
    found = people_figures(judged, ())
    assert (found.votes, found.people, found.human_arena, found.agreement) == (0, 0, None, None)
    assert (found.by_person, found.between_people, found.voters) == ({}, {}, ())
