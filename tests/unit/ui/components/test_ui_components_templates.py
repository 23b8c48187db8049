import pytest
from jinja2 import UndefinedError

from evalui.report.html import Html
from evalui.ui.components.templates import fill


def test_foreign_texts_are_escaped_and_markup_of_ours_is_not():
    filled = fill("bullets.html", texts=["${1 < 2} {{ x }}", Html("<b>a &amp; b</b>")])
    assert filled == "<ul><li>${1 &lt; 2} {{ x }}</li><li><b>a &amp; b</b></li></ul>"


def test_a_value_that_is_not_given_is_an_error():
    with pytest.raises(UndefinedError):
        fill("bullets.html")
