"""The first visit, files with faults, and starting a run, by mouse and by keyboard alone."""

import re
from pathlib import Path
from typing import Any

import pytest
from browser_examples import close_preview, pick, preview, unfold_baselines, upload_sample
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
SAME_TAB = True
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}


def test_the_first_visit_shows_what_to_do(page: Any):
    page.goto("/")
    expect(page.get_by_role("heading", name="New evaluation")).to_be_visible()
    expect(page.get_by_text("The sample: 240 questions")).to_be_visible()
    assert re.search(r"/en/evaluate$", page.url)


def test_the_sample_starts_with_one_press_and_its_figures_come_in_place(page: Any):
    page.goto("/en/")
    page.get_by_role("button", name="Try the sample").click()
    page.wait_for_url("**/results?run=**", wait_until="commit", timeout=60_000)
    address = page.url
    expect(page.locator("main .results-page")).to_contain_text("steady", timeout=60_000)
    assert page.url.partition("&")[0] == address.partition("&")[0]
    # What a browser shows of the tab in a row of others: how far the run is, and which it is.
    expect(page).to_have_title(
        re.compile(r"^(Waiting|Starting|\d+ %|Done) · .+ · Results · evalui$")
    )
    expect(page).to_have_title(re.compile(r"^Done · "), timeout=60_000)
    page.get_by_role("link", name="Models").first.click()
    expect(page).to_have_title("Models · evalui")


def test_a_large_file_is_sent_with_a_bar_and_can_be_stopped(page: Any, tmp_path: Path):
    rows = "".join(f"{n},What is {n} + 1?,{n},{n + 1},{n + 2},{n + 3},B\n" for n in range(60_000))
    file = tmp_path / "sums.csv"
    file.write_text("id,question,A,B,C,D,answer\n" + rows, encoding="utf-8")
    page.goto("/en/")
    network = page.context.new_cdp_session(page)
    slow = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 300_000}
    network.send("Network.emulateNetworkConditions", slow)
    status = page.locator(".drop [data-status]").first
    page.set_input_files("#files", file)
    expect(status).to_contain_text("Sending")
    expect(status.get_by_role("progressbar")).to_be_visible()
    status.get_by_role("button", name="Cancel").click()
    expect(status).to_be_empty()
    network.send("Network.emulateNetworkConditions", slow | {"uploadThroughput": -1})
    page.set_input_files("#files", file)
    expect(status).to_contain_text("Reading")
    expect(page.get_by_text("60,000 of 60,000 rows ready").first).to_be_visible(timeout=60_000)


def test_every_example_can_be_downloaded(page: Any):
    page.goto("/en/")
    links = page.get_by_role("link", name="Example")
    expect(links).to_have_count(6)
    for link in links.all():
        with page.expect_download() as started:
            link.click()
        assert started.value.path().stat().st_size > 100


def test_a_faulty_file_is_explained_and_runs_without_its_faulty_rows(page: Any, tmp_path: Path):
    file = tmp_path / "plants.csv"
    file.write_text(FAULTY, encoding="utf-8")
    page.goto("/en/")
    page.set_input_files("#files", file)
    expect(page.get_by_text("3 rows are set aside.")).to_be_visible()
    page.get_by_text("Details").focus()
    page.locator(".ds .l2 > summary").press("Enter")
    expect(page.get_by_text("one of A, B, C, D")).to_be_visible()
    preview(page)
    close_preview(page)
    preview(page)
    expect(page.get_by_role("button", name="Start evaluation")).to_be_enabled()
    assert page.evaluate("window.__xss") is None
    assert page.locator(".gradio-container iframe, .gradio-container img").count() == 0


def test_choices_change_the_cost_at_once(page: Any):
    page.goto("/en/")
    upload_sample(page)
    cost = page.locator(".cost")
    expect(page.get_by_label("steady", exact=True)).to_be_checked()
    expect(cost).to_contain_text("960")  # 240 questions, every position
    page.get_by_label("Cloze", exact=True).check()
    expect(cost).to_contain_text("2,880")  # and twice each of 4 options
    page.get_by_role("button", name="Quick look").press("Space")
    expect(cost).to_contain_text("Requests240")  # each of the 12 subjects has 20
    settings = page.locator("#how > button")
    expect(settings).to_contain_text("as written")
    settings.press("Enter")
    page.get_by_label("Every position (circular)").check()
    expect(settings).to_contain_text("every position")
    limit = page.get_by_role("textbox", name="Questions")
    expect(limit).to_be_visible()  # what was unfolded stays so
    limit.fill("10")
    limit.press("Enter")
    expect(cost).to_contain_text("Requests480")
    pick(page, "Counted per", "dataset")
    expect(cost).to_contain_text("Requests40")
    page.get_by_label("Worked examples").fill("many")
    page.get_by_label("Worked examples").press("Tab")
    expect(cost).to_contain_text("is not a whole number")


def test_start_is_in_sight_without_scrolling(page: Any):
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto("/en/")
    upload_sample(page)
    start = page.get_by_role("button", name="Start evaluation")
    expect(start).to_be_in_viewport(ratio=1)
    page.mouse.wheel(0, 2000)
    expect(start).to_be_in_viewport(ratio=1)


def test_unknown_headers_are_chosen_used_and_remembered(page: Any, tmp_path: Path):
    text = "one,two,three,four\nCapital of France?,Paris,Rome,1\nOf Italy?,Paris,Rome,2\n"
    for name in ("first", "second"):
        (tmp_path / f"{name}.csv").write_text(text.replace("Of", name), encoding="utf-8")
    page.goto("/en/")
    page.set_input_files("#files", tmp_path / "first.csv")
    expect(page.get_by_role("heading", name="Which column is what?")).to_be_visible()
    role = page.get_by_label("Role of four")
    expect(role).to_have_value("answer")
    role.select_option("")
    expect(page.get_by_text("No column is the right answer yet.")).to_be_visible()
    role.select_option("answer")
    expect(page.get_by_text("2 of 2 rows will be readable")).to_be_visible()
    page.get_by_role("button", name="Use these columns").press("Enter")
    expect(page.get_by_text("2 of 2 rows ready")).to_be_visible()
    page.goto("/en/")
    page.set_input_files("#files", tmp_path / "second.csv")
    expect(page.get_by_text("2 of 2 rows ready")).to_be_visible()


def test_all_that_was_typed_is_there_after_a_reload_and_after_going_back(page: Any):
    page.goto("/en/")
    upload_sample(page)
    page.wait_for_url("**uploads=**")
    page.get_by_label("Name of the run").fill("Midterm")
    unfold_baselines(page)
    boxes = page.locator("input[name=models]:enabled")
    for box in boxes.all():  # quickly: each is drawn anew while the next is pressed
        box.set_checked(not box.is_checked())
    chosen = [box.is_checked() for box in boxes.all()]
    page.reload()
    for do in (lambda: None, page.go_back, page.go_forward):
        do()
    expect(page.locator(".ds b").first).to_have_text("evalui-sample")
    expect(page.get_by_label("Name of the run")).to_have_value("Midterm")
    assert [box.is_checked() for box in boxes.all()] == chosen


def test_what_is_typed_while_the_page_is_drawn_anew_stays(page: Any):
    page.goto("/en/")
    upload_sample(page)
    name, cost = page.get_by_label("Name of the run"), page.locator(".cost")
    page.get_by_label("Cloze", exact=True).check()
    name.click()
    page.keyboard.type("Midterm of spring", delay=40)
    expect(cost).to_contain_text("Requests2,880")
    expect(name).to_have_value("Midterm of spring")
    page.locator("#how > button").press("Enter")
    pick(page, "Prompt", "my own text")
    text = page.get_by_label("Question with its options")
    text.press("Control+End")
    page.keyboard.type(" Think first.")
    page.get_by_label("Cloze", exact=True).uncheck()
    expect(cost).to_contain_text("Requests960")
    page.reload()
    expect(text).to_have_value(re.compile(r"Think first\.$"))
    expect(name).to_have_value("Midterm of spring")


def test_the_keyboard_alone_is_enough(page: Any):
    page.goto("/en/")
    upload_sample(page)
    expect(page.get_by_label("steady", exact=True)).to_be_checked()
    page.locator(".models .foldrow > summary").press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(page.locator(".models .hd .meta")).to_contain_text("2 chosen")  # drawn anew by now
    expect(page.get_by_label("always-A", exact=True)).to_be_focused()
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    for _ in range(60):
        if page.evaluate("document.activeElement.innerText") == "Start evaluation":
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector(".matrix")


@pytest.mark.parametrize("page", [PHONE], indirect=True, ids=["390"])
def test_a_phone_never_scrolls_sideways(page: Any, run_id: str):
    page.goto("/zh/")
    upload_sample(page)
    assert overflow(page) == 0
    for address in ("tab=runs", "sub=overview", "sub=bias", "sub=samples", "sub=report"):
        page.goto(f"/zh/?run={run_id}&{address}")
        page.wait_for_selector(".results-page h1, .runs-page h1, .runline", state="attached")
        page.wait_for_timeout(300)
        assert overflow(page) == 0, address
    page.goto("/zh/?tab=runs")
    # What can be done to a run lies within the screen, not at the end of a wide table.
    delete = page.locator(".runs-page .links").get_by_text("删除", exact=True).first
    expect(delete).to_be_visible()
    assert delete.bounding_box()["x"] < 300
