from open_run_examples import CATALOG, capitals
from runs_examples import dataset

from evalui.runs.cells import setting_of, why_not, work
from evalui.runs.spec import ModeSpec
from evalui.types import Contestant, Variant


def test_an_open_question_is_asked_once():
    mode = ModeSpec(mode="question_answer", chat=False)
    pairs = list(work(mode, "origin", capitals().samples, setting_of(mode, ())))
    assert [variant for _, variant in pairs] == [Variant(())] * 4


def test_a_judge_is_told_who_takes_part_how_and_with_which_seed():
    judging = {"judges": ["j"], "template": "mtbench-en.1", "seed": 7}
    mode = ModeSpec.model_validate({"mode": "judge", "judging": judging})
    both = (Contestant("x", {}), Contestant("y", {}))
    setting = setting_of(mode, (), both)
    assert (setting.contestants, setting.seed) == (both, 7)
    assert setting.rubric is not None
    assert setting.rubric.name == "mtbench-en.1"


def test_each_mode_refuses_the_kinds_it_is_not_for():
    entry = CATALOG["perfect"]
    assert "no options" in why_not(capitals(), entry, ModeSpec(mode="multiple_choice"))
    assert "nothing to write" in why_not(dataset(), entry, ModeSpec(mode="question_answer"))
    assert why_not(capitals(), entry, ModeSpec(mode="question_answer")) == ""


def test_a_rule_that_knows_questions_by_their_text_is_not_asked_without():
    entry = CATALOG["perfect"]
    assert "left out here" in why_not(dataset(), entry, ModeSpec(mode="choices_only"))
    assert why_not(dataset(), entry, ModeSpec(mode="multiple_choice")) == ""
