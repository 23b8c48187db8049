"""Secrets that people carry in cookies, headers and links: 32 random bytes, stored as digests."""

import hashlib
import secrets

DAY_S = 24 * 3600.0
_BYTES = 32  # of randomness


def new_secret() -> str:
    """A secret that nobody can guess, as text for cookies, headers and addresses."""
    return secrets.token_urlsafe(_BYTES)


def digest_of(secret: str) -> str:
    """What the store keeps of a secret, and finds it by: its SHA-256 digest in hexadecimal."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
