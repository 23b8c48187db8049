"""Which page an address of a language alone leads to."""

from collections.abc import Callable

import pytest

from evalui.app.evaluations import start_run
from evalui.app.service import AppService
from evalui.ui.addresses import page_of
from evalui.ui.components.form import Form
from evalui.ui.pages.evaluate.spec import form_to_spec


@pytest.mark.parametrize(
    ("form", "page"),
    [
        ({"tab": "evaluate", "uploads": "abc"}, "evaluate"),
        ({"tab": "runs"}, "runs"),
        ({"tab": "results"}, "results"),
        ({"run": "gone"}, "results"),
        ({"run": "gone", "tab": "results", "sub": "samples"}, "results"),
        ({"run": "gone", "sub": "duels"}, "results"),
        ({"run": "gone", "tab": "runs"}, "runs"),
        ({"tab": "models", "add": "hub"}, "models"),
        ({"tab": "compare", "cells": "1,2"}, "compare"),
        ({"tab": "arena", "board_language": "zh"}, "arena"),
        ({"tab": "arena", "run": "gone", "arena": "1"}, "results"),
        ({"tab": "nonsense"}, "evaluate"),
        ({}, "evaluate"),
    ],
)
def test_an_address_leads_to_its_page(desk: AppService, form: Form, page: str):
    assert page_of(desk, form) == page


def test_a_run_that_goes_on_leads_to_its_progress_but_for_a_view_of_it(
    desk: AppService, form_for: Callable[..., Form]
):
    run_id = start_run(desk, form_to_spec(form_for()))
    assert page_of(desk, {"run": run_id}) == "runs"
    assert page_of(desk, {"run": run_id, "sub": "samples"}) == "results"


def test_a_finished_run_leads_to_its_results(desk: AppService, finished: Callable[..., str]):
    assert page_of(desk, {"run": finished()}) == "results"
