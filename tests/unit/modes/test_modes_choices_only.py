from evalui.modes import MODES, ModeSettings, choices_only
from evalui.modes.prompts.templates import TEMPLATES
from evalui.scoring.choice.options import variants
from evalui.types import LabelProbs, NextToken, Sample, Variant

ORIGIN = Variant((0, 1, 2, 3))
SAMPLE = Sample("q", "Which city is the capital of Peru?", ("Lima", "Rome", "Oslo", "Bonn"), 0)
SHOT = Sample("s", "Which city is the capital of Italy?", ("Lima", "Rome", "Oslo", "Bonn"), 1)


def prompt(sample: Sample, setting: ModeSettings) -> str:
    (request,) = MODES["choices_only"].plan(sample, ORIGIN, setting)
    assert isinstance(request, NextToken)
    assert isinstance(request.context, str)
    return request.context


def test_the_question_is_blank_and_all_else_is_asked_as_with_it():
    (whole,) = MODES["multiple_choice"].plan(SAMPLE, ORIGIN, ModeSettings(shots={}))
    assert isinstance(whole, NextToken)
    assert prompt(SAMPLE, ModeSettings(shots={})) == str(whole.context).replace(SAMPLE.question, "")


def test_worked_examples_lose_their_questions_and_keep_their_answers():
    shown = prompt(SAMPLE, ModeSettings(shots={"": (SHOT,)}))
    assert "capital" not in shown
    assert shown.count("Answer:") == 2
    assert "Answer: B" in shown


def test_a_chinese_question_is_left_out_of_a_chinese_prompt():
    shown = prompt(
        Sample("q", "秘鲁的首都是？", ("利马", "罗马", "奥斯陆", "波恩"), 0), ModeSettings(shots={})
    )
    assert shown == prompt(
        Sample("q", "", ("利马", "罗马", "奥斯陆", "波恩"), 0),
        ModeSettings(shots={}, template=TEMPLATES["plain-zh.1"]),
    )


def test_questions_are_blanked_once_for_all_orders():
    setting = ModeSettings(shots={"": (SHOT,), "other": (SHOT,)})
    settings = choices_only._settings_without_questions.computed
    samples = choices_only._without_question.computed
    for order in variants(4, "all_possible"):
        MODES["choices_only"].plan(SAMPLE, order, setting)
    assert choices_only._settings_without_questions.computed == settings + 1
    assert choices_only._without_question.computed <= samples + 2


def test_it_is_graded_as_with_the_question():
    response = LabelProbs((-0.1, -2.0, -3.0, -4.0), 0.99, "A")
    graded = [
        MODES[name].grade(SAMPLE, ORIGIN, (response,), ModeSettings(shots={}))
        for name in ("choices_only", "multiple_choice")
    ]
    assert graded[0] == graded[1]
    assert graded[0].correct
