"""Passwords are hashed at the least cost here; what they cost is tested beside them."""

import pytest
from argon2 import PasswordHasher

from evalui.accounts import passwords


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    decoy = hasher.hash("whatever")
    monkeypatch.setattr(passwords, "_hasher", lambda: hasher)
    monkeypatch.setattr(passwords, "_decoy", lambda: decoy)
