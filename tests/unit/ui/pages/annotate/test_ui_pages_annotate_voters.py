"""The Annotate page of several people: who votes as whom, assigned pairs, decisions, who leads."""

import json
import re
from collections.abc import Callable
from urllib.parse import unquote, urlencode

import pytest
from annotate_examples import NAMES, open_run
from ui_annotate_screen import Screen, problem_of

from evalui.access import Person
from evalui.accounts.audit import read_audit
from evalui.accounts.guests import read_guest_links, run_of_link
from evalui.accounts.people import add_person
from evalui.app.datasets import store_upload
from evalui.app.results import run_report
from evalui.app.service import AppService
from evalui.app.voters import assign_people
from evalui.errors import EvaluiError, NotAllowed, SpecError
from evalui.store.voting.adjudications import contested_pairs
from evalui.store.voting.ballots import sides_for
from evalui.store.voting.plans import VotingPlan, close_voting, keep_plan, read_plan
from evalui.store.voting.votes import MAX_PEOPLE, VoteInput, cast_vote, read_votes
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


@pytest.fixture
def send(shared: AppService) -> Callable[..., str]:
    """What the page answers to an event of somebody, who need not have been shown what sends it."""

    def sent(person: Person, do: str, run: str, **data: str) -> str:
        screen = Screen(shared, person=person)
        screen.query = urlencode({"run": run} | ({"sub": data.pop("sub")} if "sub" in data else {}))
        pair, link = data.get("pair", ""), data.get("link", "")
        events: dict[str, Callable[[], str]] = {
            "open": lambda: screen.render({"run": run} if run else {}),
            "begin": lambda: screen.begin("olga"),
            "vote": lambda: screen.vote(pair=pair, choice=data.get("choice", "")),
            "undo": screen.undo,
            "ask": lambda: screen.press("ask"),
            "stay": lambda: screen.press("stay"),
            "finish": lambda: screen.press("finish"),
            "import": lambda: screen.upload(data.get("upload", "")),
            "assign": lambda: screen.assign(
                [], data.get("people", ""), _number(data.get("overlap", ""))
            ),
            "link": lambda: screen.make_link(data.get("days", "")),
            "revoke": lambda: screen.change_link("revoke", link),
            "free": lambda: screen.change_link("free", link),
            "close": lambda: screen.press("close"),
            "decide": lambda: screen.decide(data.get("choice", ""), pair, data.get("comment", "")),
        }
        return problem_of(events[do])

    return sent


def _number(text: str) -> int | str:
    return int(text) if text.isdigit() else text


def shown(service: AppService, person: Person, run: str, **more: str) -> str:
    return Screen(service, person=person).render({"run": run, **more})


def is_refused(page: str) -> bool:
    return 'class="note bad"' in page or 'class="note warn"' in page


def pair_of(page: str) -> str:
    match = re.search(r'class="pair now" data-pair="(\w+)"', page)
    assert match
    return match[1]


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


def test_an_account_votes_as_itself_whatever_the_page_sends(shared: AppService, run_id: str):
    page = shown(shared, ANN, run_id, voter="olga")
    assert "you are ann" in page
    assert 'name="voter"' not in page
    assert "panel=name" not in page
    key = pair_of(page)
    screen = Screen(shared, person=ANN)
    screen.render({"run": run_id}, kept="ben")
    screen.shown[screen.page.voter] = {"value": "ben"}
    screen.vote(pair=key, choice="a")
    assert [vote.by for vote in read_votes(shared.database, run_id)] == ["ann"]
    screen.press("finish")
    assert 'class="pair now"' in shown(shared, BEN, run_id)


def test_without_accounts_a_name_is_stated_which_is_no_guests(desk: AppService):
    run, screen = open_run(desk), Screen(desk)
    assert 'name="voter"' in screen.render({"run": run})
    assert "you are ann" in screen.render({"run": run, "voter": "ann"})
    assert 'class="pair now"' not in screen.render({"run": run, "voter": "guest:Mia"})
    assert 'class="pair now"' not in screen.begin("guest:Mia")


@pytest.mark.parametrize("person", [EVE, READER, Person("", scope="read")])
@pytest.mark.parametrize(
    "do", ["vote", "undo", "finish", "import", "assign", "link", "close", "decide", "ask"]
)
def test_who_may_not_vote_on_a_run_changes_nothing(
    shared: AppService, run_id: str, send: Callable[..., str], person: Person, do: str
):
    keep_plan(shared.database, run_id, ["ann", "ben", "rita"], 3)  # rita is no annotator any more
    key = differ(shared, run_id)
    before = "\n".join(shared.database._connection.iterdump())  # pyright: ignore[reportPrivateUsage]
    answer = send(
        person, do, run_id, pair=key, choice="a", people="eve", overlap="1", days="7", upload="x"
    )
    assert is_refused(answer)
    after = "\n".join(shared.database._connection.iterdump())  # pyright: ignore[reportPrivateUsage]
    assert after == before


@pytest.mark.parametrize("do", ["import", "assign", "link", "revoke", "free", "close", "decide"])
def test_who_votes_does_not_lead(
    shared: AppService, run_id: str, send: Callable[..., str], do: str
):
    key = differ(shared, run_id)
    answer = send(ANN, do, run_id, pair=key, choice="a", people="ann", overlap="1", days="7")
    assert is_refused(answer)
    assert read_plan(shared.database, run_id) == VotingPlan(("ann", "ben"), 2)
    assert contested_pairs(shared.database, run_id)[0].decision is None
    assert read_guest_links(shared.database, run_id) == ()


def test_who_votes_is_not_shown_the_voters(shared: AppService, run_id: str):
    differ(shared, run_id)
    for sub in ("voters", "decide"):
        page = shown(shared, ANN, run_id, sub=sub)
        assert "Assign pairs" not in page
        assert "Back to the voters" not in page
        assert "note of ben" not in page
        assert f'href="annotate?run={run_id}&amp;sub=voters"' not in page


def test_a_guest_votes_and_does_nothing_else(
    shared: AppService, run_id: str, send: Callable[..., str]
):
    other = open_run(shared, samples=())
    keep_plan(shared.database, run_id, [], 1)
    guest = Person("guest:Mia", "annotator", guest_of=run_id)
    page = shown(shared, guest, run_id)
    assert "you are Mia" in page
    assert not any(name in page for name in NAMES)
    key = pair_of(page)
    assert not is_refused(send(guest, "vote", run_id, pair=key, choice="a"))
    assert not is_refused(send(guest, "open", run_id))
    for do in ("import", "assign", "link", "revoke", "free", "close", "decide"):
        assert is_refused(send(guest, do, run_id, pair=key, choice="a"))
    for do in ("open", "begin", "ask", "stay", "vote", "undo", "finish"):
        assert is_refused(send(guest, do, other, pair=key, choice="a"))
        assert is_refused(send(guest, do, "", pair=key, choice="a"))
    with acting_as(guest):
        with pytest.raises(EvaluiError):
            shared.run(run_id)
        with pytest.raises(EvaluiError):
            run_report(shared, run_id, "en")
    assert [vote.by for vote in read_votes(shared.database, run_id)] == ["guest:Mia"]


def test_imported_votes_are_not_added_in_the_name_of_an_account(
    shared: AppService, run_id: str, send: Callable[..., str]
):
    first = shared.voting_pairs.of_run(run_id)
    pair = next(iter(first.values()))
    line = (
        f'{{"model_a": "{pair.first}", "model_b": "{pair.second}", "winner": "tie",'
        f' "question": "{pair.sample_id}", "by": "%s"}}'
    )
    with acting_as(OLGA):
        uploads = {
            name: store_upload(shared, [("votes.jsonl", (line % name).encode())])
            for name in ("ann", "Ann", "guest:Mia", "from elsewhere")
        }
    for name in ("ann", "Ann", "guest:Mia"):
        assert "their own hand" in send(OLGA, "import", run_id, upload=uploads[name])
    assert read_votes(shared.database, run_id) == ()
    send(OLGA, "import", run_id, upload=uploads["from elsewhere"])
    assert [vote.by for vote in read_votes(shared.database, run_id)] == ["from elsewhere"]


# ---------------------------------------------------------------- plans


def test_who_leads_a_run_assigns_pairs_to_those_who_may_vote(
    shared: AppService, run_id: str, send: Callable[..., str]
):
    answer = send(OLGA, "assign", run_id, people="ann， Ben、guest:Mia", overlap="2", sub="voters")
    assert "The pairs are assigned." in answer
    assert read_plan(shared.database, run_id) == VotingPlan(("ann", "ben", "guest:Mia"), 2)
    for people, overlap, words in (
        ("ann, rita", "2", "rita has no account that may vote"),
        ("ann, nobody", "1", "nobody has no account"),
        ("ann", "2", "2 of 1 people"),
        ("ann", "many", "0 of 1"),
    ):
        assert words in send(OLGA, "assign", run_id, people=people, overlap=overlap)
    assert read_plan(shared.database, run_id) == VotingPlan(("ann", "ben", "guest:Mia"), 2)
    (entry,) = read_audit(shared.database, 1)
    assert (entry.person, entry.deed, entry.thing) == ("olga", "name-voters", f"run {run_id}")
    assert entry.detail == {"people": "ann, ben, guest:Mia"}


def test_who_is_not_named_in_a_plan_cannot_vote(
    shared: AppService, run_id: str, send: Callable[..., str]
):
    key = pair_of(shown(shared, BEN, run_id))
    keep_plan(shared.database, run_id, ["ann"], 1)
    assert "There is no run" in shown(shared, BEN, run_id)
    assert "There is no run" in send(BEN, "vote", run_id, pair=key, choice="a")
    assert "assigned to others" in send(OLGA, "vote", run_id, pair=key, choice="a")
    assert read_votes(shared.database, run_id) == ()
    assert "12" in shown(shared, ANN, run_id)


def test_the_page_of_voters_states_how_far_each_is(shared: AppService, run_id: str):
    keep_plan(shared.database, run_id, [], 1)
    fresh = shown(shared, OLGA, run_id, sub="voters")
    assert "Everybody may vote on all 12 pairs" in fresh
    assert "people differ" not in fresh
    keep_plan(shared.database, run_id, ["ann", "ben"], 2)
    differ(shared, run_id)
    page = shown(shared, OLGA, run_id, sub="voters")
    assert "2 of 24 assigned votes are cast" in page
    assert page.count("1 of 12") == 2
    assert "people differ" not in page
    with acting_as(OLGA):
        close_voting(shared.database, run_id, "olga")
    page = shown(shared, OLGA, run_id, sub="voters")
    assert "people differ on one pair that is not decided" in page
    assert page.count("btn pri") == 1
    assert not any(name in page for name in NAMES)


# ---------------------------------------------------------------- decisions


def test_a_decision_is_made_without_names_and_counts(
    shared: AppService, run_id: str, send: Callable[..., str]
):
    key = differ(shared, run_id)
    assert 'class="pair now"' not in shown(shared, OLGA, run_id, sub="decide")
    send(OLGA, "close", run_id)
    page = shown(shared, OLGA, run_id, sub="decide")
    assert pair_of(page) == key
    assert "A is better: 1" in page
    assert "B is better: 1" in page
    shown_notes = page.replace("note of ann", "").replace("note of ben", "")
    assert not any(name in shown_notes for name in (*NAMES, ">ann", ">ben", "ann:", "ben:"))
    assert 'class="note bad"' in send(OLGA, "decide", run_id, pair=key, choice="skip")
    answer = send(OLGA, "decide", run_id, sub="decide", pair=key, choice="b", comment="clearer")
    assert "Decided pairs" in answer
    assert "clearer" in answer
    assert "ann: " in answer
    assert {vote.adjudicated is not None for vote in read_votes(shared.database, run_id)} == {True}
    assert pair_of(shown(shared, OLGA, run_id, sub="decide", pair=key)) == key  # decided again
    with acting_as(OLGA):
        (figures,) = run_report(shared, run_id, "en").people
    assert figures.adjudicated == 1


# ---------------------------------------------------------------- links


def test_a_link_is_made_shown_once_and_withdrawn(
    shared: AppService, run_id: str, send: Callable[..., str]
):
    made = send(OLGA, "link", run_id, days="7", sub="voters")
    match = re.search(r'href="\.\./vote/([^"]+)"', made)
    assert match
    assert run_of_link(shared.database, unquote(match[1])) == run_id
    page = shown(shared, OLGA, run_id, sub="voters")
    assert match[1] not in page
    (link,) = read_guest_links(shared.database, run_id)
    row = shared.database.row("SELECT owner FROM guest_link WHERE digest = ?", (link.digest,))
    assert row
    assert row["owner"] == "olga"
    send(OLGA, "revoke", run_id, link=link.digest)
    assert read_guest_links(shared.database, run_id) == ()
    assert "1 to 90" in send(OLGA, "link", run_id, days="400")


def test_functions_of_voters_check_for_themselves(shared: AppService, run_id: str):
    with acting_as(ANN), pytest.raises(NotAllowed):
        assign_people(shared, run_id, ["ann"], 1)
    with acting_as(OLGA), pytest.raises(SpecError):
        assign_people(shared, run_id, ["rita"], 1)


@pytest.mark.parametrize("do", ["vote", "undo", "finish", "import"])
def test_who_may_only_look_adds_no_vote(
    shared: AppService, run_id: str, send: Callable[..., str], do: str
):
    keep_plan(shared.database, run_id, ["rita"], 1)
    pair = next(iter(shared.voting_pairs.of_run(run_id)))
    with acting_as(OLGA):
        forged = {"by": "dora", "model_a": NAMES[0], "model_b": NAMES[1], "winner": "model_a"}
        upload = store_upload(shared, [("votes.jsonl", json.dumps(forged).encode())])
    with acting_as(READER):
        assert shared.run(run_id).id == run_id
    answer = send(READER, do, run_id, pair=pair, choice="a", upload=upload)
    assert "You may not vote here" in answer
    assert not read_votes(shared.database, run_id)


def test_people_who_may_vote_are_offered_and_the_assigned_ones_are_chosen(
    shared: AppService, run_id: str
):
    keep_plan(shared.database, run_id, ["ben", "guest:Mia"], 1)
    screen = Screen(shared, person=OLGA)
    screen.render({"run": run_id, "sub": "voters"})
    people = screen.shown[screen.page.voters.people]
    assert people["choices"] == ["ben", "guest:Mia", "ann", "eve", "olga"]
    assert people["value"] == ["ben", "guest:Mia"]
    screen.assign(["ben", "ann"], " guest:Zoe，ann", 2)
    assert read_plan(shared.database, run_id) == VotingPlan(("ben", "ann", "guest:Zoe"), 2)


@pytest.mark.parametrize(("people", "kept"), [(MAX_PEOPLE, MAX_PEOPLE), (MAX_PEOPLE + 1, 0)])
def test_votes_of_too_many_people_are_not_imported(
    shared: AppService, run_id: str, people: int, kept: int
):
    pair = next(iter(shared.voting_pairs.of_run(run_id).values()))
    left, right = sorted(pair.models)
    vote = {"model_a": left, "model_b": right, "winner": "model_a", "question": pair.sample_id}
    lines = "\n".join(json.dumps(vote | {"by": f"v{n}"}) for n in range(people))
    with acting_as(OLGA):
        upload = store_upload(shared, [("votes.jsonl", lines.encode())])
    screen = Screen(shared, person=OLGA)
    screen.render({"run": run_id, "sub": "voters"})
    shown = screen.upload(upload)
    assert len(read_votes(shared.database, run_id)) == kept
    assert ("More than 300 people" in shown) is (not kept)
