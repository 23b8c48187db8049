"""What is said of judges: how steady they are, and what to know before believing them."""

from dataclasses import replace

import pytest
from arena_examples import judged, leading
from open_examples import judge_result, votes

from evalui.report.analyses.base import OpenContext
from evalui.report.analyses.judge import (
    battles_by,
    judge_name,
    judge_notes,
    judged_by,
    judged_headline,
    order_consistency,
    trust_details,
    unreferenced_verdicts,
)
from evalui.scoring.arena.agreement import RaterAgreement
from evalui.scoring.arena.figures import arena, human_arena, panel_arena
from evalui.scoring.arena.verdicts import PANEL_NAME, JudgeReliability
from evalui.types import Interval, Language


@pytest.fixture(scope="module")
def calm():
    """An arena with a judge of whom nothing bad is known."""
    none = JudgeReliability("judge-local", 240, _share(0.0), _share(0.05), None, None, None, 0)
    return replace(leading(judged()), reliability=none)


def _share(value: float, low: float | None = None, high: float | None = None, n: int = 240):
    return Interval(value, value if low is None else low, value if high is None else high, n)


def _ruled(*rules: str, language: Language = "en") -> OpenContext:
    return OpenContext(language, rules=frozenset(rules))


def _rules(found, *rules):
    return [note.rule for note in judge_notes(found, _ruled(*rules))]


def _behaving(found, **changes):
    return replace(found, reliability=replace(found.reliability, **changes))


@pytest.mark.parametrize(
    ("flips", "level", "words"),
    [
        (0.099, "steady", "Steady judge."),
        (0.10, "fair", "Fair judge."),
        (0.20, "fair", "Fair judge."),
        (0.201, "unsteady", "Unsteady judge."),
    ],
)
def test_a_judge_is_steady_fair_or_unsteady_by_its_flips(calm, flips, level, words):
    found = order_consistency(_behaving(calm, flip_rate=_share(flips)), "en")
    assert found is not None
    assert (found.level, found.headline) == (level, words)


def test_the_sentence_on_a_fair_judge(calm):
    found = order_consistency(_behaving(calm, flip_rate=_share(0.14, 0.10, 0.18)), "en")
    assert found is not None
    assert found.headline == "Fair judge."
    assert found.explanation == (
        "14.0 % of its verdicts changed when the answers swapped places (10.0–18.0). "
        "Trust gaps, not single ranks."
    )


def test_one_thing_stands_beside_the_verdict(calm):
    def support(found, *rules):
        shown = judged_headline(found, "Verdict.", _ruled(*rules))
        return shown.kind, f"{shown.lead} {shown.support}".strip()

    steady = _behaving(calm, flip_rate=_share(0.0, 0.0, 0.016))
    assert support(steady) == (
        "ok",
        "Steady judge. 0 of 240 duels changed when the answers swapped places (0.0–1.6 %).",
    )
    assert support(_behaving(calm, flip_rate=_share(0.14)))[0] == "warn"
    assert support(steady, "judge-local") == (
        "warn",
        "A rule judged, not a model: this says nothing about quality.",
    )
    lost = _behaving(steady, unreadable=_share(0.6, 0.5, 0.7))
    assert support(lost) == ("warn", "60 % of 240 verdicts cannot be read.")
    failed = replace(steady, state="failed", error="No memory.")
    assert support(failed) == ("bad", "Failed. No memory.")
    one = _behaving(replace(calm, orders="single"), flip_rate=None)
    assert support(one)[1].startswith("Shown in one order only")


@pytest.mark.parametrize(
    ("flips", "said"),
    [
        (0.0, "Reliable: no verdict changes with the order. No votes of people yet."),
        (0.05, "Reliable: 5.0 % change with the order. No votes of people yet."),
        (0.14, "Fairly reliable: 14.0 % change with the order. No votes of people yet."),
        (0.3, "Unreliable: 30.0 % change with the order. No votes of people yet."),
    ],
)
def test_the_section_on_trust_states_its_finding(calm, flips, said):
    found = _behaving(calm, flip_rate=_share(flips))
    assert trust_details(found, None, OpenContext("en")).finding == said
    people = RaterAgreement(74, _share(0.76, 0.7, 0.82), None)
    agreed = trust_details(found, people, OpenContext("en")).finding
    assert agreed.endswith("with the order; 76 % agreement with people on 74 pairs.")


def test_without_both_orders_nothing_is_said_of_steadiness(calm):
    assert order_consistency(_behaving(calm, flip_rate=None), "en") is None
    assert _rules(replace(calm, orders="single")) == ["one-order"]


def test_a_calm_judge_has_no_warning(calm):
    assert _rules(calm) == []


@pytest.mark.parametrize(
    ("rule", "changes", "harmless"),
    [
        ("fair", {"flip_rate": _share(0.14)}, {"flip_rate": _share(0.09)}),
        ("unsteady", {"flip_rate": _share(0.3)}, {"flip_rate": _share(0.09)}),
        ("judge-unreadable", {"unreadable": _share(0.021)}, {"unreadable": _share(0.02)}),
        ("injected", {"injected": 1}, {"injected": 0}),
        (
            "prefers-longer",
            {"longer_wins": _share(0.6, 0.51, 0.7)},
            {"longer_wins": _share(0.6, 0.5, 0.7)},
        ),
        (
            "prefers-lists",
            {"more_items_wins": _share(0.6, 0.51, 0.7)},
            {"more_items_wins": _share(0.6, 0.5, 0.7)},
        ),
        (
            "prefers-first",
            {"first_wins": _share(0.6, 0.51, 0.7)},
            {"first_wins": _share(0.6, 0.5, 0.7)},
        ),
        (
            "prefers-second",
            {"first_wins": _share(0.4, 0.3, 0.49)},
            {"first_wins": _share(0.4, 0.3, 0.5)},
        ),
    ],
)
def test_each_warning_on_verdicts_has_its_cause(calm, rule, changes, harmless):
    for language in ("en", "zh"):
        assert _rules(_behaving(calm, **changes), language) == [rule]
        assert _rules(_behaving(calm, **harmless), language) == []


def test_a_judge_that_is_a_candidate_is_told(calm):
    assert _rules(replace(calm, judges=("strong",), by="strong")) == ["self-judge"]
    assert _rules(replace(calm, judges=("judge-local", "weak"), by=PANEL_NAME)) == ["self-judge"]


def test_a_judge_that_is_shown_no_pictures_is_told(calm):
    blind = replace(calm, signature=f'{calm.signature}|pictures:"none"|seed:0')
    assert _rules(blind) == []  # its questions have none
    key, sample = next(iter(blind.samples.items()))
    pictured = replace(sample, question=f"<picture:{'0' * 32}> {sample.question}")
    samples = {**blind.samples, key: pictured}
    assert _rules(replace(blind, samples=samples)) == ["blind-judge"]
    assert _rules(replace(calm, samples=samples)) == []


def test_a_rule_that_judges_is_called_one(calm):
    assert _rules(calm, "judge-local") == ["rule-judge"]
    assert judge_name("judge-local", _ruled("judge-local", language="zh")) == "judge-local（规则）"
    assert judge_name("other", _ruled("judge-local")) == "other"


def test_a_half_judged_cell_and_a_failed_one_are_told(calm):
    assert _rules(replace(calm, done=10)) == ["partial"]
    assert _rules(replace(calm, state="failed", error="Out of memory.")) == ["failed"]
    (note,) = judge_notes(replace(calm, done=10), _ruled())
    assert note.text.endswith("verdicts are in, and no more will come.")
    assert _rules(replace(calm, state="impossible", error="No answers.")) == ["not-run"]


def test_a_panel_and_people_are_named():
    cells = [judge_result(judge=judge) for judge in ("one", "two")]
    panel = panel_arena(cells)
    assert judged_by(panel, _ruled("two")) == ("panel of 2 judges: one, two (rule-based)")
    persons = human_arena(votes("ann"), arena(cells[0]))
    assert judged_by(persons, _ruled(language="zh")) == "由人评判"
    assert "rule-judge" not in _rules(persons, "ann")


def test_a_panel_is_not_called_steady_for_what_its_judges_change(calm):
    swayed = {"calm": _share(0.05), "unsteady": _share(0.446, 0.4, 0.5)}
    panel = replace(calm, by=PANEL_NAME, judges=tuple(swayed), judge_flip_rates=swayed)
    panel = _behaving(panel, flip_rate=_share(0.0), unreadable=_share(0.4, 0.3, 0.5))
    assert order_consistency(panel, "en") is None
    assert [note.text for note in judge_notes(panel, _ruled())] == [
        "Showings without a majority of the judges: 40 % (30–50) of 240. They are not counted.",
        "Judges whose verdicts change when the two answers swap places: "
        "unsteady 44.6 % (40.0–50.0).",
    ]


def test_a_panel_knows_how_often_each_of_its_judges_changed_with_the_order():
    decided = judge_result(judge="fair")
    first = judge_result(judge="first", decide=lambda *_: "a")
    panel = panel_arena([decided, first])
    alone = arena(first).reliability.flip_rate
    assert alone is not None
    assert alone.value == 1
    assert panel.judge_flip_rates == {"fair": arena(decided).reliability.flip_rate, "first": alone}


def test_verdicts_a_rule_could_not_give_for_want_of_a_reference_are_counted():
    unread = arena(judge_result(decide=lambda number, *_: "a" if number % 2 else None))
    bare = {
        key: replace(sample, target=()) if place < 4 else sample
        for place, (key, sample) in enumerate(unread.samples.items())
    }
    found = replace(unread, samples=bare)
    k = sum(v.outcome is None and not bare[v.duel.sample_id].references for v in found.verdicts)
    assert 0 < k == unreferenced_verdicts(found) < sum(v.outcome is None for v in found.verdicts)
    rules = frozenset({found.by})
    told = next(n for n in judge_notes(found, _ruled(*rules)) if n.rule == "judge-unreadable")
    assert f"{k} of them are on questions without a reference" in told.text
    assert "reference" not in " ".join(note.text for note in judge_notes(found, _ruled()))


def test_verdicts_are_counted_with_their_judge(calm):
    said = battles_by(calm, _ruled("judge-local"))
    assert said == "240 verdicts, judge: judge-local (rule-based)."
