"""A link is made on the page of a run or a comparison, opens to everybody, and is withdrawn."""

import re

import gradio as gr
import pytest
from drawn_page import DrawnPage
from fastapi import FastAPI
from fastapi.testclient import TestClient

from evalui.access import Person
from evalui.accounts import shares
from evalui.accounts.people import add_person
from evalui.accounts.shares import link_of, list_shares
from evalui.app.service import AppService
from evalui.app.sharing import share_run
from evalui.errors import AccountError, NotAllowed, UnknownRun
from evalui.store.queue import delete
from evalui.store.voting.plans import keep_plan
from evalui.ui.current_person import acting_as
from evalui.ui.web.routes import add_routes

ADMIN = Person("ann", "admin")
EVERYONE = "Everybody with an account on this server may see it"


@pytest.fixture
def client(desk: AppService) -> TestClient:
    app = FastAPI()
    add_routes(app, desk)
    return TestClient(app, follow_redirects=False)


def panel(desk: AppService, run_id: str) -> DrawnPage:
    """The page of a run whose panel is open."""
    return DrawnPage("results", desk, {"run": run_id, "panel": "share"})


def share(page: DrawnPage, days: str) -> None:
    page.press("Make a link", **{"How long the link works": days})


def test_a_link_shows_the_run_to_who_has_it(desk, finished, client):
    run_id = finished()
    share(panel(desk, run_id), "7")
    page = panel(desk, run_id).text
    (link,) = re.findall(r'href="\.\.(/s/[^"]+)"', page)
    shown = client.get(link)
    assert shown.status_code == 200
    assert shown.headers["x-robots-tag"] == "noindex, nofollow"
    assert "Read-only" in shown.text
    headline = re.search(r"<h1>(.*?)</h1>", page)
    assert headline
    assert headline[1] in shown.text
    assert "今天" not in client.get(f"{link}?lang=zh").text
    assert "只读" in client.get(f"{link}?lang=zh").text
    assert "只读" in client.get(link, headers={"Accept-Language": "zh-CN"}).text
    (table,) = re.findall(r'href="([^"]+\.csv)"', shown.text)
    sheet = client.get(f"/s/{table}")
    assert sheet.headers["content-type"].startswith("text/csv")
    assert "biased" in sheet.text
    assert "opened 4 times" in panel(desk, run_id).text


def test_a_link_survives_its_run_and_ends_when_it_is_withdrawn(desk, finished, client):
    run_id = finished()
    link = share_run(desk, run_id, 30)
    before = client.get(f"/s/{link}").text
    delete(desk.database, run_id)
    assert client.get(f"/s/{link}").text == before
    other = finished()
    kept = share_run(desk, other, 30)
    panel(desk, other).act("withdraw", link=kept.partition(".")[0])
    assert "ended" in panel(desk, other).text
    gone = client.get(f"/s/{kept}")
    assert gone.status_code == 410
    assert "This link ended on" in gone.text
    assert "此链接已于" in gone.text
    assert client.get(f"/s/{kept}.csv").status_code == 410


def test_a_link_that_was_changed_leads_nowhere(desk, finished, client):
    one, other = (share_run(desk, finished(), 30) for _ in range(2))
    mixed = one.partition(".")[0] + "." + other.partition(".")[2]
    for wrong in (mixed, one[:-1], "x", f"{one}.csv.csv"):
        answer = client.get(f"/s/{wrong}")
        assert answer.status_code == 404
        assert answer.text.count("This link is not valid") == 2  # title and heading
        assert "Check that it was copied completely." in answer.text
    assert client.get(f"/s/{one}/more").status_code == 404


def test_a_link_names_its_owner_when_it_has_ended(desk, finished, client, monkeypatch):
    add_person(desk.database, "ann", "annotator", by=ADMIN)
    desk.settings = desk.settings.model_copy(update={"auth": "password"})
    with acting_as(Person("ann", "annotator")):
        link = share_run(desk, finished(), 7)
    (share,) = list_shares(desk.database, "ann")
    assert "link by ann, works until" in client.get(f"/s/{link}").text
    monkeypatch.setattr(shares.time, "time", lambda: share.expires + 1)
    answer = client.get(f"/s/{link}")
    assert answer.status_code == 410
    assert "Ask ann for a new one." in answer.text


def test_a_store_that_cannot_be_read_names_no_file(desk, finished, client, tmp_path):
    link = share_run(desk, finished(), 30)
    (tmp_path / "data" / "secret-key").chmod(0o644)  # not believed any more
    answer = client.get(f"/s/{link}")
    assert answer.status_code == 503
    assert str(tmp_path) not in answer.text
    assert "secret-key" not in answer.text


def test_a_page_is_read_though_nothing_can_be_written(desk, finished, client):
    link = share_run(desk, finished(), 30)
    desk.database.read_only = True
    assert client.get(f"/s/{link}").status_code == 200
    assert list_shares(desk.database)[0].opened == 0


def test_who_may_not_change_a_run_shares_nothing_of_it(desk, finished):
    desk.settings = desk.settings.model_copy(update={"auth": "password"})
    with acting_as(Person("ann", "annotator")):
        run_id = finished()
        link = share_run(desk, run_id, 30).partition(".")[0]
        page = panel(desk, run_id)
    keep_plan(desk.database, run_id, ["bob"], 1)
    with acting_as(Person("bob", "annotator")):
        assert "Share this page" not in panel(desk, run_id).text
        # What is open in the browser of another answers no more to bob.
        with pytest.raises(gr.Error):
            share(page, "30")
        with pytest.raises(gr.Error):
            page.act("withdraw", link=link)
        with pytest.raises(NotAllowed):
            share_run(desk, run_id, 30)
    assert [each.ended for each in list_shares(desk.database)] == [None]


def test_a_box_lets_everybody_see_a_run(desk, finished):
    desk.settings = desk.settings.model_copy(update={"auth": "password"})
    with acting_as(Person("ann", "annotator")):
        run_id = finished()
        page = panel(desk, run_id)
        assert page.component(EVERYONE).value is False
        page.choose(EVERYONE, True)
        assert panel(desk, run_id).component(EVERYONE).value is True
    with acting_as(Person("bob", "annotator")):
        assert desk.run(run_id).id == run_id
        with pytest.raises(gr.Error):
            page.choose(EVERYONE, False)
    with acting_as(Person("ann", "annotator")):
        page.choose(EVERYONE, False)
    with acting_as(Person("bob", "annotator")), pytest.raises(UnknownRun):
        desk.run(run_id)


def test_where_nobody_has_an_account_there_is_no_box(desk, finished):
    text = panel(desk, finished()).text
    assert "Share this page" in text
    assert EVERYONE not in text


def test_a_link_of_another_page_cannot_be_withdrawn_here(desk, finished):
    one, other = finished(), finished()
    link = share_run(desk, one, 30).partition(".")[0]
    share_run(desk, other, 30)
    with pytest.raises(gr.Error, match="There is no link"):
        panel(desk, other).act("withdraw", link=link)
    assert [each.ended for each in list_shares(desk.database)] == [None, None]


@pytest.mark.parametrize("days", ["31", "0", "-1"])
def test_only_offered_days_are_taken(desk, finished, days: str):
    with pytest.raises(gr.Error, match="7, 30, 90"):
        share(panel(desk, finished()), days)
    assert list_shares(desk.database) == ()


def test_the_server_forgets_no_page_of_a_person_who_is_gone(desk, finished, client):
    link = share_run(desk, finished(), 30)
    share = list_shares(desk.database)[0]
    with desk.database.writing() as connection:
        connection.execute("DELETE FROM share")
    assert client.get(f"/s/{link}").status_code == 404
    with pytest.raises(AccountError):
        shares.read_page(desk.database, share, "en")
    assert link_of(desk.database, share.id, share.expires) == link
