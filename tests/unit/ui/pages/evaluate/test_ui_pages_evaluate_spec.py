"""The form becomes a run specification and the same form again."""

import re

import pytest

from evalui.errors import SpecError
from evalui.messages import messages
from evalui.modes.prompts.rubrics import parse_rubric
from evalui.runs.spec import DatasetSpec, ModeSpec, RunSpec
from evalui.ui.components.form import Form
from evalui.ui.pages.evaluate.spec import form_to_spec, read_rubric, spec_to_form

FORM: Form = {
    "uploads": ["0123456789abcdef"],
    "models": ["demo", "other"],
    "modes": ["multiple_choice", "cloze"],
    "shots": "0, 5",
    "pattern": "all_possible",
    "template": "plain-en.1",
    "chat": "yes",
    "spellings": "lm_eval",
    "limit": "20",
    "limit_per": "dataset",
    "seed": "7",
    "name": "Midterm",
    "metrics": "acc_circular, perf_circular",
    "summary_groups": "ceval",
    "datasets.0123456789abcdef.columns.A": "Option A",
    "datasets.0123456789abcdef.columns.B": "sol2",
    "datasets.0123456789abcdef.columns.question": "text",
    "datasets.0123456789abcdef.columns.answer": "gold",
    "datasets.0123456789abcdef.answer_key": "index0",
}


def test_each_mode_has_each_number_of_examples():
    spec = form_to_spec(FORM)
    assert [(mode.mode, mode.shots) for mode in spec.modes] == [
        ("multiple_choice", 0),
        ("multiple_choice", 5),
        ("cloze", 0),
        ("cloze", 5),
    ]


def test_a_mode_that_shows_no_options_has_one_order():
    patterns = {mode.mode: mode.pattern for mode in form_to_spec(FORM).modes}
    assert patterns == {"multiple_choice": "all_possible", "cloze": "origin"}


def test_a_form_survives_the_way_through_a_specification():
    assert spec_to_form(form_to_spec(FORM)) == FORM


def test_a_baseline_is_each_mode_once_more_without_pictures():
    form = {**FORM, "shots": "0", "pictures": "both"}
    spec = form_to_spec(form)
    assert [(mode.mode, mode.pictures) for mode in spec.modes] == [
        ("multiple_choice", ""),
        ("multiple_choice", "none"),
        ("cloze", ""),
        ("cloze", "none"),
    ]
    assert spec_to_form(spec) == form


def test_what_becomes_of_equal_options_and_of_clusters_is_chosen_for_each_file():
    form = {name: value for name, value in FORM.items() if not name.startswith("datasets.")}
    form |= {"uploads": ["a", "b.2"], "datasets.b-2.duplicate_options": "skip"}
    form |= {"datasets.b-2.cluster": "page", "datasets.a.head_row": "-1"}
    spec = form_to_spec(form)
    assert [each.duplicate_options for each in spec.datasets] == ["keep", "skip"]
    assert [(each.cluster, each.head_row) for each in spec.datasets] == [("", -1), ("page", 0)]
    assert [each.upload for each in spec.datasets] == ["a", "b.2"]
    assert spec_to_form(spec) == form


def test_the_form_writes_version_3_whose_limit_counts_per_subject():
    spec = form_to_spec(FORM | {"limit_per": "subject"})
    assert (spec.version, spec.limit, spec.limit_per, spec.counts_per) == (3, 20, None, "subject")


def test_a_run_of_version_1_repeated_keeps_what_its_limit_counts():
    first = form_to_spec(FORM).model_copy(update={"version": 1, "limit_per": None})
    assert first.counts_per == "dataset"
    assert form_to_spec(spec_to_form(first)).counts_per == "dataset"


def test_a_run_repeated_keeps_its_spellings_whatever_mode_comes_first():
    modes = [ModeSpec(mode="cloze"), ModeSpec(mode="multiple_choice", spellings="lm_eval")]
    spec = RunSpec(datasets=[DatasetSpec(upload="x")], models=["demo"], modes=modes)
    again = form_to_spec(spec_to_form(spec))
    assert {mode.spellings for mode in again.modes} == {"lm_eval"}


def test_own_text_becomes_a_template_with_its_line_breaks():
    own: Form = {
        "template": "own",
        "template.name": "mine.1",
        "template.language": "en",
        "template.question": "Q: {question}\r\n{options}\r\nA:",
        "template.cloze": "Q: {question}\nA:",
        "template.answer": " {answer}",
        "template.unconditional": "A:",
    }
    template = form_to_spec(FORM | own).modes[0].read_template()
    assert template is not None
    assert template.question == "Q: {question}\n{options}\nA:"
    assert template.answer == " {answer}"


def test_own_text_survives_too():
    own: Form = {"template": "own", "template.name": "mine.1", "template.question": "{question}"}
    again = spec_to_form(form_to_spec(FORM | own))
    assert (again["template"], again["template.name"]) == ("own", "mine.1")


def test_groups_of_a_users_own_survive_and_what_is_none_is_refused():
    own = '[{"name":"Law","members":["civil","criminal"],"weights":{"civil":2.0,"criminal":1.0}}]'
    spec = form_to_spec(FORM | {"summary_groups": own})
    assert (spec.summary_groups[0].name, spec.summary_groups[0].weights["civil"]) == ("Law", 2.0)
    assert spec_to_form(spec)["summary_groups"] == own
    with pytest.raises(SpecError, match="ceval, cmmlu, mmlu"):
        form_to_spec(FORM | {"summary_groups": "nonsense"})


def test_settings_of_writing_survive_and_go_to_the_modes_that_have_them():
    written: Form = {
        "modes": ["generation", "multiple_choice"],
        "spellings": "common",
        "temperature": "0.7",
        "stop": "END\n\\n\\n",
        "system_prompt": "Be brief.\nBe right.",
        "thinking": "off",
        "judging": [],
    }
    reply, letters = form_to_spec(FORM | written | {"shots": "0"}).modes
    assert dict(letters.given) == {"system_prompt": "Be brief.\nBe right."}
    assert (reply.temperature, reply.stop, reply.thinking) == (0.7, ("END", "\n\n"), "off")
    form = spec_to_form(form_to_spec(FORM | written))
    assert form.items() >= {name: each for name, each in written.items() if "gen_" in name}.items()


def test_a_setting_that_no_chosen_mode_has_is_not_dropped_in_silence():
    with pytest.raises(SpecError, match="None of the modes has any use for “Temperature”"):
        form_to_spec(FORM | {"temperature": "0.7"})


@pytest.mark.parametrize(
    ("field", "value", "label", "reason"),
    [
        ("shots", "five", "Worked examples", "“five” is not a whole number."),
        ("shots", "0, -1", "Worked examples", "Input should be greater than or equal to 0."),
        ("limit", "1.5", "Questions", "“1.5” is not a whole number."),
        ("limit", "-3", "Questions", "Input should be greater than 0."),
        ("seed", "x", "Seed", ""),
        ("temperature", "3", "Temperature", ""),
        ("pattern", "spiral", "Orders of the options", "Input should be"),
        ("judging.sample", "some", "Sample of pairs", "“some” is not a whole number."),
        ("judging.strong", "11", "“Much better” counts", "Input should be less than"),
        ("judging.top_p", "2", "Top p", ""),
    ],
)
def test_a_field_that_holds_what_it_cannot_is_named_by_its_label(
    field: str, value: str, label: str, reason: str
):
    form = OPEN if field.startswith("judging.") else FORM
    with pytest.raises(SpecError, match=re.escape(f"{label}: {reason}")):
        form_to_spec(form | {field: value})


def test_the_label_of_a_wrong_field_is_that_of_the_page_s_language():
    with pytest.raises(SpecError) as refused:
        form_to_spec(FORM | {"limit": "many"})
    assert messages("zh").translate(refused.value.sentence) == "题数：“many” 不是整数。"


def test_empty_fields_mean_the_usual():
    spec = form_to_spec({"uploads": ["x"], "models": ["demo"], "modes": ["multiple_choice"]})
    (mode,) = spec.modes
    assert (mode.shots, spec.limit, dict(mode.given)) == (0, None, {})
    assert mode.pattern == "circular"


def test_a_mode_that_does_not_exist_is_left_out():
    modes = form_to_spec(FORM | {"shots": "0", "modes": ["cloze", "telepathy"]}).modes
    assert [mode.mode for mode in modes] == ["cloze"]


OPEN: Form = {
    "uploads": ["0123456789abcdef"],
    "models": ["demo", "other"],
    "modes": ["question_answer"],
    "shots": "0",
    "pattern": "origin",
    "template": "",
    "chat": "",
    "spellings": "common",
    "limit": "",
    "limit_per": "subject",
    "name": "",
    "datasets.0123456789abcdef.columns.answer": "gold",
    "datasets.0123456789abcdef.sheet": "second",
    "datasets.0123456789abcdef.kind": "subjective",
    "answers.fedcba9876543210-1.model": "GPT-4",
    "answers.fedcba9876543210-3.model": "Qwen",
    "earlier": ["k3f/llama/7b"],
    "judging": ["yes"],
    "judging.judges": ["judge"],
    "judging.template": "arena-hard-en.1",
    "judging.orders": "random",
    "judging.pairs": "matrix",
    "judging.baseline": ["demo"],
    "judging.against": ["GPT-4", "Qwen"],
    "judging.sample": "50",
    "judging.temperature": "0.2",
    "judging.conflict": "half",
    "judging.max_tokens": "256",
    "judging.output": "probabilities",
    "judging.strong": "3",
}


def test_the_form_of_open_questions_survives_too():
    again = spec_to_form(form_to_spec(OPEN))
    assert again == OPEN


def test_answers_are_read_with_their_files_and_names():
    read = [(each.model, each.upload, each.run) for each in form_to_spec(OPEN).answers]
    assert read == [
        ("GPT-4", "fedcba9876543210.1", ""),
        ("Qwen", "fedcba9876543210.3", ""),
        ("llama/7b", "", "k3f"),
    ]
    with pytest.raises(SpecError, match="Name the model"):
        form_to_spec(OPEN | {"answers.fedcba9876543210-1.model": " "})


def test_judging_is_read_as_requested():
    judging = form_to_spec(OPEN).judging
    assert judging is not None
    assert (judging.judges, judging.template) == (["judge"], "arena-hard-en.1")
    assert (judging.orders, judging.pairs, judging.conflict) == ("random", "matrix", "half")
    assert (judging.baseline, judging.against) == (["demo"], ["GPT-4", "Qwen"])
    assert (judging.sample, judging.max_tokens) == (50, 256)
    assert (judging.output, judging.strong) == ("probabilities", 3)


def test_what_a_plan_of_pairs_does_not_need_is_left_out():
    judging = form_to_spec(OPEN | {"judging.pairs": "all"}).judging
    assert judging is not None
    assert (judging.baseline, judging.against) == ([], [])


@pytest.mark.parametrize("fields", [{"judging": []}, {"judging.judges": []}])
def test_without_a_judge_there_is_no_judging(fields: Form):
    assert form_to_spec(OPEN | fields).judging is None


def test_a_rubric_of_ones_own_survives():
    own: Form = {
        "judging.template": "own",
        "judging.template.name": "mine.1",
        "judging.template.language": "en",
        "judging.template.form": "compass",
        "judging.template.instruction": "Compare.\nBe fair.",
        "judging.template.closing": "Say A, B, C or D.",
        "judging.template.pattern": "(?P<a>A$)|(?P<b>B$)",
        "judging.template.criteria": "",
        "judging.template.more": '{"frame": "1"}',
    }
    again = spec_to_form(form_to_spec(OPEN | own))
    assert again == OPEN | own


def test_what_the_page_has_no_field_for_survives_with_a_rubric_of_ones_own():
    rubric = {
        "name": "mine.1",
        "language": "en",
        "form": "rating",
        "instruction": "Mark it.",
        "closing": "Rating: [[n]]",
        "question": "Asked:\n{question}",
        "reminder": "The mark only.",
    }
    second = rubric | {
        "frame": "2",
        "scale": {"10": "right", "1": "wrong"},
        "criteria": {"wit": "it is fun", "style": "style"},
    }
    for own in (rubric, second):
        spec = form_to_spec(OPEN)
        assert spec.judging
        judging = spec.judging.model_copy(update={"template": own})
        form = spec_to_form(spec.model_copy(update={"judging": judging}))
        again = read_rubric(form)
        assert isinstance(again, dict)
        assert parse_rubric(again) == parse_rubric(own)


def test_a_new_rubric_of_ones_own_is_of_the_second_frame():
    own: Form = {
        "judging.template": "own",
        "judging.template.name": "mine.1",
        "judging.template.language": "zh",
    }
    frames = {
        form: parse_rubric(
            {"instruction": "?", "closing": "!"}
            | dict(read_rubric(own | {"judging.template.form": form}))
        ).frame
        for form in ("named", "graded", "rating", "correctness", "mtbench", "compass")
    }
    assert frames == {
        "named": "2",
        "graded": "2",
        "rating": "2",
        "correctness": "2",
        "mtbench": "1",
        "compass": "1",
    }


def test_criteria_are_written_a_line_each():
    own: Form = {
        "judging.template": "own",
        "judging.template.criteria": "clarity: easy: to read\r\n\r\n 条理：清楚\nwit",
    }
    criteria = {"clarity": "easy: to read", "条理": "清楚", "wit": "wit"}
    assert read_rubric(own) == {"criteria": criteria}


@pytest.mark.parametrize("more", ["{", "[]", "3"])
def test_a_hidden_field_that_nobody_types_is_checked(more: str):
    with pytest.raises(SpecError, match=r"judging\.template\.more"):
        read_rubric({"judging.template": "own", "judging.template.more": more})


@pytest.mark.parametrize(("version", "rubric"), [(1, "auto.1"), (2, "auto.1"), (3, "")])
def test_a_run_that_is_repeated_keeps_the_version_of_its_rubric(version: int, rubric: str):
    spec = form_to_spec(OPEN | {"judging.template": ""}).model_copy(update={"version": version})
    form = spec_to_form(spec)
    assert form["judging.template"] == rubric
    judging = form_to_spec(OPEN | form).judging
    assert judging
    assert judging.template == rubric


@pytest.mark.parametrize(("field", "weight"), [("", 1), ("5", 5), ("10", 10)])
def test_a_weight_that_the_page_does_not_offer_is_kept(field: str, weight: int):
    judging = form_to_spec(OPEN | {"judging.strong": field}).judging
    assert judging
    assert judging.strong == weight


def test_open_questions_have_no_worked_examples_and_longer_replies():
    modes = form_to_spec(FORM | {"modes": ["cloze", "question_answer"]}).modes
    assert [(mode.mode, mode.shots, mode.max_tokens) for mode in modes] == [
        ("cloze", 0, 64),
        ("cloze", 5, 64),
        ("question_answer", 0, 512),
    ]
    assert modes[-1].template == ""


def test_a_sheet_is_chosen_for_its_own_upload_only():
    spec = form_to_spec(OPEN | {"uploads": ["0123456789abcdef", "1123456789abcdef"]})
    assert [(each.sheet, each.columns) for each in spec.datasets] == [
        ("second", {"answer": "gold"}),
        ("", {}),
    ]


def test_the_longest_reply_and_the_seed_are_settings_like_the_others():
    form = FORM | {"modes": ["cloze", "generation"], "max_tokens": "32"}
    spec = form_to_spec(form)
    assert [mode.max_tokens for mode in spec.modes] == [64, 64, 32, 32]
    assert (spec.seed, {mode.seed for mode in spec.modes}) == (7, {None})
    assert spec_to_form(spec) == form
    with pytest.raises(SpecError, match="Longest reply: "):
        form_to_spec(form | {"max_tokens": "0"})
    with pytest.raises(SpecError, match="None of the modes has any use for “Longest reply”"):
        form_to_spec(form | {"modes": ["cloze"]})
