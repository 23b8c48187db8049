"""What was spent, by owner and day."""

from queue_examples import MONDAY, add_owned, spend

from evalui.runs.database.connection import Database
from evalui.runs.fair_queue.spending import (
    Spending,
    day_of,
    monday_of,
    spendings_since,
    spent_since,
)


def test_days_and_weeks_begin_at_midnight_utc() -> None:
    assert (day_of(MONDAY - 1), day_of(MONDAY)) == ("2026-11-22", "2026-11-23")
    assert (monday_of(MONDAY - 1), monday_of(MONDAY)) == ("2026-11-16", "2026-11-23")
    assert monday_of(MONDAY + 6.9 * 86_400) == "2026-11-23"


def test_what_is_spent_on_a_day_adds_up(database: Database) -> None:
    ada, bob = add_owned(database, "ada"), add_owned(database, "bob")
    spend(database, ada, MONDAY - 1, device_s=1.0)
    spend(database, ada, MONDAY, device_s=2.0, tokens=3)
    spend(database, ada, MONDAY + 5, tokens=4, dollars=0.5)
    spend(database, bob, MONDAY, dollars=1.0)
    with database.reading() as connection:
        assert spent_since(connection, "ada", day_of(MONDAY)) == Spending(2.0, 7, 0.5)
        assert spent_since(connection, "ada", monday_of(MONDAY - 1)) == Spending(3.0, 7, 0.5)
        assert spent_since(connection, "nobody", day_of(0)) == Spending()
    assert spendings_since(database, day_of(MONDAY)) == {
        "ada": Spending(2.0, 7, 0.5),
        "bob": Spending(dollars=1.0),
    }


def test_nothing_spent_is_not_written(database: Database) -> None:
    spend(database, add_owned(database, "ada"))
    assert spendings_since(database, "") == {}
