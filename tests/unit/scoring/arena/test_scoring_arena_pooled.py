"""Several arenas as one: what counts, how often, and under which filter."""

from dataclasses import replace

import pytest

from evalui.scoring.arena.figures import (
    PEOPLE,
    POOLED,
    Arena,
    arena_from_verdicts,
    human_arena,
)
from evalui.scoring.arena.pooled import PoolFilter, pool_arenas, pool_choices
from evalui.types import Cell, CellResult, Contestant, Duel, Outcome, Sample, Verdict

QUESTIONS = 6


def judged(
    *,
    judge: str = "judge",
    dataset: str = "open@1",
    models: tuple[str, str] = ("late", "early"),
    outcomes: str = "aaabab",
    answer: str = "{model} says {n}",
) -> Arena:
    """A judge's arena in which the first model wins a question where its outcome is "a"."""
    samples = {
        f"q{n}": Sample(
            id=f"q{n}",
            question=f"Question {n}?",
            target=("",),
            metadata={"language": "zh" if n % 2 else "en", "capability": "facts, style"},
        )
        for n in range(QUESTIONS)
    }
    contestants = tuple(
        Contestant(name, {f"q{n}": (answer.format(model=name, n=n),) for n in range(QUESTIONS)})
        for name in models
    )
    verdicts = [
        Verdict(Duel(f"q{n}", *sides), said, judge)
        for n, won in enumerate(outcomes)
        for sides, said in _both_orders(models, first_wins=won == "a")
    ]
    head = CellResult(
        Cell("open", judge, "judge", "judge", "origin", f"{dataset}|judge:{judge}", "verdicts"),
        samples,
        (),
        len(verdicts),
        contestants=contestants,
    )
    return arena_from_verdicts(head, verdicts, (judge,))


def _both_orders(
    models: tuple[str, str], *, first_wins: bool
) -> tuple[tuple[tuple[str, str], Outcome], ...]:
    first, second = models
    return ((first, second), "a" if first_wins else "b"), (
        (second, first),
        "b" if first_wins else "a",
    )


def wins(arena: Arena) -> dict[str, tuple[int, int]]:
    """Won and lost verdicts by model."""
    return {one.model: (one.tally.win, one.tally.lose) for one in arena.standings}


def test_one_run_alone_has_the_figures_that_it_has_by_itself() -> None:
    alone = judged()
    pooled = pool_arenas([alone], PoolFilter())
    assert (pooled.by, pooled.judges) == ("judge", ("judge",))
    for one, other in zip(pooled.standings, alone.standings, strict=True):
        assert (one.model, one.tally, one.elo, one.rating) == (
            other.model,
            other.tally,
            other.elo,
            other.rating,
        )
    assert pooled.reliability.flip_rate == alone.reliability.flip_rate
    assert pooled.questions == alone.questions == QUESTIONS


def test_a_run_that_was_repeated_counts_once_and_the_newest_stays() -> None:
    newest = judged(outcomes="bbbbba")
    pooled = pool_arenas([newest, judged()], PoolFilter())
    assert wins(pooled) == {"early": (10, 2), "late": (2, 10)}


def test_other_answers_to_the_same_questions_count_again_within_their_question() -> None:
    pooled = pool_arenas([judged(answer="again {model} {n}"), judged()], PoolFilter())
    assert wins(pooled) == {"late": (16, 8), "early": (8, 16)}
    assert pooled.questions == QUESTIONS
    assert len(pooled.battles) == 24


def test_the_two_orders_of_one_run_are_never_those_of_another() -> None:
    """Each run judged one order only; taken together they would be two orders that differ."""
    first = judged()
    forth = replace(first, verdicts=first.verdicts[::2])
    opposite = judged(outcomes="bbbaba", answer="again {model} {n}")
    back = replace(opposite, verdicts=opposite.verdicts[1::2])
    pooled = pool_arenas([forth, back], PoolFilter())
    assert {battle.outcome for battle in pooled.battles} == {"a", "b"}
    assert pooled.reliability.flip_rate is None


def test_questions_of_other_files_are_others_though_they_have_the_same_ids() -> None:
    pooled = pool_arenas([judged(), judged(dataset="open@2")], PoolFilter())
    assert pooled.questions == 2 * QUESTIONS


def test_models_that_never_met_in_one_run_are_rated_by_those_between_them() -> None:
    pooled = pool_arenas(
        [judged(), judged(dataset="other@1", models=("early", "weak"))], PoolFilter()
    )
    assert [one.model for one in pooled.standings] == ["late", "early", "weak"]
    assert all(one.rating for one in pooled.standings)
    assert ("late", "weak") not in pooled.shares


def test_judges_and_people_each_count_and_can_be_chosen() -> None:
    first, second = judged(), judged(judge="second", outcomes="bbbbba")
    votes = [Verdict(Duel("q0", "late", "early"), "a", who) for who in ("ann", "ben")]
    people = human_arena(votes, first)
    panel = replace(first, by="panel")
    arenas = [panel, first, second, people]
    pooled = pool_arenas(arenas, PoolFilter())
    assert (pooled.by, pooled.judges) == (POOLED, ("judge", "second", PEOPLE))
    assert len(pooled.battles) == 12 + 12 + 2
    assert pool_choices(arenas).judges == ("judge", "second", PEOPLE)
    assert wins(pool_arenas(arenas, PoolFilter(judge="second"))) == {
        "early": (10, 2),
        "late": (2, 10),
    }
    by_people = pool_arenas(arenas, PoolFilter(judge=PEOPLE))
    assert (by_people.by, wins(by_people)) == (PEOPLE, {"late": (2, 0), "early": (0, 2)})


@pytest.mark.parametrize(
    ("chosen", "questions"),
    [
        (PoolFilter(language="zh"), 3),
        (PoolFilter(capability="style"), QUESTIONS),
        (PoolFilter(capability="style", language="en"), 3),
        (PoolFilter(capability="sty"), 0),
    ],
)
def test_questions_are_chosen_by_language_and_capability(
    chosen: PoolFilter, questions: int
) -> None:
    assert pool_arenas([judged()], chosen).questions == questions


def test_nothing_is_an_arena_without_standings() -> None:
    assert pool_arenas([], PoolFilter()).standings == ()
    assert pool_choices([]).judges == ()
