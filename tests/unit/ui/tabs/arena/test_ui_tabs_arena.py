"""What the Arena tab says of judged runs, while they go on and when they have ended."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from ui_arena_examples import add_run, begin, better, end, judge_some, judged, open_desk, questions
from ui_examples import GOOD, HOSTILE, built

from evalui.messages import messages
from evalui.runs.database import queue
from evalui.runs.database.ballots import voting_pairs
from evalui.runs.database.votes import add_imported_votes
from evalui.types import Duel, Outcome, Verdict
from evalui.ui.components.component_tabs import SKIP
from evalui.ui.components.form import Form, dump_client_state, load_client_state
from evalui.ui.components.fragment import Action
from evalui.ui.services.service import AppService
from evalui.ui.tabs.arena import SUBS, ArenaTab
from evalui.ui.tabs.arena.arena_view import ArenaCache, ArenaClientState

MakeAct = Callable[..., Action]


@pytest.fixture(scope="module")
def arena_desk(tmp_path_factory: pytest.TempPathFactory) -> AppService:
    return open_desk(tmp_path_factory.mktemp("arena"))


@pytest.fixture(scope="module")
def run_id(arena_desk: AppService) -> str:
    return judged(arena_desk)


@pytest.fixture(scope="module")
def tab(arena_desk: AppService) -> ArenaTab:
    """Not laid out: what its handlers return holds the head and the open view alone."""
    return ArenaTab(arena_desk, messages("en"))


@pytest.fixture(scope="module")
def laid_out(arena_desk: AppService) -> ArenaTab:
    tab = ArenaTab(arena_desk, messages("en"))

    def lay_out() -> None:
        with gr.Blocks():
            tab.build()

    built(lay_out)
    return tab


def page(tab: ArenaTab, run_id: str, **form: str) -> str:
    """All the text of the tab at an address."""
    return "".join(part for part in tab.enter(run_id, {**form}) if isinstance(part, str))


def fills(outputs: tuple[Any, ...]) -> list[bool]:
    return [part is not SKIP for part in outputs]


# ---------------------------------------------------------------- where there is nothing


def test_without_a_run_the_next_step_is_shown(tmp_path: Path):
    said = page(ArenaTab(open_desk(tmp_path), messages("en")), "")
    assert "No duels yet" in said
    assert "Start a run with open questions and a judge, or try the sample." in said
    assert 'data-tab="tab-evaluate"' in said


def test_without_a_run_those_with_duels_are_offered(
    tab: ArenaTab, arena_desk: AppService, run_id: str
):
    rated = judged(arena_desk, template="score10-en.1")
    said = page(tab, "")
    assert f'href="?run={run_id}&amp;tab=arena"' in said
    assert rated not in said


def test_a_run_of_multiple_choice_says_that_it_has_no_duels(desk: AppService, finished: Any):
    said = page(ArenaTab(desk, messages("en")), finished(GOOD))
    assert "This run has no duels" in said


def test_an_unknown_run_is_reported(tab: ArenaTab):
    assert "There is no run" in page(tab, "nothing-here")


def test_an_arena_without_verdicts_waits(tab: ArenaTab, arena_desk: AppService):
    run_id = add_run(arena_desk)
    for sub in SUBS[:3]:
        assert "No verdicts yet" in page(tab, run_id, sub=sub)


def test_unreadable_verdicts_lead_to_the_duels(tab: ArenaTab, arena_desk: AppService):
    def nothing(number: int, first: str, second: str) -> Outcome | None:
        del number, first, second

    said = page(tab, judged(arena_desk, nothing))
    assert "No verdict could be read" in said


@pytest.mark.parametrize("sub", ["", *SUBS, "nonsense"])
def test_every_output_gets_a_value_for_every_view(laid_out: ArenaTab, run_id: str, sub: str):
    assert len(laid_out.enter(run_id, {"sub": sub, "arena": "x"})) == len(laid_out.outputs)


def test_every_output_gets_a_value_where_there_is_nothing(
    laid_out: ArenaTab, arena_desk: AppService
):
    waits = add_run(arena_desk)
    for run, sub in (("", ""), ("nothing-here", ""), *((waits, sub) for sub in SUBS)):
        assert len(laid_out.enter(run, {"sub": sub})) == len(laid_out.outputs)


# ---------------------------------------------------------------- what stands there


def test_the_head_tells_what_the_figures_rest_on(tab: ArenaTab, run_id: str):
    said = page(tab, run_id)
    assert "Arena · open" in said
    assert "12 questions · 3 pairs · both orders · 72 verdicts · judge: judge (rule-based)" in said


def test_the_standings_count_wins_ties_and_losses(tab: ArenaTab, run_id: str):
    said = page(tab, run_id).partition("Standings")[2].partition("</table>")[0]
    cells = [row.split("</td>") for row in said.split("<tr>")[2:]]
    plain = [[part.rpartition(">")[2] for part in row] for row in cells]
    # late: 24 against early, 20 of 24 against weak; 4 of 12 questions change nothing for early.
    assert [row[0:6] for row in plain] == [
        ["", "44", "", "4", "92 %", "+120"],
        ["", "20", "", "28", "42 %", "−24"],
        ["", "8", "", "40", "17 %", "−96"],
    ]
    assert "48 verdicts per model" in page(tab, run_id)


def test_a_model_that_never_loses_has_no_finite_rating(tab: ArenaTab, arena_desk: AppService):
    def always(number: int, first: str, second: str) -> Outcome | None:
        del number, second
        return "a" if first == "late" else "b"

    said = page(tab, judged(arena_desk, always))
    assert "no finite rating" in said
    assert "No finite rating: " in said


def test_a_baseline_is_a_grey_diamond_wherever_it_stands(tab: ArenaTab, run_id: str):
    said = page(tab, run_id)
    before, _, _ = said.partition("weak</span>")
    assert before.rpartition("<svg")[2].count("var(--d0)") == 1


def test_the_judge_is_weighed_beside_the_standings(tab: ArenaTab, arena_desk: AppService):
    def sways(number: int, first: str, second: str) -> Outcome | None:
        return "a" if number < 2 else better(number, first, second)

    said = page(tab, judged(arena_desk, sways, injected=(3,)))
    card = said.partition("Judge reliability")[2].partition("</section>")[0]
    assert "9 of 36" in card  # the injected question is always won by the first, too
    assert "0 of 72" in card
    assert "6 of 72" in card
    assert "no votes yet" in card
    assert "The judge is not steady." in said


def test_a_warning_leads_to_its_duels(tab: ArenaTab, arena_desk: AppService):
    run_id = judged(arena_desk, injected=(3,))
    said = page(tab, run_id)
    address = f"?run={run_id}&amp;tab=arena&amp;sub=duels&amp;arena=0&amp;duel_outcome=injected"
    assert address in said


def test_every_chart_has_its_numbers_below(tab: ArenaTab, run_id: str):
    said = page(tab, run_id)
    assert said.count("<summary>The numbers</summary>") == 2
    assert "Share of points" in said


def test_figures_carry_their_signature_and_their_address(tab: ArenaTab, run_id: str):
    for sub in ("overall", "language", "capability"):
        said = page(tab, run_id, sub=sub)
        assert "judge:judge" in said.partition('class="sig"')[2]
        assert f'data-copy="?run={run_id}&amp;tab=arena&amp;sub={sub}&amp;arena=0"' in said


def test_a_dimension_without_verdicts_of_a_model_is_not_left_out(
    tab: ArenaTab, arena_desk: AppService
):
    # Of the questions about style, weak was never shown with anybody readably.
    def decide(number: int, first: str, second: str) -> Outcome | None:
        lost = number % 3 == 0 and "weak" in (first, second)
        return None if lost else better(number, first, second)

    said = page(tab, judged(arena_desk, decide), sub="capability")
    style = said.partition(">style</th>")[2].partition("</tr>")[0]
    assert style.count("N/A") == 5
    assert style.count("<td") == 15
    assert "100 %" in style


def test_a_dimension_without_any_verdict_is_left_out(tab: ArenaTab, arena_desk: AppService):
    said = page(
        tab,
        judged(arena_desk, lambda n, a, b: None if n % 3 == 0 else better(n, a, b)),
        sub="capability",
    )
    assert ">facts</th>" in said
    assert ">style</th>" not in said


def test_many_dimensions_are_folded_and_counted(tab: ArenaTab, arena_desk: AppService):
    kinds = [f"kind {n}" for n in range(25)]
    data = questions(4, capability=", ".join(kinds))
    said = page(tab, judged(arena_desk, data=data), sub="capability")
    shown, _, folded = said.partition("<summary>and 3 more lines</summary>")
    assert shown.count('scope="row"') == 24
    assert folded.count('scope="row"') == 3
    assert ">kind 24</th>" in folded


def test_without_capabilities_the_view_says_how_to_get_them(tab: ArenaTab, arena_desk: AppService):
    data = questions(2, capability="")
    run_id = judged(arena_desk, data=data)
    said = page(tab, run_id, sub="capability")
    assert "style" in said
    assert "By language" in page(tab, run_id, sub="language")


def test_several_judges_can_be_chosen_and_their_panel_agrees(
    tab: ArenaTab, arena_desk: AppService, act: MakeAct
):
    run_id = judged(arena_desk, judges=["judge", "second"])
    seen, _, head, *_ = tab.enter(run_id, {})
    assert ">all judges together</option>" in head
    assert "Judges agree (n 36)" in page(tab, run_id)
    picked = tab.picked(seen, act("set", {"arena_place": "2"}, name="arena_place"))
    assert "judge: second" in picked[2]
    assert load_client_state(ArenaClientState, picked[0]).place == 2


def test_what_people_say_is_an_arena_of_its_own(tab: ArenaTab, arena_desk: AppService):
    run_id = judged(arena_desk)
    votes = [
        Verdict(Duel(f"open/q{n}", "late", "early"), "a" if n else "b", "ann", "vote", "I think so")
        for n in range(4)
    ]
    assert (
        add_imported_votes(
            arena_desk.database,
            run_id,
            {"": votes},
            pairs=voting_pairs(arena_desk.database, run_id),
        )
        == 4
    )
    said = page(tab, run_id)
    assert "Agrees with people (n 4)" in said
    assert "75 %" in said.partition("Agrees with people")[2].partition("</dd>")[0]
    people = page(tab, run_id, arena="1")
    assert "4 verdicts · judged by people" in people
    assert "Changed with the order" not in people


def test_each_judge_is_held_against_people(arena_desk: AppService):
    run_id = judged(arena_desk, judges=["judge", "second"])
    votes = [Verdict(Duel("open/q0", "late", "early"), "a", "ann")]
    add_imported_votes(
        arena_desk.database, run_id, {"": votes}, pairs=voting_pairs(arena_desk.database, run_id)
    )
    source = ArenaCache(arena_desk, messages("en"))
    assert [one.by for one in source.arenas_of(run_id)] == ["panel", "judge", "second", "people"]
    found = [source.agreement(run_id, place) for place in range(5)]
    assert [one and one.n for one in found] == [1, 1, 1, None, None]


# ---------------------------------------------------------------- while it goes on


def test_verdicts_come_in_without_a_click(laid_out: ArenaTab, arena_desk: AppService):
    tab = laid_out
    run_id = add_run(arena_desk)
    lease = begin(arena_desk, run_id)
    judge_some(arena_desk, run_id, lease, of=slice(0, 36))
    seen, timer, head, *_ = tab.enter(run_id, {})
    assert timer.active
    assert "36 of 72 verdicts" in head
    assert not any(fills(tab.tick(seen)))
    judge_some(arena_desk, run_id, lease, of=slice(36, 60))
    later = tab.tick(seen)
    assert "60 of 72 verdicts" in later[2]
    assert load_client_state(ArenaClientState, later[0]).refresh_after > 0
    end(arena_desk, run_id, lease)
    last = tab.tick(later[0])
    assert not last[1].active


def test_a_large_arena_rests_between_two_drawings(laid_out: ArenaTab, arena_desk: AppService):
    tab = laid_out
    run_id = add_run(arena_desk)
    lease = begin(arena_desk, run_id)
    judge_some(arena_desk, run_id, lease, of=slice(0, 36))
    seen = load_client_state(ArenaClientState, tab.enter(run_id, {})[0])._replace(refresh_after=9e9)
    judge_some(arena_desk, run_id, lease, of=slice(36, 60))
    assert not any(fills(tab.tick(dump_client_state(seen))))


def test_a_list_that_is_read_does_not_move(laid_out: ArenaTab, arena_desk: AppService):
    tab = laid_out
    run_id = add_run(arena_desk)
    lease = begin(arena_desk, run_id)
    judge_some(arena_desk, run_id, lease, of=slice(0, 36))
    seen = tab.enter(run_id, {"sub": "duels"})[0]
    judge_some(arena_desk, run_id, lease, of=slice(36, 60))
    later = dict(zip(map(id, tab.outputs), tab.tick(seen), strict=True))
    assert later[id(tab.duels.outputs[0])] is SKIP
    assert "60 of 72" in later[id(tab.outputs[2])]


def test_a_finished_run_is_not_read_again(laid_out: ArenaTab, run_id: str):
    tab = laid_out
    seen, timer, *_ = tab.enter(run_id, {})
    assert not timer.active
    assert not any(fills(tab.tick(seen)))


def test_a_run_deleted_elsewhere_is_reported(laid_out: ArenaTab, arena_desk: AppService):
    tab, run_id = laid_out, judged(arena_desk)
    seen, *_ = tab.enter(run_id, {})
    queue.delete(arena_desk.database, run_id)
    assert "There is no run" in tab.tick(seen)[2]


def test_a_view_is_filled_once_and_then_keeps_what_it_shows(laid_out: ArenaTab, run_id: str):
    tab = laid_out
    seen, *_ = tab.enter(run_id, {})
    now, _, _, _, duels = tab.open("duels", seen)
    assert "data-duel=" in duels
    assert tab.open("duels", now)[4] is SKIP
    assert load_client_state(ArenaClientState, now).sub == "duels"


# ---------------------------------------------------------------- foreign text


@pytest.fixture(scope="module")
def hostile(arena_desk: AppService) -> str:
    data = questions(8, text=HOSTILE, capability=HOSTILE)
    return judged(arena_desk, data=data, text=HOSTILE)


@pytest.mark.parametrize("sub", SUBS)
def test_nothing_in_questions_answers_or_replies_becomes_markup(
    tab: ArenaTab, hostile: str, sub: str
):
    said = page(tab, hostile, sub=sub)
    for tag in ("<img", "<script", "<iframe", 'href="javascript'):
        assert tag not in said
    if sub in ("capability", "duels"):
        assert "&lt;img src=x" in said


def test_both_languages_know_every_word(arena_desk: AppService):
    run_id = judged(arena_desk, injected=(1,), judges=["judge", "second"])
    tab = ArenaTab(arena_desk, messages("zh"))
    form: Form = {}
    for sub in SUBS:
        assert tab.enter(run_id, form | {"sub": sub})
    assert "名次" in page(tab, run_id)
