import json
from dataclasses import replace

import pytest
from open_examples import answers_result, judge_result, judged_run, rating_result

from evalui.modes import MODES
from evalui.modes.open_answer import OpenAnswer
from evalui.report.analyses.base import Analysis, Report
from evalui.report.blocks import Details, Paragraph
from evalui.report.compile import ANALYSES, added_blocks, compile_report, markdown
from evalui.report.render.markdown import escaped
from evalui.report.write.files import write
from evalui.types import Language


@pytest.fixture
def report(make_result):
    subjects = {f"q{i}": {"subject": "law" if i % 2 else "art"} for i in range(40)}
    good = make_result({f"q{i}": "right" for i in range(40)}, model="good", subjects=subjects)
    fond = make_result({f"q{i}": [0, 0, 0, 0] for i in range(40)}, model="fond|x")
    late = make_result({}, model="late", state="failed", error="Out <of> memory.")
    return compile_report("Midterm", [good, fond, late], baselines=frozenset({"fond|x"}))


def test_the_report_begins_with_its_name_and_a_sentence(report):
    lines = markdown(report, "en").splitlines()
    assert lines[0] == "# Midterm"
    assert lines[2] == "**good is right on 100.0 % (91.2–100.0); guessing scores 25 %.**"


def test_a_report_without_a_name_is_called_a_report(report):
    assert markdown(compile_report("", report.results), "zh").startswith("# 评测报告\n")


def test_each_cell_has_a_row_of_figures_with_ranges(report):
    row = "| good | d | multiple choice, reply | 40 | 100.0 % (91.2–100.0) | 100.0 % (91.2–100.0) |"
    assert row in markdown(report, "en")


def test_foreign_names_cannot_break_the_table_or_become_markup(report):
    text = markdown(report, "en")
    assert "fond\\|x" in text
    assert "Failed. Out &lt;of&gt; memory." in text


def test_every_signature_is_there(report):
    text = markdown(report, "zh")
    for signature in report.signatures:
        assert f"`{signature}`" in text


def test_subjects_have_their_table(report):
    text = markdown(report, "en")
    assert "| Subject | n | good |" in text
    assert "| All subjects | 40 |" in text


def test_the_chinese_report_has_no_english_sentence(report):
    text = markdown(report, "zh")
    assert "选项换个顺序" in text
    assert "plausible" not in text


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("a|b", "a\\|b"),
        ("<img src=x>", "&lt;img src=x&gt;"),
        ("[x](javascript:y)", "\\[x\\](javascript:y)"),
        ("two\nlines", "two lines"),
        ("`code` *b*", "\\`code\\` \\*b\\*"),
        ("中文 & more", "中文 &amp; more"),
    ],
)
def test_foreign_text_stays_text(text: str, printed: str):
    assert escaped(text) == printed


def test_every_part_of_a_report_is_a_registered_analysis():
    assert list(ANALYSES) == [
        "chosen_metrics",
        "overview",
        "open_answers",
        "summary_groups",
        "people",
        "left_out",
        "replies",
        "imported",
        "published",
        "statistics",
        "position_bias",
        "calibration",
        "cost",
    ]


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """An analysis of another package, which speaks of multiple choice alone."""

    def blocks(report: Report, language: Language) -> list[Details]:
        said = {"en": f"{len(report.results)} cells.", "zh": f"{len(report.results)} 格。"}
        return [Details("cells", "Cells", said[language], (Paragraph("Mark <b>."),))]

    monkeypatch.setattr(ANALYSES, "_entries", dict(ANALYSES._entries))
    ANALYSES.register("counted")(Analysis(lambda report: report.has_choices, blocks))


@pytest.mark.usefixtures("counted")
def test_an_analysis_of_others_stands_in_every_file_after_ours(report):
    text = markdown(report, "en")
    assert text.index("## Position bias") < text.index("3 cells.") < text.index("How the figures")
    assert "Mark &lt;b&gt;." in text
    page = write(report, "html", "zh").decode()
    assert "3 格。" in page
    assert "Mark &lt;b&gt;." in page
    assert json.loads(write(report, "json", "en"))["analyses"] == {
        "counted": [
            {
                "type": "details",
                "key": "cells",
                "name": "Cells",
                "finding": "3 cells.",
                "blocks": [
                    {"type": "paragraph", "text": "Mark <b>.", "strong": False, "small": False}
                ],
                "kind": None,
                "open": False,
            }
        ]
    }


@pytest.mark.usefixtures("counted")
def test_an_analysis_that_does_not_speak_of_a_run_is_not_in_its_files():
    report = compile_report("Run", [answers_result("late")])
    assert "cells." not in markdown(report, "en")
    assert "analyses" not in json.loads(write(report, "json", "en"))


def test_a_mode_declares_analyses_of_its_own_cells(monkeypatch: pytest.MonkeyPatch):
    seen: list[Report] = []

    class OwnMode(OpenAnswer):
        def analyses(self) -> dict[str, Analysis]:
            return {"silent": Analysis(lambda _: False, blocks), "own": Analysis(has, blocks)}

    def has(report: Report) -> bool:
        return bool(report.answers)

    def blocks(report: Report, language: Language) -> list[Paragraph]:
        seen.append(report)
        return [Paragraph(f"{language}: {len(report.answers)}")]

    monkeypatch.setitem(MODES._entries, "own", OwnMode())
    theirs, own = answers_result("early"), answers_result("late")
    own = replace(own, cell=replace(own.cell, mode="own"))
    report = compile_report("Run", [theirs, own])
    assert added_blocks(report, "en") == {"own.own": (Paragraph("en: 1"),)}
    (given,) = seen
    assert given.results == (own,)
    assert given.answers[0] == report.answers[1]
    assert added_blocks(compile_report("Run", [theirs]), "en") == {}


# ---------------------------------------------------------------- cells of every kind


def test_cells_are_told_apart_by_their_mode(make_result):
    results = [make_result({"q0": "right"}), *judged_run(), rating_result({"late": [9]})]
    found = compile_report("Run", results)
    assert [one.cell.mode for one in found.summaries] == ["generation"]
    assert [one.cell.model for one in found.answers] == ["late", "early", "weak"]
    assert [one.by for one in found.arenas] == ["judge-local"]
    assert [len(one.ratings) for one in found.answers] == [1, 0, 0]


def test_signatures_cover_every_cell(make_result):
    results = [make_result({"q0": "right"}), *judged_run(), rating_result({"late": [9]})]
    found = compile_report("Run", results)
    assert found.signatures == tuple(result.cell.signature for result in results)


def test_the_judging_is_that_of_the_cell():
    result = judge_result(orders="single", conflict="drop")
    (found,) = compile_report("Run", [result]).arenas
    assert (found.orders, found.conflict, found.planned) == ("single", "drop", 36)


def test_a_run_without_open_questions_has_neither_answers_nor_arenas(make_result):
    found = compile_report("Run", [make_result({"q0": "right"})])
    assert (found.answers, found.arenas) == ((), ())
