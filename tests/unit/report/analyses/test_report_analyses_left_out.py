"""Whatever a run leaves out is listed in its report, in both languages."""

import json
import tomllib
from pathlib import Path

import pytest

from evalui.report.analyses import left_out
from evalui.report.analyses.base import Report
from evalui.report.analyses.left_out import left_out_sentences
from evalui.report.compile import compile_report, markdown
from evalui.report.write.files import write
from evalui.types import LeftOut

_SENTENCES = Path(left_out.__file__).with_suffix(".toml")
RULES = tomllib.loads(_SENTENCES.read_text(encoding="utf-8"))["en"]["left-out"].keys() - {"title"}
FOUND = (
    LeftOut("rows", "law", rows=1200),
    LeftOut("choice-modes", "qa", mode="cloze, generation"),
    LeftOut("model", "law", "gone", "cloze", "there is no such folder."),
    LeftOut("folder-missing", "law", "logic"),
    LeftOut("folder-missing", "arts", "logic"),
)
ENGLISH = (
    "Faulty rows left out of law: 1,200.",
    "Not used for qa, which has no options to choose from: cloze, reply.",
    "gone on law, cloze: there is no such folder.",
    "logic was left out, because its folder is not among the files.",
)


@pytest.fixture
def report(make_result) -> Report:
    return compile_report("Run", [make_result({"q0": "right"})], left_out=FOUND)


def test_each_thing_is_one_sentence_and_none_is_said_twice():
    assert left_out_sentences(FOUND, "en") == ENGLISH


def test_both_languages_name_the_same_things():
    for rule in (key for key in RULES if not key.endswith(".one")):
        one = LeftOut(rule, "DATASET", "WHAT", "MODE", "WHY", 7)
        (english,), (chinese,) = (left_out_sentences([one], lang) for lang in ("en", "zh"))
        for word in ("DATASET", "WHAT", "MODE", "WHY", "7"):
            assert (word in english) == (word in chinese), rule


def test_the_report_and_its_page_list_them(report: Report):
    told = markdown(report, "en")
    assert "## What to know (" in told
    assert [line for line in ENGLISH if line not in told] == []
    page = write(report, "html", "zh").decode()
    assert "law：略去 1,200 行有错误的数据。" in page


def test_figures_for_programs_hold_them_too(report: Report):
    listed = json.loads(write(report, "json", "en"))["left_out"]
    assert listed[0] == {
        "rule": "rows",
        "dataset": "law",
        "what": "",
        "mode": "",
        "why": "",
        "rows": 1200,
    }


def test_a_report_of_a_run_that_leaves_nothing_out_is_silent(make_result):
    report = compile_report("Run", [make_result({"q0": "right"})])
    assert "The run" not in markdown(report, "en")
    assert "left_out" not in json.loads(write(report, "json", "en"))
