"""Secrets differ, are long, and stand in the store as digests."""

import re

from evalui.accounts.secrets import digest_of, new_secret


def test_a_secret_is_32_bytes_in_characters_of_an_address():
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", new_secret())
    assert len({new_secret() for _ in range(100)}) == 100


def test_the_digest_is_that_of_sha_256():
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert digest_of("") == empty
    assert digest_of("\ud800") != empty  # half a character, as a header may have one
