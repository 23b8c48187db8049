"""What a report tells of requests, tokens and dollars."""

import csv
import io
import json
import zipfile
from dataclasses import dataclass, replace

import openpyxl
import pytest

from evalui.models.base import ReplyCount
from evalui.report.analyses.base import Report
from evalui.report.compile import compile_report, markdown
from evalui.report.numbers import local_time
from evalui.report.write.files import write
from evalui.types import Language


@dataclass(frozen=True, slots=True)
class Spent:
    model: str
    requests: int = 0
    read: int = 0
    written: int = 0
    prices: tuple[float, float] | None = None
    dollars: float | None = None
    why: str = ""
    since: float = 0.0


PRICED = Spent("remote", 960, 1_200_000, 300_000, (2.5, 10.0), 6.0)
UNPRICED = Spent("other", 4, 160, 24)
GONE = Spent("=gone", why="http://a does not answer.", since=1_700_000_000.0)


@pytest.fixture
def report_of(make_result):
    results = [make_result({"q0": "right"}, model="remote")]
    return lambda *spent: compile_report("Run", results, expenses=spent)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_run_that_counted_nothing_tells_nothing(report_of, language: Language):
    report = report_of()
    assert markdown(report, language) == markdown(compile_report("Run", report.results), language)
    told = write(report, "zip", language)
    assert "expenses.csv" not in zipfile.ZipFile(io.BytesIO(told)).namelist()
    assert "expenses" not in json.loads(write(report, "json", language))


def test_each_model_has_a_row_and_all_together_one(report_of):
    text = markdown(report_of(PRICED, UNPRICED), "en")
    assert "\n## Tokens and cost\n" in text
    assert "| remote | 960 | 1,200,000 | 300,000 | US$ 2.50 / 10 | US$ 6.00 |" in text
    assert "| other | 4 | 160 | 24 | no price given | – |" in text
    assert "| Together | 964 | 1,200,160 | 300,024 | not all priced | US$ 6.00 |" in text


def test_a_sum_of_prices_that_are_all_known_or_all_unknown_says_no_more(report_of):
    text = markdown(report_of(PRICED, replace(PRICED, model="b")), "en")
    assert "| Together | 1,920 | 2,400,000 | 600,000 | – | US$ 12 |" in text
    text = markdown(report_of(UNPRICED, replace(UNPRICED, model="b")), "en")
    assert "| Together | 8 | 320 | 48 | – | – |" in text


@pytest.mark.parametrize("extension", ["xlsx", "zip"])
def test_a_model_called_like_a_formula_is_text_in_every_table(report_of, extension: str):
    written = write(report_of(replace(PRICED, model="=1+1")), extension, "en")
    if extension == "xlsx":
        cell = openpyxl.load_workbook(io.BytesIO(written))["expenses"].cell(2, 1)
        assert (cell.value, cell.data_type) == ("'=1+1", "s")
    else:
        assert "\n'=1+1," in zipfile.ZipFile(io.BytesIO(written)).read("expenses.csv").decode()


def test_what_nobody_counted_has_no_cost_either(report_of):
    gone = replace(GONE, prices=(2.5, 10.0), dollars=0.0)
    told = json.loads(write(report_of(gone), "json", "en"))["expenses"][0]
    assert (told["input_tokens"], told["input_price"], told["dollars"]) == (None, 2.5, None)


def test_one_model_is_not_added_up(report_of):
    assert "Together" not in markdown(report_of(UNPRICED), "en")


def test_the_chinese_report_tells_it_in_chinese(report_of):
    text = markdown(report_of(PRICED, UNPRICED, GONE), "zh")
    assert "## 词元与费用" in text
    assert "| 模型 | 请求数 | 读入词元 | 写出词元 | 每百万词元价格 | 费用 |" in text
    assert "| other | 4 | 160 | 24 | 未给出价格 | – |" in text
    assert "=gone 自 2023-11-1" in text


def test_who_is_waited_for_is_told_without_a_row_of_zeros(report_of):
    text = markdown(report_of(GONE), "en")
    assert "- =gone has not answered since 2023-11-1" in text
    assert "http://a does not answer." in text
    assert "Price per million" not in text


def test_money_stands_at_the_right_of_a_page(report_of):
    page = write(report_of(PRICED, UNPRICED), "html", "en").decode()
    assert "US$ 6.00</td>" in page
    assert '<th scope="col" class="r">Tokens read</th>' in page


def test_workbook_archive_and_json_tell_the_same_numbers(report_of):
    report: Report = report_of(PRICED, UNPRICED, GONE)
    sheet = openpyxl.load_workbook(io.BytesIO(write(report, "xlsx", "en")))["expenses"]
    head, first, second, gone = [[cell.value for cell in row] for row in sheet.iter_rows()]
    assert first[:7] == ["remote", 960, 1_200_000, 300_000, 2.5, 10, 6]
    assert second[:7] == ["other", 4, 160, 24, None, None, None]
    assert gone[:4] == ["'=gone", 0, None, None]
    archive = zipfile.ZipFile(io.BytesIO(write(report, "zip", "en")))
    rows = list(csv.DictReader(io.StringIO(archive.read("expenses.csv").decode("utf-8-sig"))))
    assert list(rows[0]) == head
    assert rows[0]["signature"] == "prices:2.5/10.0|per:1000000|model:remote"
    assert rows[1]["signature"] == "prices:none|model:other"
    told = json.loads(write(report, "json", "en"))["expenses"]
    assert told[0]["dollars"] == 6.0
    assert (told[2]["input_tokens"], told[2]["waits"]) == (None, GONE.why)


KEPT = ReplyCount("remote", 30, "aRun", 1_700_000_000.0)
COUNTS = (ReplyCount("remote", 1_000), KEPT, ReplyCount("other", 1, None))


@pytest.fixture
def told_of(report_of):
    return lambda *counts, **changes: replace(report_of(), replies=counts, **changes)


def test_a_report_states_whose_replies_it_rests_on(told_of):
    assert "\n1,000 replies were made in this run.\n" in markdown(told_of(COUNTS[0]), "en")
    text = markdown(told_of(*COUNTS), "en")
    assert "\n1,000 replies were made in this run. 31 are kept from earlier runs.\n" in text
    assert f"- remote: 30 kept from run aRun of {local_time(KEPT.made)}" in text
    assert "- other: 1 kept by an earlier version of evalui" in text
    assert "本次任务得到 1,000 条回复。另有 31 条是以前的任务保存的。" in markdown(
        told_of(*COUNTS), "zh"
    )
    own, kept, unknown = json.loads(write(told_of(*COUNTS), "json", "en"))["reply_counts"]
    assert (own["kept"], own["run"], own["made"]) == (False, None, None)
    assert (kept["replies"], kept["run"]) == (30, "aRun")
    assert kept["made"] == "2023-11-14T22:13:20+00:00"
    assert (unknown["kept"], unknown["run"]) == (True, None)


def test_a_report_states_that_replies_of_other_addresses_count(told_of):
    spec = json.dumps({"replies_of": {"remote": "1a2b3c4d"}})
    assert "(1a2b3c4d) count as its own" in markdown(told_of(KEPT, spec=spec), "en")


def test_a_report_of_an_earlier_version_states_nothing_of_replies(told_of):
    assert "## Replies" not in markdown(told_of(), "en")
