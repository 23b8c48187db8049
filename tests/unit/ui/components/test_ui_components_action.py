"""What is read of the event of a button."""

from evalui.ui.components.action import Action


def test_an_action_has_what_its_element_says():
    action = Action.read({"do": "stop", "run": "k3f"})
    assert (action.do, action.value("run"), action.value("none")) == ("stop", "k3f", "")


def test_what_is_no_text_is_left_out():
    action = Action.read({"do": 7, "run": {"$": 1}, "n": ["a"], "key": "x"})
    assert (action.do, dict(action.data)) == ("", {"key": "x"})
    assert Action.read(None) == Action("", {})
