"""Questions with pictures, from a file to the pages that show them: small, and whole by a click."""

import base64
from collections.abc import Iterator
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from annotate_examples import open_run
from axe_examples import violations
from browser_examples import preview
from browser_servers import started
from openpyxl import Workbook
from openpyxl.drawing.image import Image
from pictured_runs import BLUE, RED, RED_MARK, asked, give_pictures, png
from playwright.sync_api import expect

from evalui.app.service import AppService
from evalui.settings import Settings
from evalui.store.connection import Database
from evalui.types import Sample

MODELS = """
[seeing]
backend = "scripted"
options = { rule = "position-biased" }

[late-model]
backend = "scripted"
options = { rule = "verbose" }

[early-model]
backend = "scripted"
options = { rule = "verbose" }
"""
HEADS = ["index", "question", "hint", "A", "B", "C", "D", "answer", "category", "image"]
LARGE = (900, 600)
ROWS = [
    ["0", "Which colour is it?", "Look.", "red", "blue", "green", "grey", "A", "colour", "red"],
    ["1", "And this one?", "", "red", "blue", "green", "grey", "B", "colour", "blue"],
]
WIDTHS = [{"viewport": {"width": width, "height": 900}} for width in (1280, 390)]
HAVE_COME = """() => [...document.querySelectorAll("a.picture img")]
  .filter(image => image.checkVisibility()).every(image => image.complete && image.naturalWidth)"""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, AppService]]:
    """The address of a server, and beside it the store it works on."""
    with started(tmp_path_factory.mktemp("pictures"), models=MODELS) as server:
        server.wait_for_buttons()
        settings = Settings(data_dir=server.data, models=server.models)
        with closing(Database(settings.database)) as database:
            yield server.address, AppService(settings, database)


@pytest.fixture(scope="module")
def server(desk: tuple[str, AppService]) -> str:
    """In place of the other tests' server."""
    return desk[0]


@pytest.fixture(params=["tsv", "xlsx"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A table in the layout of VLMEvalKit, each picture in its row as base64; or a sheet on which
    the pictures are pasted.
    """
    path = tmp_path / f"Colours_DEV.{request.param}"
    if request.param == "tsv":
        images = [base64.b64encode(png(row[-1], LARGE)).decode() for row in ROWS]
        rows = [HEADS, *([*row[:-1], image] for row, image in zip(ROWS, images, strict=True))]
        path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
        return path
    book = Workbook()
    sheet: Any = book.active
    for row in (HEADS, *([*row[:-1]] for row in ROWS)):
        sheet.append(row)
    for line, row in enumerate(ROWS, start=2):
        sheet.add_image(Image(BytesIO(png(row[-1], LARGE))), f"J{line}")
    book.save(path)
    return path


def pictures(within: Any) -> Any:
    """The small pictures of questions in a part of a page, when all are there."""
    found = within.locator("a.picture img")
    expect(found.first).to_be_visible()
    within.page.wait_for_function(HAVE_COME)
    return found


def has_no_fault(tab: Any) -> None:
    """axe-core finds nothing serious on the page that is open."""
    address = tab.url.partition("#")[0]
    assert violations(tab, address, "light") == []
    assert violations(tab, address, "dark") == []


def test_a_table_with_pictures_is_read_run_and_looked_through(page: Any, file: Path):
    page.goto("/en/")
    page.set_input_files("#files", file)
    page.wait_for_selector(".evaluate .cost", timeout=60_000)
    expect(pictures(preview(page))).to_have_count(2)
    has_no_fault(page)  # the preview stays over a reload
    expect(pictures(page.locator(".asked"))).to_have_count(2)
    page.get_by_role("button", name="Start evaluation").click()
    page.wait_for_url("**run=**", wait_until="commit")
    run_id = page.url.partition("run=")[2].partition("&")[0]
    page.wait_for_function("() => document.title.startsWith('Done')", timeout=60_000)
    page.goto(f"/en/results?run={run_id}&sub=samples")
    reader = page.locator(".qa")
    small = pictures(reader).first
    expect(small).to_have_attribute("alt", "Picture of question 0")
    assert small.evaluate("image => [image.naturalWidth, image.naturalHeight]") == [320, 213]
    expect(page.locator(".questions .pictured img")).to_have_count(2)
    expect(page.locator(".questions .q").last).to_have_text("And this one?")
    has_no_fault(page)
    page.goto(f"/zh/results?run={run_id}&sub=samples")
    expect(pictures(page.locator(".qa")).first).to_have_attribute("alt", "第 0 题的图片")


@pytest.fixture(scope="module")
def judged(desk: tuple[str, AppService]) -> str:
    """A run of written answers about pictures."""
    samples = [
        Sample(f"talk/{n}", asked(RED_MARK, f"What is shown, {n}?"), target=("A square.",))
        for n in range(3)
    ]
    run_id = open_run(desk[1], samples=samples, written=lambda _, side: f"Square {side}.")
    give_pictures(desk[1].database, run_id, RED, BLUE)
    return run_id


@pytest.mark.parametrize("page", WIDTHS, indirect=True)
def test_a_picture_of_a_ballot_is_shown_whole_until_escape(page: Any, judged: str):
    page.goto(f"/en/annotate?run={judged}&voter=ann")
    expect(pictures(page.locator(".pair.now"))).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    link = page.locator(".pair.now a.picture")
    link.press("Enter")
    whole = page.get_by_role("dialog", name="Picture of question")
    expect(whole.locator("img")).to_have_js_property("naturalWidth", 40)
    expect(whole.get_by_role("button", name="Close the picture")).to_be_focused()
    page.keyboard.press("1")  # no vote while the picture is in front
    page.keyboard.press("Escape")
    expect(whole).to_have_count(0)
    expect(link).to_be_focused()
    expect(page.locator(".ballot")).to_contain_text("0 done")
    link.click()
    whole.get_by_role("button").click()
    expect(whole).to_have_count(0)


def test_a_ballot_with_a_picture_has_no_serious_fault(page: Any, judged: str):
    page.goto(f"/en/annotate?run={judged}&voter=ann")
    pictures(page.locator(".pair.now"))
    has_no_fault(page)


def test_a_picture_takes_its_room_before_it_comes(page: Any, judged: str):
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)

    page.route("**/pictures/**", hold)
    page.goto(f"/en/annotate?run={judged}&voter=ann")
    box = page.locator(".pair.now a.picture img").bounding_box()
    assert [round(box["width"]), round(box["height"])] == [4, 3]
    for each in held:
        each.abort()
