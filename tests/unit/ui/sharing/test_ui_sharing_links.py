"""A link is made on the page of a run or a comparison, opens to everybody, and is withdrawn."""

import re
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from ui_compare_screen import CompareScreen
from ui_results_screen import ResultsScreen

from evalui.access import Person
from evalui.accounts import shares
from evalui.accounts.people import add_person
from evalui.accounts.shares import link_of, list_shares
from evalui.app.service import AppService
from evalui.app.sharing import share_run
from evalui.errors import AccountError, NotAllowed, SpecError, UnknownRun
from evalui.messages import messages
from evalui.store.queue import delete
from evalui.store.voting.plans import keep_plan
from evalui.ui.current_person import acting_as
from evalui.ui.published import PublishedRuns
from evalui.ui.web.routes import add_routes

ADMIN = Person("ann", "admin")


@pytest.fixture
def client(desk: AppService) -> TestClient:
    app = FastAPI()
    add_routes(app, desk, PublishedRuns())
    return TestClient(app, follow_redirects=False)


def opened(run_id: str, **more: str) -> dict[str, Any]:
    return {"run": run_id, "panel": "share", **more}


def screen(desk: AppService, run_id: str) -> ResultsScreen:
    """The page of a run whose panel is open."""
    shown = ResultsScreen(desk, messages("en"))
    shown.render(opened(run_id))
    return shown


def test_a_link_shows_the_run_to_who_has_it(desk, finished, client):
    run_id = finished()
    page = screen(desk, run_id).share("7")
    (link,) = re.findall(r'href="\.\.(/s/[^"]+)"', page)
    shown = client.get(link)
    assert shown.status_code == 200
    assert shown.headers["x-robots-tag"] == "noindex, nofollow"
    assert "Read-only" in shown.text
    headline = re.search(r"<h1>(.*?)</h1>", screen(desk, run_id).around())
    assert headline
    assert headline[1] in shown.text
    assert "今天" not in client.get(f"{link}?lang=zh").text
    assert "只读" in client.get(f"{link}?lang=zh").text
    assert "只读" in client.get(link, headers={"Accept-Language": "zh-CN"}).text
    (table,) = re.findall(r'href="([^"]+\.csv)"', shown.text)
    sheet = client.get(f"/s/{table}")
    assert sheet.headers["content-type"].startswith("text/csv")
    assert "biased" in sheet.text
    assert "opened 4 times" in screen(desk, run_id).around()


def test_a_link_survives_its_run_and_ends_when_it_is_withdrawn(desk, finished, client):
    run_id = finished()
    link = share_run(desk, run_id, 30)
    before = client.get(f"/s/{link}").text
    delete(desk.database, run_id)
    assert client.get(f"/s/{link}").text == before
    other = finished()
    kept = share_run(desk, other, 30)
    page = screen(desk, other).withdraw(kept.partition(".")[0])
    assert "ended" in page
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
        assert answer.text.count("This link leads nowhere") == 2  # title and heading
        assert "Check that it was copied in full." in answer.text
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
    keep_plan(desk.database, run_id, ["bob"], 1)
    with acting_as(Person("bob", "annotator")):
        shown = screen(desk, run_id)
        assert not shown.is_sharing()
        for do in (shown.share, shown.withdraw):
            with pytest.raises(NotAllowed):
                do(link)
        with pytest.raises(NotAllowed):
            share_run(desk, run_id, 30)
    assert [share.ended for share in list_shares(desk.database)] == [None]


def test_a_box_lets_everybody_see_a_run(desk, finished):
    desk.settings = desk.settings.model_copy(update={"auth": "password"})
    with acting_as(Person("ann", "annotator")):
        run_id = finished()
        shown = screen(desk, run_id)
        assert shown.update(shown.page.sharing.everyone)["value"] is False
        shown.show_everyone(ticked=True)
        assert shown.update(shown.page.sharing.everyone)["value"] is True
    with acting_as(Person("bob", "annotator")):
        assert desk.run(run_id).id == run_id
        with pytest.raises(NotAllowed):
            shown.show_everyone(ticked=False)
    with acting_as(Person("ann", "annotator")):
        shown.show_everyone(ticked=False)
    with acting_as(Person("bob", "annotator")), pytest.raises(UnknownRun):
        desk.run(run_id)


def test_where_nobody_has_an_account_there_is_no_box(desk, finished):
    shown = screen(desk, finished())
    assert shown.is_sharing()
    assert shown.update(shown.page.sharing.everyone)["visible"] is False


def test_a_link_of_another_page_cannot_be_withdrawn_here(desk, finished):
    one, other = finished(), finished()
    link = share_run(desk, one, 30).partition(".")[0]
    assert "There is no link" in screen(desk, other).withdraw(link)
    assert list_shares(desk.database)[0].ended is None


@pytest.mark.parametrize("days", ["31", "0", "-1", "x", "٣"])
def test_only_offered_days_are_taken(desk, finished, days: str):
    assert "7, 30, 90" in screen(desk, finished()).share(days)
    assert list_shares(desk.database) == ()


def test_a_comparison_is_shared_as_it_is(desk, finished, client):
    shown = CompareScreen(desk, messages("en"))
    page = shown.render(opened(finished()))
    assert shown.is_sharing()
    (link,) = re.findall(r'href="\.\.(/s/[^"]+)"', shown.share("7"))
    answer = client.get(link)
    verdict = re.search(r"<h1>(.*?)</h1>", page)
    assert verdict
    assert verdict[1] in answer.text
    assert "Both models answered the same questions" in answer.text
    (share,) = list_shares(desk.database)
    assert share.address.startswith("?tab=compare&cells=")
    assert "7, 30, 90" in shown.share("31")
    assert len(list_shares(desk.database)) == 1
    assert "ended" in shown.withdraw(share.id)
    assert client.get(link).status_code == 410


def test_a_comparison_of_another_s_run_is_not_shared(desk, finished):
    desk.settings = desk.settings.model_copy(update={"auth": "password"})
    with acting_as(Person("ann", "annotator")):
        run_id = finished()
    keep_plan(desk.database, run_id, ["bob"], 1)
    with acting_as(Person("bob", "annotator")):
        shown = CompareScreen(desk, messages("en"))
        shown.render(opened(run_id))
        assert not shown.is_sharing()
        for do in (shown.share, shown.withdraw):
            with pytest.raises(NotAllowed):
                do("30")
    assert list_shares(desk.database) == ()


def test_who_sees_nothing_of_a_comparison_ends_no_link_to_it(desk, finished):
    desk.settings = desk.settings.model_copy(update={"auth": "password"})
    shown = CompareScreen(desk, messages("en"))
    with acting_as(Person("ann", "annotator")):
        shown.render(opened(finished()))
        shown.share("30")
    (share,) = list_shares(desk.database)
    with acting_as(Person("bob", "annotator")), pytest.raises(SpecError):
        shown.withdraw(share.id)
    assert [each.ended for each in list_shares(desk.database)] == [None]


def test_the_server_forgets_no_page_of_a_person_who_is_gone(desk, finished, client):
    link = share_run(desk, finished(), 30)
    share = list_shares(desk.database)[0]
    with desk.database.writing() as connection:
        connection.execute("DELETE FROM share")
    assert client.get(f"/s/{link}").status_code == 404
    with pytest.raises(AccountError):
        shares.read_page(desk.database, share, "en")
    assert link_of(desk.database, share.id, share.expires) == link
