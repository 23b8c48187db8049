"""The Annotate tab: blind pairs, votes by button, undo, the end; and who may see names when."""

import re
from collections.abc import Callable

import pytest
from annotate_examples import NAMES, open_run, question
from ui_examples import HOSTILE

from evalui.app.service import AppService
from evalui.messages import messages
from evalui.runs.database.voting.ballots import voting_pairs
from evalui.runs.database.voting.votes import VoteInput, cast_vote, next_ballots, read_votes
from evalui.types import Sample
from evalui.ui.components.fragment import Action
from evalui.ui.tabs.annotate import AnnotateTab

MakeAct = Callable[..., Action]


@pytest.fixture
def tab(desk: AppService) -> AnnotateTab:
    return AnnotateTab(desk, messages("en"))


@pytest.fixture
def press(tab: AnnotateTab, act: MakeAct) -> Callable[..., str]:
    """Press the first button of a page that has all of these attributes; the page after it."""

    def on_page(run_id: str, page: str, *having: str, comment: str = "") -> str:
        voter = re.findall(r'name="voter" value="([^"]*)"', page)
        form = {"run": run_id, "comment": comment, "voter": "".join(voter)}
        for button in re.findall(r"<button [^>]*>", page):
            if all(attribute in button for attribute in having):
                data = dict(re.findall(r'data-([a-z]+)="([^"]*)"', button))
                return tab.act(act(data.pop("do"), form, **data))
        raise AssertionError(f"no button with {having}")

    return on_page


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


def opened(tab: AnnotateTab, act: MakeAct, run_id: str, voter: str = "ann") -> str:
    return tab.act(act("open", {"run": run_id, "voter": voter}))


def test_the_name_is_requested_before_all_else(tab: AnnotateTab, desk: AppService):
    run_id = open_run(desk)
    page = tab.render({"run": run_id})
    assert "Your name" in page
    assert page.index("Which answer is better?") < page.index('name="voter"')
    assert 'class="pair' not in page
    assert f'data-address="run={run_id}&amp;tab=annotate"' in page
    assert "data-blind" in page


def test_an_address_may_name_the_person(tab: AnnotateTab, desk: AppService):
    page = tab.render({"run": open_run(desk), "voter": "ann"})
    assert "you are ann" in page
    assert "pair 1 of 12" in page


def test_another_name_is_given_in_place_of_the_first(
    tab: AnnotateTab, act: MakeAct, desk: AppService, press: Callable[..., str]
):
    run_id = open_run(desk)
    page = press(run_id, opened(tab, act, run_id), 'data-do="rename"')
    assert 'name="voter" value="ann"' in page
    assert 'data-voter=""' in page  # so that the script does not give the name again
    assert 'class="pair' not in page


def test_a_pair_has_its_question_reference_guidance_and_two_answers(
    tab: AnnotateTab, act: MakeAct, desk: AppService
):
    page = opened(tab, act, open_run(desk))
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
def test_the_next_pair_is_on_the_page_already(
    tab: AnnotateTab, act: MakeAct, desk: AppService, press: Callable[..., str], key: str
):
    run_id = open_run(desk, 30)
    first_votes(desk, run_id, "ann", 10)
    page = opened(tab, act, run_id)
    following = re.search(r'class="pair next" data-pair="(\w+)"', page)
    assert following
    first_votes(desk, run_id, "bob", 12)  # now others need votes more than the pair announced
    assert now(press(run_id, page, f'data-key="{key}"')) == following[1]


def test_no_name_is_on_the_page_before_the_end(
    tab: AnnotateTab, act: MakeAct, desk: AppService, press: Callable[..., str]
):
    run_id = open_run(desk)
    page = opened(tab, act, run_id)
    for _ in range(12):
        assert not any(name in page for name in NAMES)
        page = press(run_id, page, 'data-key="1"')
    assert "All pairs are done" in page
    assert not any(name in page for name in NAMES)
    assert not any(name in tab.render({"run": run_id}) for name in NAMES)


def test_the_sides_do_not_follow_the_order_of_the_models(
    tab: AnnotateTab, act: MakeAct, desk: AppService, press: Callable[..., str]
):
    run_id = open_run(desk, 24)
    page = opened(tab, act, run_id)
    firsts = 0
    for _ in range(24):
        firsts += page.index("I do not know") > page.index("<strong>so")
        page = press(run_id, page, 'data-key="3"')
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
    tab: AnnotateTab,
    act: MakeAct,
    desk: AppService,
    press: Callable[..., str],
    key: str,
    choice: str,
    said: str,
):
    run_id = open_run(desk)
    page = press(run_id, opened(tab, act, run_id), f'data-key="{key}"', comment="unsure")
    (kept,) = read_votes(desk.database, run_id)
    assert (kept.choice, kept.by, kept.comment) == (choice, "ann", "unsure")
    assert f"Saved at once. Last: pair 1, {said}." in page


def test_undo_brings_the_last_pair_back(
    tab: AnnotateTab, act: MakeAct, desk: AppService, press: Callable[..., str]
):
    run_id = open_run(desk)
    first = opened(tab, act, run_id)
    second = press(run_id, first, 'data-key="1"')
    back = press(run_id, second, 'data-do="undo"')
    assert now(back) == now(first)
    assert read_votes(desk.database, run_id) == ()
    undo = re.search(r'<button [^>]*data-do="undo"[^>]*>', back)
    assert undo
    assert "disabled" in undo[0]


@pytest.mark.parametrize(
    ("spent", "kept"), [("12.5", 12.5), ("", None), ("nonsense", None), ("99999", None)]
)
def test_the_time_spent_is_kept_if_it_can_be_true(
    tab: AnnotateTab, act: MakeAct, desk: AppService, spent: str, kept: float | None
):
    run_id = open_run(desk)
    token = now(opened(tab, act, run_id))
    form = {"run": run_id, "voter": "ann"}
    page = tab.act(act("vote", form, pair=token, choice="a", spent=spent))
    assert read_votes(desk.database, run_id)[0].seconds == kept
    assert ("11 left · about 2 min" in page) == (kept == 12.5)


def test_each_annotator_has_their_own_place(
    tab: AnnotateTab, act: MakeAct, desk: AppService, press: Callable[..., str]
):
    run_id = open_run(desk)
    press(run_id, opened(tab, act, run_id, "ann"), 'data-key="1"')
    page = opened(tab, act, run_id, "bob")
    assert "0 done" in page
    assert "1 of 12 pairs voted on by 1 person" in page
    assert 'data-voter="bob"' in page


def test_another_name_or_a_glance_keeps_the_pair_in_view(
    tab: AnnotateTab, act: MakeAct, desk: AppService
):
    run_id = open_run(desk)
    second = next_ballots(desk.database, run_id, "ann", pairs=voting_pairs(desk.database, run_id))[
        1
    ].pair_key
    for do in ("set", "open"):
        page = tab.act(act(do, {"run": run_id, "voter": "bob", "pair": second}))
        assert now(page) == second
        assert f'name="pair" value="{second}"' in page


def test_an_empty_name_is_requested_again_and_a_long_one_is_cut(
    tab: AnnotateTab, act: MakeAct, desk: AppService
):
    run_id = open_run(desk)
    assert "Start voting" in opened(tab, act, run_id, "  ")
    assert f'data-voter="{"x" * 60}"' in opened(tab, act, run_id, "x" * 99)


def test_nobody_votes_without_a_name(tab: AnnotateTab, act: MakeAct, desk: AppService):
    run_id = open_run(desk)
    pair = now(opened(tab, act, run_id))
    page = tab.act(act("vote", {"run": run_id, "voter": " "}, pair=pair, choice="a"))
    assert "Start voting" in page
    assert read_votes(desk.database, run_id) == ()


def test_finishing_asks_first_and_then_shows_names(
    tab: AnnotateTab, act: MakeAct, desk: AppService, press: Callable[..., str]
):
    run_id = open_run(desk)
    page = press(run_id, opened(tab, act, run_id), 'data-key="1"')
    asked = press(run_id, page, 'data-do="ask"')
    assert now(asked) == now(page)
    assert not any(name in asked for name in NAMES)
    assert now(press(run_id, asked, 'data-do="open"', "data-pair")) == now(page)
    result = press(run_id, asked, 'data-do="finish"')
    assert all(name in result for name in NAMES)
    assert "You preferred" in opened(tab, act, run_id)
    assert "data-blind" not in result
    form = {"run": run_id, "voter": "ann"}
    late = tab.act(act("vote", form, pair=now(page), choice="b"))
    assert "has seen the names" in late
    assert len(read_votes(desk.database, run_id)) == 1


def test_whoever_votes_is_shown_nothing_of_what_others_say(
    tab: AnnotateTab, act: MakeAct, desk: AppService, press: Callable[..., str]
):
    run_id = open_run(desk, 3)
    for voter in ("bob", "ann"):
        page = opened(tab, act, run_id, voter)
        page = press(run_id, page, 'data-key="3"')
    assert "others said" not in page
    assert "gree" not in page.replace("greet", "")
    assert desk.votes(run_id) == {}
    assert desk.report(run_id, "en").people == ()
    for voter in ("bob", "ann"):  # one who has ended sees their own votes, and nobody's else
        finished = tab.act(act("finish", {"run": run_id, "voter": voter}))
        assert ("once everybody has ended" in finished) == (voter == "bob")
    assert len(desk.votes(run_id)["talk.jsonl"]) == 2
    assert desk.report(run_id, "en").people


def test_without_a_run_those_with_pairs_are_offered(
    tab: AnnotateTab, act: MakeAct, desk: AppService
):
    assert "No run with answers of two models yet" in opened(tab, act, "")
    run_id = open_run(desk)
    page = opened(tab, act, "")
    assert f"?run={run_id}&amp;tab=annotate" in page
    assert "0 of 12" in page


def test_a_run_without_written_answers_says_so(
    tab: AnnotateTab, act: MakeAct, finished: Callable[..., str]
):
    page = opened(tab, act, finished(models=["always-A"], modes=["multiple_choice"]))
    assert "no question that two models have answered" in page


@pytest.mark.parametrize("voter", ["ann", ""])
def test_an_unknown_run_is_reported(tab: AnnotateTab, act: MakeAct, voter: str):
    page = opened(tab, act, "nothing-here", voter)
    assert "There is no run" in page
    assert ("Your name" in page) == (not voter)
    assert 'data-address="tab=annotate"' in page


def test_nothing_that_was_written_becomes_markup(tab: AnnotateTab, act: MakeAct, desk: AppService):
    hostile = Sample(
        f"x/{HOSTILE}",
        HOSTILE,
        target=(HOSTILE,),
        metadata={"capability": HOSTILE, "guidance": HOSTILE, "language": HOSTILE},
        history=question(0).history,
        follow_ups=(HOSTILE,),
    )
    run_id = open_run(desk, samples=[hostile], written=_hostile)
    page = opened(tab, act, run_id, HOSTILE)
    assert "onerror=" in page
    assert not re.search(r"<(img|script|iframe)", page)


def test_a_conversation_shows_every_turn(tab: AnnotateTab, act: MakeAct, desk: AppService):
    run_id = open_run(desk, 1)
    with desk.database.writing() as connection:
        connection.execute(
            "UPDATE sample SET body = json_set(body, '$[7]', json('[\"And then?\"]'))"
        )
        connection.execute('UPDATE trial SET turns = json(\'["One","Two"]\')')
    page = opened(tab, act, run_id)
    for shown in ("One", "And then?", "Two"):
        assert page.count(f"<p>{shown}</p>") == 2


def test_the_page_speaks_chinese(desk: AppService, act: MakeAct):
    form = {"run": open_run(desk), "voter": "甲"}
    page = AnnotateTab(desk, messages("zh")).act(act("open", form))
    for shown in ("哪个回答更好？", "都不好", "撤销上一票", "您是 甲"):
        assert shown in page


def test_a_blank_reply_is_shown_as_no_answer(tab: AnnotateTab, desk: AppService, act: MakeAct):
    run_id = open_run(desk, 3, written=lambda _, side: "" if side else "Since so.")
    page = opened(tab, act, run_id)
    assert page.count("(no answer)") == 2  # this pair's and the next one's


def _hostile(sample: Sample, side: int) -> str:
    del sample, side
    return HOSTILE
