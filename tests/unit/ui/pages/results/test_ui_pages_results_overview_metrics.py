"""A metric that another package registers, without another file, everywhere that figures stand."""

import csv
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path

import openpyxl
import pytest
from drawn_page import DrawnPage
from ui_choice_examples import new_desk, ran
from ui_examples import GOOD
from ui_open_examples import finish, open_desk, open_form

from evalui.app.open_run_view import OpenRunView, part_document
from evalui.app.run_view import RunView
from evalui.app.service import AppService
from evalui.messages import LANGUAGES, messages
from evalui.report.analyses.base import Report
from evalui.report.render.page import render_blocks
from evalui.report.write.files import write
from evalui.scoring.metrics import METRICS, Metric
from evalui.scoring.statistics.intervals import share_interval
from evalui.types import Interval, Language, Trial

LABELS: dict[Language, str] = {"en": "First slot chosen", "zh": "选中首位"}
DOCS: dict[Language, str] = {"en": "Trials that chose slot A.", "zh": "选择 A 位的次数比例。"}


def first_slot(trials: Sequence[Trial]) -> Interval | None:
    return share_interval(sum(trial.choice == 0 for trial in trials), len(trials))


def mean_length(trials: Sequence[Trial]) -> float:
    return sum(len(trial.reply or "") for trial in trials) / len(trials)


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(METRICS, "_entries", dict(METRICS._entries))
    METRICS.register("first_slot")(Metric("first_slot", first_slot, label=LABELS, docs=DOCS))
    METRICS.register("mean_length")(
        Metric("mean_length", mean_length, unit="number", answers="texts")
    )


def _report(desk: AppService, run_id: str) -> Report:
    return RunView(desk, messages("en"), run_id).report


def _csv(report: Report) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(write(report, "csv", "en").decode("utf-8-sig"))))


def _sheet(report: Report, name: str) -> list[tuple[object, ...]]:
    book = openpyxl.load_workbook(io.BytesIO(write(report, "xlsx", "en")))
    return [tuple(row) for row in book[name].values]


def test_a_registered_metric_of_choices_stands_on_the_page_and_in_every_file(tmp_path: Path):
    desk = new_desk(tmp_path)
    run_id = ran(desk, ("capitals.csv", GOOD), models=["always-A"])
    view = RunView(desk, messages("en"), run_id)
    report = view.report
    for language in LANGUAGES:
        page = DrawnPage("results", desk, {"run": run_id, "sort": "-first_slot"}, language).text
        assert re.search(f'aria-sort="descending"[^>]*><a [^>]*>{LABELS[language]}</a>', page)
        assert DOCS[language] in page
        for extension in ("html", "md"):
            text = write(report, extension, language).decode()
            assert LABELS[language] in text
            assert DOCS[language] in text
    (cell,) = json.loads(write(report, "json", "en"))["overview"]
    assert cell["first_slot"] == 100
    low, high = cell["first_slot_low"], cell["first_slot_high"]
    assert 0 < low < high == pytest.approx(100)
    (row,) = _csv(report)
    assert (float(row["first_slot"]), float(row["first_slot_low"])) == (100, pytest.approx(low))
    head, values = _sheet(report, "overview")
    assert values[head.index("first_slot")] == 100


def test_a_registered_metric_of_texts_stands_on_the_page_and_in_every_file(tmp_path: Path):
    desk = open_desk(tmp_path)
    run_id = finish(desk, open_form(desk, judging=[]))
    view = RunView(desk, messages("en"), run_id)
    report = view.report
    wanted = [summary.figures["mean_length"] for summary in report.answers]
    assert all(isinstance(value, float) and value > 0 for value in wanted)
    page = render_blocks(part_document(OpenRunView(desk, messages("zh"), run_id, "")))
    assert ">mean_length</th>" in page
    for extension in ("html", "md"):
        assert "mean" in write(report, extension, "zh").decode()
    answers = json.loads(write(report, "json", "en"))["answers"]
    assert [one["mean_length"] for one in answers] == wanted
    assert [float(row["mean_length"]) for row in _csv(report)] == pytest.approx(wanted)
    head, *rows = _sheet(report, "answers")
    assert [row[head.index("mean_length")] for row in rows] == pytest.approx(wanted)
