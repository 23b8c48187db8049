"""Yes and no: the figures of POPE, MME and HallusionBench, worked by hand and beside VLMEvalKit."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from scoring_examples import golden
from strata_examples import answered

from evalui.scoring.cell_trials import CellTrials
from evalui.scoring.choice.yes_no import groups_all_right, yes_figures, yes_place
from evalui.scoring.metrics import compute_figures, metrics_having, metrics_in
from evalui.types import Interval, Sample, Trial, Variant

THEIRS = golden("vlmevalkit/yes_no.json")
OPTIONS = ("Yes", "No")
Row = Mapping[str, Any]


def rows_of(name: str) -> list[dict[str, Any]]:
    table = THEIRS[name]["rows"]
    return [dict(zip(table["columns"], row, strict=True)) for row in table["data"]]


def cell_of(rows: Sequence[Row], *fields: str, subject: str = "category") -> CellTrials:
    """The answers of VLMEvalKit's rows; "Unknown" was read as neither."""
    samples: dict[str, Sample] = {}
    trials: list[Trial] = []
    for row in rows:
        name, right = str(row["index"]), OPTIONS.index(row["answer"])
        metadata = {each: str(row[each]) for each in fields} | {"subject": row[subject]}
        samples[name] = Sample(name, f"{name}?", OPTIONS, right, metadata)
        said = row["extracted"]
        choice = OPTIONS.index(said) if said in OPTIONS else None
        trials.append(answered(name, (0, 1), right, choice))
    return CellTrials(trials, "origin", samples)


def percent(cell: CellTrials, name: str) -> float:
    figure = compute_figures(cell, "origin")[name]
    assert figure is not None
    return 100 * (figure.value if isinstance(figure, Interval) else figure)


def test_figures_of_pope_are_those_of_vlmevalkit():
    rows = [  # a question of several categories is one of each
        row | {"index": f"{row['index']}-{category}", "category": category}
        for row in rows_of("POPE")
        for category in row["category"].split(",")
    ]
    theirs = THEIRS["POPE"]["figures"]
    assert {each["split"] for each in theirs} == {"Overall", "adversarial", "popular", "random"}
    for each in theirs:
        own = cell_of([row for row in rows if each["split"] in ("Overall", row["category"])])
        assert percent(own, "yes_f1") == pytest.approx(each["Overall"])
        assert percent(own, "acc_origin") == pytest.approx(each["acc"])
        assert percent(own, "yes_precision") == pytest.approx(each["precision"])
        assert percent(own, "yes_recall") == pytest.approx(each["recall"])
    yes = sum(row["extracted"] == "Yes" for row in rows)
    assert percent(cell_of(rows), "yes_rate") == pytest.approx(100 * yes / len(rows))


def test_figures_of_hallusionbench_are_those_of_vlmevalkit():
    names = ("set_id", "figure_id", "question_id")
    rows = [
        row | dict(zip(names, row["index"].split("_")[3:], strict=True))
        for row in rows_of("HallusionBench")
    ]
    for each in THEIRS["HallusionBench"]["figures"]:
        part = [
            row for row in rows if each["split"] in ("Overall", row["category"], row["l2-category"])
        ]
        own = cell_of(part, *names, subject="l2-category")
        assert percent(own, "acc_origin") == pytest.approx(each["aAcc"])
        assert percent(own, "figure_accuracy") == pytest.approx(each["fAcc"])
        assert percent(own, "question_accuracy") == pytest.approx(each["qAcc"])


def test_scores_of_mme_are_those_of_vlmevalkit():
    (theirs,) = THEIRS["MME"]["figures"]
    for subject in sorted({row["category"] for row in rows_of("MME")}):
        part = [row for row in rows_of("MME") if row["category"] == subject]
        own = cell_of([row | {"picture_group": row["image_path"]} for row in part], "picture_group")
        score = percent(own, "acc_origin") + percent(own, "picture_accuracy")
        assert score == pytest.approx(theirs[subject])


def test_yes_has_a_place_among_yes_and_no_alone():
    assert [
        yes_place(each)
        for each in (
            ("Yes", "No"),
            (
                "no",
                " YES ",
            ),
        )
    ] == [0, 1]
    others = (("yes", "no", "maybe"), ("yes", "yes"), ("true", "false"), ("yes",), ())
    assert [yes_place(each) for each in others] == [-1] * 5


def test_figures_of_yes_worked_by_hand():
    # Yes is right in 4 of 6; chosen thrice, twice rightly.
    right = np.array([True, True, True, True, False, False])
    found = yes_figures(np.array([True, True, False, False, True, False]), right)
    assert (found.precision, found.recall, found.rate) == (2 / 3, 0.5, 0.5)
    assert found.f1 == pytest.approx(2 * (2 / 3 * 0.5) / (2 / 3 + 0.5))
    never = yes_figures(np.zeros(6, dtype=np.bool_), right)
    assert (never.precision, never.recall, never.f1, never.rate) == (0, 0, 0, 0)


def test_a_group_is_right_if_all_its_questions_are():
    right = np.array([True, True, False, True, True, True, False, True])
    repeat = np.array([0, 0, 0, 0, 1, 1, 1, 1], dtype=np.int32)
    shares = groups_all_right([*"aabb", *"aabb"], right, repeat)
    assert shares.tolist() == [1.0, 0.0]  # b: False, True; then False, True
    right[6] = True
    assert groups_all_right([*"aabb", *"aabb"], right, repeat).tolist() == [1.0, 0.5]


def test_the_order_of_the_options_changes_nothing():
    flipped = Sample("q", "Q?", ("no", "yes"), 1)
    trials = [answered("q", (0, 1), 1, 1), answered("q", (1, 0), 0, 1)]
    figures = compute_figures(CellTrials(trials, "circular", {"q": flipped}), "circular")
    assert (figures["yes_recall"], figures["yes_rate"]) == (1, 1)


def test_only_questions_of_yes_or_no_have_the_figures():
    figures = compute_figures(cell_of(rows_of("POPE")), "origin")
    assert "figure_accuracy" not in figures
    shown = [one.name for one in metrics_having([figures], "report")]
    assert "yes_f1" in shown
    assert "figure_accuracy" not in shown
    sample = Sample("q", "Q?", ("Yes", "Perhaps"), 0)
    other = CellTrials([answered("q", (0, 1), 0, 0)], "origin", {"q": sample})
    figures = compute_figures(other, "origin")
    assert not {one.name for one in metrics_in("files") if one.needs == "yes or no"} & set(figures)
    assert "yes_f1" not in {one.name for one in metrics_having([figures], "report")}


def test_repeats_of_a_question_count_each():
    sample = Sample("q", "Q?", OPTIONS, 0)
    once = answered("q", (0, 1), 0, 0)
    again = Trial("q", Variant((0, 1), repeat=1), 0, "forced", answered("q", (0, 1), 0, 1).readings)
    figures = compute_figures(CellTrials([once, again], "origin", {"q": sample}), "origin")
    assert figures["yes_rate"] == 0.5
