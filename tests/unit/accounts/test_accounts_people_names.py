"""What people may be called."""

import pytest

from evalui.accounts.people import checked_name
from evalui.errors import AccountError


@pytest.mark.parametrize("name", ["a", "annotator-2", "ann@example.org", "0x", "a" * 64])
def test_a_name_is_taken_as_it_is(name: str):
    assert checked_name(name) == name


def test_a_name_is_stored_in_small_letters():
    assert checked_name(" Ann.Smith\n") == "ann.smith"


@pytest.mark.parametrize(
    "name", ["", " ", "-a", ".", "a b", "a/b", "a\\b", "安", "a" * 65, "local", "LOCAL", "ａ"]
)
def test_what_is_no_name_is_refused(name: str):
    with pytest.raises(AccountError, match="cannot be a name"):
        checked_name(name)
