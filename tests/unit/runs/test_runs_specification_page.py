"""docs/specification.md names every field, and its example is one."""

import re
from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel
from settings_examples import table_of

from evalui.generation import SETTINGS
from evalui.runs.contest import AnswersSpec, JudgingSpec, OutputChoice
from evalui.runs.spec import DatasetSpec, RunSpec, read_spec

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "specification.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("model", [RunSpec, DatasetSpec, AnswersSpec])
def test_every_field_is_documented(model: type[BaseModel]) -> None:
    assert [name for name in model.model_fields if f"`{name}`" not in PAGE] == []


def test_every_setting_of_judging_is_documented() -> None:
    page = (DOCS / "judging.md").read_text(encoding="utf-8")
    assert [name for name in JudgingSpec.model_fields if f"`{name}`" not in page] == []
    assert [name for name in get_args(OutputChoice) if f"`{name}`" not in page] == []


def test_the_example_can_be_read() -> None:
    (example,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    spec = read_spec(example)
    assert (spec.version, spec.counts_per) == (3, "subject")
    assert [source.key for source in spec.datasets] == ["law_val.csv", "swift/custom_config.json"]


def test_the_settings_of_writing_are_documented_as_they_are_declared() -> None:
    assert table_of(SETTINGS.values()) in PAGE
