"""The list of duels, its filters, and one duel in full."""

from dataclasses import replace

import pytest
from drawn_page import DrawnPage
from ui_arena_examples import (
    add_run,
    begin,
    better,
    end,
    judged,
    open_desk,
    questions,
    samples_of,
)
from ui_samples_examples import pager, query, step

from evalui.app.service import AppService
from evalui.store import queue
from evalui.store.runs import read_cells
from evalui.store.trials import write_trials
from evalui.store.voting.ballots import voting_pairs
from evalui.store.voting.votes import add_imported_votes
from evalui.types import Duel, Outcome, Reading, Trial, Variant, Verdict

MARKDOWN = "**Bold** and `code`, see [this](https://example.org) ![it](https://example.org/x.png)"
FOREIGN = (
    '<img src=x onerror="window.__xss=1"><script>window.__xss=2</script> ${alert(1)} {{ 7 * 7 }} '
    r"\underline{x} $\frac{a}{b}$ [bad](javascript:alert(1))"
)


@pytest.fixture(scope="module")
def arena_desk(tmp_path_factory: pytest.TempPathFactory) -> AppService:
    return open_desk(tmp_path_factory.mktemp("arena"))


@pytest.fixture(scope="module")
def plain(arena_desk: AppService) -> str:
    return judged(arena_desk)


@pytest.fixture(scope="module")
def varied(arena_desk: AppService) -> str:
    return judged(arena_desk, said, injected=(4,))


@pytest.fixture(scope="module")
def many(arena_desk: AppService) -> str:
    return judged(arena_desk, data=questions(50))


def said(number: int, first: str, second: str) -> Outcome | None:
    """Question 0: as it is shown; 1: good alike; 2: bad alike; 3: one order cannot be read."""
    rare: dict[int, Outcome | None] = {0: "a", 1: "tie", 2: "neither"}
    if number == 3 and first == "late":
        return None
    return rare.get(number, better(number, first, second))


def page(desk: AppService, run_id: str, **form: str) -> DrawnPage:
    return DrawnPage("results", desk, {"run": run_id, "sub": "duels"} | form)


def duels(desk: AppService, run_id: str, **form: str) -> str:
    return page(desk, run_id, **form).text


def listed(shown: str) -> int:
    """How many duels the page of the list has."""
    return shown.partition('<ul class="questions">')[2].partition("</ul>")[0].count("<li>")


def of_duel(shown: str) -> str:
    """The open duel without the list."""
    return shown.partition('<div class="duel"')[2]


@pytest.mark.parametrize(
    ("wish", "shown"),
    [
        ({}, 36),
        ({"duel_outcome": "changed"}, 6),
        ({"duel_outcome": "tie"}, 3),
        ({"duel_outcome": "neither"}, 3),
        ({"duel_outcome": "unreadable"}, 2),
        ({"duel_outcome": "injected"}, 3),
        ({"duel_outcome": "right"}, 4),
        ({"duel_pair": "late|weak"}, 12),
        ({"duel_pair": "late|weak", "duel_outcome": "right"}, 2),
        ({"duel_capability": "style"}, 12),
        ({"find": "question 11"}, 3),
        ({"find": "EARLY answers open/q7"}, 2),
        ({"find": "reference"}, 0),
        ({"duel_outcome": "nonsense", "page": "x"}, 36),
        ({"page": "9" * 30}, 36),
        ({"find": "x" * 60_000}, 0),
    ],
)
def test_filters_leave_the_duels_that_fit(
    arena_desk: AppService, varied: str, wish: dict[str, str], shown: int
):
    assert listed(duels(arena_desk, varied, **wish)) == shown


def test_wins_are_counted_for_the_right_model_whatever_was_shown_first(
    arena_desk: AppService, plain: str
):
    shown = duels(arena_desk, plain, duel_pair="late|early")
    lines = shown.partition('<ul class="questions">')[2].partition("</ul>")[0].split("<li>")
    wins = [line for line in lines if "late – early" in line and "late wins" in line]
    assert len(wins) == 12
    assert ">early wins</option>" in shown


def test_a_page_holds_fifty_duels_and_leads_to_the_next(arena_desk: AppService, many: str):
    first = duels(arena_desk, many)
    assert listed(first) == 50
    assert "1–50 of 150" in first
    later = pager(first, "Next")
    assert later == {"run": many, "sub": "duels", "arena": "0", "page": "1"}
    second = duels(arena_desk, many, **later)
    assert "51–100 of 150" in second
    assert [step(second, by)["duel"] for by in (-1, 1)] == [
        "open/q16|late|weak",
        "open/q17|late|early",
    ]
    assert listed(duels(arena_desk, many, page="9", duel_pair="late|weak")) == 50


def test_another_filter_begins_at_its_first_duel(arena_desk: AppService, many: str):
    form = {"page": "1", "duel": "open/q49|late|weak"}
    address = query(page(arena_desk, many, **form).choose("Pair", "late|weak"))
    assert address == {"run": many, "sub": "duels", "duel_pair": "late|weak"}
    assert "Question q0</h2>" in duels(arena_desk, many, **address)


def test_keys_lead_to_the_duel_before_and_after_across_pages(arena_desk: AppService, many: str):
    # the first of the second page
    shown = duels(arena_desk, many, duel="open/q16|early|weak")
    assert "51–100 of 150" in shown
    assert step(shown, -1)["duel"] == "open/q16|late|weak"
    assert step(shown, 1)["duel"] == "open/q17|late|early"
    nothing = duels(arena_desk, many, duel_outcome="injected")
    assert "No duel" in nothing
    assert (step(nothing, -1), step(nothing, 1)) == ({}, {})


def test_a_duel_shows_both_answers_and_what_the_judge_wrote_of_each_order(
    arena_desk: AppService, varied: str
):
    shown = of_duel(duels(arena_desk, varied, duel="open/q0|late|early"))
    for part in (
        "Question q0</h2>",
        "style · line 1 of open.jsonl",
        "Before the question",
        "Reference 0",
        "Guidance 0",
        "late answers open/q0.",
        "And then?",
        "early goes on.",
        "late shown first",
        "late wins",
        "early shown first",
        "early wins",
        "Because of open/q0.",
        "announced",
        "The outcome changed with the order.",
    ):
        assert part in shown
    assert shown.index("late shown first") < shown.index("early shown first")


@pytest.mark.parametrize(
    ("number", "words"),
    [(1, "Both good"), (2, "Both bad"), (3, "Unreadable"), (5, "The same outcome in every order.")],
)
def test_each_outcome_has_its_words(arena_desk: AppService, varied: str, number: int, words: str):
    shown = of_duel(duels(arena_desk, varied, duel=f"open/q{number}|late|early"))
    assert words in shown
    assert ("The same outcome" in shown) == (number != 3)


def test_an_answer_that_speaks_to_the_judge_is_flagged_with_icon_and_word(
    arena_desk: AppService, varied: str
):
    shown = duels(arena_desk, varied, duel="open/q4|late|early")
    assert shown.count('title="an answer addresses the judge"') == 3
    flagged = shown.partition("An answer addresses the judge")[0].rpartition("<span")[2]
    assert "<svg" in flagged


def test_a_duel_has_an_address_of_its_own(arena_desk: AppService, plain: str):
    shown = duels(arena_desk, plain, duel="open/q7|early|weak")
    assert "Question q7</h2>" in shown
    assert (
        f'data-copy="results?run={plain}&amp;sub=duels&amp;arena=0&amp;'
        'duel=open%2Fq7%7Cearly%7Cweak"' in shown
    )
    assert shown.count("duel=open%2Fq7%7Cearly%7Cweak") == 2  # in the list, and to copy


def test_an_unknown_duel_shows_the_first(arena_desk: AppService, plain: str):
    assert "Question q0</h2>" in duels(arena_desk, plain, duel="nope")


def test_people_are_named_with_what_they_saw_on_the_left(arena_desk: AppService):
    run_id = judged(arena_desk)
    votes = [
        Verdict(Duel("open/q0", "late", "early"), "a", "ann", "vote", "clearer"),
        Verdict(Duel("open/q0", "early", "late"), "a", "bob", "vote"),
    ]
    assert (
        add_imported_votes(
            arena_desk.database,
            run_id,
            {"": votes},
            pairs=voting_pairs(arena_desk.database, run_id),
        )
        == 2
    )
    shown = duels(arena_desk, run_id, arena="1")
    assert "people disagree" in shown
    for part in ("ann", "bob", "clearer", "People disagree."):
        assert part in of_duel(shown)


def test_a_panel_shows_the_verdict_of_each_judge(arena_desk: AppService):
    run_id = judged(arena_desk, said, judges=["judge", "second"])
    shown = of_duel(duels(arena_desk, run_id, arena="0", duel="open/q3|late|early"))
    assert "No majority" in shown
    assert "Parsing rule" in shown
    for name in ("judge", "second"):
        assert shown.count(f"<dt>{name}</dt>") == 2


def test_a_verdict_without_words_shows_how_probable_each_outcome_was(arena_desk: AppService):
    run_id = add_run(arena_desk, questions(1))
    lease = begin(arena_desk, run_id)
    (row,) = (each for each in read_cells(arena_desk.database, run_id) if each.cell.mode == "judge")
    queue.start_cell(arena_desk.database, lease, row.id, "f")
    (sample,) = samples_of(arena_desk, row)
    trial = Trial(
        sample.id,
        Variant((0, 1)),
        0,
        "verdict",
        {"verdict": Reading(0, 1.0, "probabilities")},
        probabilities=(0.62, 0.2, 0.13, 0.05),
        mass=0.97,
        reply="1",
        scores={"injected": (0.0, 0.0), "retried": (0.0,)},
    )
    again = replace(
        trial, variant=Variant((1, 0)), probabilities=(), mass=None, scores={"retried": (1.0,)}
    )
    write_trials(arena_desk.database, lease, row.id, [trial, again])
    shown = str(duels(arena_desk, run_id))
    for share in ("62 %", "20 %", "13 %", "5 %"):
        assert f"<dd>{share}</dd>" in shown
    assert shown.count("Asked once more: the first reply could not be read.") == 1
    end(arena_desk, run_id, lease)


def test_answers_are_read_as_markdown_and_nothing_of_them_runs_or_is_loaded(
    arena_desk: AppService,
):
    text = f"{MARKDOWN}\n\n{FOREIGN}"
    run_id = judged(arena_desk, data=questions(2, text=text), text=text)
    shown = of_duel(duels(arena_desk, run_id, duel="open/q1|late|early"))
    assert "<strong>Bold</strong>" in shown
    assert "<code>code</code>" in shown
    assert '<a href="https://example.org" target="_blank" rel="noopener' in shown
    assert "![it](https://example.org/x.png)</a>" in shown
    assert "<ev-math>\\frac{a}{b}</ev-math>" in shown
    for part in ("${alert(1)}", "{{ 7 * 7 }}", r"\underline{x}", "&lt;img src=x"):
        assert part in shown
    for part in ("<img", "<script>", 'href="javascript'):
        assert part not in shown
