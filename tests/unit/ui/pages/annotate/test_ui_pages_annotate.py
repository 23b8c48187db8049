"""The Annotate page: blind pairs, votes by button, undo, the end; and who may see names when."""

import re
from collections.abc import Callable

import pytest
from annotate_examples import NAMES, open_run, question
from ui_annotate_screen import Screen
from ui_examples import HOSTILE

from evalui.app.results import run_report, run_votes
from evalui.app.service import AppService
from evalui.store.voting.ballots import voting_pairs
from evalui.store.voting.votes import VoteInput, cast_vote, next_ballots, read_votes
from evalui.types import Sample


@pytest.fixture
def screen(desk: AppService) -> Screen:
    return Screen(desk)


def press(screen: Screen, key: str, comment: str = "") -> str:
    """Press the button of a key; the page after it."""
    page = screen.html()
    (button,) = re.findall(rf'<button [^>]*data-key="{key}"[^>]*>', page)
    sent = dict(re.findall(r'data-([a-z]+)="([^"]*)"', button))
    if sent.pop("do") == "undo":
        return screen.undo()
    return screen.vote(**sent, comment=comment)


def opened(screen: Screen, run_id: str, voter: str = "ann") -> str:
    return screen.render({"run": run_id} if run_id else {}, kept=voter)


def now(page: str) -> str:
    """The token of the pair in view."""
    found = re.search(r'class="pair now" data-pair="(\w+)"', page)
    assert found
    return found[1]


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


def test_the_name_is_requested_before_all_else(screen: Screen, desk: AppService):
    run_id = open_run(desk)
    page = screen.render({"run": run_id})
    assert page.index("Which answer is better?") < page.index('name="voter"')
    assert 'class="pair' not in page
    page = screen.begin("ann")
    assert "you are ann" in page
    assert 'name="voter"' not in page
    assert now(page)
    assert screen.voter == "ann"  # which the browser keeps


def test_an_address_may_name_the_person(screen: Screen, desk: AppService):
    page = screen.render({"run": open_run(desk), "voter": "ann"}, kept="bob")
    assert "you are ann" in page
    assert "pair 1 of 12" in page


def test_another_name_is_given_in_place_of_the_first(screen: Screen, desk: AppService):
    run_id = open_run(desk)
    page = opened(screen, run_id)
    pair = now(page)
    assert f'href="annotate?run={run_id}&amp;pair={pair}&amp;panel=name"' in page
    page = screen.render({"run": run_id, "pair": pair, "panel": "name"}, kept="ann")
    assert 'name="voter" value="ann"' in page
    assert 'class="pair' not in page
    page = screen.begin("bob")
    assert "you are bob" in page
    assert now(page) == pair
    assert screen.query == f"run={run_id}"


def test_a_pair_has_its_question_reference_guidance_and_two_answers(
    screen: Screen, desk: AppService
):
    page = opened(screen, open_run(desk))
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
def test_the_next_pair_is_on_the_page_already(screen: Screen, desk: AppService, key: str):
    run_id = open_run(desk, 30)
    first_votes(desk, run_id, "ann", 10)
    page = opened(screen, run_id)
    following = re.search(r'class="pair next" data-pair="(\w+)"', page)
    assert following
    first_votes(desk, run_id, "bob", 12)  # now others need votes more than the pair announced
    assert now(press(screen, key)) == following[1]


def test_no_name_is_on_the_page_before_the_end(screen: Screen, desk: AppService):
    run_id = open_run(desk)
    page = opened(screen, run_id)
    for _ in range(12):
        assert not any(name in page for name in NAMES)
        page = press(screen, "1")
    assert "All pairs are done" in page
    assert not any(name in page for name in NAMES)
    assert not any(name in opened(screen, run_id) for name in NAMES)


def test_the_sides_do_not_follow_the_order_of_the_models(screen: Screen, desk: AppService):
    run_id = open_run(desk, 24)
    page = opened(screen, run_id)
    firsts = 0
    for _ in range(24):
        firsts += page.index("I do not know") > page.index("<strong>so")
        page = press(screen, "3")
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
    screen: Screen,
    desk: AppService,
    key: str,
    choice: str,
    said: str,
):
    run_id = open_run(desk)
    opened(screen, run_id)
    page = press(screen, key, comment="unsure")
    (kept,) = read_votes(desk.database, run_id)
    assert (kept.choice, kept.by, kept.comment) == (choice, "ann", "unsure")
    assert f"Saved at once. Last: pair 1, {said}." in page


def test_undo_brings_the_last_pair_back(screen: Screen, desk: AppService):
    run_id = open_run(desk)
    first = opened(screen, run_id)
    press(screen, "1")
    back = press(screen, "u")
    assert now(back) == now(first)
    assert read_votes(desk.database, run_id) == ()
    undo = re.search(r'<button [^>]*data-do="undo"[^>]*>', back)
    assert undo
    assert "disabled" in undo[0]


@pytest.mark.parametrize(
    ("spent", "kept"), [("12.5", 12.5), ("", None), ("nonsense", None), ("99999", None)]
)
def test_the_time_spent_is_kept_if_it_can_be_true(
    screen: Screen, desk: AppService, spent: str, kept: float | None
):
    run_id = open_run(desk)
    token = now(opened(screen, run_id))
    page = screen.vote(pair=token, choice="a", spent=spent)
    assert read_votes(desk.database, run_id)[0].seconds == kept
    assert ("11 left · about 2 min" in page) == (kept == 12.5)


def test_each_annotator_has_their_own_place(screen: Screen, desk: AppService):
    run_id = open_run(desk)
    opened(screen, run_id, "ann")
    press(screen, "1")
    page = opened(screen, run_id, "bob")
    assert "0 done" in page
    assert "1 of 12 pairs voted on by 1 person" in page
    assert "you are bob" in page


def test_a_glance_keeps_the_pair_in_view(screen: Screen, desk: AppService):
    run_id = open_run(desk)
    first = now(opened(screen, run_id))
    press(screen, "1")
    second = now(screen.html())
    assert second != first
    assert now(screen.press("ask")) == second
    assert now(screen.press("stay")) == second


def test_an_empty_name_is_requested_again_and_a_long_one_is_cut(screen: Screen, desk: AppService):
    screen.render({"run": open_run(desk)})
    assert 'name="voter"' in screen.begin("  ")
    assert f"you are {'x' * 60}<" in screen.begin("x" * 99).replace(" <", "<")


def test_nobody_votes_without_a_name(screen: Screen, desk: AppService):
    run_id = open_run(desk)
    pair = next(iter(voting_pairs(desk.database, run_id)))
    screen.render({"run": run_id})
    assert 'name="voter"' in screen.vote(pair=pair, choice="a")
    assert read_votes(desk.database, run_id) == ()


def test_a_vote_that_is_sent_twice_is_one_and_a_second_one_replaces_it(
    screen: Screen, desk: AppService
):
    run_id = open_run(desk)
    pair = now(opened(screen, run_id))
    for choice in ("a", "a", "b"):
        page = screen.vote(pair=pair, choice=choice, sequence=7)
        assert 'data-answer="7"' in page
        assert now(page) != pair
    (kept,) = read_votes(desk.database, run_id)
    assert (kept.pair_key, kept.choice) == (pair, "b")


def test_a_refused_vote_states_why_and_leaves_its_pair_in_view(screen: Screen, desk: AppService):
    run_id = open_run(desk)
    opened(screen, run_id)
    second = next_ballots(desk.database, run_id, "ann", pairs=voting_pairs(desk.database, run_id))[
        1
    ].pair_key
    page = screen.vote(pair=second, choice="c", sequence=3)
    assert 'class="note bad"' in page
    assert now(page) == second
    assert 'data-answer="3"' in page
    assert read_votes(desk.database, run_id) == ()


def test_finishing_asks_first_and_then_shows_names(screen: Screen, desk: AppService):
    run_id = open_run(desk)
    assert "Finish and show names" not in opened(screen, run_id)
    page = press(screen, "1")
    asked = screen.press("ask")
    assert asked.count("Finish and show names") == 2
    assert now(asked) == now(page)
    assert not any(name in asked for name in NAMES)
    assert now(screen.press("stay")) == now(page)
    result = screen.press("finish")
    assert all(name in result for name in NAMES)
    assert "You preferred" in opened(screen, run_id)
    late = screen.vote(pair=now(page), choice="b")
    assert "has seen the names" in late
    assert len(read_votes(desk.database, run_id)) == 1


def test_whoever_votes_is_shown_nothing_of_what_others_say(screen: Screen, desk: AppService):
    run_id = open_run(desk, 3)
    for voter in ("bob", "ann"):
        page = opened(screen, run_id, voter)
        page = press(screen, "3")
    assert "others said" not in page
    assert "gree" not in page.replace("greet", "")
    assert run_votes(desk, run_id) == {}
    assert run_report(desk, run_id, "en").people == ()
    for voter in ("bob", "ann"):  # one who has ended sees their own votes, and nobody's else
        opened(screen, run_id, voter)
        finished = screen.press("finish")
        assert ("once everybody has ended" in finished) == (voter == "bob")
    assert len(run_votes(desk, run_id)["talk.jsonl"]) == 2
    assert run_report(desk, run_id, "en").people


def test_without_a_run_those_with_pairs_are_offered(screen: Screen, desk: AppService):
    assert "No run with answers of two models yet" in opened(screen, "")
    run_id = open_run(desk)
    page = opened(screen, "")
    assert f'href="annotate?run={run_id}"' in page
    assert "0 of 12" in page


def test_a_run_without_written_answers_says_so(screen: Screen, finished: Callable[..., str]):
    page = opened(screen, finished(models=["always-A"], modes=["multiple_choice"]))
    assert "no question that two models have answered" in page


@pytest.mark.parametrize("voter", ["ann", ""])
def test_an_unknown_run_is_reported(screen: Screen, voter: str):
    page = opened(screen, "nothing-here", voter)
    assert "There is no run" in page
    assert ('name="voter"' in page) == (not voter)


def test_nothing_that_was_written_becomes_markup(screen: Screen, desk: AppService):
    hostile = Sample(
        f"x/{HOSTILE}",
        HOSTILE,
        target=(HOSTILE,),
        metadata={"capability": HOSTILE, "guidance": HOSTILE, "language": HOSTILE},
        history=question(0).history,
        follow_ups=(HOSTILE,),
    )
    run_id = open_run(desk, samples=[hostile], written=_hostile)
    page = opened(screen, run_id, HOSTILE)
    assert "onerror=" in page
    assert not re.search(r"<(img|script|iframe)", page)


def test_a_conversation_shows_every_turn(screen: Screen, desk: AppService):
    run_id = open_run(desk, 1)
    with desk.database.writing() as connection:
        connection.execute(
            "UPDATE sample SET body = json_set(body, '$[7]', json('[\"And then?\"]'))"
        )
        connection.execute('UPDATE trial SET turns = json(\'["One","Two"]\')')
    page = opened(screen, run_id)
    for shown in ("One", "And then?", "Two"):
        assert page.count(f"<p>{shown}</p>") == 2


def test_the_page_speaks_chinese(desk: AppService):
    page = opened(Screen(desk, "zh"), open_run(desk), "甲")
    for shown in ("哪个回答更好？", "都不好", "撤销上一票", "您是 甲"):
        assert shown in page


def test_a_blank_reply_is_shown_as_no_answer(screen: Screen, desk: AppService):
    run_id = open_run(desk, 3, written=lambda _, side: "" if side else "Since so.")
    page = opened(screen, run_id)
    assert page.count("(no answer)") == 2  # this pair's and the next one's


def _hostile(sample: Sample, side: int) -> str:
    del sample, side
    return HOSTILE
