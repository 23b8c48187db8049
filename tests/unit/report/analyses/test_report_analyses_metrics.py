"""Every figure of a run in a table."""

from dataclasses import replace

import pytest
from bias_examples import cell_result, right

from evalui.report.compile import compile_report, markdown
from evalui.scoring.metrics import METRICS, Metric


@pytest.mark.parametrize(
    ("needs", "metadata", "reason"),
    [
        ("subjects", (), "not every question has a subject"),
        ("probabilities", (), "the model gave no probabilities"),
        ("repeats", (), "each question was asked once, or not often enough"),
        ("", ("level",), "not every question has level"),
    ],
)
def test_a_metric_that_lacks_what_it_needs_is_hidden_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, needs: str, metadata: tuple[str, ...], reason: str
):
    metric = Metric("mine", lambda _: 0.5, needs=needs, metadata=metadata, label={"en": "My share"})  # pyright: ignore[reportArgumentType]
    monkeypatch.setitem(METRICS._entries, "mine", metric)  # pyright: ignore[reportPrivateUsage]
    result = cell_result(right, model="m", n=4)
    bare = {name: replace(one, metadata={}) for name, one in result.samples.items()}
    text = markdown(compile_report("", [replace(result, samples=bare)]), "en")
    assert f"- My share is not shown: {reason}." in text
    assert "| My share" not in text


def test_a_metric_that_has_what_it_needs_is_shown(monkeypatch: pytest.MonkeyPatch):
    metric = Metric("mine", lambda _: 0.5, needs="questions", label={"en": "My share"})
    monkeypatch.setitem(METRICS._entries, "mine", metric)  # pyright: ignore[reportPrivateUsage]
    text = markdown(compile_report("", [cell_result(right, model="m", n=4)]), "en")
    assert "| My share" in text
    assert "is not shown" not in text
