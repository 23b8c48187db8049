import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser

import pytest
from judged_examples import report_of
from open_examples import judge_result, judged_run
from pictured_runs import RED_MARK

from evalui.pictures import Picture
from evalui.report.analyses.base import OpenContext
from evalui.report.analyses.open_answers import open_blocks
from evalui.report.blocks import Bullets, Heading, PictureCell, Table, text_table
from evalui.report.compile import compile_report
from evalui.report.figures import theme
from evalui.report.render.json import as_json
from evalui.report.render.markdown import as_markdown
from evalui.report.render.page import (
    CHART_SCRIPTS,
    PAGE_PICTURE_BYTES,
    as_page,
    render_blocks,
)
from evalui.report.write.files import files, write
from evalui.scoring.arena.figures import arena
from evalui.shipped_files import ASSETS

_HOSTILE = "</td><script>alert(1)</script><img src=x onerror=alert(2)>"


class _Page(HTMLParser):
    """The elements of a page and its text, and that what is opened is closed."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.links: list[str] = []
        self.text = ""
        self.feed(page.decode())
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [str(value) for key, value in attrs if key in ("src", "srcset", "href")]
        if tag not in ("meta", "img", "source", "col"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def open_report():
    return compile_report("Open", judged_run(n=15))


@pytest.fixture(scope="module")
def open_page(open_report):
    return write(open_report, "html", "en")


@pytest.fixture
def choices(make_result):
    good = make_result({f"q{i}": "right" for i in range(5)}, model="good")
    return [good, make_result({"q0": [0]}, model=_HOSTILE, state="failed", error=_HOSTILE)]


def test_the_page_is_one_file_that_loads_nothing(open_page):
    page = _Page(open_page)
    assert not page.links
    assert not {"link", "iframe", "object", "form"} & set(page.tags)
    assert b"default-src 'none'" in open_page
    assert not re.search(rb"url\(|@import|https?:", open_page.partition(b"<script>")[0])


def test_only_our_scripts_of_charts_may_run(open_page):
    scripts = re.findall(rb"<script>(.*?)</script>", open_page, re.DOTALL)
    assert scripts == [(ASSETS / name).read_bytes() for name in CHART_SCRIPTS]
    allowed = re.search(rb"script-src ([^;\"]*)", open_page)
    assert allowed
    digests = [b64encode(sha256(script).digest()).decode() for script in scripts]
    assert allowed[1].decode() == " ".join(f"'sha256-{digest}'" for digest in digests)
    assert b"script-src 'none'" in as_page((Heading(1, "no charts"),), "en")
    assert len(open_page) < 2e6


def test_charts_are_drawings_and_marks_that_need_no_file(open_page):
    page = _Page(open_page)
    assert "img" not in page.tags
    assert page.tags.count("figure") == 3  # who beats whom, by capability, by language
    assert b'<table class="lead">' in open_page


def test_the_page_follows_the_readers_theme_and_can_be_printed(open_page):
    assert b"prefers-color-scheme: dark" in open_page
    assert b"@media print" in open_page
    assert b'name="viewport"' in open_page


def test_multiple_choice_has_its_page_with_tables_and_sentences(choices):
    page = _Page(write(compile_report("Midterm", choices[:1]), "html", "en"))
    assert page.tags.count("table") == 7  # that of a chart among them
    assert "too few to tell whether good prefers a position" in page.text
    assert "Picks and right answers by position" in page.text
    assert "How uneven are the positions?" in page.text
    assert choices[0].cell.signature in page.text


def test_foreign_text_stays_text(choices, make_result):
    foreign = make_result({f"q{i}": "right" for i in range(5)}, dataset=_HOSTILE)
    report = compile_report(_HOSTILE, [*choices, foreign])
    page = _Page(write(report, "html", "en"))
    assert page.tags.count("script") == len(CHART_SCRIPTS)
    assert all(link.startswith("data:") for link in page.links)
    assert page.text.count("<script>alert(1)</script>") >= 3


def test_hostile_judges_models_and_capabilities_stay_text():
    judged = arena(judge_result(models=(_HOSTILE, "early", "late"), n=12))
    dimensions = tuple(replace(one, name=_HOSTILE) for one in judged.dimensions)
    changed = replace(judged, by=_HOSTILE, dimensions=dimensions)
    blocks = (Heading(1, _HOSTILE), *open_blocks(report_of(changed), OpenContext("en")))
    page = _Page(as_page(blocks, "en"))
    assert page.tags.count("script") == len(CHART_SCRIPTS)
    assert all(link.startswith("data:") for link in page.links)


def test_half_a_surrogate_pair_does_not_break_the_file(choices):
    assert b"\\ud800" in write(compile_report("a\ud800", choices[:1]), "html", "en")


def test_the_language_of_the_page_is_told(choices):
    report = compile_report("Midterm", choices[:1])
    assert b'<html lang="zh-CN">' in write(report, "html", "zh")
    assert b'<html lang="en">' in write(report, "html", "en")


def test_figures_stand_at_the_right_and_texts_at_the_left(choices):
    page = write(compile_report("Midterm", choices[:1]), "html", "en").decode()
    assert '<th scope="col" class="r">Accuracy</th>' in page
    assert '<th scope="col">Dataset</th>' in page
    assert "(57–100)" in page


def test_without_matplotlib_the_page_says_what_to_install(open_report, monkeypatch):
    monkeypatch.setattr(theme, "matplotlib_installed", lambda: False)
    page = _Page(write(open_report, "html", "en"))
    assert page.tags.count("figure") == 3
    assert "pip install evalui[figures]" in page.text
    assert page.tags.count("table") > 5


def test_the_archive_has_the_page_and_the_pictures_the_markdown_names(open_report):
    written = {name: b"".join(pieces) for name, pieces in files(open_report, "en")}
    assert list(written)[:6] == [
        "report.html",
        "ratings.png",
        "win_matrix.png",
        "by_capa.png",
        "by_lang.png",
        "report.md",
    ]
    assert all(data.startswith(b"\x89PNG") for name, data in written.items() if ".png" in name)


def test_signatures_stand_in_one_line_that_opens_to_all_of_them():
    made = [f"set@1 · n:12 · model:{name} · evalui:1" for name in ("late@a", "early@b")]
    block = Bullets((*made, "set@1 · mode:judge · judge:north@c · evalui:1"), signatures=True)
    line, _, rest = render_blocks([block]).partition("</summary>")
    expected = "set@1 · n:12 · model:late@a+early@b · evalui:1 · mode:judge · judge:north@c"
    assert line.endswith(expected)
    assert all(f"<li>{each}</li>" in rest for each in block.texts)
    assert "<details" not in render_blocks([block], filed=True)


def _png(size: int) -> bytes:
    return b"\x89PNG".ljust(size)


def _pictured(n: int, size: int) -> Table:
    """A table of so many small pictures, each a file of so many bytes."""
    picture = Picture(RED_MARK.id, _png(size))
    cells = [PictureCell(f"q{at} · Why?", picture, f'Picture of <{at}> "') for at in range(n)]
    return text_table(["Question"], [[cell] for cell in cells])


def test_a_page_has_small_pictures_inside_itself():
    page = as_page([Heading(1, "Run"), _pictured(1, 100)], "en").decode()
    assert f'src="data:image/png;base64,{b64encode(_png(100)).decode()}"' in page
    assert 'alt="Picture of &lt;0&gt; &#34;"' in page


def test_beyond_its_limit_a_page_has_words_for_pictures():
    fit = PAGE_PICTURE_BYTES // 400_150  # base64 takes a third more
    page = as_page([Heading(1, "Run"), _pictured(fit + 2, 300_000)], "en")
    assert page.count(b"<img") == fit
    assert f"q{fit + 1} · Why? (Picture of &lt;{fit + 1}&gt; &#34;)".encode() in page
    assert set(_Page(page).tags) <= {*_Page(as_page([Heading(1, "Run")], "en")).tags, "img"} | {
        *("table", "thead", "tbody", "tr", "th", "td", "div", "span")
    }


def test_files_of_words_name_pictures():
    assert 'Picture of &lt;0&gt; "' in as_markdown([_pictured(1, 100)])
    assert as_json([_pictured(1, 100)])[0]["rows"][0][0]["picture"] == RED_MARK.id
