"""How many modules one question and one verdict pass on their way to a chart."""

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import pandas as pd
from open_examples import judge_result

import evalui
from evalui.datasets import load
from evalui.messages import messages
from evalui.models import ModelEntry, NeedsAnswerKey, open_model
from evalui.modes import MODES, ModeSettings
from evalui.report.analyses.arena import standings_card
from evalui.report.analyses.base import OpenContext
from evalui.report.figures.bias import consistency
from evalui.report.frames import choices
from evalui.scoring.arena.figures import arena
from evalui.scoring.bias import CellBias, measure_bias
from evalui.scoring.choice.options import variants
from evalui.types import Cell

ROOT = Path(evalui.__file__).parent
# The nouns, the registry and the catalogue of sentences, which any stage may name.
COMMON = {"types.py", "registry.py", "messages/__init__.py"}
CSV = "id,question,A,B,C,D,answer\n0,Which number is even?,1,2,3,5,B\n"


@dataclass(frozen=True)
class _Measured:
    """As much of a summary as the grid needs."""

    bias: CellBias
    cell: Cell


class Trace:
    """The modules of evalui whose functions ran, by stage."""

    def __init__(self) -> None:
        self.stages: dict[str, set[str]] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        entered = self.stages.setdefault(name, set())

        def record(frame: FrameType, event: str, _: object) -> None:
            path = Path(frame.f_code.co_filename)
            if event == "call" and ROOT in path.parents and frame.f_code.co_name != "<module>":
                entered.add(str(path.relative_to(ROOT)))

        sys.setprofile(record)
        try:
            yield
        finally:
            sys.setprofile(None)

    @property
    def modules(self) -> set[str]:
        return set().union(*self.stages.values()) - COMMON

    def entered_more_than(self, times: int) -> set[str]:
        counted = Counter(module for entered in self.stages.values() for module in entered)
        return {module for module, stages in counted.items() if stages > times}


def from_file_to_heat_map(path: Path) -> Trace:
    trace = Trace()
    with trace.stage("file -> Sample"):
        (sample,) = load([path]).dataset.samples
    mode, settings = MODES["multiple_choice"], ModeSettings(shots={})
    trials = []
    for variant in variants(len(sample.choices), "circular"):
        with trace.stage("Sample -> Request"):
            requests = mode.plan(sample, variant, settings)
        with trace.stage("Request -> Response"):
            model = open_model(ModelEntry("first", "scripted", options={"rule": "always-A"}))
            assert isinstance(model, NeedsAnswerKey)
            model.set_answer_key([sample])
            responses = dict(model.answer(requests))
        with trace.stage("Response -> Trial"):
            answers = [responses[place] for place in range(len(requests))]
            trials.append(mode.grade(sample, variant, answers, settings))
    with trace.stage("Trial -> metrics"):
        bias = measure_bias(trials, "circular")
    cell = Cell("law", "first", "generation", "generation", "circular", "")
    with trace.stage("metrics -> picture"):
        rows = pd.DataFrame(choices.consistency([_Measured(bias, cell)]))  # pyright: ignore[reportArgumentType]
        consistency(rows, messages("en"))
    return trace


def from_verdicts_to_standings() -> Trace:
    trace = Trace()
    result = judge_result(decide=lambda *_: "a")
    with trace.stage("Verdict -> ratings"):
        judged = arena(result)
    with trace.stage("ratings -> table"):
        standings_card(judged, OpenContext("en"))
    return trace


def test_a_sample_passes_few_modules_on_its_way_to_the_heat_map(tmp_path: Path):
    path = tmp_path / "law_val.csv"
    path.write_text(CSV, encoding="utf-8")
    from_file_to_heat_map(path)  # what is read once is read
    trace = from_file_to_heat_map(path)
    assert len(trace.modules) <= 54, sorted(trace.modules)
    assert trace.entered_more_than(3) <= COMMON


def test_a_verdict_passes_few_modules_on_its_way_to_the_standings():
    from_verdicts_to_standings()
    trace = from_verdicts_to_standings()
    assert len(trace.modules) <= 20, sorted(trace.modules)
