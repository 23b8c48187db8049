"""Which arenas people's votes are held against."""

from dataclasses import replace

from open_examples import DATASET, MODELS, answers_result, judged_run, votes

from evalui.scoring.arena.figures import PEOPLE, arenas
from evalui.scoring.arena.people import (
    NO_JUDGE,
    PeopleFigures,
    compare_people,
    human_arenas,
    one_per_dataset,
    voted_arenas,
)
from evalui.types import CellResult, Duel, Verdict


def _written(*, dataset: str = DATASET) -> list[CellResult]:
    return [answers_result(model, dataset=dataset) for model in MODELS]


def _alone(results: list[CellResult], **said: tuple[Verdict, ...]) -> tuple[PeopleFigures, ...]:
    return compare_people((), results, said)


def test_votes_stand_beside_every_judge_and_the_panel_first():
    results = judged_run(judges=("one", "two"))
    found = compare_people(arenas(results), results, {DATASET: votes("ann")})
    assert [one.judged.by for one in found] == ["panel", "one", "two"]
    assert all(one.has_judge for one in found)
    assert one_per_dataset(found) == found[:1]
    assert [one.by for one in human_arenas(found)] == [PEOPLE]
    # What people say among themselves is worked out once.
    assert all(one.human_arena is found[0].human_arena for one in found)


def test_answers_that_nobody_judged_make_an_arena_of_all_contestants():
    (judged,) = voted_arenas(DATASET, (), _written())
    assert (judged.by, judged.verdicts, judged.battles) == (NO_JUDGE, (), ())
    assert [one.name for one in judged.contestants] == list(MODELS)
    assert judged.contestants[2].answers["cn-0"] == ("OK.",)
    assert len(judged.samples) == 12


def test_all_turns_of_an_answer_are_there():
    first, *rest = _written()
    talk = replace(first.trials[0], turns=("one", "two"))
    results = [replace(first, trials=(talk, *first.trials[1:])), *rest]
    (judged,) = voted_arenas(DATASET, (), results)
    assert judged.contestants[0].answers["cn-0"] == ("one", "two")


def test_a_model_that_cannot_run_is_no_contestant():
    first, *rest = _written()
    idle = replace(first, trials=(), state="impossible")
    (judged,) = voted_arenas(DATASET, (), [idle, *rest])
    assert [one.name for one in judged.contestants] == ["early", "weak"]


def test_each_dataset_has_figures_of_its_own():
    results = [*_written(dataset="x"), *_written(dataset="y")]
    found = _alone(results, x=votes("ann"), y=votes("bob")[:3])
    assert [(one.judged.dataset, one.votes) for one in found] == [("x", 36), ("y", 3)]
    assert len(human_arenas(found)) == 2


def test_nothing_is_told_where_nobody_voted_on_what_is_there():
    stray = Verdict(Duel("nowhere", "late", "early"), "a", "ann")
    results = _written(dataset="x")
    assert _alone(results) == ()
    assert _alone(results, x=()) == ()
    assert _alone(results, x=(stray,)) == ()
    assert _alone(results, y=votes("ann")) == ()
