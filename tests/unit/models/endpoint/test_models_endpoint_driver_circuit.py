import pytest

from evalui.models.endpoint.driver import CircuitBreaker, RetryPolicy

PATIENCE = RetryPolicy(failure_threshold=3, initial_open_time=2.0, max_open_time=7.0)


def failing(times: int) -> CircuitBreaker:
    breaker = CircuitBreaker(PATIENCE)
    for _ in range(times):
        breaker.record_sent()
        breaker.record_failure(100.0, "down")
    return breaker


def test_a_few_failures_change_nothing():
    breaker = failing(2)
    assert not breaker.is_open
    assert breaker.wait_time(100.0) == 0


def test_enough_failures_in_a_row_put_the_server_aside():
    breaker = failing(3)
    assert breaker.is_open
    assert breaker.wait_time(100.5) == 1.5
    assert breaker.wait_time(102.0) == 0


def test_a_success_between_begins_the_count_anew():
    breaker = failing(2)
    breaker.record_success()
    breaker.record_failure(100.0, "down")
    assert not breaker.is_open


def test_one_trial_is_made_at_a_time():
    breaker = failing(3)
    assert breaker.record_sent()
    assert breaker.wait_time(200.0) == float("inf")


def test_a_trial_that_succeeds_takes_the_server_back():
    breaker = failing(3)
    breaker.record_sent()
    breaker.record_success()
    assert breaker.wait_time(102.0) == 0
    assert not breaker.is_open
    assert not breaker.record_sent()


@pytest.mark.parametrize(("failed", "rest"), [(0, 2.0), (1, 4.0), (2, 7.0), (2000, 7.0)])
def test_the_rest_grows_with_every_trial_that_fails_up_to_a_limit(failed: int, rest: float):
    breaker = failing(3)
    for _ in range(failed):
        breaker.record_failure(300.0, "still down", trial=breaker.record_sent())
    began = 300.0 if failed else 100.0
    assert breaker.wait_time(began) == rest


def test_requests_sent_before_the_outage_do_not_prolong_it():
    breaker = failing(3)
    breaker.record_failure(101.0, "down")
    assert breaker.wait_time(102.0) == 0


def test_a_failure_from_before_does_not_end_the_trial():
    breaker = failing(3)
    breaker.record_sent()
    breaker.record_failure(102.0, "down")
    assert breaker.wait_time(200.0) == float("inf")


def test_what_the_server_requests_is_kept():
    breaker = CircuitBreaker(PATIENCE)
    breaker.record_failure(100.0, "busy", retry_after_s=30.0)
    assert not breaker.is_open
    assert breaker.wait_time(100.0) == 30.0
    assert breaker.wait_time(131.0) == 0
