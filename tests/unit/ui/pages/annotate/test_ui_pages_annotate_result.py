"""What finishing shows: one's own tally, people beside the judge, and the file of the votes."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import gradio as gr
import pytest
from annotate_examples import JUDGE, NAMES, open_run
from drawn_page import DrawnPage
from fastapi import FastAPI
from starlette.testclient import TestClient
from ui_examples import HOSTILE

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
from evalui.ui.web.routes import add_routes

TAG = re.compile(r"<[^>]+>")


@pytest.fixture
def client(desk: AppService) -> TestClient:
    app = FastAPI()
    add_routes(app, desk)
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


def finished(desk: AppService, run_id: str, voter: str = "ann") -> str:
    finish_voting(desk.database, run_id, voter)
    return DrawnPage("annotate", desk, {"run": run_id, "voter": voter}).text


def add(desk: AppService, run_id: str, file: Path) -> str:
    """Where the button leads that adds the votes of a file."""
    page = DrawnPage("annotate", desk, {"run": run_id, "voter": "ann"})
    return page.upload("Add votes from a file", str(file))


def said(page: str, title: str) -> str:
    """The text of the card or the folded section with this title, its tags as spaces."""
    after = re.split(rf"<h2>{title}</h2>|<fold [^>]*>(?={title}: )", page, maxsplit=1)[1]
    return re.sub(r"\s+", " ", TAG.sub(" ", re.split("<h2>|<fold ", after)[0]))


def test_ones_own_votes_are_tallied_by_model(desk: AppService):
    run_id = open_run(desk)
    vote_all(desk, run_id, "bob", "do not")
    vote_all(desk, run_id, "ann", "Since", most=6)
    vote_all(desk, run_id, "ann", "neither", most=3)
    vote_all(desk, run_id, "ann", "skip")
    page = finished(desk, run_id)
    assert f"<h1>You preferred {NAMES[0]}: win rate 83\u00a0% in 9 pairs.</h1>" in page
    card = said(page, "Your votes")
    assert "9 votes" in card
    assert f"{NAMES[0]} 6 0 3 0 83 %" in card
    assert f"{NAMES[1]} 0 0 3 6 17 %" in card


def test_people_stand_beside_the_judge(desk: AppService):
    run_id = open_run(desk, judged=True)
    vote_all(desk, run_id, "ann", "do not", most=8)  # against the judge
    vote_all(desk, run_id, "bob", "Since", most=8)
    close_voting(desk.database, run_id, "ann")
    page = finished(desk, run_id)
    assert "16 votes of 2 people on 8 pairs of answers" in page
    assert f"ELO by {JUDGE}" in page
    agreed = said(page, "Who agrees with whom")
    assert f"{JUDGE} and ann 0 (0" in agreed
    assert f"{JUDGE} and bob 100 (" in agreed
    assert "ann and bob" in agreed


def test_disagreements_name_the_question_and_each_vote(desk: AppService):
    run_id = open_run(desk, judged=True)
    vote_all(desk, run_id, "ann", "do not")
    card = said(finished(desk, run_id), "Where opinions part")
    assert f"People and {JUDGE}, or people among themselves, differ on 12 pairs." in card
    assert f"Why 3? {NAMES[0]} against {NAMES[1]} {NAMES[1]}: ann {NAMES[0]}" in card


def test_the_win_rate_is_given_by_judge_by_people_and_by_both(desk: AppService):
    run_id = open_run(desk, 24, judged=True)
    vote_all(desk, run_id, "ann", "Since", most=12)
    card = said(finished(desk, run_id), "Win rates, the judge corrected by people")
    assert "Judge only People only Judge corrected by people" in card
    assert f"{NAMES[0]} against {NAMES[1]} 100 (" in card


def test_without_a_judge_people_are_shown_alone(desk: AppService):
    run_id = open_run(desk)
    vote_all(desk, run_id, "ann", "Since", most=8)
    vote_all(desk, run_id, "bob", "tie", most=8)
    close_voting(desk.database, run_id, "ann")
    page = finished(desk, run_id)
    assert "ELO by people" in page
    assert "Judge only" not in page
    assert "late-model: ann; both good: bob" in said(page, "Where opinions part")


def test_who_votes_unlike_the_others_is_named(desk: AppService):
    run_id = open_run(desk, 40)
    for person in ("ann", "bob", "carl"):
        vote_all(desk, run_id, person, "Since")
    vote_all(desk, run_id, "mallory", "do not")
    assert "Votes unlike those of the others: mallory." in finished(desk, run_id)


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


def test_a_run_without_votes_is_reported_as_such(desk: AppService):
    page = finished(desk, open_run(desk))
    assert "<h1>You have no votes.</h1>" in page
    assert "People ·" not in page


def test_votes_leave_as_battles_and_come_back(
    desk: AppService, client: TestClient, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
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
    brought = tmp_path / "votes.jsonl"
    brought.write_text(sent.text.replace('"ann"', '"zoe"'))
    for told in ("3 votes were new", "0 votes were new"):
        assert add(desk, run_id, brought) == f"?run={run_id}&voter=ann"
        assert told in capsys.readouterr().out  # where a browser has a notice
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
    desk: AppService, tmp_path: Path, line: str
):
    run_id = open_run(desk)
    finish_voting(desk.database, run_id, "ann")
    brought = tmp_path / "votes.jsonl"
    brought.write_text(line)
    with pytest.raises(gr.Error):
        add(desk, run_id, brought)
    assert read_votes(desk.database, run_id) == ()


def test_votes_on_the_run_of_another_user_are_not_found(
    client: TestClient, desk: AppService, become: Callable[[str], None]
):
    run_id = open_run(desk)
    become("bob")
    assert client.get(f"/votes/{run_id}.jsonl").status_code == 404
    assert client.get("/votes/none.jsonl").status_code == 404


def test_names_and_questions_stay_text(desk: AppService):
    run_id = open_run(desk, judged=True)
    voter = HOSTILE[:60]
    vote_all(desk, run_id, voter, "do not")
    page = finished(desk, run_id, voter)
    assert "onerror=" in page
    assert not re.search(r"<(img|script|iframe)", page)
