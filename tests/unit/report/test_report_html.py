"""Nothing from a file or a model reaches the page as markup."""

import pytest
from ui_examples import HOSTILE

from evalui.report.html import Html, div, el, join


def test_text_is_escaped_in_an_element():
    made = div(HOSTILE)
    assert "<img" not in made
    assert "<script" not in made
    assert made.startswith("<div>&lt;img")


def test_text_is_escaped_in_an_attribute():
    made = el("p", title='" onmouseover="x')
    assert made == '<p title="&quot; onmouseover=&quot;x"></p>'


def test_markup_of_our_own_is_kept():
    assert div(el("b", "x")) == "<div><b>x</b></div>"


def test_a_text_that_was_joined_is_escaped_once():
    assert div(join("a & b", el("br"))) == "<div>a &amp; b<br></div>"


def test_the_separator_is_escaped():
    assert join("a", "b", separator=" < ") == "a &lt; b"


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (el("p", None, "", 0), "<p>0</p>"),
        (el("input", checked=True, disabled=False, value=None), "<input checked>"),
        (el("button", cls="btn", data_run="7"), '<button class="btn" data-run="7"></button>'),
        (el("label", for_="files"), '<label for="files"></label>'),
        (el("input", name="models"), '<input name="models">'),
    ],
)
def test_attributes_and_empty_children(made: Html, expected: str):
    assert made == expected
