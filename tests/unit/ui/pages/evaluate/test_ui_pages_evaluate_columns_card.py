"""A file under headers that nobody knows: the columns are chosen, confirmed and remembered."""

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest
from press import Press
from ui_evaluate_screen import Screen

from evalui.app.datasets import store_upload
from evalui.app.service import AppService
from evalui.datasets import ANSWER_KEYS
from evalui.datasets.answers import AnswerFunction
from evalui.datasets.model import COLUMN_ROLES
from evalui.messages import LANGUAGES, messages
from evalui.registry import PLUGINS
from evalui.runs.spec import read_spec
from evalui.store.runs import read_runs
from evalui.types import LETTERS
from evalui.ui.components.form import Form

MakeAct = Callable[..., Press]
SHAPES = Path(__file__).parents[5] / "tests" / "golden" / "shapes"
EXAM = """prompt,opt1,opt2,opt3,opt4,label,topic,note
Capital of France?,Paris,Rome,Oslo,Bern,1,history,2024 spring
Capital of Italy?,Paris,Rome,Oslo,Bern,2,history,
Capital of Norway?,Paris,Rome,Oslo,Bern,3,tax law,
Main town of France?,Paris,Rome,Oslo,Bern,1,tax law,
"""  # no answer is 0, and none is 4: nothing shows from where they count


@pytest.fixture
def tab(desk: AppService) -> Screen:
    return Screen(desk, "en")


def role(page: str, upload: str, column: int) -> tuple[str, bool]:
    """The chosen role of a column, and whether it is shown as a guess."""
    element = page.partition(f'<select name="role_{upload}_{column}"')[2]
    chosen = element.partition("</select>")[0].partition(" selected>")[2].partition("<")[0]
    return chosen, 'class="guess"' in element.partition(">")[0]


def roles_form(page: str, upload: str) -> Form:
    """The fields of the card as the browser sends them."""
    form: Form = {"uploads": [upload], f"remember_{upload}": "yes"}
    for name, value in re.findall(r'<input type="hidden" name="([\w.]+)" value="([^"]*)">', page):
        form[name] = unescape(value)
    for part in page.split('<select name="')[1:]:
        name, options = part.partition('"')[0], part.partition("</select>")[0]
        chosen = options.partition(" selected>")[0].rpartition('value="')[2]
        form[name] = unescape(chosen.partition('"')[0])
    return form


def test_unknown_headers_lead_to_a_mapping_filled_with_a_guess(
    tab: Screen, desk: AppService, act: MakeAct
):
    upload = store_upload(desk, [("my-exam.csv", EXAM.encode())])
    page = tab.act(act("uploaded", upload=upload))
    assert "Which column is what?" in page
    assert "<b>my-exam.csv</b>" in page
    assert "4 rows · 8 columns" in page
    shown = [role(page, upload, column) for column in range(8)]
    assert shown == [
        ("Question", True),
        *((f"Option {letter}", True) for letter in "ABCD"),
        ("Right answer", True),
        ("Subject", True),
        ("Not used", False),
    ]
    assert "Nothing shows whether the answers count options from 0 or from 1." in page
    assert "found: 1, 2, 3" in page
    assert 'value="index0" selected' in page
    read = page.partition("Questions as a model sees them")[2]
    assert "Capital of France?" in read
    assert read.partition("B. Rome")[0].endswith("right answer:</span>")
    assert "4 of 4 rows will be readable" in page
    assert "Replace the file" in page
    assert 'name="models"' not in page
    assert not tab.may_start
    assert "Assign the columns first." in page


def test_columns_that_are_used_become_a_run_and_are_remembered(
    tab: Screen, desk: AppService, act: MakeAct
):
    upload = store_upload(desk, [("my-exam.csv", EXAM.encode())])
    form = roles_form(tab.act(act("uploaded", upload=upload)), upload)
    page = tab.act(act("set", form | {f"key_{upload}": "index1"}))
    page = tab.act(act("columns", roles_form(page, upload), upload=upload))
    assert "4 of 4 rows ready" in page
    assert "2 subjects" in page
    begin = f"datasets.{upload}."
    chosen: Form = {
        "uploads": [upload],
        **{name: each for name, each in tab.form().items() if name.startswith(begin)},
        "models": ["biased"],
        "modes": ["multiple_choice"],
    }
    tab.act(act("start", chosen))
    (dataset,) = read_spec(read_runs(desk.database)[0].spec).datasets
    assert (dataset.columns["answer"], dataset.answer_key) == ("label", "index1")
    other = store_upload(desk, [("second.csv", EXAM.replace("Capital", "Main town").encode())])
    assert "4 of 4 rows ready" in tab.act(act("uploaded", upload=other))
    repeated = tab.render({"again": read_runs(desk.database)[0].id})
    assert "4 of 4 rows ready" in repeated


def test_what_is_not_to_be_remembered_is_forgotten(tab: Screen, desk: AppService, act: MakeAct):
    upload = store_upload(desk, [("my-exam.csv", EXAM.encode())])
    form = roles_form(tab.act(act("uploaded", upload=upload)), upload)
    tab.act(act("columns", form, upload=upload))
    tab.act(act("columns", form | {f"remember_{upload}": ""}, upload=upload))
    other = store_upload(desk, [("second.csv", EXAM.replace("Capital", "Main town").encode())])
    assert "Which column is what?" in tab.act(act("uploaded", upload=other))


def test_a_remembered_mapping_that_does_not_fit_asks_again(
    tab: Screen, desk: AppService, act: MakeAct
):
    upload = store_upload(desk, [("my-exam.csv", EXAM.encode())])
    form = roles_form(tab.act(act("uploaded", upload=upload)), upload)
    tab.act(act("columns", form, upload=upload))
    # The same headers; here the last option shows that the places count from 1.
    from_one = EXAM.replace("Bern,3", "Bern,4")
    other = store_upload(desk, [("second.csv", from_one.encode())])
    page = tab.act(act("uploaded", upload=other))
    assert "4 of 4 rows ready" in page
    assert "columns you chose for these headers" not in page
    page = tab.act(act("preview", upload=other))
    assert page.partition("A. Paris")[0].endswith("right answer:</span>")


def test_a_remembered_mapping_is_stated(tab: Screen, desk: AppService, act: MakeAct):
    upload = store_upload(desk, [("my-exam.csv", EXAM.encode())])
    form = roles_form(tab.act(act("uploaded", upload=upload)), upload)
    used = tab.act(act("columns", form, upload=upload))
    assert "columns you chose for these headers" not in used
    other = store_upload(desk, [("second.csv", EXAM.replace("Capital", "Main town").encode())])
    page = tab.act(act("uploaded", upload=other))
    assert "Read with the columns you chose for these headers." in page


def test_the_kind_can_be_changed(tab: Screen, desk: AppService, act: MakeAct):
    upload = store_upload(desk, [("my-exam.csv", EXAM.encode())])
    form = roles_form(tab.act(act("uploaded", upload=upload)), upload)
    changed = f"read_kind_{upload}"
    page = tab.act(act("set", form | {changed: "general_qa"}, name=changed))
    assert "The right answer is written as" not in page
    assert "4 of 4 rows will be readable" in page
    assert role(page, upload, 1) == ("Not used", False)
    again = roles_form(page, upload) | {changed: "multiple_choice"}
    assert role(tab.act(act("set", again, name=changed)), upload, 1) == ("Option A", True)
    page = tab.act(act("columns", roles_form(page, upload), upload=upload))
    assert "question and answer</span>" in page
    assert f'name="datasets.{upload}.kind" value="general_qa"' in page


def test_another_answer_column_brings_its_own_answer_key(
    tab: Screen, desk: AppService, act: MakeAct
):
    exam = EXAM.replace("history", "A").replace("tax law", "B")
    upload = store_upload(desk, [("my-exam.csv", exam.encode())])
    form = roles_form(tab.act(act("uploaded", upload=upload)), upload)
    assert form[f"key_{upload}"] == "index0"
    form |= {f"role_{upload}_5": "", f"role_{upload}_6": "answer"}
    page = tab.act(act("set", form))
    assert 'value="letter" selected' in page
    assert "4 of 4 rows will be readable" in page
    form = roles_form(page, upload) | {f"key_{upload}": "text"}
    assert "0 of 4 rows readable" in tab.act(act("set", form))  # what a person chose stays


def test_a_function_of_a_package_is_among_the_answer_keys_and_needs_no_column_of_answers(
    tab: Screen, desk: AppService, act: MakeAct, monkeypatch: pytest.MonkeyPatch
):
    function = AnswerFunction(lambda _: "B", label={"en": "always B"})
    entries = {**ANSWER_KEYS._entries, "always_b": function}
    exam = EXAM.replace("label", "checked by").replace(",1,", ",me,").replace(",2,", ",us,")
    upload = store_upload(desk, [("my-exam.csv", exam.encode())])
    form = roles_form(tab.act(act("uploaded", upload=upload)), upload)
    assert f"key_{upload}" not in form
    monkeypatch.setattr(ANSWER_KEYS, "_entries", entries)
    ANSWER_KEYS._add_labels(PLUGINS["answer key"])
    page = tab.act(act("set", form))
    assert "No column is the right answer yet." in page
    form = roles_form(page, upload) | {f"key_{upload}": "always_b"}
    page = tab.act(act("set", form))
    assert 'value="always_b" selected>always B<' in page
    assert "4 of 4 rows will be readable" in page


def test_the_card_can_be_left_and_opened_again(tab: Screen, desk: AppService, act: MakeAct):
    upload = store_upload(desk, [("my-exam.csv", EXAM.encode())])
    page = tab.act(act("uploaded", upload=upload))
    cancel = page.partition("Cancel</button>")[0].rpartition("<button")[2]
    assert "data-escape" in cancel
    form = roles_form(page, upload) | {f"role_{upload}_0": ""}
    page = tab.act(act("open", form, upload=upload, part="left"))
    assert "Its columns are not confirmed yet." in page
    assert not tab.may_start
    page = tab.act(act("open", roles_form(page, upload), upload=upload, part="columns"))
    assert role(page, upload, 0) == ("Question", True)  # what was changed is forgotten


def test_leaving_the_card_of_a_file_that_was_read_changes_nothing(
    tab: Screen, desk: AppService, act: MakeAct
):
    text = "question,A,B,answer,vote\nCapital of France?,Paris,Rome,A,B\nOf Italy?,Paris,Rome,B,A\n"
    upload = store_upload(desk, [("known.csv", text.encode())])
    page = tab.act(act("open", {"uploads": [upload]}, upload=upload, part="columns"))
    form = roles_form(page, upload) | {f"role_{upload}_3": "", f"role_{upload}_4": "answer"}
    page = tab.act(act("open", form, upload=upload, part="left"))
    assert "2 of 2 rows ready" in page
    assert f"datasets.{upload}.columns" not in page
    page = tab.act(act("preview", upload=upload))
    assert page.partition("A. Paris")[0].endswith("right answer:</span>")


def test_the_questions_are_shown_on_request_and_by_pages(
    tab: Screen, desk: AppService, act: MakeAct
):
    rows = "".join(f"Question {n}?,yes,no,A\n" for n in range(1, 8))
    upload = store_upload(desk, [("known.csv", f"question,A,B,answer\n{rows}".encode())])
    assert "Questions as a model" not in tab.act(act("uploaded", upload=upload))
    page = tab.act(act("preview", upload=upload))
    assert "1–3 of 7" in page
    assert "Question 3?" in page
    assert "Question 4?" not in page
    later = page.partition(">Next</button>")[0].rpartition("<button")[2]
    assert f'{{"from_{upload}": "3"}}' in later
    page = tab.act(act("questions", upload=upload, start="3"))
    assert "4–6 of 7" in page
    page = tab.act(act("questions", upload=upload, start="6"))
    assert "Question 7?" in page
    assert "disabled" in page.partition(">Next</button>")[0].rpartition("<button")[2]


def test_several_datasets_show_their_questions_on_request(
    tab: Screen, desk: AppService, act: MakeAct
):
    text = "question,A,B,answer\nCapital of France?,Paris,Rome,A\n"
    one = store_upload(desk, [("one.csv", text.encode())])
    two = store_upload(desk, [("two.csv", text.encode())])
    page = tab.act(act("uploaded", {"uploads": [one]}, upload=two))
    assert "Questions as a model sees them" not in page
    page = tab.act(act("preview", {"uploads": [one, two]}, upload=two))
    assert page.count("Questions as a model sees them") == 1


def test_a_head_row_that_is_chosen_is_kept_with_the_dataset(
    tab: Screen, desk: AppService, act: MakeAct
):
    upload = store_upload(desk, [("my-exam.csv", EXAM.encode())])
    page = tab.act(act("uploaded", upload=upload))
    assert "row 1, detected" in page
    page = tab.act(act("set", roles_form(page, upload) | {f"read_row_{upload}": "1"}))
    assert '<option value="1" selected>row 1</option>' in page
    page = tab.act(act("columns", roles_form(page, upload), upload=upload))
    assert f'name="datasets.{upload}.head_row" value="1"' in page
    form = roles_form(page, upload) | {"models": ["biased"], "modes": ["multiple_choice"]}
    tab.act(act("start", form))
    (dataset,) = read_spec(read_runs(desk.database)[0].spec).datasets
    assert dataset.head_row == 1
    assert f'name="datasets.{upload}.head_row" value="1"' in tab.render(
        {"again": read_runs(desk.database)[0].id}
    )


def test_the_answer_key_of_the_guess_is_shown_and_used(tab: Screen, desk: AppService, act: MakeAct):
    row = '{"question": "What melts at %d?", "distractor1": "iron", "distractor2": "zinc", '
    rows = (row % n + '"correct_answer": "ice"}\n' for n in range(4))
    upload = store_upload(desk, [("apart.jsonl", "".join(rows).encode())])
    page = tab.act(act("open", {"uploads": [upload]}, upload=upload, part="columns"))
    assert 'value="apart" selected' in page
    page = tab.act(act("columns", roles_form(page, upload), upload=upload))
    assert "4 of 4 rows ready" in page
    assert f'name="datasets.{upload}.answer_key" value="apart"' in page


def test_sheets_name_their_questions_without_the_file(tab: Screen, desk: AppService, act: MakeAct):
    book = (SHAPES / "m08_two_sheets_hidden_rows.xlsx").read_bytes()
    upload = store_upload(desk, [("exam.xlsx", book)])
    tab.act(act("uploaded", upload=upload))
    page = tab.act(act("preview", upload=upload))
    assert "<b>line 2</b><div>第一章</div>" in page


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("20", "row 20, stated as that of the headers, is empty"),
        ("5", "no table of questions in this place"),
    ],
)
def test_a_place_without_a_table_is_refused_on_the_card(
    tab: Screen, desk: AppService, act: MakeAct, row: str, why: str
):
    upload = store_upload(desk, [("my-exam.csv", EXAM.encode())])
    page = tab.act(act("uploaded", upload=upload))
    form = roles_form(page, upload) | {f"role_{upload}_7": "explanation"}
    page = tab.act(act("set", form | {f"read_row_{upload}": row}))
    assert why in page
    assert f'<option value="{row}" selected>' in page
    assert "disabled" in page.partition('data-do="columns"')[2].partition(">")[0]
    page = tab.act(act("set", roles_form(page, upload) | {f"read_row_{upload}": "1"}))
    assert "4 of 4 rows will be readable" in page
    assert role(page, upload, 7)[0] == "Explanation"  # what was chosen before is still there


def test_commas_in_texts_are_accepted_where_no_row_can_be_read(
    tab: Screen, desk: AppService, act: MakeAct
):
    text = "question,A,B,answer\nIs it, then?,yes,no,A\nIs it, now?,yes,no,B\n"
    upload = store_upload(desk, [("my-exam.csv", text.encode())])
    page = tab.act(act("uploaded", upload=upload))
    assert "A comma before a space" in page
    assert "2 of 2 rows are read" in page
    page = tab.act(act("set", roles_form(page, upload) | {f"read_commas_{upload}": "text"}))
    assert "2 of 2 rows will be readable" in page
    page = tab.act(act("columns", roles_form(page, upload), upload=upload))
    assert "2 of 2 rows ready" in page
    assert f'name="datasets.{upload}.commas_in_text" value="yes"' in page


def test_every_role_has_a_word_in_both_languages():
    for language in LANGUAGES:
        named = {f"mapping.{role}" for role in COLUMN_ROLES if role not in LETTERS}
        assert sorted(key for key in named if key not in messages(language)) == []


def test_long_texts_are_cut_with_their_length(tab: Screen, desk: AppService, act: MakeAct):
    text = f"question,A,B,answer\n{'long ' * 1000},yes,no,A\n"
    upload = store_upload(desk, [("long.csv", text.encode())])
    tab.act(act("uploaded", upload=upload))
    page = tab.act(act("preview", upload=upload))
    assert "… (+2,999 characters)" in page or "… (+3,000 characters)" in page


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"5": ""}, "No column is the right answer yet."),
        ({"0": ""}, "No column is the question yet."),
        ({"5": "", "6": "answer"}, "0 of 4 rows readable"),
    ],
)
def test_columns_that_cannot_be_read_say_why_and_are_not_used(
    tab: Screen,
    desk: AppService,
    act: MakeAct,
    changes: dict[str, str],
    verdict: str,
):
    upload = store_upload(desk, [("my-exam.csv", EXAM.encode())])
    form = roles_form(tab.act(act("uploaded", upload=upload)), upload)
    form |= {f"role_{upload}_{column}": name for column, name in changes.items()}
    page = tab.act(act("set", form))
    assert verdict in page
    use = page.partition('data-do="columns"')[2].partition(">")[0]
    assert "disabled" in use


def test_the_columns_of_a_known_file_can_be_changed_too(
    tab: Screen, desk: AppService, act: MakeAct
):
    text = "question,A,B,answer,vote\nCapital of France?,Paris,Rome,A,B\nOf Italy?,Paris,Rome,B,A\n"
    upload = store_upload(desk, [("known.csv", text.encode())])
    page = tab.act(act("open", {"uploads": [upload]}, upload=upload, part="columns"))
    assert "This file can be read as it is." in page
    assert "Use these columns, or cancel, first." in page
    assert [role(page, upload, column) for column in (0, 3)] == [
        ("Question", False),
        ("Right answer", False),
    ]
    form = roles_form(page, upload) | {f"role_{upload}_3": "", f"role_{upload}_4": "answer"}
    tab.act(act("columns", form, upload=upload))
    changed = tab.act(act("columns", form, upload=upload))
    assert f'name="datasets.{upload}.columns.answer" value="vote"' in changed


def test_a_replaced_file_takes_the_place_of_the_only_one(
    tab: Screen, desk: AppService, act: MakeAct
):
    first = store_upload(desk, [("my-exam.csv", EXAM.encode())])
    second = store_upload(desk, [("good.csv", EXAM.replace("prompt", "question").encode())])
    page = tab.act(act("replaced", {"uploads": [first]}, upload=second))
    assert f'value="{second}"' in page
    assert f'value="{first}"' not in page


@pytest.mark.parametrize("name", ["notes.txt", "notes.csv"])
def test_a_file_that_is_no_dataset_says_so_and_offers_nothing_else(
    tab: Screen, desk: AppService, act: MakeAct, name: str
):
    letter = b"Dear all,\nplease find below, as agreed, the minutes, and more.\nYours\nA. B.\n"
    page = tab.act(act("uploaded", upload=store_upload(desk, [(name, letter)])))
    assert f"{name} is not a dataset: it holds no table of questions." in page
    assert "Drop a file of questions here" in page
    assert "Which column is what?" not in page


def test_nothing_in_a_header_becomes_markup(tab: Screen, desk: AppService, act: MakeAct):
    text = EXAM.replace("prompt", "<img src=x onerror=1>").replace("history", "<script>1</script>")
    page = tab.act(act("uploaded", upload=store_upload(desk, [("x.csv", text.encode())])))
    assert "Which column is what?" in page
    assert "<img" not in page
    assert "<script" not in page


def test_other_choices_are_kept_while_columns_are_chosen(
    tab: Screen, desk: AppService, act: MakeAct
):
    known = EXAM.replace("prompt", "question")
    for column, letter in enumerate("ABCD", 1):
        known = known.replace(f"opt{column}", letter)
    upload = store_upload(desk, [("known.csv", known.replace("label", "answer").encode())])
    chosen: Form = {
        "uploads": [upload],
        "kinds": ["multiple_choice"],
        "models": ["biased", "always-A"],
        "modes": ["multiple_choice"],
        "pattern": "origin",
        "limit": "20",
        "name": "Midterm",
        f"datasets.{upload}.duplicate_options": "skip",
    }
    page = tab.act(act("set", chosen))
    for field in ("models", "modes", "kinds"):
        assert f'name="{field}"' in page
    assert '<input type="hidden" name="pattern" value="origin">' in page
    assert '<input type="hidden" name="limit" value="20">' in page
    assert page.count('name="name"') == page.count('name="uploads"') == 1
    assert 'value="Midterm"' in page
    assert f'name="datasets.{upload}.duplicate_options" value="skip"' in page
