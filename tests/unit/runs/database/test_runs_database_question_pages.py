from typing import Any

import pytest
from runs_examples import add_run, dataset, sample, spec, trial

from evalui.errors import StoreError
from evalui.runs.database import queue
from evalui.runs.database.connection import Database
from evalui.runs.database.question_pages import read_facets, read_question, read_question_page
from evalui.runs.database.records import Facets
from evalui.runs.database.trials import write_trials
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
        ({"gold_slot": 1, "picked_slot": 0}, [2, 4]),
        ({"gold_slot": 0, "picked_slot": 2}, [1]),
        ({"picked_slot": 1, "rule": "forced"}, [0, 4]),
        ({"picked_slot": 0, "gold_slot": 1, "rule": "marker"}, [4]),
        ({"picked_slot": 2, "gold_slot": 1}, []),
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
    page = read_question_page(filled, 1, **chosen)
    assert [row.line - 2 for row in page.rows] == numbers
    assert page.total == len(numbers)


def test_a_page_is_a_slice_and_knows_the_whole(filled: Database) -> None:
    page = read_question_page(filled, 1, offset=2, limit=2)
    assert [row.sample_id for row in page.rows] == ["sums/2", "sums/3"]
    assert page.total == 6


def test_a_page_beyond_the_end_is_empty_and_knows_the_whole(filled: Database) -> None:
    page = read_question_page(filled, 1, offset=50)
    assert (page.rows, page.total) == ((), 6)


def test_a_row_tells_the_outcome_of_each_variant_in_order(filled: Database) -> None:
    rows = read_question_page(filled, 1).rows
    assert [row.outcomes for row in rows[:5]] == [
        ("right", "right"),
        ("wrong", "right"),
        ("tied", "wrong"),
        ("unreadable", "unreadable"),
        ("wrong", "wrong"),
    ]
    assert (rows[0].question, rows[0].subject) == ("What is 0 plus 0?", "sums")


def test_a_question_comes_with_its_trials_in_order(filled: Database) -> None:
    question = read_question(filled, 1, "sums/1")
    assert question.sample == sample(1)
    assert question.trials == TRIALS[2:4]


@pytest.mark.usefixtures("lease")
def test_a_question_that_was_not_run_yet_has_no_trials(database: Database) -> None:
    assert read_question(database, 1, "sums/0").trials == ()


def test_an_unknown_question_is_reported(filled: Database) -> None:
    with pytest.raises(StoreError, match="no question 'sums/99'"):
        read_question(filled, 1, "sums/99")


def test_the_filters_offer_what_is_there(filled: Database) -> None:
    assert read_facets(filled, 1) == Facets(
        ("sums", "law"), ("forced", "marker", "refusal", "tie"), 4
    )
