"""People's votes as tables."""

import pytest
from export_examples import as_frame, framed
from open_examples import DATASET, MODELS, answers_result, judged_run, votes

from evalui.report.compile import compile_report
from evalui.report.export import open_tables as made
from evalui.scoring.arena.people import PeopleFigures
from evalui.types import Outcome

agreement_table, disagreements_table, prediction_powered, voters_table = map(
    framed,
    (made.agreement_table, made.disagreements_table, made.prediction_powered, made.voters_table),
)


def _contrary(number: int, first: str, second: str) -> Outcome:
    del number
    return "b" if MODELS.index(first) < MODELS.index(second) else "a"


@pytest.fixture(scope="module")
def found() -> tuple[PeopleFigures, ...]:
    said = (*votes("ann")[:12], *votes("eve", decide=_contrary)[:6])
    results = judged_run(judges=("one", "two"))
    return compile_report("", results, votes={DATASET: said}).people


def test_there_are_four_tables_and_all_are_empty_without_votes():
    assert list(made.people_tables(())) == ["people", "agreement", "powered", "disagreements"]
    assert not any(table.columns for table in made.people_tables(()).values())


def test_each_person_is_a_row_whatever_the_number_of_judges(found: tuple[PeopleFigures, ...]):
    table = voters_table(found).set_index("person")
    assert table["votes"].to_dict() == {"ann": 12, "eve": 6}
    assert table["shared"].to_dict() == {"ann": 6, "eve": 6}
    # The two part on every pair they share but one that Ann finds equally good.
    assert table.loc["ann", "as_most_others"] == 0


def test_each_two_raters_are_a_row(found: tuple[PeopleFigures, ...]):
    table = agreement_table(found)
    pairs = list(zip(table["first"], table["second"], strict=True))
    assert pairs == [
        *((judge, rater) for judge in ("panel", "one", "two") for rater in _RATERS),
        ("ann", "eve"),
    ]
    alone = found[0].between_people["ann", "eve"]
    assert table.iloc[-1]["n"] == 6
    assert table.iloc[-1]["agreement"] == pytest.approx(100 * alone.raw.value)


_RATERS = ("majority", "ann", "eve")


def test_win_rates_are_in_per_cent_for_each_judge_and_pair(found: tuple[PeopleFigures, ...]):
    table = prediction_powered(found).set_index(["judge", "model", "against"])
    assert len(table) == 3 * 3
    rate = found[1].prediction_powered["late", "early"]
    row = table.loc[("one", "late", "early")]
    assert row["judge_only"] == pytest.approx(100 * rate.judge.value)
    assert rate.combined
    assert row["powered_low"] == pytest.approx(100 * rate.combined.low)
    assert (row["pairs"], row["voted"]) == (12, 4)


def test_each_vote_of_a_quarrel_is_a_row(found: tuple[PeopleFigures, ...]):
    table = disagreements_table(found)
    first = table[(table["judge"] == "one") & (table["id"] == "cn-0")].iloc[0]
    assert (first["model_a"], first["model_b"]) == ("late", "early")
    assert (first["judge_says"], first["person"], first["person_says"]) == (
        "model_a",
        "ann",
        "model_a",
    )
    assert len(table) == sum(len(one.people) for figures in found for one in figures.disagreements)


def test_every_row_is_signed(found: tuple[PeopleFigures, ...]):
    assert all(as_frame(table)["signature"].all() for table in made.people_tables(found).values())


def test_answers_that_nobody_judged_have_people_but_no_corrected_rates():
    results = [answers_result(model) for model in MODELS]
    alone = compile_report("", results, votes={DATASET: votes("ann")}).people
    sizes = {name: len(as_frame(table)) for name, table in made.people_tables(alone).items()}
    assert sizes == {"people": 1, "agreement": 0, "powered": 0, "disagreements": 0}
