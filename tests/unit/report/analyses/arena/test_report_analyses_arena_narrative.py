from dataclasses import replace

import pytest
from arena_examples import judged, leading, swept
from open_examples import answers_result, judge_result, judged_run, rating_result

from evalui.report.analyses.arena.narrative import (
    answer_notes,
    battles_by,
    groups_title,
    matrix_title,
    order_note,
    standings_title,
    text_title,
)
from evalui.scoring.answer_summary import answers
from evalui.scoring.arena.bradley_terry import Connectivity
from evalui.scoring.arena.figures import Arena, arena
from evalui.scoring.arena.question_groups import question_groups
from evalui.types import Interval


@pytest.fixture(scope="module")
def three():
    return leading(judged(), lead=(76.2, 19.4, 120.1))


def _share(value: float, low: float | None = None, high: float | None = None, n: int = 240):
    return Interval(value, value if low is None else low, value if high is None else high, n)


# ---------------------------------------------------------------- standings


def test_the_leader_is_named_with_its_lead(three):
    assert standings_title(three, "en") == "strong leads middle by 76 points (19–120)"
    assert standings_title(three, "zh") == "strong 比 middle 高 76 分（19–120）"


def test_models_that_cannot_be_told_apart_are_said_to_be_so(three):
    two = leading(three, level=2)
    assert standings_title(two, "en") == "strong and middle cannot be told apart with 40 questions"
    assert standings_title(two, "zh") == "40 题分不出 strong 和 middle 的高下"


def test_a_lead_without_ends_is_told_without_points(three):
    title = standings_title(replace(three, lead=None), "en")
    assert title == "strong is ahead of middle; by how much cannot be told with 40 questions"


def test_few_questions_rank_nobody(three):
    assert standings_title(replace(three, questions=9), "en").startswith("Too few questions (9)")
    assert standings_title(replace(three, questions=10), "en").startswith("strong leads")


def test_no_verdict_is_no_ranking():
    nothing = arena(judge_result(decide=lambda *_: None))
    assert standings_title(nothing, "en") == "No verdicts yet"


def test_a_model_that_never_lost_has_no_finite_rating():
    title = standings_title(swept(), "en")
    assert title == "No finite rating: strong never lost a point"


@pytest.mark.parametrize(
    ("connection", "title"),
    [
        (
            Connectivity((("a",), ("b",)), (("a",), ("b",)), ("a",), ("b",)),
            "No finite rating: 2 groups of models never met",
        ),
        (
            Connectivity((("a", "b"), ("c",)), (("a", "b", "c"),), (), ("c",)),
            "No finite rating: c never won a point",
        ),
        (
            Connectivity((("a", "b"), ("c", "d")), (("a", "b", "c", "d"),), (), ()),
            "No finite rating: some models never lost a point to any of the others",
        ),
    ],
)
def test_every_reason_for_no_finite_rating_is_told(three, connection, title):
    assert standings_title(replace(three, connection=connection), "en") == title


def test_the_subtitle_has_questions_battles_and_the_judge(three):
    said = battles_by(three, "en", rule_based=frozenset({"judge-local"}))
    assert said == "240 verdicts, judge: judge-local (rule-based)."
    assert "Ordered by Bradley-Terry rating." in order_note(three, "en")
    assert "按 Bradley-Terry 评分排序。" in order_note(three, "zh")


def _scored(found: Arena, *scores: int) -> Arena:
    """The arena with other scores: so many wins more than losses, in threes."""
    standings = tuple(
        replace(one, tally=replace(one.tally, win=100 + score, lose=100, both_good=0, both_bad=0))
        for one, score in zip(found.standings, scores, strict=True)
    )
    return replace(found, standings=standings)


def test_the_order_is_said_and_that_the_score_gives_another(three):
    assert order_note(_scored(three, 3, 2, 1), "en") == "Ordered by Bradley-Terry rating."
    assert order_note(_scored(three, 2, 2, 1), "en") == "Ordered by Bradley-Terry rating."
    told = order_note(_scored(three, 2, 3, 1), "en")
    assert told == "Ordered by Bradley-Terry rating. By score, middle is first."
    assert order_note(_scored(three, 2, 3, 1), "zh").endswith("按得分，middle 居首。")
    later = order_note(_scored(three, 3, 1, 2), "en")
    assert later == "Ordered by Bradley-Terry rating. By score the order is another."


def test_elo_that_gives_another_order_is_named_beside_the_score(three):
    swapped = [replace(one, elo=elo) for one, elo in zip(three.standings, (9, 11, 5), strict=True)]
    both = _scored(replace(three, standings=tuple(swapped)), 2, 3, 1)
    assert order_note(both, "en").endswith("By score and ELO, middle is first.")
    level = [replace(one, elo=e) for one, e in zip(three.standings, (9.1, 9.3, 5), strict=True)]
    told = order_note(_scored(replace(three, standings=tuple(level)), 3, 2, 1), "en")
    assert told == "Ordered by Bradley-Terry rating."


def test_without_a_finite_rating_the_order_is_that_of_elo():
    assert order_note(swept(), "en").startswith("Ordered by ELO, since no Bradley-Terry rating")


def test_the_matrix_title_names_who_beats_all_only_if_the_ranges_say_so(three):
    names = [standing.model for standing in three.standings]
    sure = dict.fromkeys(((names[0], other) for other in names[1:]), _share(0.8, 0.7, 0.9))
    assert matrix_title(replace(three, shares={**three.shares, **sure}), "en") == (
        "strong wins most against each of the others"
    )
    unsure = {**three.shares, **sure, (names[0], names[1]): _share(0.6, 0.5, 0.7)}
    assert matrix_title(replace(three, shares=unsure), "en") == "Who beats whom"
    assert matrix_title(replace(three, shares=sure), "en") == "1 of 3 pairs of models never met"


# ---------------------------------------------------------------- groups


def test_the_panels_title_counts_where_a_model_is_first(three):
    (one, two, rest) = question_groups(three)
    first = replace(one, shares={"a": _share(0.6), "b": _share(0.4)})
    second = replace(two, shares={"a": _share(0.7), "b": _share(0.3)})
    third = replace(rest, shares={"a": _share(0.3), "b": _share(0.7)})
    title = groups_title([first, second, third], "capability", "en")
    assert title == "a is clearly first in 2 of 3 capabilities"
    split = groups_title([first, third], "capability", "en")
    assert split == "a and b: each clearly first in 1 of 2 capabilities"


def test_who_is_first_has_a_range_above_all_others(three):
    (one, two, _) = question_groups(three)
    shares = {"a": _share(0.7, 0.5, 0.9), "b": _share(0.4, 0.3, 0.5)}
    near = [replace(panel, shares=shares) for panel in (one, two)]
    title = groups_title(near, "language", "en")
    assert title == "No model is clearly first in any language"
    apart = shares | {"b": _share(0.4, 0.3, 0.49)}
    title = groups_title([replace(one, shares=apart), near[1]], "language", "en")
    assert title == "a is clearly first in 1 of 2 languages"


def test_panels_of_few_questions_do_not_make_the_title(three):
    small = [replace(panel, questions=4) for panel in question_groups(three)]
    assert groups_title(small, "language", "en") == "Too few questions per language to compare"


def test_one_group_alone_has_no_title(three):
    assert groups_title(question_groups(three)[:1], "capability", "en") == ""


# ---------------------------------------------------------------- written answers


def test_the_model_closest_to_the_references_is_named():
    found = answers([answers_result(model) for model in ("late", "early")])
    assert text_title(found, "en").startswith("late is closest to the references: ROUGE-L 0.90")
    assert text_title(found[:1], "en") == "late reaches ROUGE-L 0.90 (0.56–0.98) on 8 questions"
    assert text_title([replace(found[0], means={})], "en").startswith("No answer has a reference")
    level = [found[0], replace(found[1], means=found[0].means)]
    assert text_title(level, "en") == "late and early are equally close to the references: " + (
        "ROUGE-L 0.90"
    )


def test_means_over_different_questions_name_no_closest_model():
    found = answers([answers_result("weak", done=2), answers_result("late")])
    assert text_title(found, "en").startswith("The models were compared on different questions")
    assert text_title(found[:1], "en").startswith("weak reaches")
    silent = replace(found[0], means={}, question_ids=frozenset())
    assert text_title([silent, found[1]], "en").startswith("late reaches")


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ("running", "Only 4 of 12 answers are in; figures may still change."),
        ("done", "4 of 12 questions were answered; the figures rest on these alone."),
        ("failed", "4 of 12 questions were answered; the figures rest on these alone."),
    ],
)
def test_answers_that_are_missing_may_come_only_while_the_cell_is_open(state, told):
    (late,) = answers([answers_result("late", done=4)])
    assert told in [note.text for note in answer_notes(replace(late, state=state), "en")]


def test_answers_left_without_a_rating_are_counted():
    cells = [answers_result("late"), rating_result({"late": [7.0, None, 8.0]})]
    (late,) = answers(cells)
    texts = [note.text for note in answer_notes(late, "en", rule_based=frozenset({"judge-local"}))]
    assert texts[-1] == ("Answers without a readable rating from judge-local (rule-based): 1 of 3.")
    (rated,) = answers([cells[0], rating_result({"late": [7.0, 8.0]})])
    assert [note.rule for note in answer_notes(rated, "en")] == ["bare"]


def test_a_cell_that_cannot_run_says_only_why():
    (late,) = answers(judged_run()[:1])
    notes = answer_notes(replace(late, state="impossible", error="No text."), "en")
    assert [note.text for note in notes] == ["Cannot run. No text."]
