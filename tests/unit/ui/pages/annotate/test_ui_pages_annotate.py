"""The Annotate page: blind pairs, votes by button, undo, the end; and who may see names when."""

import re
from collections.abc import Callable

import pytest
from annotate_examples import NAMES, open_run, question
from annotate_page import Booth, pair_in_view
from drawn_page import DrawnPage
from ui_examples import HOSTILE

from evalui.app.results import run_report, run_votes
from evalui.app.service import AppService
from evalui.errors import UnknownRun
from evalui.store.voting.ballots import voting_pairs
from evalui.store.voting.votes import VoteInput, cast_vote, next_ballots, read_votes
from evalui.types import Sample


def first_votes(desk: AppService, run_id: str, voter: str, n: int) -> None:
    for _ in range(n):
        cast_vote(
            desk.database,
            run_id,
            voter,
            VoteInput(
                next_ballots(
                    desk.database, run_id, voter, pairs=voting_pairs(desk.database, run_id)
                )[0].pair_key,
                "a",
            ),
            pairs=voting_pairs(desk.database, run_id),
        )


def test_the_name_is_requested_before_all_else(desk: AppService):
    form = {"run": open_run(desk)}
    page = DrawnPage("annotate", desk, form)
    assert page.text.index("Which answer is better?") < page.text.index("Your name")
    assert 'class="pair' not in page.text
    assert page.press("Start voting", **{"Your name": "ann"}) == f"?run={form['run']}"
    # The browser keeps it, and sends it with the next drawing.
    page = DrawnPage("annotate", desk, form, cookies={"evalui-voter": "Ann%20B"})
    assert "you are Ann B" in page.text
    assert "Your name" not in page.text
    assert pair_in_view(page.text)


def test_an_address_may_name_the_person(desk: AppService):
    form, kept = {"run": open_run(desk), "voter": "ann"}, {"evalui-voter": "bob"}
    page = DrawnPage("annotate", desk, form, cookies=kept).text
    assert "you are ann" in page
    assert "pair 1 of 12" in page


def test_another_name_is_given_in_place_of_the_first(desk: AppService):
    run_id = open_run(desk)
    booth = Booth(desk, run_id, "ann")
    pair = pair_in_view(booth.text)
    assert f'href="annotate?run={run_id}&amp;pair={pair}&amp;panel=name"' in booth.text
    form = {"run": run_id, "pair": pair, "panel": "name", "voter": "ann"}
    page = DrawnPage("annotate", desk, form)
    assert page.component("Your name").value == "ann"
    assert 'class="pair' not in page.text
    named = page.press("Start voting", **{"Your name": "bob"})
    assert named == f"?run={run_id}&pair={pair}"
    assert pair_in_view(Booth(desk, run_id, "bob", pair=pair).text) == pair


@pytest.mark.parametrize("kept", ["", "%20%20", "guest%3AMia"])
def test_an_empty_name_and_that_of_a_guest_are_requested_again(desk: AppService, kept: str):
    form = {"run": open_run(desk)}
    page = DrawnPage("annotate", desk, form, cookies={"evalui-voter": kept})
    assert "Your name" in page.text


def test_a_long_name_is_cut(desk: AppService):
    assert f"you are {'x' * 60} <" in Booth(desk, open_run(desk), "x" * 99).text


def test_the_views_of_the_run_stand_above(desk: AppService):
    run_id = open_run(desk)
    page = Booth(desk, run_id, "ann").text
    assert f'href="results?run={run_id}&amp;sub=samples"' in page
    assert f'href="annotate?run={run_id}" aria-current="page"' in page


def test_a_pair_has_its_question_reference_guidance_and_two_answers(desk: AppService):
    page = Booth(desk, open_run(desk), "ann").text
    for shown in (
        "Question · reasoning · English",
        "Be brief.",
        "Because of",
        "Look at the reason.",
        "<strong>so</strong>",
        "I do not know.",
        "pair 1 of 12",
        "0 done",
    ):
        assert shown in page
    for key in "1234su":
        assert f'data-key="{key}"' in page


@pytest.mark.parametrize("key", ["2", "s"])
def test_the_next_pair_is_on_the_page_already(desk: AppService, key: str):
    run_id = open_run(desk, 30)
    first_votes(desk, run_id, "ann", 10)
    booth = Booth(desk, run_id, "ann")
    following = re.search(r'class="pair next" data-pair="(\w+)"', booth.text)
    assert following
    first_votes(desk, run_id, "bob", 12)  # now others need votes more than the pair announced
    assert pair_in_view(booth.press(key)) == following[1]


def test_no_name_is_on_the_page_before_the_end(desk: AppService):
    run_id = open_run(desk)
    booth = Booth(desk, run_id, "ann")
    for _ in range(12):
        assert not any(name in booth.text for name in NAMES)
        booth.press("1")
    assert "All pairs are done" in booth.text
    assert not any(name in booth.text for name in NAMES)
    assert not any(name in booth.open() for name in NAMES)


def test_the_sides_do_not_follow_the_order_of_the_models(desk: AppService):
    booth = Booth(desk, open_run(desk, 24), "ann")
    firsts = 0
    for _ in range(24):
        firsts += booth.text.index("I do not know") > booth.text.index("<strong>so")
        booth.press("3")
    assert 4 < firsts < 20


@pytest.mark.parametrize(
    ("key", "choice", "said"),
    [
        ("1", "a", "A is better"),
        ("2", "b", "B is better"),
        ("3", "tie", "both good"),
        ("4", "neither", "both bad"),
        ("s", "skip", "skipped"),
    ],
)
def test_each_key_is_a_vote_that_is_kept_at_once(
    desk: AppService, key: str, choice: str, said: str
):
    run_id = open_run(desk)
    page = Booth(desk, run_id, "ann").press(key, comment="unsure")
    (kept,) = read_votes(desk.database, run_id)
    assert (kept.choice, kept.by, kept.comment) == (choice, "ann", "unsure")
    assert f"Saved at once. Last: pair 1, {said}." in page
    assert "unsure" not in page


def test_undo_brings_the_last_pair_back(desk: AppService):
    run_id = open_run(desk)
    booth = Booth(desk, run_id, "ann")
    first = pair_in_view(booth.text)
    booth.press("1")
    back = booth.press("u")
    assert pair_in_view(back) == first
    assert read_votes(desk.database, run_id) == ()
    undo = re.search(r'<button [^>]*data-do="undo"[^>]*>', back)
    assert undo
    assert "disabled" in undo[0]


@pytest.mark.parametrize(
    ("spent", "kept"), [("12.5", 12.5), ("", None), ("nonsense", None), ("99999", None)]
)
def test_the_time_spent_is_kept_if_it_can_be_true(desk: AppService, spent: str, kept: float | None):
    run_id = open_run(desk)
    booth = Booth(desk, run_id, "ann")
    page = booth.vote(pair_in_view(booth.text), "a", spent=spent)
    assert read_votes(desk.database, run_id)[0].seconds == kept
    assert ("11 left · about 2 min" in page) == (kept == 12.5)


def test_each_annotator_has_their_own_place(desk: AppService):
    run_id = open_run(desk)
    Booth(desk, run_id, "ann").press("1")
    page = Booth(desk, run_id, "bob").text
    assert "0 done" in page
    assert "1 of 12 pairs voted on by 1 person" in page
    assert "you are bob" in page


def test_a_vote_that_is_sent_twice_is_one_and_a_second_one_replaces_it(desk: AppService):
    run_id = open_run(desk)
    booth = Booth(desk, run_id, "ann")
    pair = pair_in_view(booth.text)
    for choice in ("a", "a", "b"):
        page = booth.vote(pair, choice, sequence="7")
        assert 'data-answer="7"' in page
        assert pair_in_view(page) != pair
    (kept,) = read_votes(desk.database, run_id)
    assert (kept.pair_key, kept.choice) == (pair, "b")


def test_a_refused_vote_states_why_and_leaves_its_pair_in_view(desk: AppService):
    run_id = open_run(desk)
    booth = Booth(desk, run_id, "ann")
    pairs = voting_pairs(desk.database, run_id)
    second = next_ballots(desk.database, run_id, "ann", pairs=pairs)[1].pair_key
    page = booth.vote(second, "c", sequence="3", comment="my <note>")
    assert 'class="note bad"' in page
    assert "my &lt;note&gt;</textarea>" in page
    assert pair_in_view(page) == second
    assert 'data-answer="3"' in page
    assert read_votes(desk.database, run_id) == ()


def test_finishing_asks_first_and_then_shows_names(desk: AppService):
    run_id = open_run(desk)
    booth = Booth(desk, run_id, "ann")
    assert "Finish and show names" not in booth.text
    page = booth.press("1")
    question = page.partition("<summary")[2].partition("Finish and show names</summary>")[2]
    assert question.index("cannot vote on this run") < question.index('data-do="finish"')
    other = Booth(desk, run_id, "ann")  # the same in another window
    result = booth.finish()
    assert all(name in result for name in NAMES)
    assert "You preferred" in booth.open()
    assert "You preferred" in other.vote(pair_in_view(page), "b")
    assert len(read_votes(desk.database, run_id)) == 1


def test_whoever_votes_is_shown_nothing_of_what_others_say(desk: AppService):
    run_id = open_run(desk, 3)
    booths = [Booth(desk, run_id, voter) for voter in ("bob", "ann")]
    for booth in booths:
        page = booth.press("3")
        assert "others said" not in page
        assert "gree" not in page.replace("greet", "")
    assert run_votes(desk, run_id) == {}
    assert run_report(desk, run_id, "en").people == ()
    # One who has ended sees their own votes, and nobody's else.
    assert "once everybody has finished" in booths[0].finish()
    assert "once everybody has finished" not in booths[1].finish()
    assert len(run_votes(desk, run_id)["talk.jsonl"]) == 2
    assert run_report(desk, run_id, "en").people


def test_without_a_run_those_with_pairs_are_offered(desk: AppService):
    assert "No run with answers of two models yet" in Booth(desk, "", "ann").text
    run_id = open_run(desk)
    page = Booth(desk, "", "ann").text
    assert f'href="annotate?run={run_id}"' in page
    assert "0 of 12" in page


def test_a_run_without_written_answers_says_so(desk: AppService, finished: Callable[..., str]):
    page = Booth(desk, finished(models=["always-A"], modes=["multiple_choice"]), "ann").text
    assert "no question that two models have answered" in page
    assert "Runs to vote on" in page


@pytest.mark.parametrize("voter", ["ann", ""])
def test_an_unknown_run_is_reported(desk: AppService, voter: str):
    with pytest.raises(UnknownRun):
        Booth(desk, "nothing-here", voter)


def test_nothing_that_was_written_becomes_markup(desk: AppService):
    hostile = Sample(
        f"x/{HOSTILE}",
        HOSTILE,
        target=(HOSTILE,),
        metadata={"capability": HOSTILE, "guidance": HOSTILE, "language": HOSTILE},
        history=question(0).history,
        follow_ups=(HOSTILE,),
    )
    run_id = open_run(desk, samples=[hostile], written=_hostile)
    page = Booth(desk, run_id, HOSTILE).text
    assert "onerror=" in page
    assert not re.search(r"<(img|script|iframe)", page)


def test_a_conversation_shows_every_turn(desk: AppService):
    run_id = open_run(desk, 1)
    with desk.database.writing() as connection:
        connection.execute(
            "UPDATE sample SET body = json_set(body, '$[7]', json('[\"And then?\"]'))"
        )
        connection.execute('UPDATE trial SET turns = json(\'["One","Two"]\')')
    page = Booth(desk, run_id, "ann").text
    for shown in ("One", "And then?", "Two"):
        assert page.count(f"<p>{shown}</p>") == 2


def test_the_page_speaks_chinese(desk: AppService):
    page = Booth(desk, open_run(desk), "甲", "zh").text
    for shown in ("哪个回答更好？", "都不好", "撤销上一票", "你是 甲"):
        assert shown in page


def test_a_blank_reply_is_shown_as_no_answer(desk: AppService):
    run_id = open_run(desk, 3, written=lambda _, side: "" if side else "Since so.")
    page = Booth(desk, run_id, "ann").text
    assert page.count("(no answer)") == 2  # this pair's and the next one's


def _hostile(sample: Sample, side: int) -> str:
    del sample, side
    return HOSTILE
