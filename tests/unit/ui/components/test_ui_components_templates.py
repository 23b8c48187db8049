import pytest
from jinja2 import UndefinedError

from evalui.report.html import Html
from evalui.ui.components.templates import fill


def test_foreign_texts_are_escaped_and_markup_of_ours_is_not():
    foreign, ours = "${1 < 2} {{ x }}", Html("<b>a &amp; b</b>")
    assert fill("cell.html", content=foreign) == '<div class="ev">${1 &lt; 2} {{ x }}</div>'
    assert fill("cell.html", content=ours) == '<div class="ev"><b>a &amp; b</b></div>'


def test_a_value_that_is_not_given_is_an_error():
    with pytest.raises(UndefinedError):
        fill("cell.html")
