"""Where a judge's verdicts stand among the arenas of a run."""

from evalui.app.questions import arena_places
from evalui.runs.contest import JudgingSpec
from evalui.runs.spec import ModeSpec
from evalui.store.runs import CellRow
from evalui.types import Cell


def judge(id_: int, dataset: str, template: str = "") -> CellRow:
    judging = JudgingSpec(judges=[f"judge-{id_}"], template=template)
    plan = ModeSpec(mode="judge", judging=judging).model_dump_json()
    cell = Cell(dataset, f"judge-{id_}", "judge", "judge", "origin", "", "verdicts")
    return CellRow(
        *(id_, "run", cell, dataset, dataset, plan, 1, "done", 4, 4, 4, "", "", None, None, 1.0),
        *(None, 1, 1.0, 0, 0, 0),
    )


def test_one_judge_has_the_first_arena():
    assert arena_places([judge(7, "talk")]) == {7: 0}


def test_several_judges_of_a_dataset_come_after_their_panel():
    rows = [judge(3, "talk"), judge(4, "chat"), judge(5, "talk")]
    assert arena_places(rows) == {3: 1, 5: 2, 4: 3}


def test_a_judge_of_single_answers_has_no_arena():
    assert arena_places([judge(1, "talk", "score10-en.1"), judge(2, "chat")]) == {2: 0}
