"""docs/specification.md names every field, and its example is one."""

import re
from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel

from evalui.generation import SETTINGS, DeclaredSetting, GenerationSettings
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


def values_of(declared: DeclaredSetting) -> str:
    """What a setting may be, as the JSON schema says it."""
    if declared.kind == "choice":
        return ", ".join(f"`{each}`" for each in declared.choices if each)
    if declared.kind == "lines":
        return "a list of texts"
    if declared.kind == "text":
        return "a text"
    schema = GenerationSettings.model_json_schema()["properties"][declared.name]
    limits = next((each for each in schema.get("anyOf", ()) if each["type"] != "null"), schema)
    low = limits.get("minimum", limits.get("exclusiveMinimum"))
    above = "above " if "exclusiveMinimum" in limits else ""
    return f"{above}{low:g} to {limits['maximum']:g}"


def test_the_settings_of_writing_are_documented_as_they_are_declared() -> None:
    rows = [
        f"| `{name}` | `--{name.replace('_', '-')}` | {declared.help} | {values_of(declared)} |"
        for name, declared in SETTINGS.items()
    ]
    table = "\n".join(["| field | option | meaning | values |", "|---|---|---|---|", *rows])
    assert table in PAGE
