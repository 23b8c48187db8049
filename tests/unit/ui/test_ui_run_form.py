"""The form becomes a run specification and the same form again."""

import pytest

from evalui.app.run_form import AnswerSource
from evalui.errors import SpecError
from evalui.modes.prompts.rubrics import parse_rubric
from evalui.runs.spec import DatasetSpec, ModeSpec, RunSpec
from evalui.ui.components.form import Form
from evalui.ui.run_form import form_from_spec, read_answer_sources, read_rubric, read_run_form

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
    "gen_seed": "7",
    "name": "Midterm",
    "metrics": "acc_circular, perf_circular",
    "summary_groups": "ceval",
    "col_columns_0123456789abcdef": "A=Option+A&B=sol2&question=text&answer=gold&key=index0",
}


def spec_of(form: Form):
    draft = read_run_form(form)
    upload = draft.uploads[0]
    return draft.run_spec([draft.dataset_spec(["a.csv"], name="a", sha256="", upload=upload)])


def test_each_mode_has_each_number_of_examples():
    spec = spec_of(FORM)
    assert [(mode.mode, mode.shots) for mode in spec.modes] == [
        ("multiple_choice", 0),
        ("multiple_choice", 5),
        ("cloze", 0),
        ("cloze", 5),
    ]


def test_a_mode_that_shows_no_options_has_one_order():
    patterns = {mode.mode: mode.pattern for mode in spec_of(FORM).modes}
    assert patterns == {"multiple_choice": "all_possible", "cloze": "origin"}


def test_a_form_survives_the_way_through_a_specification():
    assert form_from_spec(spec_of(FORM), ["0123456789abcdef"]) == FORM


def test_what_becomes_of_equal_options_and_of_clusters_is_chosen_for_each_file():
    form = FORM | {"uploads": ["a", "b"], "col_duplicates_b": "skip", "col_cluster_b": "page"}
    del form["col_columns_0123456789abcdef"]
    draft = read_run_form(form)
    specs = [draft.dataset_spec([name], name=name, sha256="", upload=name) for name in ("a", "b")]
    assert [spec.duplicate_options for spec in specs] == ["keep", "skip"]
    assert [spec.cluster for spec in specs] == ["", "page"]
    assert form_from_spec(draft.run_spec(specs), ["a", "b"]) == form


def test_the_form_writes_version_3_whose_limit_counts_per_subject():
    spec = spec_of(FORM | {"limit_per": "subject"})
    assert (spec.version, spec.limit, spec.limit_per, spec.counts_per) == (3, 20, None, "subject")


def test_a_run_of_version_1_repeated_keeps_what_its_limit_counts():
    first = spec_of(FORM).model_copy(update={"version": 1, "limit_per": None})
    assert first.counts_per == "dataset"
    assert spec_of(form_from_spec(first, ["0123456789abcdef"])).counts_per == "dataset"


def test_a_run_repeated_keeps_its_spellings_whatever_mode_comes_first():
    modes = [ModeSpec(mode="cloze"), ModeSpec(mode="multiple_choice", spellings="lm_eval")]
    spec = RunSpec(datasets=[DatasetSpec(path="x")], models=["demo"], modes=modes)
    assert read_run_form(form_from_spec(spec, ["x"])).spellings == "lm_eval"


def test_own_text_becomes_a_template_with_its_line_breaks():
    own: Form = {
        "template": "own",
        "own_name": "mine.1",
        "own_language": "en",
        "own_question": "Q: {question}\r\n{options}\r\nA:",
        "own_cloze": "Q: {question}\nA:",
        "own_answer": " {answer}",
        "own_unconditional": "A:",
    }
    template = spec_of(FORM | own).modes[0].read_template()
    assert template is not None
    assert template.question == "Q: {question}\n{options}\nA:"
    assert template.answer == " {answer}"


def test_own_text_survives_too():
    own: Form = {"template": "own", "own_name": "mine.1", "own_question": "{question}"}
    again = form_from_spec(spec_of(FORM | own), [])
    assert (again["template"], again["own_name"]) == ("own", "mine.1")


def test_groups_of_a_users_own_survive_and_what_is_none_is_refused():
    own = '[{"name":"Law","members":["civil","criminal"],"weights":{"civil":2.0,"criminal":1.0}}]'
    spec = spec_of(FORM | {"summary_groups": own})
    assert (spec.summary_groups[0].name, spec.summary_groups[0].weights["civil"]) == ("Law", 2.0)
    assert form_from_spec(spec, [])["summary_groups"] == own
    with pytest.raises(SpecError, match="ceval, cmmlu, mmlu"):
        spec_of(FORM | {"summary_groups": "nonsense"})


def test_settings_of_writing_survive_and_go_to_the_modes_that_have_them():
    written: Form = {
        "modes": ["generation", "multiple_choice"],
        "spellings": "common",
        "gen_temperature": "0.7",
        "gen_stop": "END\n\\n\\n",
        "gen_system_prompt": "Be brief.\nBe right.",
        "gen_thinking": "off",
        "judging": [],
    }
    reply, letters = spec_of(FORM | written | {"shots": "0"}).modes
    assert dict(letters.given) == {"system_prompt": "Be brief.\nBe right."}
    assert (reply.temperature, reply.stop, reply.thinking) == (0.7, ("END", "\n\n"), "off")
    form = form_from_spec(spec_of(FORM | written), ["0123456789abcdef"])
    assert form.items() >= {name: each for name, each in written.items() if "gen_" in name}.items()


def test_a_setting_that_no_chosen_mode_has_is_not_dropped_in_silence():
    with pytest.raises(SpecError, match="None of the modes has any use for “Temperature”"):
        spec_of(FORM | {"gen_temperature": "0.7"})


def test_a_temperature_that_is_none_is_named():
    with pytest.raises(SpecError, match="Temperature: "):
        read_run_form(FORM | {"gen_temperature": "3"})


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("shots", "five", "Worked examples: “five”"),
        ("shots", "-1", "Worked examples"),
        ("limit", "1.5", "Questions: “1.5” is not a whole number"),
        ("gen_seed", "x", "Seed"),
    ],
)
def test_a_field_that_holds_no_number_is_named(field: str, value: str, message: str):
    with pytest.raises(SpecError, match=message):
        read_run_form(FORM | {field: value})


def test_empty_fields_mean_the_usual():
    draft = read_run_form({"uploads": ["x"], "models": ["demo"], "modes": ["cloze"]})
    assert (draft.shots, draft.limit, draft.generation.given) == ((0,), None, {})
    assert draft.pattern == "circular"


def test_a_mode_that_does_not_exist_is_left_out():
    assert read_run_form(FORM | {"modes": ["cloze", "telepathy"]}).modes == ("cloze",)


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
    "col_columns_0123456789abcdef": "answer=gold",
    "col_sheet_0123456789abcdef": "second",
    "col_kind_0123456789abcdef": "subjective",
    "answers": ["fedcba9876543210"],
    "given_fedcba9876543210_0": "GPT-4",
    "given_fedcba9876543210_2": "Qwen",
    "earlier": ["k3f/llama/7b"],
    "judging": ["yes"],
    "judges": ["judge"],
    "rubric": "arena-hard-en.1",
    "judge_orders": "random",
    "judge_pairs": "matrix",
    "judge_baseline": ["demo"],
    "judge_against": ["GPT-4", "Qwen"],
    "judge_sample": "50",
    "judge_gen_temperature": "0.2",
    "judge_conflict": "half",
    "judge_gen_max_tokens": "256",
    "judge_output": "probabilities",
    "judge_strong": "3",
}


def open_spec(form: Form):
    draft = read_run_form(form)
    (upload,) = draft.uploads
    return draft.run_spec([draft.dataset_spec(["a.xlsx"], name="a", sha256="", upload=upload)])


def test_the_form_of_open_questions_survives_too():
    again = form_from_spec(open_spec(OPEN), OPEN["uploads"], read_answer_sources(OPEN))
    assert again == OPEN


def test_answers_are_read_with_their_places_and_names():
    assert read_answer_sources(OPEN) == (
        AnswerSource("GPT-4", "fedcba9876543210", 0),
        AnswerSource("Qwen", "fedcba9876543210", 2),
        AnswerSource("llama/7b", run="k3f"),
    )


def test_judging_is_read_as_requested():
    judging = open_spec(OPEN).judging
    assert judging is not None
    assert (judging.judges, judging.template) == (["judge"], "arena-hard-en.1")
    assert (judging.orders, judging.pairs, judging.conflict) == ("random", "matrix", "half")
    assert (judging.baseline, judging.against) == (["demo"], ["GPT-4", "Qwen"])
    assert (judging.sample, judging.max_tokens) == (50, 256)
    assert (judging.output, judging.strong) == ("probabilities", 3)


def test_what_a_plan_of_pairs_does_not_need_is_left_out():
    judging = open_spec(OPEN | {"judge_pairs": "all"}).judging
    assert judging is not None
    assert (judging.baseline, judging.against) == ([], [])


@pytest.mark.parametrize("fields", [{"judging": []}, {"judges": []}])
def test_without_a_judge_there_is_no_judging(fields: Form):
    assert open_spec(OPEN | fields).judging is None


def test_a_rubric_of_ones_own_survives():
    own: Form = {
        "rubric": "own",
        "rubric_name": "mine.1",
        "rubric_language": "en",
        "rubric_form": "compass",
        "rubric_instruction": "Compare.\nBe fair.",
        "rubric_closing": "Say A, B, C or D.",
        "rubric_pattern": "(?P<a>A$)|(?P<b>B$)",
        "rubric_criteria": "",
        "rubric_more": '{"frame": "1"}',
    }
    again = form_from_spec(open_spec(OPEN | own), OPEN["uploads"], read_answer_sources(OPEN))
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
        spec = open_spec(OPEN)
        assert spec.judging
        judging = spec.judging.model_copy(update={"template": own})
        form = form_from_spec(spec.model_copy(update={"judging": judging}), OPEN["uploads"])
        again = read_rubric(form)
        assert isinstance(again, dict)
        assert parse_rubric(again) == parse_rubric(own)


def test_a_new_rubric_of_ones_own_is_of_the_second_frame():
    own: Form = {"rubric": "own", "rubric_name": "mine.1", "rubric_language": "zh"}
    frames = {
        form: parse_rubric(
            {"instruction": "?", "closing": "!"} | dict(read_rubric(own | {"rubric_form": form}))
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
        "rubric": "own",
        "rubric_criteria": "clarity: easy: to read\r\n\r\n 条理：清楚\nwit",
    }
    criteria = {"clarity": "easy: to read", "条理": "清楚", "wit": "wit"}
    assert read_rubric(own) == {"criteria": criteria}


@pytest.mark.parametrize("more", ["{", "[]", "3"])
def test_a_hidden_field_that_nobody_types_is_checked(more: str):
    with pytest.raises(SpecError, match="rubric_more"):
        read_rubric({"rubric": "own", "rubric_more": more})


@pytest.mark.parametrize(("version", "rubric"), [(1, "auto.1"), (2, "auto.1"), (3, "")])
def test_a_run_that_is_repeated_keeps_the_version_of_its_rubric(version: int, rubric: str):
    spec = open_spec(OPEN | {"rubric": ""}).model_copy(update={"version": version})
    form = form_from_spec(spec, OPEN["uploads"])
    assert form["rubric"] == rubric
    judging = open_spec(OPEN | form).judging
    assert judging
    assert judging.template == rubric


@pytest.mark.parametrize(("field", "weight"), [("", 1), ("5", 5), ("10", 10), ("11", 1), ("x", 1)])
def test_a_weight_that_the_page_does_not_offer_is_kept(field: str, weight: int):
    judging = open_spec(OPEN | {"judge_strong": field}).judging
    assert judging
    assert judging.strong == weight


def test_open_questions_have_no_worked_examples_and_longer_replies():
    modes = spec_of(FORM | {"modes": ["cloze", "question_answer"]}).modes
    assert [(mode.mode, mode.shots, mode.max_tokens) for mode in modes] == [
        ("cloze", 0, 64),
        ("cloze", 5, 64),
        ("question_answer", 0, 512),
    ]
    assert modes[-1].template == ""


def test_a_sheet_is_chosen_for_its_own_upload_only():
    draft = read_run_form(OPEN | {"uploads": ["0123456789abcdef", "1123456789abcdef"]})
    sheets = [draft.layout_of(upload).sheet for upload in draft.uploads]
    assert sheets == ["second", ""]
    assert [draft.layout_of(upload).answer for upload in draft.uploads] == ["gold", ""]


def test_a_field_of_judging_that_holds_no_number_is_named():
    with pytest.raises(SpecError, match="Sample of pairs: “some” is not a whole number"):
        read_run_form(OPEN | {"judge_sample": "some"})


@pytest.mark.parametrize("name", ["given_fedcba9876543210_x", "given_fedcba9876543210_-1"])
def test_a_field_that_names_no_place_is_no_file(name: str):
    assert len(read_answer_sources(OPEN | {name: "?"})) == 3


def test_the_longest_reply_and_the_seed_are_settings_like_the_others():
    form = FORM | {"modes": ["cloze", "generation"], "gen_max_tokens": "32"}
    spec = spec_of(form)
    assert [mode.max_tokens for mode in spec.modes] == [64, 64, 32, 32]
    assert (spec.seed, {mode.seed for mode in spec.modes}) == (7, {None})
    assert form_from_spec(spec, form["uploads"]) == form
    with pytest.raises(SpecError, match="Longest reply: "):
        read_run_form(form | {"gen_max_tokens": "0"})
    with pytest.raises(SpecError, match="None of the modes has any use for “Longest reply”"):
        spec_of(form | {"modes": ["cloze"]})
