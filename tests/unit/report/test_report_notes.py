from dataclasses import replace

import pytest

from evalui.report.notes import notes
from evalui.report.summary import Summary, summarise
from evalui.scoring.format import FormatFigures
from evalui.types import Cell, Interval


def _form(**change: object) -> FormatFigures:
    plain = FormatFigures(
        n_questions=240,
        n_trials=960,
        readings={},
        gap=None,
        mass=None,
        index_hits=0,
        label_text_conflicts=0,
        merged_seams=0,
        truncated=0,
    )
    return replace(plain, **change)


def _summary(**change: object) -> Summary:
    form = change.pop("form", {})
    plain = Summary(
        Cell("d", "m", "generation", "generation", "circular", "s"),
        "done",
        "",
        questions=240,
        done=960,
        total=960,
        n=240,
        accuracy=Interval(0.6, 0.54, 0.66, 240),
        chance=0.25,
        format=_form(**form),
    )
    return replace(plain, **change)


def _gap(value: float) -> Interval:
    return Interval(value, value, value, 240)


def test_a_sound_cell_needs_no_note():
    assert notes(_summary(), "en") == ()


@pytest.mark.parametrize(
    ("change", "level", "rule", "told"),
    [
        ({"state": "failed", "error": "Out of memory."}, "bad", "failed", "Failed: Out of memory."),
        ({"done": 412}, "warn", "partial", "Only 412 of 960 answers are in"),
        ({"n": 29}, "warn", "fewer-than-30", "Fewer than 30 questions (29)"),
        ({"n": 99}, "info", "fewer-than-100", "With 99 questions only large differences"),
        ({"chance": 0.54}, "warn", "chance", "54–66 % includes chance, 54 %"),
        ({"chance": 0.7}, "warn", "below-chance", "54–66 % lies under chance, 70 %"),
        (
            {"unreadable": 20, "unreadable_origin": 12},
            "warn",
            "unreadable-many",
            "20 of 960. If all of them were right, accuracy would be 65 % instead of 60 %.",
        ),
        ({"unreadable": 97}, "bad", "unreadable-many", "97 of 960"),
        ({"form": {"gap": _gap(0.051)}}, "warn", "format", "5 points are lost"),
        ({"form": {"index_hits": 49}}, "warn", "by-number", "5.1 % of replies give a number"),
        ({"form": {"mass": 0.49}}, "bad", "mass", "only 49 % of the probability"),
        ({"form": {"mass": 0.89}}, "info", "mass-some", "hold 89 % of the probability"),
        ({"ties": 10}, "warn", "ties", "10 of 960. They count in part"),
        ({"incomplete": ("a", "b")}, "warn", "incomplete", "lack an order: 2."),
        ({"naming": ("a",)}, "info", "naming", "1. They are asked in the order as written only"),
        ({"form": {"merged_seams": 3}}, "info", "merged", "joined with the question: 3."),
        ({"form": {"truncated": 3}}, "warn", "truncated", "longer than the model's limit: 3."),
    ],
)
def test_what_a_reader_must_know(change: dict[str, object], level: str, rule: str, told: str):
    (note,) = notes(_summary(**change), "en")
    assert (note.level, note.rule) == (level, rule)
    assert told in note.text


@pytest.mark.parametrize(
    "change",
    [
        {"n": 100},
        {"chance": 0.53},
        {"unreadable": 19},
        {"form": {"gap": _gap(0.05)}},
        {"form": {"index_hits": 48}},
        {"form": {"mass": 0.9}},
        {"ties": 9},
    ],
    ids=str,
)
def test_below_its_threshold_nothing_is_said(change: dict[str, object]):
    assert notes(_summary(**change), "en") == ()


def test_a_cell_that_cannot_run_says_only_why():
    summary = replace(_summary(n=3), state="impossible", error="It gives no probabilities.")
    (note,) = notes(summary, "zh")
    assert (note.level, note.text) == ("info", "不能运行：It gives no probabilities.")


def test_a_cell_at_work_is_not_blamed_for_missing_orders():
    found = notes(_summary(state="running", done=412, incomplete=("a",)), "en")
    assert [note.rule for note in found] == ["partial"]


def test_naming_options_matter_only_where_options_move():
    cell = replace(_summary().cell, pattern="origin")
    assert notes(_summary(cell=cell, naming=("a",)), "en") == ()


def test_the_most_serious_note_comes_first():
    found = notes(_summary(n=50, ties=100, unreadable=300), "en")
    assert [note.level for note in found] == ["bad", "warn", "info"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_real_cell_can_be_told_in_both_languages(make_result, language):
    result = make_result({"q0": [None, None, None, None], "q1": ["tie", 0, 1]}, mass=0.3)
    rules = {note.rule for note in notes(summarise(result), language)}
    assert rules == {"fewer-than-30", "chance", "unreadable-many", "mass", "ties", "incomplete"}
