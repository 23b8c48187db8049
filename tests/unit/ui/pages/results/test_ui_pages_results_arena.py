"""What the results of a judged run say, while it goes on and when it has ended."""

import re

import pytest
from ui_arena_examples import add_run, begin, better, end, judge_some, judged, open_desk, questions
from ui_examples import HOSTILE

from evalui.app.open_run_view import OpenRunView, part_document
from evalui.app.service import AppService
from evalui.messages import messages
from evalui.report.html import Html
from evalui.report.render.page import render_blocks
from evalui.store.voting.ballots import voting_pairs
from evalui.store.voting.votes import add_imported_votes
from evalui.types import Duel, Language, Outcome, Verdict


@pytest.fixture(scope="module")
def arena_desk(tmp_path_factory: pytest.TempPathFactory) -> AppService:
    return open_desk(tmp_path_factory.mktemp("arena"))


@pytest.fixture(scope="module")
def run_id(arena_desk: AppService) -> str:
    return judged(arena_desk)


def page(service: AppService, run_id: str, *, arena: str = "", language: Language = "en") -> Html:
    """The document of a part of the run."""
    view = OpenRunView(service, messages(language), run_id, arena)
    return render_blocks(part_document(view), suffix="-written", titled=True)


def cells(said: str) -> list[list[str]]:
    """The texts of the rows of the first table, by cell."""
    body = said.partition("<tbody>")[2].partition("</tbody>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", body)
    return [
        [re.sub(r"<[^>]*>", " ", cell).strip() for cell in re.findall(r"<t[dh].*?</t[dh]>", row)]
        for row in rows
    ]


def test_an_arena_without_verdicts_waits(arena_desk: AppService):
    said = page(arena_desk, add_run(arena_desk))
    assert "0 of 72 verdicts are in. The verdict comes with the last one." in said


def test_unreadable_verdicts_lead_to_the_duels(arena_desk: AppService):
    def nothing(number: int, first: str, second: str) -> Outcome | None:
        del number, first, second

    said = page(arena_desk, judged(arena_desk, nothing))
    assert "No verdicts yet." in said
    assert "duel_outcome=unreadable" in said


# ---------------------------------------------------------------- what stands there


def test_the_verdict_and_the_table_come_first(arena_desk: AppService, run_id: str):
    said = page(arena_desk, run_id)
    assert said.index("late wins: the judge prefers it to early in") < said.index("<tbody>")
    # late: 24 against early, 20 of 24 against weak; 4 of 12 questions change nothing for early.
    assert [row[-4:-1] for row in cells(said)] == [
        ["44", "0", "4"],
        ["20", "0", "28"],
        ["8", "0", "40"],
    ]


def test_a_judge_that_follows_a_rule_says_so_beside_the_verdict(
    arena_desk: AppService, run_id: str
):
    support = page(arena_desk, run_id).partition('class="support"')[2].partition("</p>")[0]
    assert "A rule judged, not a model:" in support
    assert support.count("<svg") == 1


def test_a_model_that_never_loses_has_no_finite_rating(arena_desk: AppService):
    def always(number: int, first: str, second: str) -> Outcome | None:
        del number, second
        return "a" if first == "late" else "b"

    said = page(arena_desk, judged(arena_desk, always))
    assert "ELO by model: no Bradley-Terry rating is finite" in said
    assert "No finite rating: " in said


def test_a_baseline_is_a_grey_diamond_wherever_it_stands(arena_desk: AppService, run_id: str):
    said = page(arena_desk, run_id)
    marked = [before.rpartition("<svg")[2] for before in said.split("weak</span>")[:-1]]
    assert len(marked) > 3
    assert all(each.count("var(--d0)") == 1 for each in marked)


def test_how_far_the_judge_can_be_trusted_folds_behind_its_finding(arena_desk: AppService):
    def sways(number: int, first: str, second: str) -> Outcome | None:
        return "a" if number < 2 else better(number, first, second)

    said = page(arena_desk, judged(arena_desk, sways, injected=(3,)))
    section = said.partition('<details id="trust-written">')[2].partition("</details>")[0]
    finding = section.partition('class="finding">')[2].partition("</span>")[0]
    # The injected question is always won by the first, too: 9 of 36.
    assert finding.startswith("It follows a rule: 25 % change with the order. No votes of people")
    rows = {row[0]: row[1:] for row in cells(section)}
    assert rows["Verdicts changed with the order of the answers"][0] == "25 %"
    assert rows["Unreadable verdicts"][2] == "72"
    assert rows["Verdicts on an answer that addresses the judge"][::2] == ["6", "72"]
    assert rows["Agrees with people"][0] == "nothing to compare yet"


def test_a_warning_leads_to_its_duels(arena_desk: AppService):
    run_id = judged(arena_desk, injected=(3,))
    said = page(arena_desk, run_id)
    address = f"results?run={run_id}&amp;sub=duels&amp;arena=0&amp;duel_outcome=injected"
    assert address in said


def test_a_pair_leads_to_its_duels(arena_desk: AppService, run_id: str):
    section = page(arena_desk, run_id).partition('<details id="who-beats-whom-written">')[2]
    assert "Share of points" in section
    assert "sub=duels&amp;arena=0&amp;duel_pair=late%7Cweak" in section


def test_figures_carry_their_signature(arena_desk: AppService, run_id: str):
    assert "judge:judge" in page(arena_desk, run_id).partition('class="signs"')[2]


def groups(said: str) -> dict[str, list[str]]:
    """The rows of the table of capabilities."""
    table = said.partition('<details id="by-group-written">')[2].partition(">Capability</th>")[2]
    return {row[0]: row[1:] for row in cells(table)}


def test_a_dimension_without_verdicts_of_a_model_is_not_left_out(arena_desk: AppService):
    # Of the questions about style, weak was never shown with anybody readably.
    def decide(number: int, first: str, second: str) -> Outcome | None:
        lost = number % 3 == 0 and "weak" in (first, second)
        return None if lost else better(number, first, second)

    style = groups(page(arena_desk, judged(arena_desk, decide, data=questions(15))))["style"]
    assert style.count("N/A") == 1
    assert style[0] == "5"
    assert style[1].startswith("100")


def test_a_dimension_without_any_verdict_is_left_out(arena_desk: AppService):
    found = groups(
        page(
            arena_desk, judged(arena_desk, lambda n, a, b: None if n % 3 == 0 else better(n, a, b))
        )
    )
    assert list(found) == ["facts"]


def test_of_many_dimensions_the_largest_stand_there(arena_desk: AppService):
    kinds = [f"kind {n}" for n in range(25)]
    said = page(arena_desk, judged(arena_desk, data=questions(8, capability=", ".join(kinds))))
    assert len(groups(said)) == 24
    assert "Shown: the 24 with the most questions. 2 more are in the exported tables." in said


def test_several_judges_can_be_chosen_and_their_panel_agrees(arena_desk: AppService):
    run_id = judged(arena_desk, judges=["judge", "second"])
    said = page(arena_desk, run_id)
    links = OpenRunView(arena_desk, messages("en"), run_id, "").links("overview")
    assert [(word, shown) for word, _, shown in links] == [
        ("all judges together", True),
        ("judge (rule-based)", False),
        ("second (rule-based)", False),
    ]
    assert "They agree on" in said.partition('<details id="trust-written">')[2]
    assert "Judges agree" in said
    second = page(arena_desk, run_id, arena="2")
    assert "judge: second" in second


def test_what_people_say_is_an_arena_of_its_own(arena_desk: AppService):
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
    said = page(arena_desk, run_id)
    assert "75 % agreement with people on 4 pairs." in said
    rows = {row[0]: row[1:] for row in cells(said.partition('<details id="trust-written">')[2])}
    assert rows["Agrees with people"][::2] == ["75 %", "4"]
    people = page(arena_desk, run_id, arena="1")
    assert "4 votes of 1 " in people
    assert "changed with the order" not in people


def test_each_judge_is_held_against_people(arena_desk: AppService):
    run_id = judged(arena_desk, judges=["judge", "second"])
    votes = [Verdict(Duel("open/q0", "late", "early"), "a", "ann")]
    add_imported_votes(
        arena_desk.database, run_id, {"": votes}, pairs=voting_pairs(arena_desk.database, run_id)
    )
    view = OpenRunView(arena_desk, messages("en"), run_id, "")
    assert [part.judge for part in view.parts] == ["panel", "judge", "second", "people"]
    for place, agrees in enumerate((True, True, True, False)):
        assert ("Agrees with people" in page(arena_desk, run_id, arena=str(place))) == agrees


# ---------------------------------------------------------------- while it goes on


def test_the_document_says_how_far_the_verdicts_are(arena_desk: AppService):
    run_id = add_run(arena_desk)
    lease = begin(arena_desk, run_id)
    judge_some(arena_desk, run_id, lease, of=slice(0, 36))
    first = page(arena_desk, run_id)
    assert "36 of 72 verdicts" in first
    assert page(arena_desk, run_id) == first
    judge_some(arena_desk, run_id, lease, of=slice(36, 60))
    later = page(arena_desk, run_id)
    assert "60 of 72 verdicts" in later
    end(arena_desk, run_id, lease)


# ---------------------------------------------------------------- foreign text


@pytest.fixture(scope="module")
def hostile(arena_desk: AppService) -> str:
    data = questions(8, text=HOSTILE, capability=HOSTILE)
    return judged(arena_desk, data=data, text=HOSTILE)


def test_nothing_in_questions_answers_or_replies_becomes_markup(
    arena_desk: AppService, hostile: str
):
    said = page(arena_desk, hostile)
    for tag in ("<img", "<script", "<iframe", 'href="javascript'):
        assert tag not in said
    assert "&lt;img src=x" in said


def test_both_languages_know_every_word(arena_desk: AppService):
    run_id = judged(arena_desk, injected=(1,), judges=["judge", "second"])
    assert "名次" in page(arena_desk, run_id, language="zh")
