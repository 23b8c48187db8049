"""What tells one run from another in the lists."""

from types import SimpleNamespace
from typing import Any, cast

from evalui.app.run_labels import run_label
from evalui.messages import messages
from evalui.runs.spec import DatasetSpec, ModeSpec, RunSpec, write_spec


def test_columns_that_were_chosen_tell_a_run_from_others() -> None:
    dataset = DatasetSpec(path="a.csv", columns={"question": "prompt", "answer": "label"})
    spec = RunSpec(datasets=[dataset], models=["demo"], modes=[ModeSpec(mode="cloze")])
    row = cast(Any, SimpleNamespace(spec=write_spec(spec)))
    assert "columns: prompt, label" in run_label(messages("en"), row)
