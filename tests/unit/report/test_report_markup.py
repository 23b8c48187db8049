"""Nothing from a file or a model reaches the page as markup."""

import re
from pathlib import Path

import pytest
from jinja2 import UndefinedError
from ui_examples import HOSTILE

from evalui.report.markup import Templates, macro


@pytest.fixture
def templates(tmp_path: Path) -> Templates:
    (tmp_path / "text.html").write_text('<p title="{{ text }}">{{ text }}</p>\n', encoding="utf-8")
    return Templates(tmp_path)


def test_text_is_escaped_in_an_element_and_in_an_attribute(templates: Templates):
    made = templates.fill("text.html", text='" onmouseover="<b>')
    assert made == (
        '<p title="&#34; onmouseover=&#34;&lt;b&gt;">&#34; onmouseover=&#34;&lt;b&gt;</p>'
    )


def test_markup_of_templates_is_kept(templates: Templates):
    inner = templates.fill("text.html", text="a & b")
    assert inner in templates.fill("text.html", text=inner)


def test_a_value_that_is_not_given_is_an_error(templates: Templates):
    with pytest.raises(UndefinedError):
        templates.fill("text.html")


def test_a_folder_knows_the_templates_of_reports(templates: Templates):
    assert templates.macro("icons.html", "status", "ok", "x") == macro(
        "icons.html", "status", "ok", "x"
    )


@pytest.mark.parametrize(
    "made",
    [
        macro("icons.html", "status", "ok", HOSTILE),
        macro("icons.html", "model_name", HOSTILE, 0, False),
    ],
)
def test_what_a_macro_is_given_is_escaped(made: str):
    assert not re.search(r"<(img|script)", made)
    assert "&lt;img" in made
