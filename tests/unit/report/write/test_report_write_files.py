import csv
import io
import json
import re
import stat
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow.parquet
import pytest
from open_examples import DATASET, judged_run, rating_result, votes

from evalui.datasets.external_answers import read_answers
from evalui.errors import UnknownName
from evalui.report.analyses.base import Report
from evalui.report.compile import blocks, compile_report
from evalui.report.imports.battles import read_battles, read_votes
from evalui.report.render import pictures
from evalui.report.write.files import (
    parts,
    save,
    write,
)
from evalui.report.write.formats import BUNDLE, EXCHANGED, FORMATS, ON_PAGE
from evalui.report.write.lead_sheets import lead_sheets
from evalui.report.write.lines import battle_lines, vote_lines
from evalui.types import Language

# The bundle is copied from a store and not written from a report, see `store.bundle`; the report
# of OpenCompass is one of judged answers.
WRITTEN = [extension for extension in FORMATS if extension not in (BUNDLE, "opencompass.md")]
SPEC = (
    '{"datasets": [{"path": "/home/secret/a_val.csv"}, '
    '{"path": ["/secret/b_dev.csv", "/secret/b_val.csv"]}], "models": ["m"]}'
)


@pytest.fixture
def report(make_result) -> Report:
    first = make_result({"q0": "right", "q1": [0, None, 0, 0]}, model="=cmd()")
    second = make_result({"q0": [0]}, pattern="origin", model="n")
    return compile_report("Run", [first, second], spec=SPEC)


def _trials(report: Report) -> list[Any]:
    return [json.loads(line) for line in write(report, "trials.jsonl", "en").splitlines()]


def _zip(report: Report) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(write(report, "zip", "en")))


def test_files_that_others_could_read_are_replaced(report: Report, tmp_path: Path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("kept")
    out = tmp_path / "out"
    out.mkdir()
    (out / "report.json").write_text("an older report")
    (out / "report.json").chmod(0o644)
    (out / "report.md").symlink_to(elsewhere)
    save(report, out, "en")
    assert {stat.S_IMODE(path.lstat().st_mode) for path in out.iterdir()} == {0o600}
    assert json.loads((out / "report.json").read_text())["name"] == "Run"
    assert elsewhere.read_text() == "kept"


@pytest.mark.parametrize("can_draw", [True, False])
def test_the_markdown_links_the_pictures_beside_it(
    report: Report, monkeypatch: pytest.MonkeyPatch, can_draw: bool
):
    monkeypatch.setattr(pictures, "matplotlib_installed", lambda: can_draw)
    with _zip(report) as archive:
        drawn = {name for name in archive.namelist() if name.endswith(".png")}
        linked = re.findall(r"!\[.*\]\((.*)\)", archive.read("report.md").decode())
    assert ({*linked}, bool(linked)) == (drawn, can_draw)


def _book(data: bytes) -> openpyxl.Workbook:
    return openpyxl.load_workbook(io.BytesIO(data))


@pytest.mark.parametrize("extension", ON_PAGE)
def test_every_file_carries_every_signature(report: Report, extension: str):
    data = write(report, extension, "en")
    texts = (
        [_zip(report).read("signatures.txt").decode()]
        if extension == "zip"
        else [str(row[0]) for row in _book(data)["signatures"].values]
        if extension == "xlsx"
        else pyarrow.parquet.read_table(io.BytesIO(data))["signature"].to_pylist()
        if extension == "trials.parquet"
        else [data.decode()]
    )
    for signature in report.signatures:
        assert any(signature in text for text in texts)


def test_every_table_of_the_archive_carries_its_signature(report: Report):
    archive = _zip(report)
    for name in archive.namelist():
        if name.endswith(".csv"):
            rows = csv.DictReader(io.StringIO(archive.read(name).decode("utf-8-sig"), newline=""))
            signed = "settings" if name == "metrics.csv" else "signature"
            assert all(row[signed] for row in rows), name


def test_the_archive_has_report_tables_and_trials(report: Report):
    names = [name for name in _zip(report).namelist() if not name.endswith(".png")]
    assert names == [
        "trials.jsonl",
        "report.html",
        "report.md",
        "report.json",
        "overview.csv",
        "readings.csv",
        "rules.csv",
        "positions.csv",
        "confusion.csv",
        "consistency.csv",
        "priors.csv",
        "bias.csv",
        "flips.csv",
        "incomparable.csv",
        "ranks.csv",
        "trials.csv",
        "metrics.csv",
        "cells.csv",
        "report.xlsx",
        "signatures.txt",
    ]


def test_an_archive_starts_to_arrive_with_its_trials(report: Report):
    pieces = iter(parts(report, "zip", "en"))
    first = next(pieces)
    assert first.startswith(b"PK")
    assert b"trials.jsonl" in first
    whole = zipfile.ZipFile(io.BytesIO(b"".join([first, *pieces])))
    assert whole.testzip() is None
    assert whole.namelist() == _zip(report).namelist()


def test_the_same_report_gives_the_same_archive_names_and_trials(report: Report):
    first, second = _zip(report), _zip(report)
    assert first.read("trials.jsonl") == second.read("trials.jsonl")
    assert first.infolist()[0].date_time == (1980, 1, 1, 0, 0, 0)


def test_a_models_name_is_no_formula_in_csv_and_xlsx(report: Report):
    rows = list(csv.DictReader(io.StringIO(write(report, "csv", "en").decode("utf-8-sig"))))
    assert rows[0]["model"] == "'=cmd()"
    book = _book(write(report, "xlsx", "en"))
    assert book["overview"]["B2"].value == "'=cmd()"
    assert "'=cmd()" in [row[1] for row in book["Results"].values]


@pytest.mark.parametrize(("language", "name"), [("en", "Results"), ("zh", "结果")])
def test_the_first_sheet_is_the_table_that_the_page_leads_with(
    report: Report, language: Language, name: str
):
    data = write(report, "xlsx", language)
    book = _book(data)
    assert (book.sheetnames[0], book.sheetnames[-1]) == (name, "signatures")
    (lead,) = lead_sheets(blocks(report, language), language)
    heads, first, *_ = book[name].values
    assert [*heads] == [*lead.heads]
    assert all(sheet.freeze_panes == "A2" for sheet in book)
    assert any(isinstance(cell, int) for cell in first[2:])
    assert write(report, "xlsx", language) == data


def test_the_json_has_the_spec_and_every_cell(report: Report):
    told = json.loads(write(report, "json", "en"))
    assert told["spec"] == {
        "datasets": [{"path": "a_val.csv"}, {"path": ["b_dev.csv", "b_val.csv"]}],
        "models": ["m"],
    }
    assert [cell["model"] for cell in told["overview"]] == ["=cmd()", "n"]
    assert told["overview"][0]["acc_origin"] == 50


def test_no_export_tells_a_folder_of_the_server(report: Report):
    for extension in WRITTEN:
        assert b"secret" not in write(report, extension, "en")


def test_the_markdown_is_in_the_language_asked_for(report: Report):
    assert "准确率" in write(report, "md", "zh").decode()


def test_each_trial_is_a_line(report: Report):
    lines = _trials(report)
    assert len(lines) == 9
    assert lines[0]["id"] == "q0"


def test_an_unknown_format_is_told_with_the_known_ones(report: Report):
    with pytest.raises(
        UnknownName,
        match=r"csv, eee\.zip, html, json, md, metrics\.csv, metrics\.json, opencompass\.md, tex",
    ):
        write(report, "pdf", "en")


def test_every_promised_format_can_be_written(report: Report):
    trials = ["trials.jsonl", "trials.csv", "trials.parquet"]
    assert list(ON_PAGE) == ["csv", "xlsx", "json", "md", "tex", "html", "zip", *trials]
    assert list(FORMATS) == [*ON_PAGE, *EXCHANGED]
    assert all(write(report, extension, "zh") for extension in WRITTEN)


# ---------------------------------------------------------------- open questions


@pytest.fixture(scope="module")
def open_report() -> Report:
    results = [*judged_run(judges=("one", "two")), rating_result({"late": [9, None]})]
    spec = '{"datasets": [{"path": "/secret/q.jsonl"}], "answers": [{"path": "/secret/a.jsonl"}]}'
    return compile_report("Open", results, spec=spec)


_SAID = votes("ann", decide=lambda *_: "b")[:9]


@pytest.fixture(scope="module")
def voted() -> Report:
    return compile_report("Voted", judged_run(), votes={DATASET: _SAID})


@pytest.mark.slow  # pictures are drawn
def test_an_archive_of_open_questions_has_their_tables_and_lines():
    results = [*judged_run(), rating_result({"late": [9, None]})]
    archive = _zip(compile_report("Open", results))
    names = [name for name in archive.namelist() if not name.endswith(".png")]
    assert names == [
        "trials.jsonl",
        "duels.jsonl",
        "battles.jsonl",
        "ratings.jsonl",
        "report.html",
        "report.md",
        "report.json",
        "opencompass/report.md",
        "standings.csv",
        "dimensions.csv",
        "win_matrix.csv",
        "win_rates.csv",
        "reliability.csv",
        "answers.csv",
        "marks.csv",
        "pairs.csv",
        "duels.csv",
        "verdicts.csv",
        "ratings.csv",
        "replies.csv",
        "metrics.csv",
        "cells.csv",
        "report.xlsx",
        "signatures.txt",
    ]


@pytest.mark.slow  # pictures are drawn
def test_an_archive_of_a_run_with_votes_has_them(voted: Report):
    names = set(_zip(voted).namelist())
    assert {
        "votes.jsonl",
        "people.csv",
        "agreement.csv",
        "powered.csv",
        "disagreements.csv",
    } <= names


def test_the_votes_are_read_again(voted: Report, tmp_path: Path):
    path = tmp_path / "votes.jsonl"
    path.write_text("".join(vote_lines(voted.votes)), encoding="utf-8")
    assert read_votes(path) == {DATASET: [replace(vote, rule="vote") for vote in _SAID]}


def test_the_json_has_people_only_where_they_voted(voted: Report, open_report: Report):
    told = json.loads(write(voted, "json", "en"))
    (row,) = (row for row in told["reliability"] if row["judge"] == "people")
    assert (row["showings"], row["strangers"]) == (9, 0)
    assert {row["person"] for row in told["people"]}
    assert "people" not in json.loads(write(open_report, "json", "en"))


def test_people_are_ranked_below_the_judge(voted: Report):
    rows = list(csv.DictReader(io.StringIO(write(voted, "csv", "en").decode("utf-8-sig"))))
    assert [row["judge"] for row in rows] == ["judge-local"] * 3 + ["people"] * 3


def test_the_tables_of_people_are_sheets_where_they_voted(voted: Report, open_report: Report):
    tables = {"people", "agreement", "powered", "disagreements"}
    for report, wanted in ((voted, tables), (open_report, set[str]())):
        data = io.BytesIO(write(report, "xlsx", "en"))
        book = openpyxl.load_workbook(data, read_only=True)
        assert set(book.sheetnames) & tables == wanted


def test_a_mixed_run_has_the_tables_of_both_kinds(make_result):
    results = [make_result({"q0": "right"}), *judged_run()]
    mixed = compile_report("Mixed", results)
    book = openpyxl.load_workbook(io.BytesIO(write(mixed, "xlsx", "en")), read_only=True)
    assert {"overview", "trials", "standings", "duels"} <= set(book.sheetnames)
    trials = _trials(mixed)
    assert ("options" in trials[0], "references" in trials[-1]) == (True, True)


def test_the_json_has_answers_arenas_and_pairs(open_report: Report):
    told = json.loads(write(open_report, "json", "en"))
    assert "overview" not in told
    assert [one["model"] for one in told["answers"]] == ["late", "early", "weak"]
    assert [one["judge"] for one in told["reliability"]] == ["panel", "one", "two"]
    assert len(told["pairs"]) == 3 * 6
    assert told["spec"]["answers"] == [{"path": "a.jsonl"}]


def test_files_that_are_called_alike_are_kept_apart():
    both = ["/secret/x/q.jsonl", "/secret/y/q.jsonl"]
    spec = {
        "datasets": [{"path": both}, {"path": "t.jsonl"}],
        "answers": [
            {"path": "/secret/u/A/answers.jsonl", "dataset": "t.jsonl"},
            {"path": "/secret/u/B/answers.jsonl", "dataset": ", ".join(both)},
            {"path": "/secret/u/B/answers.jsonl", "model": "another"},
            {"run": "r1"},
        ],
    }
    report = compile_report("Open", [], spec=json.dumps(spec))
    told = json.loads(write(report, "json", "en"))["spec"]
    assert told["datasets"] == [{"path": ["x/q.jsonl", "y/q.jsonl"]}, {"path": "t.jsonl"}]
    assert told["answers"] == [
        {"path": "A/answers.jsonl", "dataset": "t.jsonl"},
        {"path": "B/answers.jsonl", "dataset": "x/q.jsonl, y/q.jsonl"},
        {"path": "B/answers.jsonl", "model": "another"},
        {"run": "r1"},
    ]


def test_the_battles_are_read_again(open_report: Report, tmp_path: Path):
    path = tmp_path / "battles.jsonl"
    path.write_text("".join(battle_lines(open_report.arenas)), encoding="utf-8")
    # The panel's rows are made of its judges' and are not told again.
    assert len(read_battles(path)) == 2 * 72


def test_the_answers_of_a_run_are_read_again(open_report: Report, tmp_path: Path):
    path = tmp_path / "trials.jsonl"
    path.write_bytes(write(open_report, "trials.jsonl", "en"))
    first = open_report.results[0]
    found = read_answers(path, list(first.samples.values()), model="late")
    assert found.answers == {trial.sample_id: (trial.reply,) for trial in first.trials}
    assert (found.unknown, found.missing, found.faults) == ((), 0, ())


@pytest.mark.parametrize("extension", ["csv", "xlsx", "json", "md"])
def test_open_questions_can_be_written_in_every_format(open_report: Report, extension: str):
    data = write(open_report, extension, "zh")
    assert data
    assert b"secret" not in data


def test_the_csv_of_open_questions_is_the_standings(open_report: Report):
    rows = list(csv.DictReader(io.StringIO(write(open_report, "csv", "en").decode("utf-8-sig"))))
    assert [row["model"] for row in rows if row["judge"] == "panel"] == ["late", "early", "weak"]


def test_a_run_that_has_not_begun_can_be_written(make_result):
    waiting = compile_report("Run", [make_result({}, state="waiting")])
    empty = [extension for extension in WRITTEN if not write(waiting, extension, "en")]
    assert empty == ["trials.jsonl"]


def test_no_name_of_a_dataset_leaves_its_comment_or_code(report: Report):
    named = "law\n\\input{/etc/passwd}\r<img src=x>\u2028|n:1"
    cells = [replace(each.cell, signature=named) for each in report.results]
    results = [replace(each, cell=cell) for each, cell in zip(report.results, cells, strict=True)]
    made = compile_report("Run", results, spec=SPEC)
    comment, *table = write(made, "tex", "en").decode().splitlines()[1:]
    assert comment.startswith("% law \\input{/etc/passwd} <img src=x>")
    assert "passwd" not in "".join(table)
    lines = write(made, "md", "en").decode().splitlines()
    signed = [line for line in lines if "<img" in line or "passwd" in line]
    assert signed
    assert all(line.startswith("- `law ") and line.endswith("|n:1`") for line in signed)
