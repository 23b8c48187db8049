"""Marks of single answers."""

from dataclasses import replace

import pytest
from open_examples import answers_result, rating_result

from evalui.report.analyses.base import OpenContext
from evalui.report.analyses.marks import rated_blocks, rating_title
from evalui.report.blocks import Card, Headline, Paragraph, Table
from evalui.report.compile import compile_report, markdown
from evalui.scoring.answer_summary import judge_rating
from evalui.scoring.arena.verdicts import rating_cells

_HIGH, _LOW = [9.0, 8.0, 9.0, 8.0] * 3, [3.0, 4.0, 3.0, 4.0] * 3
_RULES = frozenset({"judge-local"})


def test_the_model_that_is_marked_highest_is_named():
    found = rating_result({"early": _LOW, "late": _HIGH})
    told = rating_title(found, OpenContext("en"))
    assert told.startswith("judge-local marks late highest: 8.5 of 10 (8.")
    assert told.endswith(", n = 12)")
    assert rating_title(found, OpenContext("zh")).startswith(
        "judge-local 给 late 的评分最高：8.5 分（满分 10）（8."
    )


def test_models_that_the_test_cannot_tell_apart_are_said_to_be_so():
    found = rating_result({"early": _HIGH[::-1], "late": [*_HIGH[:11], 9.0], "weak": _LOW})
    told = rating_title(found, OpenContext("en"))
    assert told == (
        "By the marks of judge-local, late and early cannot be told apart: 8.6 to 8.5 of 10"
    )


def test_one_model_alone_has_its_mark_and_a_rule_is_called_one():
    found = rating_result({"late": [1.0, 0.0, 1.0, 1.0]}, scale="correct")
    told = rating_title(found, OpenContext("en", rules=_RULES))
    assert told.startswith("judge-local (rule-based) marks late 75 % right")


def test_without_a_mark_nothing_is_said():
    silent = rating_result({"late": [None, None]})
    assert rating_title(silent, OpenContext("en")) == ""
    (headline,) = rated_blocks(silent, OpenContext("en", ["late"]))
    assert isinstance(headline, Headline)
    assert headline.text == "No marks yet."


def test_the_marks_stand_in_a_table_with_the_places_that_the_test_leaves():
    found = rating_result({"early": _LOW, "late": _HIGH, "mid": _HIGH})
    context = OpenContext("en", ["early", "late", "mid"], rules=_RULES)
    headline, card = rated_blocks(found, context)
    assert isinstance(headline, Headline)
    assert (headline.kind, headline.lead) == ("warn", "A rule judged, not a model:")
    assert isinstance(card, Card)
    table, how = card.blocks
    assert isinstance(table, Table)
    assert how == Paragraph("The judge wrote its verdicts, which were read as text.", small=True)
    assert [(row[0], getattr(row[1], "name", "")) for row in table.rows] == [
        ("1–2", "late"),
        ("1–2", "mid"),
        ("3", "early"),
    ]
    assert [getattr(row[3], "value", "") for row in table.rows] == ["8.5", "8.5", "3.5"]
    assert [row[4:] for row in table.rows] == [("12", "0")] * 3


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_report_of_marked_answers_begins_with_the_judge(language: str):
    results = [*(answers_result(name) for name in ("early", "late"))]
    results.append(rating_result({"early": _LOW, "late": _HIGH}))
    assert rating_cells(results)
    told = markdown(compile_report("Marked", results), language)
    opening = [line for line in told.splitlines() if line and not line.startswith("#")]
    assert opening[0].startswith("**judge-local")
    assert "late" in opening[0]


def test_each_criterion_has_its_mean_below_the_marks_and_what_was_asked_again_is_counted():
    found = rating_result({"early": _LOW, "late": _HIGH})
    marked = tuple(
        replace(
            trial,
            scores={
                **trial.scores,
                "criterion:clarity": (4.0 if trial.variant.permutation == (0,) else 6.0,),
                "retried": (float(at < 2),),
            },
        )
        for at, trial in enumerate(found.trials)
    )
    result = replace(found, trials=marked, output="schema")
    _, card = rated_blocks(result, OpenContext("en", ["early", "late"]))
    assert isinstance(card, Card)
    _, _, table, how, again = card.blocks
    assert isinstance(table, Table)
    assert [column.head for column in table.columns] == ["Model", "clarity"]
    assert [(row[0].name, row[1].value) for row in table.rows] == [
        ("late", "6.0"),
        ("early", "4.0"),
    ]  # type: ignore[union-attr]
    assert isinstance(how, Paragraph)
    assert how.text.endswith("24 of 24 verdicts were read as text.")
    assert isinstance(again, Paragraph)
    assert "for 2 marks, which were asked for once more; 2 could be read then" in again.text
    early, late = judge_rating("early", result), judge_rating("late", result)
    assert early
    assert late
    assert [(one.retried, one.recovered) for one in (early, late)] == [(2, 2), (0, 0)]
    assert late.criteria["clarity"].value == pytest.approx(6.0)


def test_two_replies_of_a_run_from_before_tell_that_it_was_asked_again():
    found = rating_result({"early": _LOW})
    first, *others = found.trials
    twice = replace(found, trials=(replace(first, turns=("Hm.", "[[3]]")), *others))
    rating = judge_rating("early", twice)
    assert rating
    assert (rating.retried, rating.recovered) == (1, 1)
