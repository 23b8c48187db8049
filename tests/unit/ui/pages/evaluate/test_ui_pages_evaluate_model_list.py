"""Where the questions go is said before the start, and nothing is promised that is not so."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ui_evaluate_screen import Screen
from ui_open_examples import MODELS, open_desk, open_form, subjective

from evalui.app.datasets import store_upload
from evalui.app.service import AppService
from evalui.messages import messages
from evalui.models.base import ModelEntry
from evalui.models.catalog import ModelState, ModelStatus, without_answer
from evalui.models.memory_estimate import Footprint
from evalui.shipped_files import ASSETS
from evalui.ui.components.form import Form
from evalui.ui.pages.evaluate.model_list import OfferedModel, model_list

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
    return Screen(desk, language).render(form)


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
    assert sentence in page.partition('data-do="start"')[0]  # above the button
    assert _STAYS[language] not in page


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        (
            "en",
            "remote-chat, the judge, sends questions and answers to another server "
            "(api.example.org).",
        ),
        ("zh", "裁判 remote-chat 会把题目和回答发送到其他服务器（api.example.org）。"),
    ],
)
def test_a_judge_elsewhere_is_sent_the_answers_too(desk: AppService, language: str, sentence: str):
    form = open_form(desk, judging__judges=["remote-chat"])
    assert sentence in _page(desk, form, language)
    off = form | {"judging": []}
    assert _STAYS[language] in _page(desk, off, language)


def test_a_model_at_choice_says_where_it_would_send_the_questions(
    desk: AppService, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(desk.models, "states", lambda: _reachable(desk))
    page = _page(desk, open_form(desk))
    row = page.partition('value="remote-chat"')[2].partition("</label>")[0]
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
        for state in AppService(desk.settings, desk.database).models.states()
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
    upload = store_upload(desk, [("talk.jsonl", subjective())])
    page = _page(desk, {"uploads": [upload]})
    assert _STAYS["en"] in page
    assert re.search(r'<input[^>]*value="remote-chat"[^>]* checked', page) is None
    assert re.search(r'<input[^>]*value="remote-chat"[^>]*>', page)
    assert "Choose a model." in page


def _state(name: str, **fields: Any) -> ModelState:
    entry = ModelEntry(name, fields.pop("backend", "scripted"), **fields)
    return ModelState(entry, frozenset({"generate"}), "")


def _card(states: Sequence[ModelState], form: Form) -> str:
    offers = [OfferedModel(state) for state in states]
    return model_list(messages("en"), offers, form)


def test_the_base_is_one_click_away_when_its_tuned_model_is_chosen():
    known = [
        _state("base", path="/m", options={"rule": "noisy"}),
        _state("tuned", path="/m", adapter="/a"),
    ]
    assert "and its base" not in _card(known, {"models": ["base"]})
    assert 'value="base" aria-label="and its base, base"' in _card(known, {"models": ["tuned"]})
    both = _card(known, {"models": ["tuned", "base"]})
    assert "compared with its base, base" in both
    assert 'aria-label="and its base' not in both


def test_models_stand_in_groups_and_what_only_demonstrates_is_folded():
    known = [
        _state("rule", baseline=True),
        _state("far", backend="openai"),
        _state("own", backend="transformers", path="/m"),
        _state("demo", backend="transformers", path=str(ASSETS / "models" / "demo-late")),
    ]
    page = _card(known, {})
    order = ["On this server", "own", "Endpoints", "far", "Demo and baselines", "rule", "demo"]
    places = [page.index(f">{name}<") for name in order]
    assert places == sorted(places)
    assert "1 small demo model, 1 scripted baseline" in page
    assert " open>" not in page
    assert " open>" in _card(known, {"models": ["demo"]})
    assert "There are no models of your own" not in page
    bare = _card([known[0], known[3]], {})
    assert " open>" in bare  # there is nothing else to choose
    assert 'There are no models of your own yet. <a href="models">Add a model</a>' in bare


def test_who_may_not_add_a_model_is_not_led_to_where_they_are_added():
    offers = [OfferedModel(_state("rule", baseline=True))]
    card = model_list(messages("en"), offers, {}, may_add=False)
    assert "An operator can add others." in card
    assert "?tab=models" not in card


def test_many_models_can_be_searched():
    known = [_state(f"own-{n}", backend="transformers", path="/m") for n in range(7)]
    assert 'type="search"' not in _card(known, {})
    page = _card([*known, _state("RULE", baseline=True)], {})
    assert 'type="search"' in page
    assert re.findall(r'data-row="([^"]*)"', page)[-1] == "rule"


def test_an_endpoint_that_does_not_answer_is_out_of_reach():
    away = without_answer(ModelStatus(_state("far", backend="openai")), "no answer").state
    assert away
    page = _card([away], {})
    assert '<span class="meta">Out of reach</span>' in page
    assert "cannot run here" not in page


def test_a_model_too_large_for_its_device_stays_with_the_reason():
    state = _state("large", backend="transformers", path="/m", parameters=32 * 10**9)
    needs = Footprint("bfloat16", 64 * 10**9, 2 * 10**9, 4096, 4096)
    page = model_list(messages("en"), [OfferedModel(state, needs, 40 * 10**9, 48 * 10**9)], {})
    assert "32 B · needs 66.0 GB, 40.0 GB free" in page
    assert "cannot run here" in page
    assert "disabled" in page
    tight = model_list(messages("en"), [OfferedModel(state, needs, 40 * 10**9, 80 * 10**9)], {})
    assert "needs 66.0 GB, 40.0 GB free" in tight  # other runs may end before this one begins
    assert "disabled" not in tight


def test_only_models_of_ones_own_are_chosen_for_real_questions(tmp_path: Path):
    desk = open_desk(tmp_path, (ASSETS / "models.toml").read_text(encoding="utf-8"))
    upload = store_upload(desk, [("talk.jsonl", subjective())])
    page = _page(desk, {"uploads": [upload]})
    assert re.search(r'name="models"[^>]* checked', page) is None
    assert "Choose a model." in page
