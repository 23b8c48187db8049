"""Outcomes that were decided where people differ: they count for people together, votes apart."""

from collections.abc import Sequence

from open_examples import judge_result, votes

from evalui.scoring.arena.figures import arena
from evalui.scoring.arena.people import PeopleFigures, people_figures
from evalui.types import CastVote, Duel, Outcome, Verdict


def fair(number: int, first: str, second: str) -> Outcome:
    del number
    order = ("late", "early", "weak")
    return "a" if order.index(first) < order.index(second) else "b"


def contrary(number: int, first: str, second: str) -> Outcome:
    return "b" if fair(number, first, second) == "a" else "a"


TURNED: dict[Outcome | None, Outcome | None] = {"a": "b", "b": "a"}


def cast(vote: Verdict, decision: Outcome | None, *, turned: bool) -> CastVote:
    """A vote with what was decided on its pair, "a" meaning as a fair person says."""
    said, duel = vote.outcome, vote.duel
    settled = fair(0, duel.model_a, duel.model_b) if decision == "a" else decision
    if turned:
        duel = Duel(duel.sample_id, duel.model_b, duel.model_a)
        said, settled = TURNED.get(said, said), TURNED.get(settled, settled)
    return CastVote(duel, said, vote.rater, adjudicated=settled)


def figures(decisions: Sequence[Outcome | None]) -> PeopleFigures:
    """Ann and Eve differ on every pair of each question, on which a decision was made or none."""
    made = [
        cast(vote, decisions[place // 3], turned=bool(place % 2))
        for decide, person in ((fair, "ann"), (contrary, "eve"))
        for place, vote in enumerate(votes(person, n=len(decisions), decide=decide))
    ]
    return people_figures(arena(judge_result(decide=fair)), made)


def test_a_decided_outcome_is_what_people_say_together():
    before, after = figures([None, None, None]), figures(["a", "a", "a"])
    assert before.adjudicated == 0
    assert after.adjudicated == 9
    assert after.agreement
    assert after.agreement.raw.value == 1
    assert before.agreement is None  # two people who differ have no majority
    assert before.human_arena
    assert after.human_arena
    assert after.human_arena.standings[0].model == "late"
    assert [one.tally.win for one in after.human_arena.standings] == [12, 6, 0]
    assert [one.tally.win for one in before.human_arena.standings] == [6, 6, 6]
    rate = after.prediction_powered["late", "early"].human
    assert rate
    assert rate.value == 1


def test_people_agree_with_each_other_by_their_own_votes():
    before, after = figures([None, None, None]), figures(["a", "tie", None])
    assert after.between_people == before.between_people
    assert after.voters == before.voters
    assert after.by_person == before.by_person
    assert after.disagreements == before.disagreements
    assert before.human_arena
    assert after.human_arena
    assert after.human_arena.agreement == before.human_arena.agreement
    assert [vote.outcome for vote in after.cast] == [vote.outcome for vote in before.cast]


def test_decisions_change_no_number_of_votes():
    before, after = figures([None, None, None]), figures(["neither", "tie", "a"])
    assert (after.votes, after.people) == (before.votes, before.people) == (18, 2)
    assert before.human_arena
    assert after.human_arena
    assert len(after.human_arena.battles) == len(before.human_arena.battles)
