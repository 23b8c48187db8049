import random

import pytest

from evalui.scoring.cell_summary import subject_groups, summarise
from evalui.scoring.choice.options import variants
from evalui.types import Pattern

_LAW = {"subject": "law", "subject_zh": "法学", "category": "humanities"}
_ART = {"subject": "art", "category": "humanities"}
_MATHS = {"subject": "maths", "category": "stem", "hard": "1"}
# law: 2 of 2 right, art: 1 of 2, maths: 0 of 1
_PICKS = {"l0": "right", "l1": "right", "a0": "right", "a1": [0, 0, 0, 0], "m0": [0, 0, 0, 0]}
_SUBJECTS = {"l0": _LAW, "l1": _LAW, "a0": _ART, "a1": _ART, "m0": _MATHS}


def _groups(make_result, **change):
    given = {"subjects": _SUBJECTS, "targets": {"a1": 1, "m0": 1}} | change
    result = make_result(_PICKS, **given)
    return {(g.kind, g.name): g for g in subject_groups(result.samples, result.trials, "circular")}


def test_subjects_come_first_then_categories_hard_and_all(make_result):
    assert list(_groups(make_result)) == [
        ("subject", "law"),
        ("subject", "art"),
        ("subject", "maths"),
        ("category", "humanities"),
        ("category", "stem"),
        ("hard", "hard"),
        ("all", "all"),
    ]


def test_a_subject_has_its_own_figures_and_chinese_name(make_result):
    law = _groups(make_result)["subject", "law"]
    assert (law.n, law.name_zh, law.micro["acc_origin"]) == (2, "法学", 100)
    assert law.accuracy.value == 1


def test_micro_weighs_questions_and_macro_subjects(make_result):
    every = _groups(make_result)["all", "all"]
    assert every.micro["acc_origin"] == pytest.approx(100 * 3 / 5)
    assert every.macro["acc_origin"] == pytest.approx((100 + 50 + 0) / 3)
    assert every.micro["perf_circular"] == pytest.approx(100 * 3 / 5)
    assert every.macro["perf_circular"] == pytest.approx((100 + 50 + 0) / 3)


def test_the_accuracy_of_a_group_is_over_its_questions(make_result):
    every = _groups(make_result)["all", "all"]
    assert (every.accuracy.value, every.accuracy.n, every.n) == (3 / 5, 5, 5)


def test_circular_means_are_weighted_by_the_questions_they_rest_on(make_result):
    groups = _groups(make_result, naming=["l1"])
    every = groups["all", "all"]
    assert every.micro["perf_circular"] == pytest.approx(100 * 3 / 5)
    assert every.micro["perf_circular_movable"] == pytest.approx(100 * 2 / 4)
    assert every.robust_key == "perf_circular_movable"
    assert every.robust.value == pytest.approx(2 / 4)
    assert groups["all", "all"].micro["acc_origin"] == pytest.approx(100 * 3 / 5)


def test_a_category_has_its_members_only(make_result):
    groups = _groups(make_result)
    assert groups["category", "humanities"].subjects == ("law", "art")
    assert groups["hard", "hard"].subjects == ("maths",)


def test_one_subject_makes_no_groups(make_result):
    result = make_result({"q0": "right"}, subjects={"q0": _LAW})
    assert subject_groups(result.samples, result.trials, "circular") == ()


def test_right_in_every_order_means_all_orders_that_were_shown(make_result):
    rotations, orders = set(variants(4, "circular")), variants(4, "all_possible")
    rotated = [
        order.permutation.index(0) if order in rotations else order.permutation.index(1)
        for order in orders
    ]
    result = make_result(
        {"l0": "right", "a0": rotated},
        subjects={"l0": _LAW, "a0": _ART},
        targets={"l0": 0, "a0": 0},
        pattern="all_possible",
    )
    groups = subject_groups(result.samples, result.trials, "all_possible")
    assert {group.name: group.robust.value for group in groups if group.kind == "subject"} == {
        "law": 1,
        "art": 0,
    }
    assert {group.robust_key for group in groups} == {"perf_all_possible"}


@pytest.mark.parametrize("pattern", ["circular", "all_possible"])
def test_all_subjects_together_are_the_whole_cell(make_result, pattern: Pattern):
    count, draw = len(variants(4, pattern)), random.Random(1)
    picks = {name: [draw.randrange(4) for _ in range(count)] for name in ("a0", "l0", "m0")}
    picks["l1"] = "right"
    names = {"a0": _ART, "l0": _LAW, "l1": _LAW, "m0": _MATHS}
    found = summarise(make_result(picks, subjects=names, pattern=pattern))
    every = next(group for group in found.groups if group.kind == "all")
    assert (every.robust, every.accuracy) == (found.robust, found.accuracy)
    assert every.robust.value == 1 / 4
