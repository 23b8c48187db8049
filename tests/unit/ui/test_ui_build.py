"""The components of the app are described once, and for no event anew."""

from copy import copy

import gradio as gr
import pytest
from gradio.blocks import Block, BlocksConfig
from ui_examples import served

from evalui.app.service import AppService
from evalui.messages import messages
from evalui.ui.build import build
from evalui.ui.pages.context import PageContext


@pytest.fixture
def app(desk: AppService) -> gr.Blocks:
    return served(lambda: build(PageContext(desk, messages("en"))))


def test_a_described_component_is_what_gradio_says_of_it(app: gr.Blocks):
    assert len(app.blocks) > 50
    of_event = copy(app.default_config)
    for key, block in app.blocks.items():
        described = BlocksConfig.config_for_block(key, [], block)
        assert of_event.config_for_block(key, [], block) == described


def test_nothing_of_an_event_is_there_in_the_next(app: gr.Blocks):
    key, block = next(iter(app.blocks.items()))
    first, second = copy(app.default_config), copy(app.default_config)
    first.config_for_block(key, [], block)["props"]["value"] = "of somebody"
    first.blocks[-1] = block
    assert second.config_for_block(key, [], block)["props"].get("value") != "of somebody"
    assert -1 not in second.blocks
    assert -1 not in app.blocks


def test_no_component_is_described_for_an_event(app: gr.Blocks, monkeypatch: pytest.MonkeyPatch):
    def describe(_: Block) -> None:
        raise AssertionError("it was described when the app was built")

    monkeypatch.setattr(gr.HTML, "get_config", describe)
    for key, block in app.blocks.items():
        assert copy(app.default_config).config_for_block(key, [], block)["id"] == key
