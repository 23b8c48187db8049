import csv
import io
import json
import zipfile

import openpyxl
import pytest

from evalui.errors import UnknownName
from evalui.report.document import Report, compile_report
from evalui.report.export import FORMATS, trial_lines, write

SPEC = (
    '{"datasets": [{"path": "/home/secret/a_val.csv"}, '
    '{"path": ["/secret/b_dev.csv", "/secret/b_val.csv"]}], "models": ["m"]}'
)


@pytest.fixture
def report(make_result) -> Report:
    first = make_result({"q0": "right", "q1": [0, None, 0, 0]}, model="=cmd()")
    second = make_result({"q0": [0]}, pattern="origin", model="n")
    return compile_report("Run", [first, second], spec=SPEC)


def _zip(report: Report) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(write(report, "zip", "en")))


@pytest.mark.parametrize("extension", FORMATS)
def test_every_file_carries_every_signature(report: Report, extension: str):
    data = write(report, extension, "en")
    texts = (
        [_zip(report).read("signatures.txt").decode()]
        if extension == "zip"
        else [str(openpyxl.load_workbook(io.BytesIO(data))["overview"]["A1"].value)]
        if extension == "xlsx"
        else [data.decode()]
    )
    for signature in report.signatures:
        assert any(signature in text for text in texts)


def test_every_table_of_the_archive_carries_its_signature(report: Report):
    archive = _zip(report)
    for name in archive.namelist():
        if name.endswith(".csv"):
            rows = csv.DictReader(io.StringIO(archive.read(name).decode("utf-8-sig"), newline=""))
            assert all(row["signature"] for row in rows), name


def test_the_archive_has_report_tables_and_trials(report: Report):
    assert _zip(report).namelist() == [
        "report.md",
        "report.json",
        "report.xlsx",
        "overview.csv",
        "readings.csv",
        "positions.csv",
        "confusion.csv",
        "trials.csv",
        "trials.jsonl",
        "signatures.txt",
    ]


def test_the_same_report_gives_the_same_archive_names_and_trials(report: Report):
    first, second = _zip(report), _zip(report)
    assert first.read("trials.jsonl") == second.read("trials.jsonl")
    assert first.infolist()[0].date_time == (1980, 1, 1, 0, 0, 0)


def test_a_models_name_is_no_formula_in_csv_and_xlsx(report: Report):
    rows = list(csv.DictReader(io.StringIO(write(report, "csv", "en").decode("utf-8-sig"))))
    assert rows[0]["model"] == "'=cmd()"
    sheet = openpyxl.load_workbook(io.BytesIO(write(report, "xlsx", "en")))["overview"]
    assert sheet["B3"].value == "'=cmd()"


def test_the_json_has_the_spec_and_every_cell(report: Report):
    told = json.loads(write(report, "json", "en"))
    assert told["spec"] == {
        "datasets": [{"path": "a_val.csv"}, {"path": ["b_dev.csv", "b_val.csv"]}],
        "models": ["m"],
    }
    assert [cell["model"] for cell in told["cells"]] == ["=cmd()", "n"]
    assert told["cells"][0]["figures"]["acc_origin"] == 50


def test_no_export_tells_a_folder_of_the_server(report: Report):
    for extension in FORMATS:
        assert b"secret" not in write(report, extension, "en")


def test_the_markdown_is_in_the_language_asked_for(report: Report):
    assert "准确率" in write(report, "md", "zh").decode()


def test_each_trial_is_a_line(report: Report):
    lines = [json.loads(line) for line in trial_lines(report)]
    assert len(lines) == 9
    assert lines[0]["id"] == "q0"


def test_an_unknown_format_is_told_with_the_known_ones(report: Report):
    with pytest.raises(UnknownName, match="csv, json, md, xlsx, zip"):
        write(report, "pdf", "en")


def test_every_promised_format_can_be_written(report: Report):
    assert list(FORMATS) == ["csv", "xlsx", "json", "md", "zip"]
    assert all(write(report, extension, "zh") for extension in FORMATS)
