"""What a browser sends is read with suspicion."""

import gradio as gr

from evalui.ui.components.fragment import read_action


def test_button_and_fields_are_read():
    event = gr.EventData(
        None, {"do": "stop", "run": "k3f", "form": {"limit": "5", "models": ["a"]}}
    )
    act = read_action(event)
    assert (act.do, act.value("run"), act.value("limit")) == ("stop", "k3f", "5")
    assert act.form["models"] == ["a"]


def test_what_is_no_text_is_left_out():
    event = gr.EventData(None, {"do": "x", "run": {"$": 1}, "form": {"a": 3, "b": ["ok", 4, None]}})
    act = read_action(event)
    assert act.value("run") == ""
    assert act.form == {"b": ["ok"]}


def test_an_event_without_a_form_is_harmless():
    assert read_action(gr.EventData(None, {"do": "x", "form": "none"})).form == {}
