"""Passwords as argon2 hashes. A check costs the same whether there is a password or none."""

import secrets
import unicodedata
from functools import cache
from typing import TYPE_CHECKING

from evalui.errors import AccountError

if TYPE_CHECKING:
    from argon2 import PasswordHasher

MIN_LENGTH = 10  # characters; what they are is up to the person


def made_password() -> str:
    """A random password for somebody who has not chosen one."""
    return secrets.token_urlsafe(12)


def hash_password(password: str) -> str:
    """What the store keeps of a password; raises `AccountError` if it is too short."""
    if len(_normal(password)) < MIN_LENGTH:
        raise AccountError("password-short", n=MIN_LENGTH)
    return _hasher().hash(_normal(password))


def is_password(stored: str, password: str) -> bool:
    """Whether the password is the one of a hash; never if that is ""."""
    from argon2.exceptions import VerifyMismatchError

    decoy = _decoy()  # made in both cases, so that the first check takes no longer than others
    try:
        _hasher().verify(stored or decoy, _normal(password))
    except VerifyMismatchError:
        return False
    return bool(stored)


def _normal(password: str) -> str:
    # Keyboards differ in how they compose a letter.
    return unicodedata.normalize("NFKC", password)


@cache
def _hasher() -> "PasswordHasher":
    from argon2 import PasswordHasher  # only what signs people in needs it

    return PasswordHasher()


@cache
def _decoy() -> str:
    return _hasher().hash(made_password())
