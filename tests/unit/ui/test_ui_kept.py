"""What a page keeps in the browser comes back as it was."""

from typing import NamedTuple

from evalui.ui.kept import kept_text, read_kept


class Left(NamedTuple):
    problem: str = ""
    looked: float = 0.0


def test_what_is_kept_comes_back():
    left = Left('The "folder" 文件夹 is gone.', 12.5)
    assert read_kept(Left, kept_text(left)) == left


def test_a_page_that_has_kept_nothing_begins_anew():
    assert read_kept(Left, "") == Left()


def test_what_says_nothing_leaves_the_field_empty():
    assert kept_text(Left()) == ""
