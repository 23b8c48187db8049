import pytest
from runs_examples import RESPONSE

from evalui.store.connection import Database
from evalui.store.response_cache import (
    KeptResponse,
    ReplySource,
    get_responses,
    is_deterministic,
    reply_sources,
)
from evalui.store.runs import Lease
from evalui.store.trials import write_trials
from evalui.types import Generate, GeneratedText, Loglik, NextToken, Request


def keys(count: int) -> list[bytes]:
    return [number.to_bytes(32, "big") for number in range(count)]


def source(run: str, made: float = 1.0) -> ReplySource:
    return ReplySource("toy", "openai:1a2b3c4d:ff", run, made)


def test_a_response_is_found_under_its_key_with_the_run_that_requested_it(
    database: Database, lease: Lease
) -> None:
    one, two, three = keys(3)
    kept = [KeptResponse(one, RESPONSE, source("r1")), KeptResponse(two, GeneratedText("B"), None)]
    write_trials(database, lease, 1, [], kept)
    assert list(get_responses(database, [two, three, one]).values()) == kept


def test_the_first_response_to_a_request_stays(database: Database, lease: Lease) -> None:
    (one,) = keys(1)
    first = KeptResponse(one, GeneratedText("A"), source("r1"))
    write_trials(database, lease, 1, [], [first])
    write_trials(database, lease, 1, [], [KeptResponse(one, GeneratedText("B"), source("r2"))])
    assert get_responses(database, [one]) == {one: first}


def test_a_run_has_requested_replies_since_the_first(database: Database, lease: Lease) -> None:
    for key, each in zip(
        keys(3), (source("r1"), source("r1", 5.0), source("r2", 3.0)), strict=True
    ):
        write_trials(database, lease, 1, [], [KeptResponse(key, RESPONSE, each)])
    assert reply_sources(database, "toy") == [source("r1"), source("r2", 3.0)]
    assert reply_sources(database, "other") == []


def test_more_keys_than_one_statement_takes_are_found(database: Database, lease: Lease) -> None:
    many = keys(2100)
    kept = [KeptResponse(key, GeneratedText("A"), None) for key in many]
    write_trials(database, lease, 1, [], kept)
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
