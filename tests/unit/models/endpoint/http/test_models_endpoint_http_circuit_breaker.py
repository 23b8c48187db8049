import pytest

from evalui.models.endpoint.http.circuit_breaker import Breaker, Patience

PATIENCE = Patience(trip_after=3, first_rest=2.0, longest_rest=7.0)


def failing(times: int) -> Breaker:
    breaker = Breaker(PATIENCE)
    for _ in range(times):
        breaker.sent()
        breaker.failed(100.0, "down")
    return breaker


def test_a_few_failures_change_nothing():
    breaker = failing(2)
    assert not breaker.is_open
    assert breaker.wait(100.0) == 0


def test_enough_failures_in_a_row_put_the_server_aside():
    breaker = failing(3)
    assert breaker.is_open
    assert breaker.wait(100.5) == 1.5
    assert breaker.wait(102.0) == 0


def test_a_success_between_begins_the_count_anew():
    breaker = failing(2)
    breaker.succeeded()
    breaker.failed(100.0, "down")
    assert not breaker.is_open


def test_one_trial_is_made_at_a_time():
    breaker = failing(3)
    assert breaker.sent()
    assert breaker.wait(200.0) == float("inf")


def test_a_trial_that_succeeds_takes_the_server_back():
    breaker = failing(3)
    breaker.sent()
    breaker.succeeded()
    assert breaker.wait(102.0) == 0
    assert not breaker.is_open
    assert not breaker.sent()


@pytest.mark.parametrize(("failed", "rest"), [(0, 2.0), (1, 4.0), (2, 7.0), (2000, 7.0)])
def test_the_rest_grows_with_every_trial_that_fails_up_to_a_limit(failed: int, rest: float):
    breaker = failing(3)
    for _ in range(failed):
        breaker.failed(300.0, "still down", trial=breaker.sent())
    began = 300.0 if failed else 100.0
    assert breaker.wait(began) == rest


def test_requests_sent_before_the_outage_do_not_prolong_it():
    breaker = failing(3)
    breaker.failed(101.0, "down")
    assert breaker.wait(102.0) == 0


def test_a_failure_from_before_does_not_end_the_trial():
    breaker = failing(3)
    breaker.sent()
    breaker.failed(102.0, "down")
    assert breaker.wait(200.0) == float("inf")


def test_what_the_server_asks_for_is_kept():
    breaker = Breaker(PATIENCE)
    breaker.failed(100.0, "busy", retry_after_s=30.0)
    assert not breaker.is_open
    assert breaker.wait(100.0) == 30.0
    assert breaker.wait(131.0) == 0
