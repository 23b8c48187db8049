"""What a browser sends is read with suspicion."""

from evalui.ui.components.fragment import Action


def test_button_and_fields_are_read():
    act = Action.read({"do": "stop", "run": "k3f", "form": {"limit": "5", "models": ["a"]}})
    assert (act.do, act.value("run"), act.value("limit")) == ("stop", "k3f", "5")
    assert act.form["models"] == ["a"]


def test_what_is_no_text_is_left_out():
    act = Action.read({"do": "x", "run": {"$": 1}, "form": {"a": 3, "b": ["ok", 4, None]}})
    assert act.value("run") == ""
    assert act.form == {"b": ["ok"]}


def test_an_event_without_a_form_is_harmless():
    assert Action.read({"do": "x", "form": "none"}).form == {}
