"""Guests of one link: a name of their own, one run, and no longer than the link is open."""

import pytest

from evalui.access import ANONYMOUS, Owned, Person, may
from evalui.accounts import guests
from evalui.accounts.audit import read_audit
from evalui.accounts.guests import (
    admit_guest,
    free_guest_seats,
    make_guest_link,
    person_of_guest,
    read_guest_links,
    revoke_guest_link,
    run_of_link,
)
from evalui.errors import AccountError, TooManyTries
from evalui.store.connection import Database

OLGA = Person("olga", "operator")
DAY = 24 * 3600.0


@pytest.fixture(autouse=True)
def runs(database: Database) -> None:
    with database.writing() as connection:
        for name in ("k3f", "m4g"):
            connection.execute(
                "INSERT INTO run (id, owner, name, spec, state, created, queued, revision)"
                " VALUES (?, 'olga', ?, '{}', 'done', 1, 1, 1)",
                (name, name),
            )


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1_800_000_000.0]
    monkeypatch.setattr(guests.time, "time", lambda: now[0])
    return now


def test_a_guest_votes_on_one_run_and_may_nothing_else(database: Database):
    link = make_guest_link(database, "k3f", by=OLGA, days=3)
    assert run_of_link(database, link) == "k3f"
    guest = person_of_guest(database, admit_guest(database, link, "  Mia   Li "))
    assert guest
    assert guest == Person("guest:Mia Li", "annotator", guest_of="k3f")
    own, other = Owned("olga", run="k3f"), Owned("olga", run="m4g", everyone=True)
    assert may(guest, "annotate", own)
    assert not may(guest, "annotate", other)
    assert not any(may(guest, deed, own) for deed in ("see", "run", "change"))
    assert not any(may(guest, deed) for deed in ("see", "annotate", "start", "administer"))


def test_secrets_are_not_in_the_store(database: Database):
    link = make_guest_link(database, "k3f", by=OLGA, days=3)
    secret = admit_guest(database, link, "Mia")
    with database.reading() as connection:
        dump = "\n".join(connection.iterdump())
    assert link not in dump
    assert secret not in dump


def test_a_name_is_given_once_on_a_run_whatever_the_link(database: Database):
    first = make_guest_link(database, "k3f", by=OLGA, days=3)
    second = make_guest_link(database, "k3f", by=OLGA, days=3)
    admit_guest(database, first, "Mia")
    for link in (first, second):
        with pytest.raises(AccountError, match="mia"):
            admit_guest(database, link, "mia")
    revoke_guest_link(database, "k3f", read_guest_links(database, "k3f")[0].digest, by=OLGA)
    with pytest.raises(AccountError, match="Mia"):  # her votes stay hers
        admit_guest(database, second, "Mia")
    admit_guest(database, make_guest_link(database, "m4g", by=OLGA, days=3), "Mia")


@pytest.mark.parametrize("name", ["", "   ", "x" * 41, "a\x00b", "a\u202eb"])
def test_what_is_no_name_is_refused(database: Database, name: str):
    link = make_guest_link(database, "k3f", by=OLGA, days=3)
    with pytest.raises(AccountError, match="40"):
        admit_guest(database, link, name)


def test_a_link_admits_so_many(database: Database, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(guests, "_MOST_GUESTS", 2)
    link = make_guest_link(database, "k3f", by=OLGA, days=3)
    admit_guest(database, link, "Mia")
    admit_guest(database, link, "Mo")
    with pytest.raises(AccountError, match="2 guests"):
        admit_guest(database, link, "May")


def test_seats_are_those_of_one_link(database: Database, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(guests, "_MOST_GUESTS", 2)
    full, other = (make_guest_link(database, "k3f", by=OLGA, days=3) for _ in range(2))
    admit_guest(database, full, "Mia")
    admit_guest(database, full, "Mo")
    admit_guest(database, other, "May")


def test_one_visitor_takes_few_seats_a_day(
    database: Database, monkeypatch: pytest.MonkeyPatch, clock: list[float]
):
    monkeypatch.setattr(guests, "_MOST_FROM_ADDRESS", 2)
    link = make_guest_link(database, "k3f", by=OLGA, days=3)
    for name in ("Mia", "Mo"):
        admit_guest(database, link, name, address="2001:db8::1")
    with pytest.raises(TooManyTries, match="2 guests"):
        admit_guest(database, link, "May", address="2001:db8::2")  # the same network
    admit_guest(database, link, "Max", address="192.0.2.1")
    clock[0] += DAY + 1
    admit_guest(database, link, "May", address="2001:db8::2")
    with database.reading() as connection:
        assert "2001:db8" not in "".join(connection.iterdump())


def test_seats_of_guests_who_cast_no_vote_are_freed(database: Database):
    link = make_guest_link(database, "k3f", by=OLGA, days=3)
    other = make_guest_link(database, "k3f", by=OLGA, days=3)
    voted, idle, elsewhere = (
        admit_guest(database, at, name)
        for at, name in ((link, "Mia"), (link, "Mo"), (other, "May"))
    )
    with database.writing() as connection:
        connection.execute(
            "INSERT INTO vote (run, owner, pair, dataset, sample, shown_left, shown_right,"
            " outcome, comment, created) VALUES"
            " ('k3f', 'guest:Mia', 'p', 'd', 's', 'x', 'y', 'a', '', 1)"
        )
    digest = next(each.digest for each in read_guest_links(database, "k3f") if "Mia" in each.guests)
    assert free_guest_seats(database, "m4g", digest, by=OLGA) == 0  # of another run
    assert free_guest_seats(database, "k3f", digest, by=OLGA) == 1
    assert person_of_guest(database, idle) is None
    assert person_of_guest(database, voted)
    assert person_of_guest(database, elsewhere)
    admit_guest(database, link, "Mo")  # the name is free again


def test_an_expired_link_ends_its_guests(database: Database, clock: list[float]):
    link = make_guest_link(database, "k3f", by=OLGA, days=1)
    secret = admit_guest(database, link, "Mia")
    clock[0] += DAY - 1
    assert person_of_guest(database, secret)
    clock[0] += 2
    assert person_of_guest(database, secret) is None
    assert read_guest_links(database, "k3f") == ()
    for refused in (lambda: run_of_link(database, link), lambda: admit_guest(database, link, "Mo")):
        with pytest.raises(AccountError, match="expired"):
            refused()


def test_a_withdrawn_link_ends_its_guests_and_no_others(database: Database):
    links = [make_guest_link(database, "k3f", by=OLGA, days=3) for _ in range(2)]
    mia, mo = admit_guest(database, links[0], "Mia"), admit_guest(database, links[1], "Mo")
    shown = {link.guests: link.digest for link in read_guest_links(database, "k3f")}
    revoke_guest_link(database, "m4g", shown["Mia",], by=OLGA)  # of another run
    assert person_of_guest(database, mia)
    revoke_guest_link(database, "k3f", shown["Mia",], by=OLGA)
    revoke_guest_link(database, "k3f", shown["Mia",], by=OLGA)
    assert person_of_guest(database, mia) is None
    assert person_of_guest(database, mo)
    assert [entry.deed for entry in read_audit(database)] == [
        "revoke-guest-link",
        "make-guest-link",
        "make-guest-link",
    ]


def test_links_go_with_their_run(database: Database):
    link = make_guest_link(database, "k3f", by=OLGA, days=3)
    secret = admit_guest(database, link, "Mia")
    with database.writing() as connection:
        connection.execute("DELETE FROM run WHERE id = 'k3f'")
    assert person_of_guest(database, secret) is None
    with pytest.raises(AccountError):
        run_of_link(database, link)


@pytest.mark.parametrize("days", [0, 91])
def test_a_link_is_open_for_some_days_only(database: Database, days: int):
    with pytest.raises(AccountError, match="90"):
        make_guest_link(database, "k3f", by=OLGA, days=days)
    assert not may(ANONYMOUS, "annotate", Owned("olga", run="k3f"))
