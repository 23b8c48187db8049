"""What a browser sends is read as a form."""

import pytest

from evalui.ui.components.form import field_value, field_values, parse_whole_number, read_form


def test_a_parameter_that_stands_twice_has_both_values():
    form = read_form([("tab", "compare"), ("cells", "1"), ("cells", "2")])
    assert form == {"tab": "compare", "cells": ["1", "2"]}
    assert field_values(form, "cells") == ("1", "2")
    assert field_value(form, "cells") == ""


def test_a_single_field_serves_as_a_list():
    assert field_values({"models": "a"}, "models") == ("a",)
    assert field_values({}, "models") == ()


@pytest.mark.parametrize(
    ("text", "number"), [("12", 12), ("", None), ("-1", None), ("1e3", None), ("1" * 10, None)]
)
def test_only_digits_are_a_number(text: str, number: int | None):
    assert parse_whole_number(text) == number
