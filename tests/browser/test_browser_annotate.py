"""Voting blind: by keys alone, kept at once, without a name anywhere before the end."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from browser_views import complete
from open_browser_examples import CONTESTANTS, Hall, answer, contest, look_at_pair, question
from playwright.sync_api import expect

from evalui.store.voting.votes import read_votes
from evalui.types import Sample

KEYS = "1234213441"
SAID = {"1": "a", "2": "b", "3": "tie", "4": "neither"}
HOSTILE = (
    "<img src=https://evil.example/x.png onerror=window.__xss=1><script>window.__xss=2</script>"
    '<iframe srcdoc="<script>parent.__xss=3</script>"></iframe>'
    "<svg onload=window.__xss=4></svg>"
    "![tracked](https://evil.example/y.png) [press](javascript:window.__xss=5)\n\n"
    r"$\href{javascript:window.__xss=6}{z}$ and $\includegraphics{https://evil.example/z.png}$"
    "\n\n$$\n\\frac{1}{2}\n$$"
)


@pytest.fixture(scope="module")
def run_id(hall: Hall) -> str:
    """A judged run to vote on."""
    return contest(hall)


@pytest.fixture(scope="module")
def server(hall: Hall) -> str:
    """The address that the pages of this file belong to."""
    return hall.address


def enter(page: Any, run_id: str, name: str) -> None:
    """Open the page by its old address, and vote under a name."""
    page.goto(f"/en/?run={run_id}&tab=annotate")
    field = page.get_by_label("Your name")
    field.fill(name)
    field.press("Enter")
    expect(page.locator(".head")).to_contain_text(f"you are {name}")
    expect(page.locator(".pair.now")).to_be_visible()
    page.evaluate("document.activeElement.blur()")


def press(page: Any, key: str) -> None:
    """Press a key after reading."""
    look_at_pair(page)
    page.keyboard.press(key)


def settled(page: Any, told: str) -> None:
    """Wait for the server's answer to the last key."""
    expect(page.locator(".ballot:not(.ahead) .last-vote")).to_contain_text(told)


def in_view(page: Any) -> tuple[str, str, str]:
    """The question's id and who wrote the answers in view, found by what is written."""
    shown = page.locator(".pair.now")
    number = int(re.findall(r"square of (\d+)", shown.locator(".ballot-question").inner_text())[0])
    # Formulas are drawn beside their source: the words before them are enough.
    written = {answer(name, number).split("$")[0]: name for name in CONTESTANTS}
    sides = [
        next(written[text] for text in written if plain(text) in plain(side))
        for side in shown.locator(".ballot-answer").all_inner_texts()
    ]
    return question(number).id, *sides


def plain(text: str) -> str:
    """Letters and digits only; marks of lists and of bold type do not survive."""
    return re.sub(r"\W|(?m:^\d\. )", "", text)


def test_keys_vote_undo_and_skip_and_every_vote_is_kept_as_pressed(
    page: Any, hall: Hall, run_id: str
):
    enter(page, run_id, "ann")
    expected = []
    for place, key in enumerate(KEYS, start=1):
        expected.append((*in_view(page), SAID[key]))
        press(page, key)
        settled(page, f"pair {place},")
    press(page, "s")
    settled(page, "pair 11, skipped")
    press(page, "u")
    settled(page, "pair 10,")
    press(page, "u")
    settled(page, "pair 9,")
    assert (*in_view(page), SAID[KEYS[-1]]) == expected.pop()
    votes = [vote for vote in read_votes(hall.database, run_id) if vote.by == "ann"]
    assert [(vote.sample_id, vote.left, vote.right, vote.choice) for vote in votes] == expected
    assert all(0.2 < (vote.seconds or 0) < 60 for vote in votes)


def test_a_reload_goes_on_where_the_person_was(page: Any, run_id: str):
    enter(page, run_id, "ben")
    press(page, "2")
    settled(page, "pair 1, B is better")
    before = page.locator(".pair.now").get_attribute("data-pair")
    page.reload()
    settled(page, "pair 1, B is better")
    expect(page.locator(".head")).to_contain_text("you are ben")  # kept in the browser
    assert page.locator(".pair.now").get_attribute("data-pair") == before
    expect(page.locator(".far")).to_contain_text("1 done")


def test_a_note_is_typed_without_voting_and_goes_with_its_vote(page: Any, hall: Hall, run_id: str):
    enter(page, run_id, "cleo")
    page.locator("summary", has_text="Note on this pair").click()
    note = page.get_by_label("Note on this pair").and_(page.locator("textarea"))
    note.type("1 2 3 4 s u")
    note.press("Tab")
    expect(page.locator(".last-vote")).to_have_text("Each vote is saved at once.")
    assert not [vote for vote in read_votes(hall.database, run_id) if vote.by == "cleo"]
    page.evaluate("document.activeElement.blur()")
    press(page, "3")
    settled(page, "pair 1, both good")
    (vote,) = [vote for vote in read_votes(hall.database, run_id) if vote.by == "cleo"]
    assert (vote.choice, vote.comment) == ("tie", "1 2 3 4 s u")
    expect(note).not_to_be_visible()
    page.locator("summary", has_text="Note on this pair").click()
    expect(note).to_have_value("")


def test_no_name_reaches_the_browser_before_finish(page: Any, server: str, run_id: str):
    received = record(page, server)
    enter(page, run_id, "dora")
    place, judged = 0, set[str]()
    while judged != set(CONTESTANTS):  # which pairs come first is drawn
        judged.update(in_view(page)[1:])
        place += 1
        press(page, "1")
        settled(page, f"pair {place},")
    page.locator("summary", has_text="Finish and show names").click()
    expect(page.get_by_role("button", name="Finish and show names")).to_be_visible()
    told = "".join(received)
    assert "The square of" in told, "what the page is told was recorded"
    everything = told + page.content()
    assert [name for name in CONTESTANTS if name in everything] == []
    page.get_by_role("button", name="Finish and show names").click()
    expect(page.get_by_role("heading", name="You preferred")).to_be_visible()
    for name in CONTESTANTS:
        expect(page.locator(".annotate-page .mk", has_text=name).first).to_be_visible()
    assert all(name in "".join(received) for name in CONTESTANTS)


def record(page: Any, server: str) -> list[str]:
    """Every page and every event that the server sends from now on; files of the page are not."""
    received: list[str] = []

    def keep(route: Any) -> None:
        found = route.fetch(max_redirects=0)
        received.append(found.text())
        route.fulfill(response=found)

    page.route(re.compile(rf"{server}/(en|zh)/(annotate)?(\?.*)?$"), keep)
    page.route(re.compile(rf"{server}/(en|zh)/(config|gradio_api/(?!heartbeat)).*"), keep)
    return received


def test_hostile_answers_run_nothing_and_formulas_are_drawn(page: Any, hall: Hall):
    samples = [
        Sample(f"talk/{number}", f"{HOSTILE} {number}?", target=(HOSTILE,)) for number in range(2)
    ]
    written = {
        name: {sample.id: (f"{name[0]} {HOSTILE}",) for sample in samples}
        for name in CONTESTANTS[:2]
    }
    run_id = hall.wait(hall.start("hostile", samples, written))
    enter(page, run_id, "eve")
    page.wait_for_function(
        "document.querySelector('.pair.now ev-math[data-display]')"
        "?.shadowRoot?.querySelector('.katex .mfrac')"
    )
    for link in page.locator(".pair.now a", has_text="press").all():
        link.click()
    press(page, "1")
    settled(page, "pair 1,")
    assert page.evaluate("window.__xss") is None
    assert page.locator(".ballot :is(img, iframe, script, svg[onload])").count() == 0
    links = page.locator(".pair.now a").evaluate_all("all => all.map(a => a.protocol)")
    assert set(links) <= {"https:"}
    drawn = page.locator(".pair.now ev-math").evaluate_all(
        "all => all.flatMap(one => [...one.shadowRoot.querySelectorAll('a, img')]).length"
    )
    assert drawn == 0


def test_all_pairs_done_says_so(page: Any, hall: Hall):
    samples = [question(number) for number in range(2)]
    written = {
        name: {sample.id: (answer(name, place),) for place, sample in enumerate(samples)}
        for name in CONTESTANTS[1:]
    }
    run_id = hall.wait(hall.start("short", samples, written))
    enter(page, run_id, "finn")
    expect(page.locator(".head")).to_contain_text("pair 1 of 2")
    press(page, "1")
    settled(page, "pair 1,")
    press(page, "4")
    expect(page.get_by_role("heading", name="All pairs are done")).to_be_visible()
    assert len(read_votes(hall.database, run_id)) == 2


def test_names_that_other_tabs_showed_leave_the_document(page: Any, run_id: str):
    page.goto(f"/en/?run={run_id}&tab=compare")
    expect(page.locator(".compare-page .mk", has_text=CONTESTANTS[0]).first).to_be_visible()
    page.get_by_role("link", name="Annotate", exact=True).click()
    expect(page.get_by_role("heading", name="Which answer is better?")).to_be_visible()
    assert [name for name in CONTESTANTS if name in page.content()] == []
    page.get_by_role("link", name="Compare", exact=True).click()
    expect(page.locator(".compare-page")).to_contain_text(CONTESTANTS[0])


def test_another_name_is_given_in_place_of_the_one_kept(page: Any, run_id: str):
    enter(page, run_id, "gus")
    pair = page.locator(".pair.now").get_attribute("data-pair")
    page.get_by_role("link", name="change").click()
    field = page.get_by_label("Your name")
    expect(field).to_have_value("gus")
    field.fill("hana")
    page.get_by_role("button", name="Start voting").click()
    expect(page.locator(".head")).to_contain_text("you are hana")
    assert page.locator(".pair.now").get_attribute("data-pair") == pair
    expect(page).to_have_url(re.compile(f"/en/annotate\\?run={run_id}&pair={pair}$"))
    page.reload()
    expect(page.locator(".head")).to_contain_text("you are hana")


def test_a_press_at_once_is_a_slip_and_a_key_that_is_held_votes_once(
    page: Any, hall: Hall, run_id: str
):
    enter(page, run_id, "ida")
    look_at_pair(page)
    page.keyboard.press("1")
    page.keyboard.press("2")  # the next pair has been there for some milliseconds
    settled(page, "pair 1, A is better")
    look_at_pair(page)
    page.keyboard.down("3")
    for _ in range(5):
        page.keyboard.down("3")  # repeats
    page.keyboard.up("3")
    settled(page, "pair 2, both good")
    page.wait_for_timeout(500)
    votes = [vote.choice for vote in read_votes(hall.database, run_id) if vote.by == "ida"]
    assert votes == ["a", "tie"]


def test_the_next_pair_is_shown_before_the_server_answers(page: Any, run_id: str):
    enter(page, run_id, "joe")
    following = page.locator(".pair.next").get_attribute("data-pair")
    held: list[Any] = []
    page.route("**/gradio_api/run/**", lambda route: held.append(route))
    press(page, "1")
    shown = page.locator(".pair:visible")
    expect(shown).to_have_attribute("data-pair", following)
    assert len(held) == 1
    page.wait_for_timeout(300)
    page.keyboard.press("2")  # is kept until the answer is there
    assert len(held) == 1
    held[0].continue_()
    page.unroute("**/gradio_api/run/**")
    settled(page, "pair 2, B is better")


def test_buttons_by_keyboard_keep_the_focus_from_pair_to_pair(page: Any, run_id: str):
    enter(page, run_id, "kim")
    page.locator("[data-key='3']").focus()
    for place in (1, 2):
        look_at_pair(page)
        page.keyboard.press("Enter")
        settled(page, f"pair {place}, both good")
        expect(page.locator("[data-key='3']")).to_be_focused()


def send(page: Any, path: Path) -> None:
    """Choose a file of votes."""
    complete(page)
    with page.expect_file_chooser() as chosen:
        page.get_by_role("button", name="Add votes from a file").click()
    chosen.value.set_files(path)


def test_votes_come_from_a_file(page: Any, hall: Hall, tmp_path: Path):
    samples = [question(number) for number in range(2)]
    written = {
        name: {sample.id: (answer(name, place),) for place, sample in enumerate(samples)}
        for name in CONTESTANTS[:2]
    }
    run_id = hall.wait(hall.start("brought", samples, written))
    line = {"model_a": CONTESTANTS[0], "model_b": CONTESTANTS[1], "winner": "model_a"}
    line |= {"question": samples[0].id, "by": "zoe"}
    path = tmp_path / "votes.jsonl"
    path.write_text(json.dumps(line), encoding="utf-8")
    enter(page, run_id, "lea")
    press(page, "1")
    settled(page, "pair 1,")
    page.locator("summary", has_text="Finish and show names").click()
    page.get_by_role("button", name="Finish and show names").click()
    expect(page.get_by_role("heading", name="You preferred")).to_be_visible()
    send(page, path)
    expect(page.get_by_text("One vote was new and is kept.")).to_be_visible()
    assert {vote.by for vote in read_votes(hall.database, run_id)} == {"lea", "zoe"}
    path.write_text("no json", encoding="utf-8")
    send(page, path)
    expect(page.get_by_text("expected a vote as a JSON object")).to_be_visible()
