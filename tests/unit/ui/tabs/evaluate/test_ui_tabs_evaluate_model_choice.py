"""Where the questions go is said before the start, and nothing is promised that is not so."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from ui_open_examples import MODELS, open_desk, open_form, subjective

from evalui.messages import messages
from evalui.models.catalog import ModelState
from evalui.ui.components.form import Form
from evalui.ui.services.service import AppService
from evalui.ui.tabs.evaluate import EvaluateTab

_CATALOG = (
    MODELS
    + """
[remote-chat]
backend = "openai"
path = "big"
options = { base_url = "https://api.example.org/v1" }

[near-chat]
backend = "openai"
path = "small"
options = { base_url = "http://127.0.0.1:9/v1" }
"""
)
_STAYS = {"en": "Your file stays on this server.", "zh": "文件只留在这台服务器上。"}


@pytest.fixture
def desk(tmp_path: Path) -> AppService:
    return open_desk(tmp_path, _CATALOG)


def _page(desk: AppService, form: Form, language: str = "en") -> str:
    return EvaluateTab(desk, messages(language)).render(form)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_is_answered_here_stays_here(desk: AppService, language: str):
    page = _page(desk, open_form(desk, models=["perfect", "near-chat"]), language)
    assert _STAYS[language] in page
    assert "· 127.0.0.1" not in page


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "remote-chat sends the questions to another server (api.example.org)."),
        ("zh", "remote-chat 会把题目发送到其他服务器（api.example.org）。"),
    ],
)
def test_an_endpoint_elsewhere_is_named_with_its_host(
    desk: AppService, language: str, sentence: str
):
    page = _page(desk, open_form(desk, models=["perfect", "remote-chat"]), language)
    start = page[page.rindex('class="card cost"') :]
    assert sentence in start.partition('data-do="start"')[0]  # above the button
    assert _STAYS[language] not in page


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        (
            "en",
            "remote-chat, the judge, sends questions and answers to another server "
            "(api.example.org).",
        ),
        ("zh", "评委 remote-chat 会把题目和回答发送到其他服务器（api.example.org）。"),
    ],
)
def test_a_judge_elsewhere_is_sent_the_answers_too(desk: AppService, language: str, sentence: str):
    form = open_form(desk, judges=["remote-chat"])
    assert sentence in _page(desk, form, language)
    off = form | {"judging": []}
    assert _STAYS[language] in _page(desk, off, language)


def test_a_model_at_choice_says_where_it_would_send_the_questions(
    desk: AppService, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(desk.models, "states", lambda: _reachable(desk))
    page = _page(desk, open_form(desk))
    row = page.partition('value="remote-chat"')[2].partition("</label>")[0]
    assert "endpoint" in row
    assert "api.example.org" in row
    assert _STAYS["en"] in page


@pytest.mark.parametrize(("address", "stays"), [("", True), ("ray://head.example.org:1", False)])
def test_a_cluster_with_an_address_may_have_machines_elsewhere(
    desk: AppService, address: str, *, stays: bool
):
    desk.settings = desk.settings.model_copy(update={"engine": "ray", "ray_address": address})
    page = _page(desk, open_form(desk))
    assert (_STAYS["en"] in page) == stays
    assert ("Ray cluster (head.example.org)" in page) != stays


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_empty_page_promises_nothing_that_a_choice_could_break(desk: AppService, language: str):
    page = _page(desk, {}, language)
    assert _STAYS[language] not in page
    assert ("unless you choose" if language == "en" else "除非选用") in page


def _reachable(desk: AppService) -> list[ModelState]:
    """The models as if every endpoint answered."""
    return [
        replace(state, problem="", abilities=frozenset({"generate"}))
        for state in AppService(desk.settings, desk.database).states()
    ]


_ELSEWHERE = """
[remote-chat]
backend = "openai"
path = "big"
options = { base_url = "https://api.example.org/v1" }
"""


def test_nothing_is_sent_elsewhere_unless_a_person_chooses_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    desk = open_desk(tmp_path, _ELSEWHERE)
    ready = _reachable(desk)
    monkeypatch.setattr(desk.models, "states", lambda: ready)
    upload = desk.store_upload([("talk.jsonl", subjective())])
    page = _page(desk, {"uploads": [upload]})
    assert _STAYS["en"] in page
    assert re.search(r'<input[^>]*value="remote-chat"[^>]* checked', page) is None
    assert re.search(r'<input[^>]*value="remote-chat"[^>]*>', page)
    assert "Choose a model." in page
