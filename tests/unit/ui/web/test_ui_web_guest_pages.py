"""The page behind a link for guests: a name, a cookie, and the way to the first pair."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from annotate_examples import open_run
from starlette.testclient import TestClient

from evalui.access import LOCAL_PERSON
from evalui.accounts.guests import make_guest_link, person_of_guest, read_guest_links
from evalui.app.service import AppService
from evalui.server import create_app
from evalui.store.voting.ballots import voting_pairs
from evalui.store.voting.votes import VoteInput, cast_vote, read_votes
from evalui.ui.web.doors.guests import guest_cookie


@pytest.fixture
def run_id(desk: AppService) -> str:
    return open_run(desk)


@pytest.fixture
def link(desk: AppService, run_id: str) -> str:
    return make_guest_link(desk.database, run_id, by=LOCAL_PERSON, days=3)


@pytest.fixture
def browser(desk: AppService) -> Iterator[TestClient]:
    settings = desk.settings.model_copy(update={"workers": 0})
    with TestClient(
        create_app(settings), base_url="http://localhost", follow_redirects=False
    ) as it:
        yield it


class Ballot:
    """The guest's page in one tab of a browser."""

    def __init__(self, browser: TestClient, run_id: str) -> None:
        self.browser, self.run_id = browser, run_id
        page = browser.get("/en/config").json()["page"]["annotate"]
        (self.draws,) = page["dependencies"]
        self.drawn = self.send(self.draws).json()["render_config"]
        self.text = str([each["props"].get("value") for each in self.drawn["components"]])

    def send(self, listener: int, event: dict[str, str] | None = None, **there: str) -> Any:
        """What an event is answered; `there` are parameters of the page that it says it is of."""
        sent: dict[str, Any] = {
            "data": [],
            "fn_index": listener,
            "event_data": event,
            "session_hash": "guest",
        }
        address = f"/en/annotate?{urlencode({'run': self.run_id} | there)}"
        headers = {"referer": f"http://localhost{address}"}
        return self.browser.post(
            f"/en/gradio_api/run/predict?{urlencode({'run': self.run_id})}",
            json=sent,
            headers=headers,
        )

    def press(self, do: str, **data: str) -> Any:
        """What a button of the ballot is answered."""
        (act,) = (each["id"] for each in self.drawn["dependencies"] if "act" in str(each))
        return self.send(act, {"do": do, "sequence": "1", **data})


def test_a_guest_states_a_name_and_sees_the_first_pair(
    browser: TestClient, desk: AppService, run_id: str, link: str
):
    page = browser.get(f"/vote/{link}")
    assert page.status_code == 200
    assert "noindex" in page.headers["x-robots-tag"]
    assert "late-model" not in page.text
    assert run_id not in page.text
    assert browser.get("/static/css/tokens.css").status_code == 200
    entered = browser.post(f"/vote/{link}", data={"name": "Mia"})
    assert entered.status_code == 303
    assert entered.headers["location"] == f"../en/annotate?run={run_id}"
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    guest = person_of_guest(desk.database, browser.cookies[guest_cookie(link)])
    assert guest
    assert (guest.name, guest.guest_of) == ("guest:Mia", run_id)
    assert browser.get(f"/en/annotate?run={run_id}").status_code == 200
    ballot = Ballot(browser, run_id).text
    assert 'class="pair now"' in ballot
    assert "late-model" not in ballot
    assert "Talk" not in ballot.replace("talk.jsonl", "")  # the name of the run may name models
    assert 'class="tabs"' not in ballot
    assert "?tab=" not in ballot
    again = browser.get(f"/vote/{link}")
    assert again.headers["location"] == entered.headers["location"]


def test_the_same_name_and_no_name_are_refused_in_words(
    browser: TestClient, desk: AppService, run_id: str, link: str
):
    browser.post(f"/vote/{link}", data={"name": "Mia"})
    browser.cookies.clear()
    for name, words in (("mia", "State another name"), (" ", "1 to 40")):
        answer = browser.post(f"/vote/{link}", data={"name": name})
        assert answer.status_code == 400
        assert words in answer.text
    assert browser.post(f"/vote/{link}", content=b"name=" + b"x" * 5000).status_code == 413
    (shown,) = read_guest_links(desk.database, run_id)
    assert shown.guests == ("Mia",)


def test_a_link_that_is_none_says_so_in_both_languages(browser: TestClient):
    for language, words in (("en", "This link has ended"), ("zh", "此链接已失效")):
        answer = browser.get(f"/vote/none?lang={language}")
        assert answer.status_code == 404
        assert words in answer.text
    assert browser.post("/vote/none", data={"name": "Mia"}).status_code == 404


def test_an_old_link_to_a_ballot_leads_to_its_page(browser: TestClient, run_id: str, link: str):
    browser.post(f"/vote/{link}", data={"name": "Mia"})
    moved = browser.get(f"/en/?run={run_id}&tab=annotate&lang=en")
    assert moved.headers["location"] == f"annotate?run={run_id}&lang=en"


def test_without_a_link_the_ballot_is_closed(browser: TestClient, run_id: str):
    assert browser.get(f"/en/?run={run_id}&tab=annotate").status_code == 401
    assert browser.get(f"/en/annotate?run={run_id}").status_code == 401


def test_a_guest_votes_and_sends_nothing_else(
    browser: TestClient, desk: AppService, run_id: str, link: str
):
    browser.post(f"/vote/{link}", data={"name": "Mia"})
    ballot = Ballot(browser, run_id)
    pair = next(iter(voting_pairs(desk.database, run_id)))
    voted = ballot.press("vote", choice="a", pair=pair)
    assert voted.status_code == 200
    assert "Saved at once. Last: pair 1, A is better." in voted.text
    assert [vote.by for vote in read_votes(desk.database, run_id)] == ["guest:Mia"]
    for page in browser.get("/en/config").json()["page"].values():
        for listener in page["dependencies"]:
            if listener != ballot.draws:
                assert ballot.send(listener).status_code in (400, 404)
    assert ballot.send(ballot.draws, sub="voters").status_code == 401
    for address in (
        "/en/annotate",
        "/en/runs",
        f"/en/results?run={run_id}",
        f"/en/annotate?run={run_id}&sub=voters",
        f"/votes/{run_id}.jsonl",
        f"/export/{run_id}.json",
    ):
        assert browser.get(address).status_code == 401


def test_names_and_votes_of_others_stay_hidden_until_and_after_the_end(
    browser: TestClient, desk: AppService, run_id: str, link: str
):
    pairs = voting_pairs(desk.database, run_id)
    for key in pairs:
        cast_vote(desk.database, run_id, "zoe", VoteInput(key, "a", "a secret"), pairs=pairs)
    browser.post(f"/vote/{link}", data={"name": "Mia"})
    cast_vote(desk.database, run_id, "guest:Mia", VoteInput(next(iter(pairs)), "a"), pairs=pairs)
    before = Ballot(browser, run_id).text
    assert "late-model" not in before
    with desk.database.writing() as connection:
        connection.execute("INSERT INTO voter VALUES (?, 'guest:Mia', 1)", (run_id,))
    after = Ballot(browser, run_id).text
    assert "late-model" in after
    assert "1 vote" in after
    for page in (before, after):
        assert "zoe" not in page
        assert "a secret" not in page
        assert "Talk" not in page.replace("talk.jsonl", "")
        assert "/votes/" not in page
        assert "a file" not in page  # to add votes from


def test_over_https_the_cookie_of_a_guest_is_of_this_host_alone(browser: TestClient, link: str):
    browser.base_url = browser.base_url.copy_with(scheme="https")
    entered = browser.post(f"/vote/{link}", data={"name": "Mia"})
    assert entered.headers["set-cookie"].startswith(f"__Host-{guest_cookie(link)}=")
    assert browser.get(f"/vote/{link}").status_code == 303  # who they are is known
