"""What was spent, by owner and day."""

from queue_examples import MONDAY, add_owned, spend

from evalui.runs.fair_queue.limits import Spending, UserLimits, spendings_today, spent_today
from evalui.store.connection import Database


def test_what_is_spent_on_a_day_adds_up_and_days_begin_at_midnight_utc(database: Database) -> None:
    ada, bob = add_owned(database, "ada"), add_owned(database, "bob")
    spend(database, ada, MONDAY - 1, tokens=1)
    spend(database, ada, MONDAY, tokens=3)
    spend(database, ada, MONDAY + 5, tokens=4, dollars=0.5)
    spend(database, bob, MONDAY, dollars=1.0)
    with database.reading() as connection:
        assert spent_today(connection, "ada", MONDAY) == Spending(7, 0.5)
        assert spent_today(connection, "ada", MONDAY - 1) == Spending(1)
        assert spent_today(connection, "nobody", MONDAY) == Spending()
    assert spendings_today(database, MONDAY + 86_399) == {
        "ada": Spending(7, 0.5),
        "bob": Spending(dollars=1.0),
    }


def test_a_ceiling_is_reached_when_as_much_is_spent() -> None:
    spent = Spending(7, 0.5)
    assert spent.used_up(UserLimits()) == ""
    assert spent.used_up(UserLimits(tokens_day=8, dollars_day=0.51)) == ""
    assert spent.used_up(UserLimits(tokens_day=7)) == "tokens"
    assert spent.used_up(UserLimits(dollars_day=0.5)) == "dollars"
