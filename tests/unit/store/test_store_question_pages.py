from dataclasses import replace
from typing import Any

import pytest
from runs_examples import add_run, dataset, sample, spec, trial

from evalui.errors import StoreError
from evalui.scoring.choice.options import variants
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.question_pages import (
    Facets,
    ListedQuestion,
    QuestionFilter,
    QuestionSort,
    read_facets,
    read_listed,
    read_matching,
    read_place,
    read_question,
)
from evalui.store.runs import CellRow, read_cells
from evalui.store.trials import write_trials
from evalui.types import Trial

SHIFTED = (3, 0, 1, 2)
TRIALS: tuple[Trial, ...] = (
    trial(0, reply="A"),
    trial(0, SHIFTED, choice=1, target=1, reply="the 50% answer"),
    trial(1, choice=2, credit=0.0, rule="marker", reply="C_1"),
    trial(1, SHIFTED, choice=1, target=1, rule="marker"),
    trial(2, choice=None, credit=0.5, tied=True, rule="tie"),
    trial(2, SHIFTED, choice=0, credit=0.0, target=1),
    trial(3, choice=None, credit=0.0, rule="refusal", reply="抱歉"),
    trial(3, SHIFTED, choice=None, credit=0.0, rule="refusal", target=1),
    trial(4, choice=1, credit=0.0),
    trial(4, SHIFTED, choice=0, credit=0.0, target=1, rule="marker"),
)


@pytest.fixture
def filled(database: Database) -> Database:
    samples = [sample(number) for number in range(5)] + [sample(5, subject="law")]
    add_run(database, spec(pattern="circular"), dataset(samples=samples))
    run = queue.claim(database, "worker-1")
    assert run
    write_trials(database, run.lease, 1, TRIALS)
    law = trial(5)
    write_trials(database, run.lease, 1, [Trial("law/5", law.variant, 0, "forced", law.readings)])
    return database


@pytest.fixture
def two_models(database: Database) -> Database:
    add_run(database, spec(models=["perfect", "always-A"]), dataset(2))
    run = queue.claim(database, "worker-1")
    assert run
    write_trials(database, run.lease, 1, [trial(0), trial(1)])
    write_trials(database, run.lease, 2, [trial(0, choice=3, credit=0.0)])
    return database


@pytest.mark.parametrize(
    ("chosen", "numbers"),
    [
        ({}, [0, 1, 2, 3, 4, 5]),
        ({"outcome": "right"}, [0, 5]),
        ({"outcome": "wrong"}, [1, 3, 4]),
        ({"outcome": "order_sensitive"}, [1]),
        ({"outcome": "unreadable"}, [3]),
        ({"outcome": "tied"}, [2]),
        ({"subject": "law"}, [5]),
        ({"rule": "marker"}, [1, 4]),
        ({"gold": 1, "picked": 0}, [2, 4]),
        ({"gold": 0, "picked": 2}, [1]),
        ({"picked": 1, "rule": "forced"}, [0, 4]),
        ({"picked": 0, "gold": 1, "rule": "marker"}, [4]),
        ({"picked": 2, "gold": 1}, []),
        ({"find": "What is 3"}, [3]),
        ({"find": "what IS"}, [0, 1, 2, 3, 4, 5]),
        ({"find": "抱歉"}, [3]),
        ({"find": "50%"}, [0]),
        ({"find": "0% a"}, [0]),
        ({"find": "5%"}, []),
        ({"find": "s_1"}, []),
        ({"find": "_1"}, [1]),
        ({"find": "law/5"}, [5]),
        ({"outcome": "wrong", "rule": "marker"}, [1, 4]),
        ({"outcome": "right", "subject": "sums"}, [0]),
    ],
)
def test_a_filter_keeps_what_it_says(
    filled: Database, chosen: dict[str, Any], numbers: list[int]
) -> None:
    assert read_matching(filled, cell(filled), QuestionFilter(**chosen)) == tuple(numbers)


def test_the_listed_questions_stand_as_requested(filled: Database) -> None:
    rows = read_listed(filled, [1], [2, 0, 3])
    assert [row.sample.id for row in rows] == ["sums/2", "sums/0", "sums/3"]


def test_a_place_that_the_file_does_not_have_is_left_out(filled: Database) -> None:
    assert [row.place for row in read_listed(filled, [1], [5, 50])] == [5]


def test_a_row_tells_the_outcome_of_each_variant_in_order(filled: Database) -> None:
    rows = read_listed(filled, [1], range(5))
    assert [outcomes(row, 1) for row in rows] == [
        ["right", "right"],
        ["wrong", "right"],
        ["tied", "wrong"],
        ["unreadable", "unreadable"],
        ["wrong", "wrong"],
    ]
    assert (rows[0].sample.question, rows[0].sample.subject) == ("What is 0 plus 0?", "sums")


def test_marks_of_many_orders_stand_in_order_and_of_other_blocks_none_is_read(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalui.store.column_blocks.MAX_BLOCK", 24)
    add_run(database, spec(pattern="all_possible"), dataset(3))
    run = queue.claim(database, "worker-1")
    assert run
    orders = [each.permutation for each in variants(4, "all_possible")]
    wrong = [trial(0, order, choice=None, credit=0.0, rule="refusal") for order in orders[17:]]
    right = [trial(0, order) for order in orders[:17]]
    few = [trial(1, orders[2], choice=1, credit=0.0), trial(1, orders[1]), trial(1)]
    for batch in ([*wrong, *right], few, [trial(2)] * 24):
        write_trials(database, run.lease, 1, batch)
    (first,) = read_listed(database, [1], [0])
    assert outcomes(first, 1) == ["right"] * 17 + ["unreadable"] * 7
    with database.writing() as connection:
        connection.execute("UPDATE trial_block SET body = x'00' WHERE first = 1")
    (second,) = read_listed(database, [1], [1])
    assert outcomes(second, 1) == ["right", "right", "wrong"]
    with pytest.raises(StoreError, match="is damaged"):
        read_listed(database, [1], [0])


@pytest.mark.parametrize(
    ("sort", "numbers"), [("worst", [1, 0, 2, 3]), ("best", [2, 0, 1, 3]), ("file", [0, 1, 2, 3])]
)
def test_questions_are_sorted_by_their_best_credit_and_those_without_a_reference_are_last(
    database: Database, sort: QuestionSort, numbers: list[int]
) -> None:
    samples = [replace(sample(number), target=("x",)) for number in range(3)]
    add_run(database, spec(), dataset(samples=[*samples, replace(sample(3), target=())]))
    run = queue.claim(database, "worker-1")
    assert run
    shares = {0: (0.2, 0.5), 1: (0.3, 0.1), 2: (0.9,), 3: (1.0,)}
    trials = [
        trial(number, variant, credit=share)
        for number, own in shares.items()
        for variant, share in zip(((0, 1, 2, 3), SHIFTED), own, strict=False)
    ]
    write_trials(database, run.lease, 1, trials)
    assert read_matching(database, cell(database), QuestionFilter(sort=sort)) == tuple(numbers)


def test_a_row_has_the_outcomes_of_every_model(two_models: Database) -> None:
    first, second = read_listed(two_models, [1, 2], [0, 1])
    assert (outcomes(first, 1), outcomes(first, 2)) == (["right"], ["wrong"])
    assert outcomes(second, 1) == ["right"]
    assert 2 not in second.marks


def test_a_question_comes_with_the_trials_of_every_model(two_models: Database) -> None:
    question = read_question(two_models, [1, 2], "sums/0")
    assert question.sample == sample(0)
    assert [trial.choice for trial in question.trials[1]] == [0]
    assert [trial.choice for trial in question.trials[2]] == [3]


def test_a_question_comes_with_its_trials_in_order(filled: Database) -> None:
    question = read_question(filled, [1], "sums/1")
    assert question.sample == sample(1)
    assert question.trials[1] == TRIALS[2:4]


@pytest.mark.usefixtures("lease")
def test_a_question_that_was_not_run_yet_has_no_trials(database: Database) -> None:
    assert read_question(database, [1], "sums/0").trials[1] == ()


@pytest.mark.usefixtures("lease")
def test_questions_without_an_answer_are_not_listed(database: Database) -> None:
    assert read_matching(database, cell(database), QuestionFilter()) == ()


def test_an_unknown_question_is_reported(filled: Database) -> None:
    assert read_place(filled, 1, "sums/99") is None
    with pytest.raises(StoreError, match="no question 'sums/99'"):
        read_question(filled, [1], "sums/99")


def test_the_filters_offer_what_is_there(filled: Database) -> None:
    assert read_facets(filled, cell(filled)) == Facets(
        ("sums", "law"), ("forced", "marker", "refusal", "tie"), 4
    )


def cell(database: Database) -> CellRow:
    (run,) = database.rows("SELECT id FROM run")
    return read_cells(database, run["id"])[0]


def outcomes(row: ListedQuestion, cell_id: int) -> list[str]:
    return [mark.outcome for mark in row.marks[cell_id]]
