"""What tells one run from another in the lists."""

from types import SimpleNamespace
from typing import Any, cast

from evalui.app.run_labels import mode_label, run_label
from evalui.messages import messages
from evalui.runs.spec import DatasetSpec, ModeSpec, RunSpec, write_spec
from evalui.types import Cell


def test_columns_that_were_chosen_tell_a_run_from_others() -> None:
    dataset = DatasetSpec(path="a.csv", columns={"question": "prompt", "answer": "label"})
    spec = RunSpec(datasets=[dataset], models=["demo"], modes=[ModeSpec(mode="cloze")])
    row = cast(Any, SimpleNamespace(spec=write_spec(spec)))
    assert "columns: prompt, label" in run_label(messages("en"), row)


def test_the_keys_of_decisions_are_a_phrase_of_their_own() -> None:
    modes = [ModeSpec.model_validate({"mode": "multiple_choice", "labels": "dealt"})]
    spec = RunSpec(datasets=[DatasetSpec(path="a.csv")], models=["demo"], modes=modes)
    row = cast(Any, SimpleNamespace(spec=write_spec(spec)))
    told = "Keys of a decision: letters, dealt anew in each order"
    assert run_label(messages("en"), row).endswith(told)


def test_a_cell_of_decisions_is_called_one() -> None:
    mode = ModeSpec(mode="multiple_choice", pattern="circular")
    for signature, word in (("d@1|spell:decision", "decisions"), ("d@1|spell:common", "letters")):
        cell = Cell("d", "m", mode.mode, mode.mode, "circular", signature)
        row = cast(Any, SimpleNamespace(cell=cell, plan=mode.model_dump_json()))
        assert mode_label(messages("en"), row) == f"{word}, circular"
