"""A judged run of two judges: its verdict, its duels by address and key, in both themes."""

from typing import Any

import pytest
from browser_examples import pick
from browser_views import complete
from open_browser_examples import (
    CONTESTANTS,
    JUDGES,
    QUESTIONS,
    Hall,
    answer,
    contest,
    overflow,
)
from playwright.sync_api import expect

SAME_TAB = True
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
PAIRS = 3


@pytest.fixture(scope="module")
def run_id(hall: Hall) -> str:
    """A judged run to look at."""
    return contest(hall)


@pytest.fixture(scope="module")
def server(hall: Hall) -> str:
    """The address that the pages of this file belong to."""
    return hall.address


def current(page: Any) -> Any:
    """The marked link of each row of views."""
    return page.locator("nav.sub a[aria-current]:visible")


def test_the_judge_leads_and_another_judge_has_its_own_address(page: Any, run_id: str):
    page.goto(f"/en/?run={run_id}")
    expect(page.get_by_role("heading", level=1, name="numbat").first).to_be_visible()
    expect(current(page)).to_have_text(["Overview", "all judges together"])
    page.get_by_role("link", name=f"{JUDGES[1]} (rule-based)").click()
    page.wait_for_url("**arena=2**")
    expect(page.locator(".support:visible")).to_contain_text("A rule judged, not a model:")
    rows = page.locator("table.lead:visible tbody tr")
    expect(rows).to_have_count(len(CONTESTANTS))
    assert [row.split()[1] for row in rows.all_inner_texts()] == list(CONTESTANTS)
    # Won, tied and lost of two others, in two orders; the document comes after its verdict.
    page.wait_for_function(
        """total => [...document.querySelectorAll("table.lead tbody tr")].every(row =>
          [...row.querySelectorAll("td.r")].reduce((sum, n) => sum + +n.innerText, 0) === total)""",
        arg=2 * 2 * QUESTIONS,
    )
    page.go_back()
    expect(current(page)).to_have_text(["Overview", "all judges together"])


def test_sections_open_by_their_finding_and_hold_drawings_and_tables(page: Any, run_id: str):
    page.goto(f"/en/?run={run_id}&arena=2")
    beats = page.locator("#who-beats-whom:visible")
    expect(beats.locator("> button")).to_contain_text("of its duels with quokka")
    beats.locator("> button").click()
    beats.locator("figure ev-plot").first.scroll_into_view_if_needed()
    expect(beats.locator("figure ev-plot .main-svg").first).to_be_visible()
    expect(beats.locator("tbody tr:not(.same *)")).to_have_count(PAIRS)
    beats.get_by_role("link", name="%").first.click()
    page.wait_for_url("**sub=duels**")
    expect(page.get_by_label("Pair").first).to_have_value("numbat – quokka")


def test_a_duel_opens_from_the_list_by_key_and_by_address(page: Any, run_id: str):
    page.goto(f"/en/?run={run_id}&tab=results&sub=duels&arena=2")
    duel = page.locator(".duel:visible")
    expect(duel).to_contain_text("Question cn-0")
    pick(page, "Outcome", "changed with the order")
    expect(duel).to_contain_text("The outcome changed with the order.")
    page.wait_for_url("**duel_outcome=changed**")
    changed = page.locator(".questions:visible li").count()
    assert 0 < changed < PAIRS * QUESTIONS
    pick(page, "Outcome", "all")
    expect(page.locator(".questions:visible li")).to_have_count(PAIRS * QUESTIONS)
    page.get_by_label("Find").fill("square of 7")
    expect(page.locator(".questions:visible li")).to_have_count(PAIRS)
    page.locator(".questions a", has_text="quokka – wombat").click()
    expect(duel).to_contain_text("Question en-7")
    answers = duel.locator(".answers .variant")
    expect(answers.get_by_role("heading")).to_have_text(["quokka", "wombat"])
    # As the Markdown that it is written in.
    expect(answers.nth(0).locator("ol li")).to_have_text(["The square of 7 is 49.", "That is all."])
    expect(answers.nth(0).locator("strong")).to_have_text("all")
    expect(answers.nth(1).locator(".written")).to_have_text(answer("wombat", 7))
    verdicts = duel.locator(".variants .variant")
    expect(verdicts.nth(0)).to_contain_text("quokka shown first")
    expect(verdicts.nth(1)).to_contain_text("wombat shown first")
    for verdict in verdicts.all():
        assert verdict.locator(".said").inner_text().strip(), "the judge's own words"
    address = page.url
    page.locator("body").press("k")
    expect(duel.locator(".answers h3").first).to_have_text("numbat")
    page.locator("body").press("j")
    page.wait_for_url(address)
    page.reload()
    expect(duel).to_contain_text("Question en-7")


def test_the_arena_filters_all_judged_runs_and_leads_to_each(page: Any, run_id: str):
    page.goto("/en/?tab=arena")
    board = page.locator(".arena-page")
    expect(board.locator("table.lead tbody tr")).to_have_count(len(CONTESTANTS))
    every = board.locator("table.lead").inner_text()
    pick(page, "Language", "Chinese")
    page.wait_for_url("**/arena?board_language=zh")
    expect(board.locator("table.lead")).not_to_have_text(every)
    complete(page)
    page.go_back()
    expect(page.get_by_label("Language").first).to_have_value("all")
    page.get_by_role("link", name="squares").first.click()
    page.wait_for_url(f"**/results?run={run_id}**")
    expect(page.locator(".results-page")).to_contain_text("panel of 2 judges")
    page.get_by_role("link", name="Duels").click()
    expect(page.locator(".list-h h2")).to_have_text(f"{PAIRS * QUESTIONS} duels")


def test_the_language_changes_and_the_view_stays(page: Any, run_id: str):
    page.goto(f"/en/?run={run_id}&tab=arena&sub=duels&arena=1")  # as old links have it
    expect(page.locator(".duel")).to_contain_text("Question cn-0")
    page.get_by_role("link", name="中文").click()
    page.wait_for_url(f"**/zh/results?run={run_id}&sub=duels&arena=1")
    expect(page.locator(".duel")).to_contain_text("题目 cn-0")


@pytest.mark.parametrize("page", [PHONE], indirect=True, ids=["390"])
def test_a_phone_never_scrolls_sideways_in_a_judged_run(page: Any, run_id: str):
    ready = {
        f"run={run_id}&tab=results": "table.lead",
        f"run={run_id}&tab=results&sub=duels": ".list-and-reader .questions",
        "tab=arena": "table.lead",
    }
    for address, part in ready.items():
        page.goto(f"/zh/?{address}")
        expect(page.locator(f"{part}:visible").first).to_be_visible()
        page.wait_for_timeout(300)
        assert overflow(page) == 0, address
    page.goto(f"/zh/?run={run_id}&tab=results&sub=duels")
    page.locator(
        ".list-and-reader .questions a:visible"
    ).first.click()  # a phone shows the duel alone
    expect(page.locator(".duel:visible")).to_be_visible()
    expect(page.locator(".list-and-reader .questions:visible")).to_have_count(0)
    assert overflow(page) == 0


def test_texts_stand_out_in_both_themes(page: Any, run_id: str):
    for theme in ("light", "dark"):
        page.goto(f"/en/?run={run_id}&__theme={theme}")
        page.wait_for_selector(f"html{'.dark' if theme == 'dark' else ':not(.dark)'}")
        for part in ("table.lead .big", "table.lead .meta", ".headline .support", "th.faint"):
            shown = page.locator(f"{part}:visible")
            if part != "th.faint" or shown.count():
                expect(shown.first).to_be_visible()
                assert contrast(page, part) >= 4.5, (theme, part)


def contrast(page: Any, part: str) -> float:
    """Between a text's colour and what is painted behind it, as WCAG 2 has it: 1 to 21."""
    ink, paper = page.locator(f"{part}:visible").first.evaluate(
        """found => {
          const ink = getComputedStyle(found).color;
          let paper = found;
          const clear = () => getComputedStyle(paper).backgroundColor === "rgba(0, 0, 0, 0)";
          while (clear()) paper = paper.parentElement;
          const numbers = text => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
          return [numbers(ink), numbers(getComputedStyle(paper).backgroundColor)];
        }"""
    )
    lighter, darker = sorted((luminance(ink), luminance(paper)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: list[float]) -> float:
    """Relative luminance of an sRGB colour with parts 0 to 255."""
    parts = [part / 255 for part in colour]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
