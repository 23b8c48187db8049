"""The form becomes a run specification and the same form again."""

import pytest

from evalui.errors import SpecError
from evalui.ui.draft import form_of, read_draft
from evalui.ui.pane import Form

FORM: Form = {
    "uploads": ["0123456789abcdef"],
    "models": ["demo", "other"],
    "modes": ["multiple_choice", "cloze"],
    "shots": "0, 5",
    "pattern": "all_possible",
    "template": "plain-en.1",
    "chat": "yes",
    "max_tokens": "32",
    "limit": "20",
    "seed": "7",
    "name": "Midterm",
    "skip_faulty": "yes",
    "col_options": "Option A, sol2",
    "col_answer": "gold",
    "col_key": "index0",
    "col_question": "text",
}


def spec_of(form: Form):
    draft = read_draft(form)
    return draft.run_spec([draft.dataset_spec(["a.csv"], name="a", sha256="")])


def test_each_mode_is_asked_with_each_number_of_examples():
    spec = spec_of(FORM)
    assert [(mode.mode, mode.shots) for mode in spec.modes] == [
        ("multiple_choice", 0),
        ("multiple_choice", 5),
        ("cloze", 0),
        ("cloze", 5),
    ]


def test_a_mode_that_shows_no_options_is_asked_once():
    patterns = {mode.mode: mode.pattern for mode in spec_of(FORM).modes}
    assert patterns == {"multiple_choice": "all_possible", "cloze": "origin"}


def test_a_form_survives_the_way_through_a_specification():
    assert form_of(spec_of(FORM), ["0123456789abcdef"]) == FORM


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
    again = form_of(spec_of(FORM | own), [])
    assert (again["template"], again["own_name"]) == ("own", "mine.1")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("shots", "five", "Worked examples: “five”"),
        ("shots", "-1", "Worked examples"),
        ("limit", "1.5", "Questions: “1.5” is not a whole number"),
        ("seed", "٣", "Seed"),
    ],
)
def test_a_field_that_holds_no_number_is_named(field: str, value: str, message: str):
    with pytest.raises(SpecError, match=message):
        read_draft(FORM | {field: value})


def test_empty_fields_mean_the_usual():
    draft = read_draft({"uploads": ["x"], "models": ["demo"], "modes": ["cloze"]})
    assert (draft.shots, draft.limit, draft.seed, draft.max_tokens) == ((0,), None, 0, 64)
    assert draft.pattern == "circular"


def test_a_mode_that_does_not_exist_is_not_asked():
    assert read_draft(FORM | {"modes": ["cloze", "telepathy"]}).modes == ("cloze",)
