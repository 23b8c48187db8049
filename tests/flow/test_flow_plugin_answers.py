"""A mode of another package that gives written answers with scores of its own, end to end."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest

_MODE = '''
"""Answers in one line; the score is the share of the limit that stays unused."""

from evalui.types import Generate, Reading, Trial


class OneLine:
    label = {"en": "One line", "zh": "一行"}
    abilities_needed = "generate"
    gives = "answers"
    kinds = ("general_qa", "subjective")
    shows_options = False
    readings = ("answer",)
    headline = "answer"

    def plan(self, sample, variant, setting):
        return (Generate("Answer in one line: " + sample.question, max_tokens=setting.max_tokens),)

    def grade(self, sample, variant, responses, setting):
        (response,) = responses
        text = response.text
        return Trial(
            sample_id=sample.id,
            variant=variant,
            target=0,
            headline="answer",
            readings={"answer": Reading(0 if text else None, float(bool(text)), "answered")},
            reply=text,
            scores={"brevity": (1 / (1 + len(text)),), "odd": (float("nan"),)},
        )


ONE_LINE = OneLine()
'''

_LINES = [
    {"query": "What is the capital of France?", "response": "Paris"},
    {"query": "What is two and two?", "response": "four"},
    {"query": "Who wrote Hamlet?", "response": "William Shakespeare"},
]
_MODELS = """
[verbose]
backend = "scripted"
options = { rule = "verbose" }

[short]
backend = "scripted"
options = { rule = "perfect" }

[reference-judge]
backend = "scripted"
options = { rule = "reference-judge", role = "judge" }
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the report of a run in the mode, judged by the shipped judge."""
    folder = tmp_path_factory.mktemp("desk")
    site = folder / "site"
    about = site / "evalui_one_line-1.2.dist-info"
    about.mkdir(parents=True)
    (site / "evalui_one_line.py").write_text(_MODE, encoding="utf-8")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: evalui-one-line\nVersion: 1.2\n")
    (about / "entry_points.txt").write_text("[evalui.modes]\none_line = evalui_one_line:ONE_LINE\n")
    (folder / "models.toml").write_text(_MODELS, encoding="utf-8")
    lines = "".join(json.dumps(line) + "\n" for line in _LINES)
    (folder / "questions.jsonl").write_text(lines, encoding="utf-8")
    spec = {
        "version": 3,
        "datasets": ["questions.jsonl"],
        "models": ["verbose", "short"],
        "mode": "one_line",
        "judging": {"judges": ["reference-judge"]},
    }
    (folder / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    options = ("--out", "report", "--models-file", "models.toml")
    done = subprocess.run(
        [sys.executable, "-m", "evalui.cli", "run", "spec.json", *options],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path, "EVALUI_DATA_DIR": str(folder / "data")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder / "report"


def test_its_cells_are_written_answers_with_the_scores_of_the_mode(report: Path):
    whole = _read(report / "report.json")
    assert "overview" not in whole
    assert [each["model"] for each in whole["answers"]] == ["verbose", "short"]
    for each in whole["answers"]:
        assert each["n"] == 3
        assert 0 < each["brevity"] < 100
        low, high = each["brevity_low"], each["brevity_high"]
        assert low < high
        assert each.get("odd") is None
        assert "|plugins:evalui-one-line 1.2|" in each["signature"]
        assert "|max:512|" in each["signature"]
    assert [row["judges"] for row in whole["reliability"]] == ["reference-judge"]


def test_its_report_speaks_of_answers_and_of_no_guessing(report: Path):
    text = (report / "report.md").read_text(encoding="utf-8")
    assert "brevity" in text
    assert "mode:one_line" in text
    for word in ("guessing", "under chance", "inf ", "inf%", "nan"):
        assert word not in text


def test_no_file_of_its_report_holds_a_number_that_is_none(report: Path):
    for line in (report / "trials.jsonl").read_text(encoding="utf-8").splitlines():
        assert json.loads(line, parse_constant=_refuse)["figures"]["odd"] is None
    for file in report.rglob("*.csv"):
        cells = file.read_text(encoding="utf-8-sig").replace("\n", ",").split(",")
        assert not {"inf", "-inf", "nan"}.intersection(cells), file


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse)


def _refuse(constant: str) -> NoReturn:
    assert math.isfinite(float(constant.replace("Infinity", "inf"))), constant
    raise AssertionError(constant)
