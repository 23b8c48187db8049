"""Passwords are hashed at the least cost here."""

import pytest


@pytest.fixture(autouse=True)
def cheap(request: pytest.FixtureRequest) -> None:
    request.getfixturevalue("cheap_passwords")
