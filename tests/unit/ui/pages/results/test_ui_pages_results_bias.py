"""The Bias view: the verdict first, and an address for all that can be opened."""

import pytest
from drawn_page import DrawnPage
from ui_choice_examples import MANY, new_desk, questions, ran
from ui_examples import GOOD

from evalui.app.run_view import RunView
from evalui.app.service import AppService
from evalui.messages import messages
from evalui.store import trials
from evalui.types import Language
from evalui.ui.components.form import Form
from evalui.ui.pages.results import bias


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> AppService:
    """A desk that all tests share, since none of them changes a run."""
    return new_desk(tmp_path_factory.mktemp("room"))


@pytest.fixture(scope="module")
def many(room: AppService) -> str:
    """120 questions, every order, two models."""
    return ran(room, ("many.csv", MANY))


@pytest.fixture(scope="module")
def few(room: AppService) -> str:
    """Eight questions, every order, two models."""
    return ran(room, ("few.csv", questions(8)))


def view(room: AppService, run_id: str, language: Language = "en") -> RunView:
    return RunView(room, messages(language), run_id)


def page(
    room: AppService, run_id: str, form: Form | None = None, language: Language = "en"
) -> DrawnPage:
    return DrawnPage("results", room, {"run": run_id, "sub": "bias", **(form or {})}, language)


def shown(room: AppService, run_id: str, form: Form | None = None) -> str:
    return page(room, run_id, form).text


def always_a(room: AppService, run_id: str) -> str:
    """The id of the cell of always-A."""
    cells = view(room, run_id).cells
    return next(str(cell.id) for cell in cells if cell.cell.model == "always-A")


def two_subjects(desk: AppService, *names: str) -> str:
    """A run over files of these subjects, 40 questions each."""
    files = [(f"{name}_val.csv", questions(40, start=40 * i)) for i, name in enumerate(names)]
    return ran(desk, *files)


def test_the_verdict_comes_before_the_table_and_the_sections(room: AppService, many: str):
    said = shown(room, many)
    places = [
        said.index(each)
        for each in ("biased picks A", "Clear.", "fair 25 %", "<fold", "The tests, in words")
    ]
    assert places == sorted(places)


def test_another_model_has_its_own_verdict_and_address(room: AppService, many: str):
    cell = always_a(room, many)
    other = page(room, many)
    assert other.choose("Model", cell) == f"?run={many}&sub=bias&cell={cell}"
    chosen = page(room, many, {"cell": cell})
    assert "always-A picks A every time." in chosen.text
    assert chosen.component("Model").value == cell
    assert set(chosen.offered("Model")) == {"biased", "always-A"}
    assert "<label>Number of options</label>" not in chosen.text  # all questions have as many


def test_the_model_with_the_strongest_bias_is_shown_and_a_script_only_if_all_are(
    room: AppService, many: str
):
    summaries = view(room, many).with_question
    strengths = {s.cell.model: s.main_bias.strength for s in summaries.values() if s.main_bias}
    assert strengths["always-A"] > strengths["biased"]
    for scripts, shown_first in (
        ((), "always-A"),
        (("always-A",), "biased"),
        (("biased", "always-A"), "always-A"),
    ):
        chosen = bias.select_bias(summaries, {}, scripts)
        assert chosen
        assert chosen.summary.cell.model == shown_first


def test_each_count_of_the_heat_map_is_a_link_to_its_questions(room: AppService, few: str):
    cell = always_a(room, few)
    said = shown(room, few, {"cell": cell})
    address = f"results?run={few}&amp;sub=samples&amp;cell={cell}&amp;gold=3&amp;picked=0"
    assert f'<a href="{address}"' in said


def test_an_address_opens_a_cell_of_the_grid(room: AppService, few: str):
    cell: Form = {"cell": always_a(room, few)}
    closed = shown(room, few, cell)
    assert "slots=4&amp;options=1#content-or-position" in closed
    assert "Which colour has number 1?" not in closed
    said = shown(room, few, cell | {"slots": "4", "options": "1"})
    assert "Kept one position 4 times and one option 1 times" in said
    assert "Which colour has number 1?" in said
    nonsense = shown(room, few, cell | {"slots": "x", "options": "9" * 40})
    assert nonsense == closed


def test_the_trials_of_a_model_are_read_for_the_first_cell_of_its_grid_alone(
    room: AppService, few: str, monkeypatch: pytest.MonkeyPatch
):
    read: list[int] = []
    decode = trials.decode_columns
    monkeypatch.setattr(trials, "decode_columns", lambda *block: read.append(1) or decode(*block))
    chosen = {"cell": str(view(room, few).cells[0].id)}
    shown(room, few, chosen)
    assert read == []
    pages = {shown(room, few, chosen | {"slots": "1", "options": str(n)}) for n in (1, 2, 3, 4)}
    assert (len(pages), read) == (4, [1])


def test_numbers_of_options_are_never_pooled(room: AppService):
    run_id = ran(room, ("mixed.csv", questions(80, options=(3, 4))), models=["always-A"])
    three, four = (shown(room, run_id, {"bias_k": size}) for size in "34")
    options = page(room, run_id, {"bias_k": "3"}).component("Number of options")
    assert (options.value, [value for _, value in options.choices]) == ("3", ["3", "4"])
    assert "120 answers." in three
    assert "160 answers." in four
    assert shown(room, run_id, {"bias_k": "9"}) == shown(room, run_id)


def test_one_model_with_one_number_of_options_needs_no_picker(room: AppService):
    run_id = ran(room, ("one.csv", questions(8)), models=["biased"])
    assert "<label>" not in shown(room, run_id)


def test_one_order_says_what_it_cannot_tell(room: AppService):
    said = shown(room, ran(room, ("capitals.csv", GOOD), pattern="origin"))
    assert "One order alone cannot show" in said
    assert "Repeat with every position" in said


def test_without_positions_the_view_says_what_to_do(room: AppService):
    run_id = ran(room, ("capitals.csv", GOOD), models=["biased"], modes=["cloze"])
    said = shown(room, run_id)
    assert "No positions to show" in said
    assert "Only modes that show the options can favour a position" in said


def test_the_map_of_all_models_leads_to_what_was_picked(room: AppService, many: str):
    address = f"cell={always_a(room, many)}&amp;picked=0"
    assert address in shown(room, many)


def test_a_category_of_the_address_shows_its_subjects(room: AppService):
    run_id = two_subjects(room, "computer_network", "law")
    first = shown(room, run_id)
    assert "gap_of=stem#by-subject" in first
    assert "outcome=order_sensitive" not in first
    inside = shown(room, run_id, {"gap_of": "stem"})
    assert "Subjects of STEM" in inside
    assert "subject=computer_network&amp;outcome=order_sensitive" in inside
    assert "subject=law" not in inside


def test_it_speaks_chinese(room: AppService, many: str):
    said = page(room, many, language="zh").text
    assert "公平值为" in said
    assert "正确答案所在位置" in said
