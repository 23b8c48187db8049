"""The Annotate page of several people: who votes as whom, assigned pairs, decisions, who leads."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

import gradio as gr
import pytest
from annotate_examples import NAMES, open_run
from annotate_page import Booth, pair_in_view
from drawn_page import DrawnPage

from evalui.access import Person
from evalui.accounts.audit import read_audit
from evalui.accounts.guests import admit_guest, read_guest_links, run_of_link
from evalui.accounts.people import add_person
from evalui.app.ballots import add_guest_link, finish_voting, import_votes, undo_vote
from evalui.app.ballots import cast_vote as cast_by_hand
from evalui.app.datasets import store_upload
from evalui.app.results import run_report
from evalui.app.service import AppService
from evalui.app.voters import assign_people
from evalui.errors import EvaluiError, NotAllowed, SpecError
from evalui.store.voting.adjudications import contested_pairs
from evalui.store.voting.ballots import sides_for
from evalui.store.voting.plans import VotingPlan, close_voting, keep_plan, read_plan
from evalui.store.voting.votes import (
    MAX_COMMENT,
    MAX_PEOPLE,
    VoteInput,
    cast_vote,
    read_votes,
)
from evalui.ui.current_person import acting_as

OLGA = Person("olga", "operator")
ANN = Person("ann", "annotator")
BEN = Person("ben", "annotator")
EVE = Person("eve", "annotator")
READER = Person("rita", "reader")


@pytest.fixture
def shared(desk: AppService) -> AppService:
    """The desk as one of a server with accounts."""
    desk.settings = desk.settings.model_copy(update={"auth": "password"})
    for person in (OLGA, ANN, BEN, EVE, READER):
        add_person(desk.database, person.name, person.role, by=OLGA)
    return desk


@pytest.fixture
def run_id(shared: AppService) -> str:
    """A run of olga, on each pair of which ann and ben vote."""
    made = open_run(shared)
    with shared.database.writing() as connection:
        connection.execute("UPDATE run SET owner = 'olga'")
        connection.execute("UPDATE dataset SET owner = 'olga'")
    keep_plan(shared.database, made, ["ann", "ben"], 2)
    return made


def drawn(service: AppService, person: Person, run: str, **more: str) -> DrawnPage:
    return DrawnPage("annotate", service.acting_for(person), {"run": run, **more})


def sent_by(page: DrawnPage, person: Person) -> DrawnPage:
    """The same page, whose events come from somebody else."""
    page.service = page.service.acting_for(person)
    return page


def differ(shared: AppService, run_id: str) -> str:
    """Ann and Ben differ on a pair; its key."""
    key, pair = next(iter(shared.voting_pairs.of_run(run_id).items()))
    for person, preferred in (("ann", pair.first), ("ben", pair.second)):
        choice = "a" if sides_for(key, pair, person).left == preferred else "b"
        cast_vote(
            shared.database,
            run_id,
            person,
            VoteInput(key, choice, f"note of {person}"),
            pairs=shared.voting_pairs.of_run(run_id),
        )
    return key


# ---------------------------------------------------------------- who votes as whom


def test_an_account_votes_as_itself_whatever_the_address_says(shared: AppService, run_id: str):
    booth = Booth(shared.acting_for(ANN), run_id, "olga")
    assert "you are ann" in booth.text
    assert "Your name" not in booth.text
    assert "panel=name" not in booth.text
    booth.press("1")
    assert [vote.by for vote in read_votes(shared.database, run_id)] == ["ann"]
    booth.finish()
    assert 'class="pair now"' in drawn(shared, BEN, run_id).text


def test_without_accounts_a_name_is_stated_which_is_no_guests(desk: AppService):
    run = open_run(desk)
    assert "Your name" in Booth(desk, run).text
    assert "you are ann" in Booth(desk, run, "ann").text
    assert 'class="pair now"' not in Booth(desk, run, "guest:Mia").text


LEADING: dict[str, Callable[[DrawnPage], object]] = {
    "assign": lambda page: page.press("Assign pairs", **{"Others, with commas between": "eve"}),
    "link": lambda page: page.press("Make a link"),
    "close": lambda page: page.press("Close the vote"),
    "revoke": lambda page: page.act("revoke", link=_link(page)),
    "free": lambda page: page.act("free", link=_link(page)),
}


def _link(page: DrawnPage) -> str:
    found = re.search(r'data-link="(\w+)"', page.text)
    assert found, "there is a link"
    return found[1]


def led(shared: AppService, run_id: str) -> DrawnPage:
    """The page of who leads a run, on which people vote, with a link by which a guest came."""
    pairs = shared.voting_pairs.of_run(run_id)
    cast_vote(shared.database, run_id, "ann", VoteInput(next(iter(pairs)), "a"), pairs=pairs)
    secret = add_guest_link(shared.acting_for(OLGA), run_id, 7)
    admit_guest(shared.database, secret, "Zoe", address="")
    return drawn(shared, OLGA, run_id, sub="voters")


def dumped(service: AppService) -> str:
    return "\n".join(service.database._connection.iterdump())  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize("person", [ANN, EVE, READER, Person("", scope="read")])
@pytest.mark.parametrize("do", LEADING)
def test_who_does_not_lead_a_run_changes_nothing_there(
    shared: AppService, run_id: str, person: Person, do: str
):
    page = led(shared, run_id)
    before = dumped(shared)
    with pytest.raises(gr.Error):
        LEADING[do](sent_by(page, person))
    assert dumped(shared) == before


@pytest.mark.parametrize("person", [ANN, EVE, READER])
def test_who_does_not_lead_a_run_decides_nothing(shared: AppService, run_id: str, person: Person):
    differ(shared, run_id)
    close_voting(shared.database, run_id, "olga")
    page = drawn(shared, OLGA, run_id, sub="decide")
    with pytest.raises(gr.Error):
        sent_by(page, person).press("A is better", Reason="")
    assert contested_pairs(shared.database, run_id)[0].decision is None


@pytest.mark.parametrize("person", [EVE, READER, Person("", scope="read")])
@pytest.mark.parametrize("do", ["vote", "undo", "finish"])
def test_who_may_not_vote_on_a_run_changes_nothing(
    shared: AppService, run_id: str, person: Person, do: str
):
    keep_plan(shared.database, run_id, ["ann", "ben", "rita"], 3)  # rita is no annotator any more
    booth = Booth(shared.acting_for(ANN), run_id)
    booth.press("1")
    before = dumped(shared)
    pair = pair_in_view(booth.text)
    sent_by(booth.page, person)
    with pytest.raises(gr.Error):
        booth.send(do, pair=pair, choice="a")
    assert dumped(shared) == before
    with pytest.raises(EvaluiError):
        drawn(shared, person, run_id)


def test_who_votes_is_not_shown_the_voters(shared: AppService, run_id: str):
    differ(shared, run_id)
    for sub in ("voters", "decide"):
        page = drawn(shared, ANN, run_id, sub=sub).text
        assert "Assign pairs" not in page
        assert "Back to the voters" not in page
        assert "note of ben" not in page
        assert f'href="annotate?run={run_id}&amp;sub=voters"' not in page


def test_a_guest_votes_and_does_nothing_else(shared: AppService, run_id: str):
    other = open_run(shared, samples=())
    keep_plan(shared.database, run_id, [], 1)
    page = led(shared, run_id)
    guest = Person("guest:Mia", "annotator", guest_of=run_id)
    booth = Booth(shared.acting_for(guest), run_id)
    assert "you are Mia" in booth.text
    assert not any(name in booth.text for name in NAMES)
    assert "results?run" not in booth.text  # no views of the run
    assert "Other runs" not in booth.text
    booth.press("1")
    for press in LEADING.values():
        with pytest.raises(gr.Error):
            press(sent_by(page, guest))
    with pytest.raises(EvaluiError):
        drawn(shared, guest, other)
    with acting_as(guest):
        with pytest.raises(EvaluiError):
            shared.run(run_id)
        with pytest.raises(EvaluiError):
            run_report(shared, run_id, "en")
    assert {vote.by for vote in read_votes(shared.database, run_id)} == {"ann", "guest:Mia"}


def brought(shared: AppService, run_id: str, votes: Sequence[Mapping[str, str]]) -> int:
    """How many votes of a file are new that olga adds to her run."""
    olga = shared.acting_for(OLGA)
    lines = "\n".join(json.dumps(vote) for vote in votes)
    return import_votes(olga, run_id, store_upload(olga, [("votes.jsonl", lines.encode())]))


def vote_of(shared: AppService, run_id: str, name: str) -> dict[str, str]:
    """A vote on the first pair, as a line of a file."""
    pair = next(iter(shared.voting_pairs.of_run(run_id).values()))
    named = {"model_a": pair.first, "model_b": pair.second, "question": pair.sample_id}
    return {**named, "winner": "tie", "by": name}


def test_imported_votes_are_not_added_in_the_name_of_an_account(shared: AppService, run_id: str):
    for name in ("ann", "Ann", "guest:Mia"):
        with pytest.raises(EvaluiError, match="their own hand"):
            brought(shared, run_id, [vote_of(shared, run_id, name)])
    assert read_votes(shared.database, run_id) == ()
    assert brought(shared, run_id, [vote_of(shared, run_id, "from elsewhere")]) == 1
    assert [vote.by for vote in read_votes(shared.database, run_id)] == ["from elsewhere"]


@pytest.mark.parametrize("people", [MAX_PEOPLE, MAX_PEOPLE + 1])
def test_votes_of_too_many_people_are_not_imported(shared: AppService, run_id: str, people: int):
    votes = [vote_of(shared, run_id, f"v{n}") for n in range(people)]
    if people > MAX_PEOPLE:
        with pytest.raises(EvaluiError, match="More than 300 people"):
            brought(shared, run_id, votes)
        assert not read_votes(shared.database, run_id)
    else:
        assert brought(shared, run_id, votes) == people


# ---------------------------------------------------------------- plans


def assign(page: DrawnPage, others: str, overlap: int | None = 2, known: Sequence[str] = ()) -> Any:
    labels = ("People here", "Others, with commas between", "Votes on each pair")
    values: dict[str, Any] = dict(zip(labels, ([*known], others, overlap), strict=True))
    return page.press("Assign pairs", **values)


def test_who_leads_a_run_assigns_pairs_to_those_who_may_vote(shared: AppService, run_id: str):
    page = drawn(shared, OLGA, run_id, sub="voters")
    led = assign(page, "ann， Ben、guest:Mia")
    assert led == f"?run={run_id}&sub=voters"
    assert read_plan(shared.database, run_id) == VotingPlan(("ann", "ben", "guest:Mia"), 2)
    for people, overlap, words in (
        ("ann, rita", 2, "rita has no account that may vote"),
        ("ann, nobody", 1, "nobody has no account"),
        ("ann", 2, "2 of 1 people"),
        ("ann", None, "0 of 1"),
    ):
        with pytest.raises(gr.Error, match=words):
            assign(page, people, overlap)
    assert read_plan(shared.database, run_id) == VotingPlan(("ann", "ben", "guest:Mia"), 2)
    (entry,) = read_audit(shared.database, 1)
    assert (entry.person, entry.deed, entry.thing) == ("olga", "name-voters", f"run {run_id}")
    assert entry.detail == {"people": "ann, ben, guest:Mia"}


def test_people_who_may_vote_are_offered_and_the_assigned_ones_are_chosen(
    shared: AppService, run_id: str
):
    keep_plan(shared.database, run_id, ["ben", "guest:Mia"], 1)
    page = drawn(shared, OLGA, run_id, sub="voters")
    assert page.offered("People here") == ["ben", "guest:Mia", "ann", "eve", "olga"]
    assert page.component("People here").value == ["ben", "guest:Mia"]
    assign(page, " guest:Zoe，ann", known=["ben", "ann"])
    assert read_plan(shared.database, run_id) == VotingPlan(("ben", "ann", "guest:Zoe"), 2)


def test_who_is_not_named_in_a_plan_cannot_vote(shared: AppService, run_id: str):
    booth = Booth(shared.acting_for(BEN), run_id)
    lead = Booth(shared.acting_for(OLGA), run_id, pair="")
    keep_plan(shared.database, run_id, ["ann"], 1)
    with pytest.raises(gr.Error, match="There is no run"):
        booth.press("1")
    with pytest.raises(EvaluiError, match="There is no run"):
        drawn(shared, BEN, run_id)
    assert "Assign pairs" in lead.text  # who leads the run, and votes on nothing
    assert read_votes(shared.database, run_id) == ()
    assert "12" in drawn(shared, ANN, run_id).text


def test_the_page_of_voters_states_how_far_each_is(shared: AppService, run_id: str):
    keep_plan(shared.database, run_id, [], 1)
    fresh = drawn(shared, OLGA, run_id, sub="voters").text
    assert "Everybody may vote on all 12 pairs" in fresh
    assert "people differ" not in fresh
    keep_plan(shared.database, run_id, ["ann", "ben"], 2)
    differ(shared, run_id)
    page = drawn(shared, OLGA, run_id, sub="voters")
    assert "2 of 24 assigned votes are cast" in page.text
    assert page.text.count("1 of 12") == 2
    assert "people differ" not in page.text
    assert page.press("Close the vote") == f"?run={run_id}&sub=voters"
    page = drawn(shared, OLGA, run_id, sub="voters")
    assert "people differ on one pair that is not decided" in page.text
    assert "Close the vote" not in page.text
    assert page.text.count("btn pri") == 1
    assert page.component("Assign pairs").variant == "secondary"
    assert not any(name in page.text for name in NAMES)


# ---------------------------------------------------------------- decisions


def test_a_decision_is_made_without_names_and_counts(shared: AppService, run_id: str):
    key = differ(shared, run_id)
    assert 'class="pair now"' not in drawn(shared, OLGA, run_id, sub="decide").text
    close_voting(shared.database, run_id, "olga")
    page = drawn(shared, OLGA, run_id, sub="decide")
    assert pair_in_view(page.text) == key
    assert "A is better: 1" in page.text
    assert "B is better: 1" in page.text
    shown = page.text.replace("note of ann", "").replace("note of ben", "")
    assert not any(name in shown for name in (*NAMES, ">ann", ">ben", "ann:", "ben:"))
    with pytest.raises(gr.Error):
        page.press("B is better", Reason="x" * (MAX_COMMENT + 1))
    assert page.press("B is better", Reason="clearer") == f"?run={run_id}&sub=decide"
    page = drawn(shared, OLGA, run_id, sub="decide")  # there is no other one
    for said in ("Decided pairs", "clearer", "ann: "):
        assert said in page.text
    assert {vote.adjudicated is not None for vote in read_votes(shared.database, run_id)} == {True}
    again = drawn(shared, OLGA, run_id, sub="decide", pair=key)
    assert pair_in_view(again.text) == key
    with acting_as(OLGA):
        (figures,) = run_report(shared, run_id, "en").people
    assert figures.adjudicated == 1


# ---------------------------------------------------------------- links


def test_a_link_is_made_shown_once_and_withdrawn(shared: AppService, run_id: str):
    page = drawn(shared, OLGA, run_id, sub="voters")
    once, listed = page.press("Make a link", **{"Open for": 7})
    match = re.search(r'href="\.\./vote/([^"]+)"', once["value"])
    assert match
    assert run_of_link(shared.database, unquote(match[1])) == run_id
    (link,) = read_guest_links(shared.database, run_id)
    assert link.digest in listed["value"]
    page = drawn(shared, OLGA, run_id, sub="voters")
    assert match[1] not in page.text
    row = shared.database.row("SELECT owner FROM guest_link WHERE digest = ?", (link.digest,))
    assert row
    assert row["owner"] == "olga"
    assert page.act("revoke", link=link.digest) == gr.update(value="", visible=False)
    assert read_guest_links(shared.database, run_id) == ()
    with pytest.raises(gr.Error, match="1 to 90"):
        page.press("Make a link", **{"Open for": 400})


def test_functions_of_voters_check_for_themselves(shared: AppService, run_id: str):
    with acting_as(ANN), pytest.raises(NotAllowed):
        assign_people(shared, run_id, ["ann"], 1)
    with acting_as(OLGA), pytest.raises(SpecError):
        assign_people(shared, run_id, ["rita"], 1)


def test_who_may_only_look_adds_no_vote(shared: AppService, run_id: str):
    keep_plan(shared.database, run_id, ["rita"], 1)
    rita = shared.acting_for(READER)
    assert rita.run(run_id).id == run_id
    pair = next(iter(shared.voting_pairs.of_run(run_id)))
    for do in (
        lambda: cast_by_hand(rita, run_id, VoteInput(pair, "a"), "rita"),
        lambda: undo_vote(rita, run_id, "rita"),
        lambda: finish_voting(rita, run_id, "rita"),
        lambda: import_votes(rita, run_id, "x"),
        lambda: drawn(shared, READER, run_id),
    ):
        with pytest.raises(NotAllowed):
            do()
    assert not read_votes(shared.database, run_id)
