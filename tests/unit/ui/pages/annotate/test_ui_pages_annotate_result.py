"""What finishing shows: one's own tally, people beside the judge, and the file of the votes."""

import json
import re
from collections.abc import Callable

import pytest
from annotate_examples import JUDGE, NAMES, open_run
from fastapi import FastAPI
from starlette.testclient import TestClient
from ui_annotate_screen import Screen
from ui_examples import HOSTILE

from evalui.app.datasets import store_upload
from evalui.app.results import export_run, run_report
from evalui.app.service import AppService
from evalui.store.column_blocks import decode_columns, encode_columns, no_texts
from evalui.store.voting.ballots import voting_pairs
from evalui.store.voting.plans import close_voting
from evalui.store.voting.votes import (
    VoteChoice,
    VoteInput,
    cast_vote,
    finish_voting,
    next_ballots,
    read_votes,
)
from evalui.ui.published import PublishedRuns
from evalui.ui.web.routes import add_routes

TAG = re.compile(r"<[^>]+>")


@pytest.fixture
def screen(desk: AppService) -> Screen:
    return Screen(desk)


@pytest.fixture
def client(desk: AppService) -> TestClient:
    app = FastAPI()
    add_routes(app, desk, PublishedRuns())
    return TestClient(app)


def vote_all(
    desk: AppService, run_id: str, person: str, likes: str | VoteChoice, *, most: int = 99
) -> None:
    """Vote on every pair: for the model whose answer holds `likes`, or always the same."""
    for _ in range(most):
        shown = next_ballots(
            desk.database, run_id, person, pairs=voting_pairs(desk.database, run_id)
        )
        if not shown:
            return
        choice: VoteChoice = "a" if likes in shown[0].left[0] else "b"
        said = likes if likes in ("tie", "neither", "skip") else choice
        cast_vote(
            desk.database,
            run_id,
            person,
            VoteInput(shown[0].pair_key, said),
            pairs=voting_pairs(desk.database, run_id),
        )


def finished(screen: Screen, run_id: str, voter: str = "ann") -> str:
    screen.render({"run": run_id}, kept=voter)
    return screen.press("finish")


def said(page: str, title: str) -> str:
    """The text of the card or the folded section with this title, its tags as spaces."""
    card = page.partition(f"<h2>{title}</h2>")[2].partition("</section>")[0]
    card = card or page.partition(f"<b>{title}</b>")[2].partition("</details>")[0]
    return re.sub(r"\s+", " ", TAG.sub(" ", card))


def test_ones_own_votes_are_tallied_by_model(screen: Screen, desk: AppService):
    run_id = open_run(desk)
    vote_all(desk, run_id, "bob", "do not")
    vote_all(desk, run_id, "ann", "Since", most=6)
    vote_all(desk, run_id, "ann", "neither", most=3)
    vote_all(desk, run_id, "ann", "skip")
    page = finished(screen, run_id)
    assert f"<h1>You preferred {NAMES[0]}: win rate 83\u00a0% in 9 pairs.</h1>" in page
    card = said(page, "Your votes")
    assert "9 votes" in card
    assert f"{NAMES[0]} 6 0 3 0 83 %" in card
    assert f"{NAMES[1]} 0 0 3 6 17 %" in card


def test_people_stand_beside_the_judge(screen: Screen, desk: AppService):
    run_id = open_run(desk, judged=True)
    vote_all(desk, run_id, "ann", "do not", most=8)  # against the judge
    vote_all(desk, run_id, "bob", "Since", most=8)
    close_voting(desk.database, run_id, "ann")
    page = finished(screen, run_id)
    assert "16 votes of 2 people on 8 pairs of answers" in page
    assert f"ELO by {JUDGE}" in page
    agreed = said(page, "Who agrees with whom")
    assert f"{JUDGE} and ann 0 (0" in agreed
    assert f"{JUDGE} and bob 100 (" in agreed
    assert "ann and bob" in agreed


def test_disagreements_name_the_question_and_each_vote(screen: Screen, desk: AppService):
    run_id = open_run(desk, judged=True)
    vote_all(desk, run_id, "ann", "do not")
    card = said(finished(screen, run_id), "Where opinions part")
    assert f"People and {JUDGE}, or people among themselves, differ on 12 pairs." in card
    assert f"Why 3? {NAMES[0]} against {NAMES[1]} {NAMES[1]}: ann {NAMES[0]}" in card


def test_the_win_rate_is_given_by_judge_by_people_and_by_both(screen: Screen, desk: AppService):
    run_id = open_run(desk, 24, judged=True)
    vote_all(desk, run_id, "ann", "Since", most=12)
    card = said(finished(screen, run_id), "Win rates, the judge corrected by people")
    assert "Judge only People only Judge corrected by people" in card
    assert f"{NAMES[0]} against {NAMES[1]} 100 (" in card


def test_without_a_judge_people_are_shown_alone(screen: Screen, desk: AppService):
    run_id = open_run(desk)
    vote_all(desk, run_id, "ann", "Since", most=8)
    vote_all(desk, run_id, "bob", "tie", most=8)
    close_voting(desk.database, run_id, "ann")
    page = finished(screen, run_id)
    assert "ELO by people" in page
    assert "Judge only" not in page
    assert "late-model: ann; both good: bob" in said(page, "Where opinions part")


def test_who_votes_unlike_the_others_is_named(screen: Screen, desk: AppService):
    run_id = open_run(desk, 40)
    for person in ("ann", "bob", "carl"):
        vote_all(desk, run_id, person, "Since")
    vote_all(desk, run_id, "mallory", "do not")
    assert "Votes unlike those of the others: mallory." in finished(screen, run_id)


@pytest.mark.parametrize("judged", [True, False])
def test_votes_are_in_the_report_when_all_have_ended(desk: AppService, judged: bool):
    run_id = open_run(desk, judged=judged)
    vote_all(desk, run_id, "bob", "skip", most=1)
    for _ in range(2):
        vote_all(desk, run_id, "ann", "Since", most=1)
        assert run_report(desk, run_id, "en").people == ()
        assert "People" not in b"".join(export_run(desk, run_id, "md", "en")[1]).decode()
    for person in ("ann", "bob"):
        assert run_report(desk, run_id, "en").people == ()
        finish_voting(desk.database, run_id, person)
    (figures,) = run_report(desk, run_id, "en").people
    assert (figures.votes, figures.has_judge) == (2, judged)
    assert "## People · talk" in b"".join(export_run(desk, run_id, "md", "en")[1]).decode()


def test_a_vote_leaves_the_figures_of_judges_as_they_are(desk: AppService):
    run_id = open_run(desk, judged=True)
    before = run_report(desk, run_id, "en")
    vote_all(desk, run_id, "ann", "Since", most=1)
    finish_voting(desk.database, run_id, "ann")
    after = run_report(desk, run_id, "en")
    assert (before.people, len(after.people)) == ((), 1)
    assert after.arenas[0].battles is before.arenas[0].battles
    assert after.results is before.results


def test_another_trial_makes_other_figures(desk: AppService):
    run_id = open_run(desk, judged=True)
    before = run_report(desk, run_id, "en").arenas[0].done
    with desk.database.writing() as connection:
        last = "FROM trial_block WHERE first = (SELECT max(first) FROM trial_block)"
        (body,) = connection.execute(f"SELECT body {last}").fetchone()
        fewer = encode_columns(decode_columns(body, no_texts)[:-1])
        connection.execute(
            "UPDATE trial_block SET body = ? WHERE first = (SELECT max(first) FROM trial_block)",
            (fewer,),
        )
        connection.execute("UPDATE cell SET done = done - 1 WHERE mode = 'judge'")
        connection.execute("UPDATE run SET revision = revision + 1")
    assert run_report(desk, run_id, "en").arenas[0].done == before - 1


def test_a_run_without_votes_is_reported_as_such(screen: Screen, desk: AppService):
    page = finished(screen, open_run(desk))
    assert "<h1>You cast no vote.</h1>" in page
    assert "People ·" not in page


def test_votes_leave_as_battles_and_come_back(screen: Screen, desk: AppService, client: TestClient):
    run_id = open_run(desk)
    vote_all(desk, run_id, "ann", "Since", most=3)
    vote_all(desk, run_id, "ann", "skip", most=1)
    early = client.get(f"/votes/{run_id}.jsonl")
    assert early.status_code == 403
    finish_voting(desk.database, run_id, "ann")
    sent = client.get(f"/votes/{run_id}.jsonl")
    assert sent.headers["content-disposition"].startswith("attachment")
    rows = [json.loads(line) for line in sent.text.splitlines()]
    assert [row["by"] for row in rows] == ["ann"] * 3
    assert {row["dataset"] for row in rows} == {"talk.jsonl"}
    assert {row[f"{row['winner']}"] for row in rows} == {NAMES[0]}
    text_ = sent.text.replace('"ann"', '"zoe"')
    upload = store_upload(desk, [("votes.jsonl", text_.encode())])
    for told in ("3 votes were new", "0 votes were new"):
        screen.render({"run": run_id}, kept="ann")
        assert told in screen.upload(upload)
    assert [one.by for one in read_votes(desk.database, run_id)].count("zoe") == 3


@pytest.mark.parametrize(
    "line",
    [
        '{"model_a": "x", "model_b": "early-model", "winner": "tie", "question": "talk/1"}',
        '{"model_a": "late-model", "model_b": "early-model", "winner": "c", "question": "talk/1"}',
        "no json",
    ],
)
def test_a_file_that_does_not_fit_is_reported_and_nothing_is_kept(
    screen: Screen, desk: AppService, line: str
):
    run_id = open_run(desk)
    upload = store_upload(desk, [("votes.jsonl", line.encode())])
    screen.render({"run": run_id}, kept="ann")
    assert 'class="note bad"' in screen.upload(upload)
    assert read_votes(desk.database, run_id) == ()


def test_votes_on_the_run_of_another_user_are_not_found(
    client: TestClient, desk: AppService, become: Callable[[str], None]
):
    run_id = open_run(desk)
    become("bob")
    assert client.get(f"/votes/{run_id}.jsonl").status_code == 404
    assert client.get("/votes/none.jsonl").status_code == 404


def test_names_and_questions_stay_text(screen: Screen, desk: AppService):
    run_id = open_run(desk, judged=True)
    voter = HOSTILE[:60]
    vote_all(desk, run_id, voter, "do not")
    page = finished(screen, run_id, voter)
    assert "onerror=" in page
    assert not re.search(r"<(img|script|iframe)", page)
