"""Every change is written down, in the order it happened."""

from evalui.access import LOCAL_PERSON, Person
from evalui.accounts.audit import read_audit, record
from evalui.store.connection import Database


def test_entries_come_newest_first_and_page_by_page(database: Database):
    for n in range(5):
        record(database, Person("ann", "admin"), "set-limit", "person bob", n=n, of=None)
    newest = read_audit(database, limit=2)
    assert [entry.detail["n"] for entry in newest] == [4, 3]
    assert [entry.detail["n"] for entry in read_audit(database, before=newest[-1].id)] == [2, 1, 0]
    entry = newest[0]
    assert (entry.person, entry.deed, entry.thing) == ("ann", "set-limit", "person bob")
    assert entry.detail == {"n": 4, "of": None}


def test_what_the_command_line_does_is_of_the_machine_itself(database: Database):
    record(database, LOCAL_PERSON, "drain", "queue")
    assert read_audit(database)[0].person == "local"
