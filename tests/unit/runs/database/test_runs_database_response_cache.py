import pytest
from runs_examples import RESPONSE

from evalui.runs.database.connection import Database
from evalui.runs.database.records import Lease
from evalui.runs.database.response_cache import get_responses, is_deterministic
from evalui.runs.database.trials import write_trials
from evalui.types import Generate, GeneratedText, Loglik, NextToken, Request


def keys(count: int) -> list[bytes]:
    return [number.to_bytes(32, "big") for number in range(count)]


def test_a_response_is_found_under_its_key(database: Database, lease: Lease) -> None:
    one, two, three = keys(3)
    write_trials(database, lease, 1, [], [(one, RESPONSE), (two, GeneratedText("B"))])
    assert get_responses(database, [two, three, one]) == {one: RESPONSE, two: GeneratedText("B")}


def test_the_first_response_to_a_request_stays(database: Database, lease: Lease) -> None:
    (one,) = keys(1)
    write_trials(database, lease, 1, [], [(one, GeneratedText("A"))])
    write_trials(database, lease, 1, [], [(one, GeneratedText("B"))])
    assert get_responses(database, [one]) == {one: GeneratedText("A")}


def test_more_keys_than_one_statement_takes_are_found(database: Database, lease: Lease) -> None:
    many = keys(2100)
    write_trials(database, lease, 1, [], [(key, GeneratedText("A")) for key in many])
    assert len(get_responses(database, many)) == 2100


@pytest.mark.parametrize(
    ("request_", "same"),
    [
        (NextToken("Q", ("A",)), True),
        (Loglik("Q", "A"), True),
        (Generate("Q"), True),
        (Generate("Q", temperature=0.7), False),
    ],
)
def test_only_what_is_drawn_may_come_out_otherwise(request_: Request, same: bool) -> None:
    assert is_deterministic(request_) is same
