"""What a browser sends is read with suspicion."""

import gradio as gr

from evalui.ui.components.fragment import read_act


def test_button_and_fields_are_read():
    event = gr.EventData(
        None, {"do": "stop", "run": "k3f", "form": {"limit": "5", "models": ["a"]}}
    )
    act = read_act(event)
    assert (act.do, act.one("run"), act.one("limit")) == ("stop", "k3f", "5")
    assert act.form["models"] == ["a"]


def test_what_is_no_text_is_left_out():
    event = gr.EventData(None, {"do": "x", "run": {"$": 1}, "form": {"a": 3, "b": ["ok", 4, None]}})
    act = read_act(event)
    assert act.one("run") == ""
    assert act.form == {"b": ["ok"]}


def test_an_event_without_a_form_is_harmless():
    assert read_act(gr.EventData(None, {"do": "x", "form": "none"})).form == {}
