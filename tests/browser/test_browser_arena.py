"""The Arena of a finished run: standings, trust, charts and duels, in both languages and themes."""

from typing import Any

import pytest
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

PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
SUBS = ("overall", "language", "capability", "duels")
PAIRS = 3


@pytest.fixture(scope="module")
def run_id(hall: Hall) -> str:
    """A judged run to look at."""
    return contest(hall)


@pytest.fixture(scope="module")
def server(hall: Hall) -> str:
    """The address that the pages of this file belong to."""
    return hall.address


def choose_judge(page: Any, name: str) -> None:
    page.locator("#arena-head select[name=arena_place]").select_option(label=name)
    expect(page.locator("#arena-head")).to_contain_text(f"judge: {name}")


def test_the_overall_view_shows_standings_warnings_and_both_charts(page: Any, run_id: str):
    page.goto(f"/en/?run={run_id}&tab=arena")
    head = page.locator("#arena-head")
    expect(head.get_by_role("heading")).to_have_text("Arena · squares")
    expect(head).to_contain_text("panel of 2 judges")
    choose_judge(page, JUDGES[1])
    expect(head).to_contain_text(f"{QUESTIONS} questions · 3 pairs · both orders · 72 verdicts")
    rows = page.locator("table.standings tbody tr")
    assert [row.split()[0] for row in rows.all_inner_texts()] == list(CONTESTANTS)
    for row in rows.all():
        wins, ties, losses = (int(n) for n in row.locator("td").all_inner_texts()[1:4])
        assert wins + ties + losses == 2 * 2 * QUESTIONS  # two others, two orders
    expect(page.locator("#arena-top .note.warn").first).to_contain_text("a rule decides")
    expect(page.locator("#arena-top .note.warn").nth(1)).to_contain_text("swapped places")
    elo = page.locator(".chart-card:not(.crossed) .js-plotly-plot")
    expect(elo.locator(".scatterlayer .points path")).to_have_count(len(CONTESTANTS))
    assert elo.locator(".ytick text").all_text_contents() == list(CONTESTANTS)
    cells = page.locator(".crossed .heatmap-label text")
    expect(cells).to_have_count(2 * PAIRS)
    assert all("%" in cell for cell in cells.all_text_contents())


def test_views_open_by_their_tab_and_by_their_address(page: Any, run_id: str):
    told = {
        "overall": "Judge reliability",
        "language": "By language",
        "capability": "By capability",
        "duels": f"{PAIRS * QUESTIONS} duels",
    }
    page.goto(f"/en/?run={run_id}&tab=arena")
    for sub in SUBS:
        page.locator(f"#tab-arena-{sub}-button").click()
        view = page.locator(f"#tab-arena-{sub}")
        expect(view).to_contain_text(told[sub])
        expect(view).to_be_visible()
    for sub in SUBS[1:]:
        page.goto(f"/en/?run={run_id}&tab=arena&sub={sub}")
        expect(page.locator(f"#tab-arena-{sub}-button")).to_have_attribute("aria-selected", "true")
        expect(page.locator(f"#tab-arena-{sub}")).to_contain_text(told[sub])
        expect(page.locator("#tab-arena-overall")).to_be_hidden()


def test_a_duel_opens_from_the_list_with_both_answers_and_the_judges_words(page: Any, run_id: str):
    page.goto(f"/en/?run={run_id}&tab=arena&sub=duels")
    expect(page.locator(".detail.duel")).to_contain_text("Question cn-0")
    choose_judge(page, JUDGES[1])
    page.get_by_label("Outcome").select_option(label="changed with the order")
    expect(page.locator(".detail.duel")).to_contain_text("The outcome changed with the order.")
    changed = page.locator(".list li").count()
    assert 0 < changed < PAIRS * QUESTIONS
    page.get_by_label("Outcome").select_option(label="all")
    expect(page.locator(".list li")).to_have_count(PAIRS * QUESTIONS)
    page.get_by_label("Find").fill("square of 7")
    page.get_by_label("Find").press("Enter")
    expect(page.locator(".list li")).to_have_count(PAIRS)
    page.locator(".list button", has_text="quokka – wombat").click()
    duel = page.locator(".detail.duel")
    expect(duel).to_contain_text("Question en-7")
    for place, name in enumerate(("quokka", "wombat")):
        shown = duel.locator(".answers .variant").nth(place)
        expect(shown.get_by_role("heading")).to_have_text(name)
        assert shown.locator(".quoted").inner_text().split() == answer(name, 7).split()
    verdicts = duel.locator(".variants .variant")
    expect(verdicts).to_have_count(2)
    expect(verdicts.nth(0)).to_contain_text("quokka shown first")
    expect(verdicts.nth(1)).to_contain_text("wombat shown first")
    expect(duel).to_contain_text("quokka wins")
    for verdict in verdicts.all():
        assert verdict.locator("pre").inner_text().strip(), "the judge's own words"


def test_the_language_changes_and_the_view_stays(page: Any, run_id: str):
    page.goto(f"/en/?run={run_id}&tab=arena&sub=capability")
    expect(page.locator("#tab-arena-capability")).to_contain_text("By capability")
    page.get_by_role("link", name="中文").click()
    page.wait_for_url(f"**/zh/?run={run_id}&tab=arena&sub=capability")
    expect(page.locator("#tab-arena-capability")).to_contain_text("按能力")
    expect(page.locator("#arena-head")).to_contain_text("对战 · squares")
    expect(page.locator("#tab-arena-capability-button")).to_have_attribute("aria-selected", "true")


@pytest.mark.parametrize("page", [PHONE], indirect=True, ids=["390"])
def test_a_phone_never_scrolls_sideways_in_the_arena_or_the_room(page: Any, run_id: str):
    ready = {"tab=annotate": ".pair.now .answer"} | {
        f"tab=arena&sub={sub}": f"#tab-arena-{sub} :is(.card, .chart-card)" for sub in SUBS
    }
    for address, part in ready.items():
        page.goto(f"/zh/?run={run_id}&{address}")
        expect(page.locator(part).first).to_be_visible()
        page.wait_for_timeout(300)
        assert overflow(page) == 0, address
    page.set_viewport_size({"width": 844, "height": 390})
    page.wait_for_timeout(300)
    assert overflow(page) == 0, "turned on its side"


def test_texts_stand_out_in_both_themes(page: Any, run_id: str):
    for theme in ("light", "dark"):
        page.goto(f"/en/?run={run_id}&tab=arena&__theme={theme}")
        page.wait_for_selector(f"body{'.dark' if theme == 'dark' else ':not(.dark)'}")
        for part in ("table.standings td b", "#arena-top .note.warn"):
            expect(page.locator(part).first).to_be_visible()
            assert contrast(page, part) >= 4.5, (theme, part)
        page.goto(f"/en/?run={run_id}&tab=annotate&__theme={theme}")
        for part in (".pair.now .answer .written p", ".choices .btn"):
            expect(page.locator(part).first).to_be_visible()
            assert contrast(page, part) >= 4.5, (theme, part)


def contrast(page: Any, part: str) -> float:
    """Between a text's colour and what is painted behind it, as WCAG 2 has it: 1 to 21."""
    ink, paper = page.locator(part).first.evaluate(
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
