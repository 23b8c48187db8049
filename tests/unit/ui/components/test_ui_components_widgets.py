"""The parts that several pages are made of, whatever a file or a model says."""

import re

import pytest
from ui_examples import HOSTILE

from evalui.messages import messages
from evalui.ui.components.templates import fill, macro

T = messages("en")
GIVEN = {
    "heading": (HOSTILE,),
    "page_head": (HOSTILE, HOSTILE, HOSTILE),
    "note": (HOSTILE, HOSTILE),
    "alert": (HOSTILE, HOSTILE),
    "remark": (HOSTILE, HOSTILE),
    "bar": (0.5, HOSTILE),
    "button": (HOSTILE, HOSTILE, HOSTILE),
    "link_button": (HOSTILE, HOSTILE),
    "copy_button": (T, HOSTILE, HOSTILE),
    "link": (HOSTILE, HOSTILE, HOSTILE),
    "select": (HOSTILE, {HOSTILE: HOSTILE}),
    "definitions": ([(HOSTILE, HOSTILE)],),
}


@pytest.mark.parametrize("name", GIVEN)
def test_foreign_text_is_escaped(name: str):
    made = macro("widgets.html", name, *GIVEN[name])
    assert "&lt;img" in made
    assert not re.search(r"<(img|script)|[\"'] on", made)


def test_what_else_a_button_is_given_are_its_data():
    made = macro("widgets.html", "button", "Remove", "remove", model='a" b')
    assert made == (
        '<button type="button" class="btn" data-do="remove" data-model="a&#34; b">Remove</button>'
    )


@pytest.mark.parametrize(("share", "width"), [(-1, "0.0"), (0.256, "25.6"), (2, "100.0")])
def test_a_bar_is_filled_to_its_share(share: float, width: str):
    assert f'style="width:{width}%"' in macro("widgets.html", "bar", share)


def test_a_file_with_a_hostile_name_is_named_and_no_more():
    made = fill("evaluate/unread.html", t=T, file=HOSTILE, upload=HOSTILE)
    assert "&lt;img" in made
    assert "<img" not in made
