"""Wrong passwords are few, by name and by address, and nobody is locked out for ever."""

import threading

import pytest

from evalui.access import LOCAL_PERSON as ME
from evalui.access import Person
from evalui.accounts import passwords
from evalui.accounts import sign_in as module
from evalui.accounts.people import add_person, set_disabled
from evalui.accounts.sign_in import PER_ADDRESS, PER_NAME, WINDOW_S, sign_in
from evalui.errors import AccountError, TooManyTries
from evalui.store.connection import Database

HERE, THERE = "192.0.2.1", "192.0.2.2"
RIGHT = "correct horse"


@pytest.fixture(autouse=True)
def people(database: Database) -> None:
    add_person(database, "ann", "annotator", by=ME, password=RIGHT)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1_800_000_000.0]
    monkeypatch.setattr(module.time, "time", lambda: now[0])
    return now


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where only the counting matters, one password is right for all."""
    monkeypatch.setattr(module, "is_password", lambda _, given: given == RIGHT)


def wrong(database: Database, name: str = "ann", address: str = HERE, browser: str = "") -> None:
    with pytest.raises(AccountError, match="do not match"):
        sign_in(database, name, "wrong", address=address, browser=browser)


def shut(database: Database, name: str = "ann", address: str = HERE, browser: str = "") -> None:
    with pytest.raises(TooManyTries, match="Wait 5 minutes"):
        sign_in(database, name, RIGHT, address=address, browser=browser)


def test_name_and_password_sign_in_however_the_name_is_written(database: Database):
    assert sign_in(database, " Ann", RIGHT, address=HERE) == Person("ann", "annotator")


def test_unknown_wrong_and_disabled_look_the_same(database: Database):
    set_disabled(database, "ann", disabled=True, by=ME)
    for name in ("ann", "nobody", "", "a" * 200, "x y"):
        with pytest.raises(AccountError) as caught:
            sign_in(database, name, RIGHT, address=HERE)
        assert str(caught.value) == "Name and password do not match."


@pytest.mark.usefixtures("fast")
def test_five_wrong_ones_shut_a_name_for_all_addresses(database: Database):
    for _ in range(PER_NAME):
        wrong(database)
    shut(database)
    shut(database, address=THERE)
    wrong(database, "bob")


@pytest.mark.usefixtures("fast")
def test_an_unknown_name_is_shut_as_a_known_one(database: Database):
    for _ in range(PER_NAME):
        wrong(database, "nobody")
    shut(database, "nobody", address=THERE)


@pytest.mark.usefixtures("fast")
def test_a_name_opens_again_however_often_it_is_tried(database: Database, clock: list[float]):
    for _ in range(PER_NAME):
        wrong(database)
    for _ in range(100):
        shut(database)
        clock[0] += WINDOW_S / 101
    clock[0] += WINDOW_S / 50
    assert sign_in(database, "ann", RIGHT, address=HERE)


@pytest.mark.usefixtures("fast")
def test_twenty_wrong_ones_shut_an_address_alone(database: Database):
    for n in range(PER_ADDRESS):
        wrong(database, f"name{n}")
    shut(database)
    assert sign_in(database, "ann", RIGHT, address=THERE)


@pytest.mark.usefixtures("fast")
def test_signing_in_to_ones_own_account_does_not_buy_more_tries(database: Database):
    for n in range(PER_ADDRESS):
        wrong(database, f"name{n}")
        if n < PER_ADDRESS - 1:
            assert sign_in(database, "ann", RIGHT, address=HERE)
    shut(database)


@pytest.mark.usefixtures("fast")
def test_of_ipv6_a_whole_network_is_one_address(database: Database):
    for n in range(PER_ADDRESS):
        wrong(database, f"name{n}", f"2001:db8:0:1::{n:x}")
    shut(database, address="2001:db8:0:1:ffff::1")
    assert sign_in(database, "ann", RIGHT, address="2001:db8:0:2::1")


@pytest.mark.usefixtures("fast")
def test_the_browser_of_a_person_is_not_shut_by_others(database: Database):
    for n in range(PER_ADDRESS):
        wrong(database, "ann" if n < PER_NAME else f"name{n}")
    shut(database)
    assert sign_in(database, "ann", RIGHT, address=HERE, browser="known")
    for _ in range(PER_NAME):
        wrong(database, browser="known")
    shut(database, browser="known")


@pytest.mark.usefixtures("fast")
def test_a_right_password_forgets_the_wrong_ones_before(database: Database):
    for _ in range(3):
        for _ in range(PER_NAME - 1):
            wrong(database)
        assert sign_in(database, "ann", RIGHT, address=HERE)


def test_many_at_once_do_not_pass_together(database: Database, monkeypatch: pytest.MonkeyPatch):
    looked: list[str] = []
    together = threading.Barrier(12)

    def slow(stored: str, given: str) -> bool:
        looked.append(given)
        return bool(stored) and given == RIGHT

    monkeypatch.setattr(module, "is_password", slow)

    def attempt() -> None:
        together.wait()
        with pytest.raises(AccountError):
            sign_in(database, "ann", "wrong", address=HERE)

    threads = [threading.Thread(target=attempt) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(looked) == PER_NAME


@pytest.mark.usefixtures("fast")
def test_a_clock_that_is_put_back_shuts_nobody_out(database: Database, clock: list[float]):
    for _ in range(PER_NAME):
        wrong(database)
    clock[0] -= 10 * WINDOW_S
    assert sign_in(database, "ann", RIGHT, address=HERE)


def test_a_password_is_looked_at_for_unknown_names_too(
    database: Database, monkeypatch: pytest.MonkeyPatch
):
    stored: list[str] = []

    def noted(known: str, given: str) -> bool:
        stored.append(known)
        return passwords.is_password(known, given)

    monkeypatch.setattr(module, "is_password", noted)
    wrong(database, "nobody")
    assert stored == [""]
