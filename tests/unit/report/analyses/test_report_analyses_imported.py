"""Printed figures beside ours: the reason of each difference, and what report.json has of them."""

import json
from dataclasses import replace

import pytest

from evalui.report.analyses.imported import IMPORTED
from evalui.report.blocks import Block, Bullets, Details, Paragraph, Table, TextCell
from evalui.report.compile import compile_report
from evalui.report.write.files import write_json
from evalui.types import Cell, CellResult, Language, LogSource, PrintedFigure

SAME = PrintedFigure("acc", 0.5, n=4, marked=0.5, reading="raw", ours=0.5)


def report_of(*figures: PrintedFigure, **log: object):
    source = replace(LogSource("lm-eval", "0.4.13", ("samples.jsonl",), figures), **log)
    cell = Cell("capitals", "m", "cloze", "cloze", "origin", "capitals@1|model:m")
    return compile_report("r", [CellResult(cell, {}, (), 0, log=source)], spec="{}")


def section(*figures: PrintedFigure, language: Language = "en", **log: object) -> Details:
    (made,) = IMPORTED.blocks(report_of(*figures, **log), language)
    assert isinstance(made, Details)
    return made


def reason(figure: PrintedFigure, **log: object) -> str:
    table = next(each for each in section(figure, **log).blocks if isinstance(each, Table))
    text = table.rows[0][-1]
    assert isinstance(text, str)
    return text


@pytest.mark.parametrize(
    ("figure", "words"),
    [
        (SAME, "Equal."),
        (replace(SAME, printed=None), "No file states this figure. Equal."),
        (replace(SAME, printed=0.6), "not the mean of the 4 marks"),
        (replace(SAME, ours=None), "no figure of the same meaning"),
        (replace(SAME, ours=0.25, differing=1, unread=1), "In 1 of them evalui reads no option"),
        (replace(SAME, ours=0.375, differing=1, tied=1), "In 1 of them options tie"),
        (replace(SAME, marked=None, ours=0.25), "The log has no marks"),
        (replace(SAME, ours=0.25), "marks all orders of a question together"),
    ],
)
def test_every_difference_has_its_reason(figure: PrintedFigure, words: str):
    assert words in reason(figure)


def test_answers_that_are_left_out_are_a_reason():
    assert "3 answers cannot be used" in reason(replace(SAME, printed=0.6), left_out=3)


def test_the_finding_counts_what_differs():
    assert section(SAME).finding == "evalui computes what the harness has printed."
    other = replace(SAME, name="acc_norm", ours=0.25, differing=1)
    assert section(SAME, other).finding.startswith("1 of 2 figures differs")
    assert section().finding == "The files hold answers but no figures of the harness."


def test_what_the_log_lacks_is_listed_once():
    blocks: tuple[Block, ...] = section(SAME, missing=("one-order", "tokens")).blocks
    (bullets,) = (each for each in blocks if isinstance(each, Bullets))
    assert len(bullets.texts) == 2
    assert "whether another order changes the answer cannot" in bullets.texts[0]


def test_an_unknown_version_is_stated():
    (first, *_) = section(SAME, version="").blocks
    assert isinstance(first, Paragraph)
    assert "do not state the version" in first.text


def test_the_reading_stands_below_our_value():
    table = next(each for each in section(SAME).blocks if isinstance(each, Table))
    assert table.rows[0][5] == TextCell("0.5000", "log-probability")


def test_report_json_has_the_three_values_and_no_specification():
    whole = json.loads(write_json(report_of(SAME), "en"))
    ((first,),) = [whole["imported"]]
    assert (first["harness"], first["version"]) == ("lm-eval", "0.4.13")
    assert (first["printed"], first["marked"], first["ours"]) == (0.5, 0.5, 0.5)
    assert whole["spec"] is None  # it would ask nobody


@pytest.mark.parametrize(
    ("printed", "share", "full", "same"),
    [
        (0.3125, 0.3125, 1.0, True),
        (0.33, 1 / 3, 1.0, True),  # two decimals are printed
        (0.34, 1 / 3, 1.0, False),
        (33.33, 1 / 3, 100.0, True),
        (1 / 3, 1 / 3 + 1e-12, 1.0, True),
        (1 / 3, 0.3334, 1.0, False),
        (None, 0.5, 1.0, False),
    ],
)
def test_a_share_is_what_was_printed_to_its_last_digit(
    printed: float | None, share: float, full: float, same: bool
):
    assert PrintedFigure("acc", printed, full).is_printed_as(share) is same
