"""A file under headers that nobody knows: the columns are chosen, confirmed and remembered."""

from collections.abc import Callable

import pytest

from evalui.messages import messages
from evalui.runs.database.runs import read_runs
from evalui.runs.spec import read_spec
from evalui.ui.components.form import Form
from evalui.ui.components.fragment import Action
from evalui.ui.services.service import AppService
from evalui.ui.tabs.evaluate import EvaluateTab

MakeAct = Callable[..., Action]
EXAM = """prompt,opt1,opt2,opt3,opt4,label,topic,note
Capital of France?,Paris,Rome,Oslo,Bern,1,history,2024 spring
Capital of Italy?,Paris,Rome,Oslo,Bern,2,history,
Capital of Norway?,Paris,Rome,Oslo,Bern,3,tax law,
Capital of Switzerland?,Paris,Rome,Oslo,Bern,4,tax law,
"""


@pytest.fixture
def tab(desk: AppService) -> EvaluateTab:
    return EvaluateTab(desk, messages("en"))


def role(page: str, upload: str, column: int) -> tuple[str, bool]:
    """The chosen role of a column, and whether it is shown as a guess."""
    element = page.partition(f'<select name="role_{upload}_{column}"')[2]
    chosen = element.partition("</select>")[0].partition(" selected>")[2].partition("<")[0]
    return chosen, 'class="guess"' in element.partition(">")[0]


def roles_form(page: str, upload: str) -> Form:
    """The lists of the card as the browser sends them."""
    form: Form = {"uploads": [upload], f"remember_{upload}": "yes"}
    for part in page.split('<select name="')[1:]:
        name, options = part.partition('"')[0], part.partition("</select>")[0]
        chosen = options.partition(" selected>")[0].rpartition('value="')[2]
        form[name] = chosen.partition('"')[0]
    return form


def test_unknown_headers_lead_to_a_mapping_filled_with_a_guess(
    tab: EvaluateTab, desk: AppService, act: MakeAct
):
    upload = desk.store_upload([("my-exam.csv", EXAM.encode())])
    page = tab.act(act("uploaded", upload=upload))
    assert "Which column is what?" in page
    assert "my-exam.csv · 4 rows · 8 columns" in page
    shown = [role(page, upload, column) for column in range(8)]
    assert shown == [
        ("Question", True),
        *((f"Option {letter}", True) for letter in "ABCD"),
        ("Right answer", True),
        ("Subject", True),
        ("Not used", False),
    ]
    assert "found: 1, 2, 3, 4" in page
    assert 'value="index1" selected' in page
    read = page.partition("Row 1, read this way")[2]
    assert "Capital of France?" in read
    assert '<span class="ok">' in read.partition("A. Paris")[0]
    assert "4 of 4 rows will be readable" in page
    assert "Replace the file" in page
    assert 'name="models"' not in page
    assert "disabled" in page.partition('data-do="start"')[2].partition(">")[0]
    assert "Say which column is what first." in page


def test_columns_that_are_used_become_a_run_and_are_remembered(
    tab: EvaluateTab, desk: AppService, act: MakeAct
):
    upload = desk.store_upload([("my-exam.csv", EXAM.encode())])
    form = roles_form(tab.act(act("uploaded", upload=upload)), upload)
    page = tab.act(act("columns", form, upload=upload))
    assert "4 of 4 rows ready" in page
    assert "2 subjects" in page
    columns = page.partition(f'name="col_columns_{upload}" value="')[2].partition('"')[0]
    chosen: Form = {
        "uploads": [upload],
        f"col_columns_{upload}": columns.replace("&amp;", "&"),
        "models": ["biased"],
        "modes": ["multiple_choice"],
    }
    tab.act(act("start", chosen))
    (dataset,) = read_spec(read_runs(desk.database)[0].spec).datasets
    assert (dataset.columns["answer"], dataset.answer_key) == ("label", "index1")
    other = desk.store_upload([("second.csv", EXAM.replace("Capital", "Main town").encode())])
    assert "4 of 4 rows ready" in tab.act(act("uploaded", upload=other))
    repeated = tab.render({"again": read_runs(desk.database)[0].id})
    assert "4 of 4 rows ready" in repeated


def test_what_is_not_to_be_remembered_is_forgotten(
    tab: EvaluateTab, desk: AppService, act: MakeAct
):
    upload = desk.store_upload([("my-exam.csv", EXAM.encode())])
    form = roles_form(tab.act(act("uploaded", upload=upload)), upload)
    tab.act(act("columns", form, upload=upload))
    tab.act(act("columns", form | {f"remember_{upload}": ""}, upload=upload))
    other = desk.store_upload([("second.csv", EXAM.replace("Capital", "Main town").encode())])
    assert "Which column is what?" in tab.act(act("uploaded", upload=other))


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"5": ""}, "No column is the right answer yet."),
        ({"0": ""}, "No column is the question yet."),
        ({"5": "", "6": "answer"}, "0 of 4 rows readable"),
    ],
)
def test_columns_that_cannot_be_read_say_why_and_are_not_used(
    tab: EvaluateTab,
    desk: AppService,
    act: MakeAct,
    changes: dict[str, str],
    verdict: str,
):
    upload = desk.store_upload([("my-exam.csv", EXAM.encode())])
    form = roles_form(tab.act(act("uploaded", upload=upload)), upload)
    form |= {f"role_{upload}_{column}": name for column, name in changes.items()}
    page = tab.act(act("set", form))
    assert verdict in page
    use = page.partition('data-do="columns"')[2].partition(">")[0]
    assert "disabled" in use


def test_the_columns_of_a_known_file_can_be_changed_too(
    tab: EvaluateTab, desk: AppService, act: MakeAct
):
    text = "question,A,B,answer,gold\nCapital of France?,Paris,Rome,A,B\nOf Italy?,Paris,Rome,B,A\n"
    upload = desk.store_upload([("known.csv", text.encode())])
    page = tab.act(act("open", {"uploads": [upload]}, upload=upload, part="columns"))
    assert "The headers are known." in page
    assert [role(page, upload, column) for column in (0, 3)] == [
        ("Question", False),
        ("Right answer", False),
    ]
    form = roles_form(page, upload) | {f"role_{upload}_3": "", f"role_{upload}_4": "answer"}
    tab.act(act("columns", form, upload=upload))
    changed = tab.act(act("columns", form, upload=upload))
    columns = changed.partition(f'name="col_columns_{upload}" value="')[2].partition('"')[0]
    assert "answer=gold" in columns


def test_a_replaced_file_takes_the_place_of_the_only_one(
    tab: EvaluateTab, desk: AppService, act: MakeAct
):
    first = desk.store_upload([("my-exam.csv", EXAM.encode())])
    second = desk.store_upload([("good.csv", EXAM.replace("prompt", "question").encode())])
    page = tab.act(act("replaced", {"uploads": [first]}, upload=second))
    assert f'value="{second}"' in page
    assert f'value="{first}"' not in page


@pytest.mark.parametrize("name", ["notes.txt", "notes.csv"])
def test_a_file_that_is_no_dataset_says_so_and_offers_nothing_else(
    tab: EvaluateTab, desk: AppService, act: MakeAct, name: str
):
    letter = b"Dear all,\nplease find below, as agreed, the minutes, and more.\nYours\nA. B.\n"
    page = tab.act(act("uploaded", upload=desk.store_upload([(name, letter)])))
    assert f"{name} is no dataset: no table of questions is in it." in page
    assert "Drop a file of questions here" in page
    assert "Which column is what?" not in page


def test_nothing_in_a_header_becomes_markup(tab: EvaluateTab, desk: AppService, act: MakeAct):
    text = EXAM.replace("prompt", "<img src=x onerror=1>").replace("history", "<script>1</script>")
    page = tab.act(act("uploaded", upload=desk.store_upload([("x.csv", text.encode())])))
    assert "Which column is what?" in page
    assert "<img" not in page
    assert "<script" not in page


def test_other_choices_are_kept_while_columns_are_chosen(
    tab: EvaluateTab, desk: AppService, act: MakeAct
):
    known = EXAM.replace("prompt", "question")
    for column, letter in enumerate("ABCD", 1):
        known = known.replace(f"opt{column}", letter)
    upload = desk.store_upload([("known.csv", known.replace("label", "answer").encode())])
    chosen: Form = {
        "uploads": [upload],
        "kinds": ["multiple_choice"],
        "models": ["biased", "always-A"],
        "modes": ["multiple_choice"],
        "pattern": "origin",
        "limit": "20",
        "name": "Midterm",
        f"col_duplicates_{upload}": "skip",
    }
    page = tab.act(act("open", chosen, upload=upload, part="columns"))
    for field in ("models", "modes", "kinds"):
        assert f'name="{field}"' in page
    assert '<input type="hidden" name="pattern" value="origin">' in page
    assert '<input type="hidden" name="limit" value="20">' in page
    assert page.count('name="name"') == page.count('name="uploads"') == 1
    assert 'value="Midterm"' in page
    assert f'name="col_duplicates_{upload}" value="skip"' in page
