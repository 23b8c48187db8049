"""The page behind a link: complete without script or requests, with no way into the server."""

import re
from html import escape

import pytest
from open_examples import judged_run

from evalui.report.compile import compile_report, frozen_blocks, meanings
from evalui.report.render.shared import FrozenContent, shared_page
from evalui.report.write.csv import shown_tables_csv
from evalui.types import Language

HOSTILE = "</title><script>alert(1)</script>"


def page_of(report, language: Language = "en") -> str:
    blocks = frozen_blocks(report, language)
    content = FrozenContent("4 questions", blocks, meanings(report), report.signatures)
    return shared_page(content, HOSTILE, frozen="frozen on 1 May", until="until", language=language)


@pytest.fixture
def choices(make_result):
    good = make_result({f"q{i}": "right" for i in range(40)}, model="=good")
    return compile_report("Midterm", [good, make_result({"q0": [0]}, model=HOSTILE)])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_page_has_no_script_and_leads_nowhere(choices, language: Language):
    page = page_of(choices, language)
    assert "<script" not in page
    other = "en" if language == "zh" else "zh"
    assert re.findall(r'\b(?:href|src)="([^"]*)"', page) == [f"?lang={other}", "table.csv"]
    assert re.findall(r"url\(|@import", page) == []
    assert '<meta name="robots" content="noindex, nofollow">' in page
    assert "default-src 'none'" in page


def test_a_page_has_one_title_and_what_is_needed_to_believe_it(choices):
    page = page_of(choices)
    assert page.count("<h1>") == 1
    for text in ("Read-only", "frozen on 1 May", "What the figures mean", "What to know"):
        assert text in page
    shown = [escape(each.replace("|", " · ")) for each in choices.signatures]
    assert all(signature in page for signature in shown)


def test_written_answers_are_explained_as_such():
    report = compile_report("Open", judged_run(n=6))
    assert meanings(report) == ("judged", "texts")
    page = page_of(report)
    assert page.count("<h1>") == 1
    assert "<h2>" not in page.partition("<h1>")[0]  # the one part needs no name
    assert "Ratings by model" in page


def test_the_table_holds_what_the_page_shows_and_runs_nothing(choices):
    lines = shown_tables_csv(frozen_blocks(choices, "en")).splitlines()
    assert lines[1].startswith("Rank,Model") or lines[1].startswith("Model,")
    assert any("'=good" in line for line in lines)
    assert not any(line.startswith("=") or ",=" in line for line in lines)
