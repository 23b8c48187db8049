"""What a page keeps in the browser comes back as it was."""

from typing import NamedTuple

import pytest

from evalui.ui.components.form import ClientStateError, dump_client_state, load_client_state


class Left(NamedTuple):
    problem: str = ""
    looked: float = 0.0


def test_what_is_kept_comes_back():
    left = Left('The "folder" 文件夹 is gone.', 12.5)
    assert load_client_state(Left, dump_client_state(left)) == left


def test_a_page_that_has_kept_nothing_begins_anew():
    assert load_client_state(Left, "") == Left()


def test_what_says_nothing_leaves_the_field_empty():
    assert dump_client_state(Left()) == ""


@pytest.mark.parametrize(
    "text",
    ["{", "null", "7", '"x"', "[1]", '["x", "later"]', '["x", null]', '["x", 1, 2]', "[" * 9999],
)
def test_whatever_else_comes_back_is_refused_in_words(text: str):
    with pytest.raises(ClientStateError, match="Load the page again"):
        load_client_state(Left, text)
