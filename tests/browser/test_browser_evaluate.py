"""The first visit, files with faults, and starting a run, by mouse and by keyboard alone."""

import re
from pathlib import Path
from typing import Any

import pytest
from open_browser_examples import overflow
from playwright.sync_api import expect

HOSTILE = (
    '<img src=x onerror=""window.__xss=1""><script>window.__xss=2</script>'
    '<iframe srcdoc=""<script>parent.__xss=3</script>""></iframe>'
)
FAULTY = f"""id,question,A,B,C,D,answer
1,Typically, plants take up water through what?,roots,bark,leaves,fruit,A
2,Capital of France?,Paris,Rome,Oslo,Bern,A
3,"{HOSTILE}","{HOSTILE}",Rome,Oslo,Bern,E
4,"{HOSTILE}","{HOSTILE} ",Rome,Oslo,Bern,B
5,,Paris,Rome,Oslo,Bern,A
"""
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}


def test_the_first_visit_shows_what_to_do(page: Any):
    page.goto("/")
    expect(page.get_by_role("heading", name="New evaluation")).to_be_visible()
    expect(page.get_by_text("240 questions in English and Chinese")).to_be_visible()
    assert re.search(r"/en/$", page.url)


def test_a_faulty_file_is_explained_and_runs_without_its_faulty_rows(page: Any, tmp_path: Path):
    file = tmp_path / "plants.csv"
    file.write_text(FAULTY, encoding="utf-8")
    page.goto("/en/")
    page.set_input_files("#files", file)
    expect(page.get_by_role("heading", name="3 rows cannot be used")).to_be_visible()
    expect(page.get_by_text("one of A, B, C, D")).to_be_visible()
    start = page.get_by_role("button", name="Start evaluation")
    expect(start).to_be_disabled()
    page.get_by_text("Preview", exact=True).click()
    page.get_by_text("Leave out these 3 rows").click()
    expect(start).to_be_enabled()
    expect(page.get_by_text("Requests", exact=True)).to_be_visible()
    assert page.evaluate("window.__xss") is None
    assert page.locator("#evaluate-pane iframe, #evaluate-pane img").count() == 0


def test_choices_change_the_cost_at_once(page: Any):
    page.goto("/en/")
    page.get_by_role("button", name="Try it with a sample").click()
    cost = page.locator(".cost")
    page.get_by_label("steady", exact=True).set_checked(True)
    expect(cost).to_contain_text("2,880")  # 240 x 4 letters + 240 x 8 cloze
    page.get_by_label("As written").check()
    expect(cost).to_contain_text("2,160")
    page.get_by_label("Questions").fill("10")
    page.get_by_label("Questions").press("Enter")
    expect(cost).to_contain_text("1,080")  # 10 questions of each of 12 subjects
    page.get_by_label("Counted per").select_option("dataset")
    expect(cost).to_contain_text("Requests90")
    page.get_by_label("Worked examples").fill("many")
    page.get_by_label("Worked examples").press("Tab")
    expect(cost).to_contain_text("is not a number")


def test_the_keyboard_alone_is_enough(page: Any):
    page.goto("/en/")
    page.get_by_role("button", name="Try it with a sample").focus()
    page.keyboard.press("Enter")
    steady = page.get_by_label("steady", exact=True)
    expect(steady).to_be_checked()
    steady.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(page.get_by_label("always-A", exact=True)).to_be_checked()
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    for _ in range(30):
        if page.evaluate("document.activeElement.dataset.do") == "start":
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("#runs-pane .matrix")


@pytest.mark.parametrize("page", [PHONE], indirect=True, ids=["390"])
def test_a_phone_never_scrolls_sideways(page: Any, run_id: str):
    page.goto("/zh/")
    page.get_by_role("button", name="先用示例试试").click()
    page.wait_for_selector(".cost")
    assert overflow(page) == 0
    for address in ("tab=runs", "sub=overview", "sub=bias", "sub=samples", "sub=report"):
        page.goto(f"/zh/?run={run_id}&{address}")
        page.wait_for_selector("#results-head h1, #runs-pane h1", state="attached")
        page.wait_for_timeout(300)
        assert overflow(page) == 0, address
    page.goto("/zh/?tab=runs")
    # What can be done to a run lies within the screen, not at the end of a wide table.
    delete = page.locator("#runs-pane .links").get_by_text("删除", exact=True).first
    expect(delete).to_be_visible()
    assert delete.bounding_box()["x"] < 300


def test_a_click_before_the_address_is_answered_loses_neither_its_models_nor_itself(page: Any):
    def late(route: Any) -> None:
        # The page's first question takes long; what is clicked meanwhile is answered at once.
        if not held and '"data":[]' in (route.request.post_data or ""):
            held.append(route)
        else:
            route.fallback()

    held: list[Any] = []
    page.route("**/gradio_api/**", late)
    page.goto("/en/?models=always-A")
    page.get_by_role("button", name="Try it with a sample").click()
    chosen = page.get_by_label("always-A", exact=True)
    expect(chosen).to_be_checked()
    held[0].continue_()
    expect(page.locator(".preselected")).to_contain_text("always-A")
    expect(chosen).to_be_checked()
    chosen.uncheck()
    expect(page.locator(".cost")).to_contain_text("Choose a model.")
    expect(page.locator(".preselected")).to_have_count(0)
