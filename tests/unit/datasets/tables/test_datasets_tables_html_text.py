"""HTML of questions as a person reads it."""

import pytest

from evalui.datasets.tables.html_text import html_text


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("plain text, 1 < 2 and 3 > 2", "plain text, 1 < 2 and 3 > 2"),
        ("<p>one</p><p>two<br>three</p>", "one\ntwo\nthree"),
        ("a&nbsp;b &amp; &lt;c&gt;", "a b & <c>"),
        (
            "x<sup>2</sup> + H<sub>2</sub>O + e<sup>-x</sup> + a<sub>ij</sub> + b<sup>k</sup>",
            "x² + H₂O + e^(-x) + a_(ij) + b^k",
        ),
        ("<style>p {color: red}</style>text<script>alert(1)</script>", "text"),
        ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc"),
        ("<b>broken <i>markup", "broken markup"),
    ],
)
def test_markup_becomes_the_text_it_shows(markup: str, text: str):
    assert html_text(markup) == (text, False)


@pytest.mark.parametrize(
    "markup", ["see <img src='x.png'>", "<svg></svg>", "<video src=x></video>"]
)
def test_a_picture_is_seen(markup: str):
    assert html_text(markup).has_picture
