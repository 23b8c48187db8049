"""People are added, changed and removed; one administrator always stays."""

from collections.abc import Callable

import pytest

from evalui.access import LOCAL_PERSON as ME
from evalui.access import Person
from evalui.accounts.audit import read_audit
from evalui.accounts.people import (
    add_person,
    find_person,
    read_account,
    read_accounts,
    remove_person,
    set_disabled,
    set_password,
    set_role,
)
from evalui.errors import AccountError
from evalui.store.connection import Database


def test_a_person_is_added_once_and_found_by_name(database: Database):
    account = add_person(database, "Ann", "annotator", by=ME, password="correct horse")
    assert (account.name, account.role, account.disabled) == ("ann", "annotator", False)
    assert (account.has_password, account.invited, account.seen) == (True, False, None)
    assert find_person(database, "ann") == Person("ann", "annotator")
    assert find_person(database, "bob") is None
    with pytest.raises(AccountError, match="already"):
        add_person(database, "ANN", "admin", by=ME)
    add_person(database, "aaron", "reader", by=ME)
    assert [each.name for each in read_accounts(database)] == ["aaron", "ann"]


def test_what_cannot_be_an_account_is_not_kept(database: Database):
    with pytest.raises(AccountError, match="10 characters"):
        add_person(database, "ann", "reader", by=ME, password="short")
    with pytest.raises(AccountError, match="cannot be a name"):
        add_person(database, "local", "admin", by=ME)
    assert read_accounts(database) == ()
    assert read_audit(database) == ()


CHANGES: dict[str, Callable[[Database, str], None]] = {
    "demoted": lambda database, name: set_role(database, name, "operator", by=ME),
    "disabled": lambda database, name: set_disabled(database, name, disabled=True, by=ME),
    "removed": lambda database, name: remove_person(database, name, heir=None, by=ME),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_the_last_administrator_stays(database: Database, change: Callable[[Database, str], None]):
    for name, role in (("root", "admin"), ("away", "admin"), ("ann", "operator")):
        add_person(database, name, role, by=ME)
    set_disabled(database, "away", disabled=True, by=ME)
    with pytest.raises(AccountError, match="only administrator"):
        change(database, "root")
    assert read_account(database, "root").role == "admin"
    assert not read_account(database, "root").disabled
    set_role(database, "root", "admin", by=ME)  # nothing changes, so it may
    set_disabled(database, "away", disabled=False, by=ME)
    change(database, "root")  # there is another one


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_who_is_not_there_is_not_changed(
    database: Database, change: Callable[[Database, str], None]
):
    with pytest.raises(AccountError, match="no person bob"):
        change(database, "bob")
    with pytest.raises(AccountError, match="no person bob"):
        set_password(database, "bob", "correct horse", by=ME)


def test_somebody_disabled_is_nobody_until_enabled(database: Database):
    add_person(database, "ann", "reader", by=ME)
    set_disabled(database, "ann", disabled=True, by=ME)
    assert find_person(database, "ann") is None
    assert read_account(database, "ann").disabled
    set_disabled(database, "ann", disabled=False, by=ME)
    assert find_person(database, "ann")


def test_every_change_is_in_the_audit_log_and_no_password(database: Database):
    root = Person("root", "admin")
    add_person(database, "ann", "reader", by=root, password="correct horse")
    set_role(database, "ann", "operator", by=root)
    set_password(database, "ann", "battery staple", by=root)
    set_disabled(database, "ann", disabled=True, by=root)
    set_disabled(database, "ann", disabled=False, by=root)
    remove_person(database, "ann", heir=None, by=root)
    entries = read_audit(database)
    assert {(entry.person, entry.thing) for entry in entries} == {("root", "person ann")}
    deeds = ["remove-person", "enable", "disable", "set-password", "set-role", "add-person"]
    assert [entry.deed for entry in entries] == deeds
    assert entries[4].detail == {"role": "operator", "before": "reader"}
    assert "horse" not in repr(entries)
    assert "staple" not in repr(entries)
