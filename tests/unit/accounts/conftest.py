"""A store without people, and how fast passwords are hashed in tests."""

import pytest


@pytest.fixture(autouse=True)
def cheap(request: pytest.FixtureRequest) -> None:
    request.getfixturevalue("cheap_passwords")
