"""Questions read one by one: by keys, filters, links and on a phone."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from browser_examples import pick
from browser_servers import started
from playwright.sync_api import expect

from evalui.app.datasets import store_upload
from evalui.app.evaluations import start_run
from evalui.app.service import AppService
from evalui.runs.worker.worker import Worker
from evalui.settings import Settings
from evalui.store.connection import Database
from evalui.ui.components.form import Form
from evalui.ui.pages.evaluate.spec import form_to_spec

MODELS = """
[steady]
backend = "scripted"
options = { rule = "perfect" }

[leaning]
backend = "scripted"
options = { rule = "position-biased" }

[always-A]
backend = "scripted"
baseline = true
options = { rule = "always-A" }
"""
QUESTIONS = 60
SAME_TAB = True
PHONE = {"viewport": {"width": 390, "height": 844}}


@dataclass(frozen=True, slots=True)
class ReadingRoom:
    """A server, the id of its finished run, and beside it the store it works on."""

    address: str
    run: str
    desk: AppService

    def page(self, question: str = "", **more: str) -> str:
        """The address of the questions of the run."""
        fields = {"run": self.run, "tab": "results", "sub": "samples", "q": question, **more}
        return "/en/?" + "&".join(f"{name}={value}" for name, value in fields.items() if value)

    def start(self, *files: tuple[str, str], models: list[str], shots: str = "0") -> str:
        """Queue a run of files, of the colours unless told; its id."""
        return start(self.desk, files or (("colours.csv", colours()),), models, shots)

    def work(self, run: str) -> None:
        """Answer all questions of a run."""
        Worker(self.desk.database, self.desk.models.catalog).run_once(run)
        assert self.desk.run(run).state == "done"


def start(
    desk: AppService, files: Sequence[tuple[str, str]], models: list[str], shots: str = "0"
) -> str:
    form: Form = {
        "uploads": [store_upload(desk, [(name, text.encode()) for name, text in files])],
        "models": models,
        "modes": ["multiple_choice"],
        "pattern": "circular",
        "shots": shots,
    }
    return start_run(desk, form_to_spec(form))


def colours() -> str:
    rows = ["id,question,A,B,C,D,answer"]
    for number in range(QUESTIONS):
        options = ",".join(f"{word} {number}" for word in ("red", "green", "blue", "grey"))
        rows.append(f"{number},Which colour has number {number}?,{options},{'ABCD'[number % 4]}")
    return "\n".join(rows) + "\n"


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReadingRoom]:
    with started(tmp_path_factory.mktemp("room"), models=MODELS, EVALUI_WORKERS="0") as server:
        server.wait_for_buttons()
        settings = Settings(data_dir=server.data, models=server.models)
        desk = AppService(settings, Database(settings.database))
        run_id = start(desk, [("colours.csv", colours())], ["steady", "leaning", "always-A"])
        room = ReadingRoom(server.address, run_id, desk)
        room.work(run_id)
        yield room
        desk.database.close()


@pytest.fixture(scope="module")
def server(room: ReadingRoom) -> str:
    """In place of the other tests' server, which has not the run."""
    return room.address


@pytest.fixture
def tab(page: Any) -> Any:
    """A page of the room."""
    return page


def visit(tab: Any, address: str) -> None:
    tab.goto(address)
    tab.wait_for_selector("body[data-ready]", timeout=60_000)


def title(tab: Any) -> Any:
    return tab.locator(".q-head h2")


def count(tab: Any) -> Any:
    return tab.locator(".list-h h2:visible")


def current(tab: Any) -> Any:
    return tab.locator(".questions a[aria-current] .q")


def search(tab: Any) -> Any:
    return tab.get_by_label("Find in questions and replies")


def choose(tab: Any, label: str, word: str) -> None:
    """Choose from the links below the one that is chosen."""
    tab.locator(f".menu summary[aria-label^='{label}:']").first.click()
    tab.get_by_role("link", name=word, exact=True).first.click()


def test_j_and_k_move_and_the_address_follows(tab: Any, room: ReadingRoom):
    visit(tab, room.page())
    expect(title(tab)).to_have_text("Question 0")
    tab.keyboard.press("j")
    expect(title(tab)).to_have_text("Question 1")
    assert "q=colours%2F1" in tab.url
    tab.keyboard.press("j")
    expect(title(tab)).to_have_text("Question 2")
    tab.keyboard.press("k")
    expect(title(tab)).to_have_text("Question 1")
    expect(current(tab)).to_have_text("Which colour has number 1?")
    tab.go_back()
    expect(title(tab)).to_have_text("Question 2")
    assert "q=colours%2F2" in tab.url


def test_quick_presses_of_j_are_all_steps(tab: Any, room: ReadingRoom):
    visit(tab, room.page())
    expect(title(tab)).to_have_text("Question 0")
    for _ in range(7):
        tab.keyboard.press("j")
    expect(title(tab)).to_have_text("Question 7")
    expect(current(tab)).to_have_text("Which colour has number 7?")
    expect(tab).to_have_url(re.compile("q=colours%2F7"))
    for _ in range(3):
        tab.go_back()
    expect(title(tab)).to_have_text("Question 4")
    expect(current(tab)).to_have_text("Which colour has number 4?")


def test_keys_are_silent_while_a_person_types(tab: Any, room: ReadingRoom):
    visit(tab, room.page("colours/3"))
    expect(title(tab)).to_have_text("Question 3")
    tab.keyboard.press("/")
    expect(search(tab)).to_be_focused()
    tab.keyboard.type("jk/")
    expect(count(tab)).to_have_text("0 of 60")
    expect(search(tab)).to_have_value("jk/")


def test_the_list_follows_what_is_typed(tab: Any, room: ReadingRoom):
    visit(tab, room.page())
    expect(count(tab)).to_have_text("60 of 60")
    search(tab).press_sequentially("number 5")
    expect(count(tab)).to_have_text("11 of 60")
    expect(search(tab)).to_be_focused()
    expect(search(tab)).to_have_value("number 5")
    expect(title(tab)).to_have_text("Question 5")
    expect(tab).to_have_url(re.compile("find=number"))
    tab.get_by_role("link", name="Clear", exact=True).click()
    expect(count(tab)).to_have_text("60 of 60")
    expect(search(tab)).to_have_value("")


def test_a_filter_shows_its_questions_and_stands_in_the_address(tab: Any, room: ReadingRoom):
    visit(tab, room.page(cell="2"))
    pick(tab, "Outcome of leaning", "Right in some orders")
    expect(tab).to_have_url(re.compile("outcome=order_sensitive"))
    expect(count(tab)).not_to_have_text("60 of 60")
    shown = count(tab).inner_text()
    tab.reload()
    expect(count(tab)).to_have_text(shown)
    expect(tab.get_by_label("Outcome of leaning")).to_have_value("Right in some orders")
    tab.keyboard.press("j")
    expect(tab).to_have_url(re.compile("outcome=order_sensitive"))
    tab.go_back()
    tab.go_back()
    expect(count(tab)).to_have_text("60 of 60")
    expect(tab.get_by_label("Outcome of leaning")).to_have_value("All")


def test_the_list_has_pages_and_keeps_the_question(tab: Any, room: ReadingRoom):
    visit(tab, room.page("colours/2"))
    expect(tab.locator(".questions li")).to_have_count(50)
    tab.locator(".pager").get_by_role("link", name="Next").click()
    expect(tab.locator(".questions li")).to_have_count(10)
    expect(title(tab)).to_have_text("Question 2")
    tab.keyboard.press("j")
    expect(title(tab)).to_have_text("Question 3")
    expect(tab.locator(".questions li")).to_have_count(50)


def test_list_and_reader_scroll_on_their_own_and_steps_keep_where_the_list_is(
    tab: Any, room: ReadingRoom
):
    visit(tab, room.page("colours/2"))
    expect(current(tab)).to_be_visible()
    tab.wait_for_function("document.documentElement.scrollHeight <= innerHeight")
    tab.locator(".lines").evaluate("pane => { pane.scrollTop = 40; pane.mine = true; }")
    tab.locator(".questions a").nth(3).focus()
    tab.locator(".qa").evaluate("pane => { pane.scrollTop = 200; }")
    tab.keyboard.press("j")
    expect(title(tab)).to_have_text("Question 3")
    assert tab.locator(".lines").evaluate("pane => [pane.scrollTop, pane.mine]") == [40, True]
    expect(tab.locator(".questions a").nth(3)).to_be_focused()
    assert tab.locator(".qa").evaluate("pane => pane.scrollTop") == 0


def test_an_opened_prompt_stays_open_from_question_to_question(tab: Any, room: ReadingRoom):
    examples = ("colours_dev.csv", colours())
    run = room.start(("colours_val.csv", colours()), examples, models=["steady"], shots="2")
    room.work(run)
    visit(tab, f"/en/results?run={run}&sub=samples")
    tab.get_by_text("Instruction and 2 worked examples").click()
    expect(tab.locator(".sent details pre")).to_be_visible()
    tab.keyboard.press("j")
    expect(title(tab)).to_have_text("Question 1")
    expect(tab.locator(".sent details pre")).to_be_visible()


def test_models_and_orders_change_the_columns_of_the_same_question(tab: Any, room: ReadingRoom):
    visit(tab, room.page("colours/7"))
    expect(title(tab)).to_have_text("Question 7")
    tab.locator(".tools").get_by_role("link", name="Models", exact=True).click()
    expect(tab.locator(".ot thead th")).to_have_text(
        ["Options, as in the file", "steady", "leaning", "always-A"]
    )
    expect(title(tab)).to_have_text("Question 7")
    choose(tab, "Order", "Shifted 2")
    expect(tab.locator(".finding")).to_contain_text("in the order Shifted 2")
    tab.get_by_role("link", name="Orders", exact=True).click()
    choose(tab, "Model", "always-A")
    expect(tab.locator(".finding")).to_contain_text("it takes position A in every order")
    expect(title(tab)).to_have_text("Question 7")


def test_another_model_of_the_first_question_keeps_it(tab: Any, room: ReadingRoom):
    visit(tab, room.page(outcome="right"))
    expect(title(tab)).to_have_text("Question 0")
    choose(tab, "Model", "always-A")
    expect(tab.get_by_label("Outcome of always-A")).to_be_visible()
    expect(title(tab)).to_have_text("Question 0")


def test_a_permalink_opens_its_question(tab: Any, room: ReadingRoom):
    visit(tab, room.page("colours/9", by="models"))
    link = tab.locator(".q-head [data-copy]").get_attribute("data-copy")
    tab.goto(link.removeprefix(".."))
    expect(title(tab)).to_have_text("Question 9")
    expect(tab.locator(".ot thead th")).to_have_count(4)


@pytest.mark.parametrize("page", [{"viewport": {"width": 1280, "height": 480}}], indirect=True)
def test_a_question_further_down_begins_where_the_list_is(tab: Any, room: ReadingRoom):
    visit(tab, room.page())
    link = tab.locator(".questions a").nth(30)
    link.scroll_into_view_if_needed()
    link.click()
    expect(title(tab)).to_have_text("Question 30")
    expect(title(tab)).to_be_in_viewport()
    expect(current(tab)).to_be_in_viewport()


def test_answers_that_come_meanwhile_appear_and_leave_what_is_looked_at(
    tab: Any, room: ReadingRoom
):
    run = room.start(models=["leaning"])
    tab.goto(f"/en/results?run={run}&sub=samples")
    expect(tab.locator(".reader-part .empty")).to_contain_text("No answer yet.")
    search(tab).fill("number 4")
    tab.evaluate("window.here = true")
    room.work(run)
    expect(count(tab)).to_have_text("11 of 60")
    expect(title(tab)).to_have_text("Question 4")
    expect(search(tab)).to_have_value("number 4")
    expect(search(tab)).to_be_focused()
    assert tab.evaluate("window.here")


FOREIGN = (
    '<img src=x onerror="window.__xss=1"><script>window.__xss=2</script> ${window.__xss=3} '
    r"{{ 7 * 7 }} \underline{x} $\frac{a}{b}$ `tick`"
)


def test_foreign_text_is_shown_as_it_is(tab: Any, room: ReadingRoom):
    quoted = '"' + FOREIGN.replace('"', '""') + '"'
    rows = f"id,question,A,B,C,D,answer,explanation\n1,{quoted},{quoted},b,c,d,B,{quoted}\n"
    run = room.start(("foreign.csv", rows), models=["always-A"])
    room.work(run)
    tab.goto(f"/en/results?run={run}&sub=samples")
    for place in (".qtext", ".questions .q", ".ot tbody th >> nth=0", ".sec .text", ".sent"):
        expect(tab.locator(place).first).to_contain_text(FOREIGN)
    assert tab.evaluate("window.__xss") is None
    assert tab.locator(".list-and-reader :is(img, script)").count() == 0


@pytest.mark.parametrize("page", [PHONE], indirect=True)
def test_on_a_phone_list_and_question_are_two_pages(tab: Any, room: ReadingRoom):
    visit(tab, room.page())
    expect(tab.locator(".questions")).to_be_visible()
    expect(tab.locator(".qa")).not_to_be_visible()
    expect(tab.get_by_label("Outcome of steady")).not_to_be_visible()
    tab.get_by_text("Filters", exact=True).click()
    expect(tab.get_by_label("Outcome of steady")).to_be_visible()
    tab.locator(".questions a").nth(20).click()
    expect(title(tab)).to_be_in_viewport()
    expect(tab.locator(".questions")).not_to_be_visible()
    tab.get_by_role("link", name="Next · 22 of 60").click()
    expect(title(tab)).to_have_text("Question 21")
    expect(title(tab)).to_be_in_viewport()
    tab.go_back()
    expect(title(tab)).to_have_text("Question 20")
    tab.go_back()
    expect(tab.locator(".questions a").nth(20)).to_be_in_viewport()
    tab.locator(".questions a").nth(20).click()
    tab.get_by_role("link", name="‹ 60 questions").click()
    expect(tab.locator(".questions")).to_be_visible()


@pytest.mark.parametrize("page", [PHONE], indirect=True)
@pytest.mark.parametrize("by", ["orders", "models"])
def test_on_a_phone_cells_stand_under_their_option(tab: Any, room: ReadingRoom, by: str):
    visit(tab, room.page("colours/4", by=by))
    expect(title(tab)).to_be_visible()
    option = tab.locator(".ot tbody th").first.bounding_box()
    cells = [cell.bounding_box() for cell in tab.locator(".ot tbody tr").first.locator("td").all()]
    assert all(cell["y"] >= option["y"] + option["height"] - 1 for cell in cells)
    assert all(cell["x"] + cell["width"] <= 390 for cell in cells)
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
