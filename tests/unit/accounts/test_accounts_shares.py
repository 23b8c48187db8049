"""A link opens its frozen page until it ends, and nothing else opens it."""

import secrets
import time
from pathlib import Path

import pytest

from evalui.access import LOCAL_PERSON as ME
from evalui.accounts import shares
from evalui.accounts.audit import read_audit
from evalui.accounts.shares import (
    Share,
    add_share,
    find_share,
    link_of,
    list_shares,
    new_share,
    read_page,
    read_table,
    revoke_share,
)
from evalui.errors import AccountError
from evalui.store.connection import Database
from evalui.types import Language

PAGES: dict[Language, str] = {"en": "page", "zh": "页面"}
TABLES: dict[Language, str] = {"en": "a,b", "zh": "甲"}


def add(database: Database, days: int = 30, owner: str = "ann") -> Share:
    new = new_share(owner, "?run=k3f", "Midterm", days)
    add_share(database, new, PAGES, TABLES, by=ME)
    kept = next(each for each in list_shares(database, owner) if each.id == new.id)
    assert kept == new
    return kept


def test_an_id_is_no_option_of_a_command(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(secrets, "token_urlsafe", lambda _: "-oV-dOC9z0z-b")
    assert new_share("ann", "?run=k3f", "Midterm", 30).id == "_oV-dOC9z0z-b"


def link(database: Database, share: Share) -> str:
    return link_of(database, share.id, share.expires)


def test_a_link_opens_its_pages_and_counts(database: Database):
    share = add(database)
    opened = find_share(database, link(database, share))
    assert opened == share
    assert opened.ended is None
    assert [read_page(database, share, each) for each in ("en", "zh")] == ["page", "页面"]
    assert read_table(database, share, "zh") == "甲"
    (now,) = list_shares(database)
    assert (now.opened, now.last_opened is not None) == (2, True)


@pytest.mark.parametrize("change", ["id", "signature", "cut", "none", "more"])
def test_a_link_that_was_changed_opens_nothing(database: Database, change: str):
    share, other = add(database), add(database)
    whole = link(database, share)
    signature = whole.partition(".")[2]
    first = "A" if signature[0] != "A" else "B"
    changed = {
        "id": f"{other.id}.{signature}",
        "signature": f"{share.id}.{first}{signature[1:]}",
        "cut": whole[:-1],
        "none": share.id,
        "more": whole + "A",
    }[change]
    assert find_share(database, changed) is None
    assert find_share(database, whole) == share


def test_an_end_that_was_moved_in_the_store_opens_nothing(database: Database):
    share = add(database)
    whole = link(database, share)
    with database.writing() as connection:
        connection.execute("UPDATE share SET expires = expires + 86400")
    assert find_share(database, whole) is None


def test_a_copy_of_the_store_makes_no_link(database: Database, tmp_path: Path):
    share = add(database)
    whole = link(database, share)
    assert whole.partition(".")[2].encode() not in (tmp_path / "evalui.sqlite").read_bytes()
    (tmp_path / "secret-key").unlink()
    assert find_share(database, whole) is None


def test_a_link_ends_by_time(database: Database, monkeypatch: pytest.MonkeyPatch):
    share = add(database, days=7)
    assert share.expires - share.created == 7 * 24 * 3600
    monkeypatch.setattr(shares.time, "time", lambda: share.expires)
    assert share.ended == share.expires
    assert find_share(database, link(database, share)) == share  # to say when it ended


def test_a_link_ends_when_it_is_withdrawn(database: Database):
    share = add(database)
    before = time.time()
    revoke_share(database, share.id, by=ME)
    (ended,) = list_shares(database)
    assert ended.ended is not None
    assert ended.ended >= before
    revoke_share(database, share.id, by=ME)
    assert list_shares(database) == (ended,)  # the first time counts
    deeds = [(entry.deed, entry.thing) for entry in read_audit(database)]
    assert deeds == [*[("withdraw-share", f"link {share.id}")] * 2, ("share", f"link {share.id}")]
    with pytest.raises(AccountError, match="nothing"):
        revoke_share(database, "nothing", by=ME)


def test_lists_are_of_an_owner_or_of_an_address(database: Database):
    mine, theirs = add(database), add(database, owner="bob")
    assert list_shares(database, "ann") == (mine,)
    assert list_shares(database, "bob") == (theirs,)
    assert len(list_shares(database, address="?run=k3f")) == 2
    assert list_shares(database, address="?run=other") == ()


def test_only_offered_days_can_be_chosen():
    with pytest.raises(AccountError, match="7, 30, 90"):
        new_share("ann", "?run=k3f", "Midterm", 31)


def test_the_pages_of_ended_links_are_not_kept(database: Database):
    withdrawn, expired = add(database), add(database)
    revoke_share(database, withdrawn.id, by=ME)
    with database.writing() as connection:
        connection.execute("UPDATE share SET expires = 1 WHERE id = ?", (expired.id,))
    kept = add(database)
    rows = database.rows("SELECT id FROM share WHERE length(pages) + length(csv) > 0")
    assert [row["id"] for row in rows] == [kept.id]
    with pytest.raises(AccountError):  # who had found it a moment before
        read_page(database, withdrawn, "en")
