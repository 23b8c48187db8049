"""Votes of several people: who votes on what, how far each is, where they differ, what counts."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from evalui.accounts.guests import admit_guest
from evalui.app.service import AppService
from evalui.runs.worker.worker import Worker

OPEN = '{"query": "Who wrote Faust?", "response": "Goethe"}\n{"query": "2+2?", "response": "4"}\n'


@pytest.fixture
def run(api: TestClient, desk: AppService, send: Callable[..., str]) -> str:
    """The id of a run with two pairs to vote on."""
    upload = send(OPEN, "qa.jsonl")
    spec = {"version": 2, "datasets": [{"upload": upload}], "models": ["biased", "always-A"]}
    made = api.post("/runs", json={**spec, "mode": "question_answer"}).json()["id"]
    Worker(desk.database, desk.models.catalog).run_once()
    return made


@pytest.fixture
def cast(api: TestClient, run: str) -> Callable[..., None]:
    """Have the sender vote for the model with these words on all pairs."""

    def vote_on_all(choice: str, **more: Any) -> None:
        while pair := api.get(f"/runs/{run}/ballot").json()["pair"]:
            sent = {"pair": pair, "choice": choice, **more}
            assert api.post(f"/runs/{run}/votes", json=sent).status_code == 204

    return vote_on_all


def test_an_owner_sees_how_far_each_person_is(
    api: TestClient, run: str, cast: Callable[..., None]
) -> None:
    free = api.get(f"/runs/{run}/voters").json()
    assert free == {"plan": None, "is_open": False, "people": [], "pairs": 2, "differing": 0}
    named = {"people": ["local", "ben"], "overlap": 1}
    assert api.put(f"/runs/{run}/voters", json=named).status_code == 204
    cast("a", seconds=3.0)
    progress = api.get(f"/runs/{run}/voters").json()
    assert progress["plan"] == named
    (mine, other) = progress["people"]
    assert (mine["person"], mine["assigned"], mine["done"], mine["seconds"]) == ("local", 1, 1, 3.0)
    assert (other["assigned"], other["done"], other["last"]) == (1, 0, None)


def test_pairs_on_which_people_differ_are_decided_without_names(
    api: TestClient,
    run: str,
    cast: Callable[..., None],
    become: Callable[..., None],
) -> None:
    cast("tie")
    become("ann", "admin")
    cast("neither", comment="neither")
    become("local", "admin")
    assert api.get(f"/runs/{run}/voters").json()["differing"] == 2
    page = api.get(f"/runs/{run}/disagreements").json()
    first, second = page
    assert api.get(f"/runs/{run}/disagreements?limit=1").json() == [first]
    assert (first["votes"], first["comments"]) == ({"tie": 1, "neither": 1}, ["neither"])
    assert (first["decision"], first["decided_by"]) == (None, "")
    assert not any(name in json.dumps(page) for name in ("biased", "always-A", "ann"))
    decided = {"outcome": "neither", "reason": "too short"}
    place = f"/runs/{run}/disagreements/{first['pair']}"
    assert api.put(place, json=decided).status_code == 204
    ahead, behind = api.get(f"/runs/{run}/disagreements").json()
    assert (ahead, behind["pair"]) == (second, first["pair"])
    assert (behind["decision"], behind["decided_by"], behind["reason"]) == (
        "neither",
        "local",
        "too short",
    )
    gone = api.put(f"/runs/{run}/disagreements/x", json=decided)
    assert (gone.status_code, gone.json()["key"]) == (409, "pair-gone")
    assert api.put(place, json={"outcome": "skip"}).status_code == 422


def test_what_no_one_differs_on_is_not_decided(
    api: TestClient, run: str, cast: Callable[..., None]
) -> None:
    pair = api.get(f"/runs/{run}/ballot").json()["pair"]
    cast("a")
    refused = api.put(f"/runs/{run}/disagreements/{pair}", json={"outcome": "a"})
    assert (refused.status_code, refused.json()["key"]) == (409, "pair-agreed")


def test_a_vote_is_taken_back_until_the_voter_has_seen_the_names(
    api: TestClient, run: str, cast: Callable[..., None]
) -> None:
    cast("a")
    assert api.delete(f"/runs/{run}/votes/last").status_code == 204
    assert api.get(f"/runs/{run}/ballot").json()["voted"] == 1
    assert api.post(f"/runs/{run}/votes/finish").status_code == 204
    assert api.get(f"/runs/{run}/ballot").json()["pair"] == ""
    refused = api.delete(f"/runs/{run}/votes/last")
    assert (refused.status_code, refused.json()["key"]) == (409, "voter-finished")


def test_votes_are_taken_away_and_brought_back(
    api: TestClient, run: str, cast: Callable[..., None], send: Callable[..., str]
) -> None:
    cast("a")
    lines = api.get(f"/runs/{run}/votes").text
    table = api.get(f"/runs/{run}/votes?kind=csv")
    assert table.headers["content-type"].startswith("text/csv")
    assert len(table.text.splitlines()) == 3
    upload = send(lines.replace('"local"', '"mia"'), "votes.jsonl")
    assert api.post(f"/runs/{run}/votes/import?upload={upload}").json() == 2
    assert api.post(f"/runs/{run}/votes/import?upload={upload}").json() == 0
    people = {each["person"] for each in api.get(f"/runs/{run}/voters").json()["people"]}
    assert people == {"local", "mia"}


def test_a_link_lets_guests_vote_until_it_is_ended(
    api: TestClient, desk: AppService, run: str
) -> None:
    desk.settings.public_url = "https://example.org/eval/"
    made = api.post(f"/runs/{run}/guest-links?days=7")
    assert made.status_code == 201
    address = made.json()["address"]
    assert address.startswith("https://example.org/eval/vote/")
    admit_guest(desk.database, address.rpartition("/")[2], "Mia")
    (link,) = api.get(f"/runs/{run}/guest-links").json()
    assert (link["digest"], link["guests"]) == (made.json()["id"], ["Mia"])
    assert address.rpartition("/")[2] not in json.dumps(link)
    assert api.delete(f"/runs/{run}/guest-links/{link['digest']}").status_code == 204
    assert api.get(f"/runs/{run}/guest-links").json() == []
    wrong = api.post(f"/runs/{run}/guest-links?days=91")
    assert (wrong.status_code, wrong.json()["key"]) == (422, "guest-days")
