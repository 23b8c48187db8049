"""Passwords are checked at one cost, and stored as argon2 hashes."""

from unittest.mock import patch

import pytest

from evalui.accounts.passwords import hash_password, is_password, made_password
from evalui.errors import AccountError


@pytest.fixture(autouse=True)
def cheap() -> None:
    """Here they cost what they cost."""


def test_a_password_matches_its_hash_alone():
    stored = hash_password("correct horse")
    assert stored.startswith("$argon2id$")
    assert "correct" not in stored
    assert hash_password("correct horse") != stored  # salted
    assert is_password(stored, "correct horse")
    assert not is_password(stored, "correct horse ")
    assert not is_password(stored, "")


def test_however_a_letter_was_composed_it_is_the_same_password():
    assert is_password(hash_password("Zu\u0308rich-2026"), "Z\u00fcrich-2026")


def test_nothing_matches_no_password_and_the_check_costs_as_much():
    from argon2 import PasswordHasher

    stored = hash_password("correct horse")
    seen: list[str] = []
    verify = PasswordHasher.verify

    def noted(hasher: PasswordHasher, known: str, password: str) -> bool:
        seen.append(known.rpartition("$")[0].rpartition("$")[0])
        return verify(hasher, known, password)

    with patch.object(PasswordHasher, "verify", noted):
        assert not is_password("", "correct horse")
        assert is_password(stored, "correct horse")
    assert len(seen) == 2
    assert seen[0] == seen[1]  # the same algorithm, memory and rounds


def test_ten_characters_are_enough_whatever_they_are():
    hash_password("0123456789")
    hash_password("一二三四五六七八九十")
    with pytest.raises(AccountError, match="10 characters"):
        hash_password("Aa1!Aa1!x")


def test_made_passwords_differ_and_are_long_enough():
    assert made_password() != made_password()
    hash_password(made_password())
