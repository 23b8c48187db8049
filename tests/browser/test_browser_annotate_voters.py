"""People with accounts and a guest: assigned pairs, one disagreement decided, a link that ends."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from open_browser_examples import Hall, contest, open_hall, overflow
from playwright.sync_api import expect
from test_browser_annotate import in_view, press, settled

from evalui.access import LOCAL_PERSON
from evalui.accounts.people import add_person
from evalui.store.voting.votes import read_votes

PASSWORD = "a long password of a test"
KEYS = {"a": "1", "b": "2"}


@pytest.fixture(scope="module")
def shared_hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    """A server with accounts: olga leads, ann and ben annotate."""
    settings = {"EVALUI_AUTH": "password", "EVALUI_WORKERS": "0"}
    with open_hall(tmp_path_factory.mktemp("voters"), **settings) as hall:
        by = LOCAL_PERSON
        add_person(hall.database, "olga", "operator", by=by, password=PASSWORD)
        for name in ("ann", "ben"):
            add_person(hall.database, name, "annotator", by=by, password=PASSWORD)
        yield hall


@pytest.fixture(scope="module")
def runs(shared_hall: Hall) -> tuple[str, str]:
    """Two runs of olga."""
    made = contest(shared_hall), contest(shared_hall)
    with shared_hall.database.writing() as connection:
        connection.execute("UPDATE run SET owner = 'olga'")
        connection.execute("UPDATE dataset SET owner = 'olga'")
    return made


@contextmanager
def visiting(chromium: Any, hall: Hall, **options: Any) -> Generator[Any]:
    """A page of a browser that was never here."""
    context = chromium.new_context(base_url=hall.address, **options)
    errors: list[str] = []
    page = context.new_page()
    page.set_default_timeout(20_000)
    page.on("pageerror", lambda error: errors.append(str(error)))  # pyright: ignore
    yield page
    context.close()
    assert errors == []


@contextmanager
def signed_in(chromium: Any, hall: Hall, name: str) -> Generator[Any]:
    with visiting(chromium, hall) as page:
        page.goto("/account/sign-in")
        page.locator("input[name=name]").fill(name)
        page.locator("input[name=password]").fill(PASSWORD)
        page.locator("main button").click()
        expect(page.locator("nav.tabs")).to_be_visible()
        page.wait_for_selector("body[data-ready]", timeout=60_000)  # Gradio may still be coming
        yield page


def vote_for(page: Any, first: bool) -> None:
    """Vote for the model whose name sorts first, or for the other, wherever it stands."""
    _, left, right = in_view(page)
    press(page, KEYS["a" if (left < right) == first else "b"])
    settled(page, "pair 1,")


def ballot(page: Any, run_id: str) -> None:
    page.goto(f"/en/annotate?run={run_id}")
    expect(page.locator(".pair.now")).to_be_visible()


def results(page: Any, run_id: str) -> str:
    """What the results of a run say."""
    page.goto(f"/en/?run={run_id}&tab=results")
    expect(page.locator(".results-page h1").first).to_be_visible()
    return page.locator(".results-page").inner_text()


def test_two_people_differ_once_and_who_leads_the_run_decides(
    chromium: Any, shared_hall: Hall, runs: tuple[str, str]
):
    run_id = runs[0]
    with signed_in(chromium, shared_hall, "olga") as olga:
        olga.goto(f"/en/annotate?run={run_id}&sub=voters")
        for name in ("ann", "ben"):
            olga.get_by_label(name, exact=True).check()
        olga.get_by_label("Votes on each pair").fill("2")
        olga.get_by_role("button", name="Assign pairs").click()
        expect(olga.locator(".head")).to_contain_text("0 of 72 assigned votes are cast")
        for name, first in (("ann", True), ("ben", False)):
            with signed_in(chromium, shared_hall, name) as page:
                ballot(page, run_id)
                expect(page.locator(".head")).to_contain_text(f"you are {name}")
                assert page.get_by_role("link", name="Voters").count() == 0
                vote_for(page, first)
                page.goto(f"/en/annotate?run={run_id}&sub=voters")
                expect(page.locator(".pair.now")).to_be_visible()  # no page of theirs
        olga.goto(f"/en/annotate?run={run_id}&sub=voters")
        expect(olga.locator(".head")).to_contain_text("2 of 72 assigned votes are cast")
        assert "differ" not in olga.locator(".annotate-page").inner_text()
        assert olga.request.get(f"/votes/{run_id}.jsonl").status == 403
        assert "people" not in results(olga, run_id).lower()
        olga.goto(f"/en/annotate?run={run_id}&sub=voters")
        olga.get_by_role("button", name="Close the vote").click()
        expect(olga.locator(".head")).to_contain_text("people differ on one pair")
        assert olga.request.get(f"/votes/{run_id}.jsonl").status == 200
        assert "people" in results(olga, run_id).lower()
        olga.goto(f"/en/annotate?run={run_id}&sub=voters")
        olga.get_by_role("link", name="Decide").click()
        expect(olga.locator(".pair.now")).to_be_visible()
        shown = olga.locator(".annotate-page").inner_text()
        assert "ann" not in shown.split()
        assert "ben" not in shown.split()
        olga.get_by_label("Reason").fill("It answers the question.")
        olga.get_by_role("button", name="A is better").click()
        expect(olga.locator(".annotate-page")).to_contain_text("Decided pairs")
        expect(olga.locator(".annotate-page")).to_contain_text("It answers the question.")
    votes = read_votes(shared_hall.database, run_id)
    assert [(vote.by, vote.assigned) for vote in votes] == [("ann", True), ("ben", True)]
    assert {vote.choice == vote.adjudicated for vote in votes} == {True, False}


def test_a_guest_votes_by_the_link_and_can_open_nothing_else(
    chromium: Any, shared_hall: Hall, runs: tuple[str, str]
):
    first, second = runs
    with signed_in(chromium, shared_hall, "olga") as olga:
        olga.goto(f"/en/annotate?run={second}&sub=voters")
        olga.get_by_role("button", name="Make a link").click()
        link = olga.get_by_role("link", name="Link for guests")
        expect(link).to_be_visible()
        address = link.evaluate("link => link.href")
        with visiting(chromium, shared_hall, viewport={"width": 390, "height": 844}) as guest:
            guest.goto(address)
            assert overflow(guest) == 0
            guest.locator("input[name=name]").fill("Mia")
            guest.get_by_role("button", name="Start voting").click()
            expect(guest.locator(".pair.now")).to_be_visible()
            assert guest.locator("nav:visible").count() == 0  # Gradio draws one that is hidden
            expect(guest.locator(".head")).to_contain_text("you are Mia")
            vote_for(guest, first=True)
            guest.goto(address)  # a reload of the link leads back
            settled(guest, "pair 1,")
            for elsewhere in (
                "/",
                "/en/?tab=runs",
                f"/en/?run={second}",
                f"/en/?run={second}&tab=results",
                f"/en/?run={first}&tab=annotate",
                f"/en/annotate?run={first}",
                f"/en/annotate?run={second}&sub=voters",
                "/en/annotate",
                "/en/models",
                f"/export/{second}.json",
                f"/votes/{second}.jsonl",
                f"/r/{second}",
            ):
                guest.goto(elsewhere)
                assert (
                    "/account/sign-in" in guest.url
                    or "Bearer" in guest.content()
                    or ("sign" in guest.content().lower())
                ), elsewhere
                assert guest.locator(".pair").count() == 0
            guest.goto(f"/en/annotate?run={second}")
            expect(guest.locator(".pair.now")).to_be_visible()
            assert [vote.by for vote in read_votes(shared_hall.database, second)] == ["guest:Mia"]
            olga.reload()
            olga.get_by_role("button", name="Withdraw").click()
            expect(olga.get_by_role("button", name="Withdraw")).to_have_count(0)
            guest.goto(f"/en/annotate?run={second}")
            assert guest.locator(".pair").count() == 0
            guest.goto(address)
            expect(guest.locator("h1")).to_have_text("This link has ended")
    assert [vote.by for vote in read_votes(shared_hall.database, second)] == ["guest:Mia"]
