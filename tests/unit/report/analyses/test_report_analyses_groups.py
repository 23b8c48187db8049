"""Groups that a specification declares, and each subject."""

import json
from typing import Any

import pytest
from bias_examples import cell_result, halting, right
from open_examples import DATASET, answers_result
from overview_examples import BASE, EARLY, LATE, RUNS, summary

from evalui.benchmarks.groups import SummaryGroup, published_groups
from evalui.errors import SpecError
from evalui.report.analyses.base import Report
from evalui.report.analyses.groups import by_subject
from evalui.report.analyses.overview import section
from evalui.report.analyses.verdict import DatasetStanding, standings
from evalui.report.blocks import Paragraph, Table, ValueCell
from evalui.report.compile import (
    blocks,
    compile_report,
    frozen_blocks,
    markdown,
    with_groups,
    with_metrics,
)
from evalui.report.frames.metrics import METRICS
from evalui.report.render.markdown import as_markdown
from evalui.report.write.files import parts, tables_of, write
from evalui.report.write.json import write_json
from evalui.scoring.cell_summary import summarise

CELLS = [
    cell_result(halting(3), model="less", n=60, subjects=3),
    cell_result(right, model="sure", n=60, subjects=3),
]
GROUPS = [
    {"name": "Even", "members": ["s0", "s2"]},
    {"name": "Odd", "members": ["s1"], "mean": "micro"},
    {"name": "Sets", "members": ["d", "e"], "of": "datasets"},
]


def report(*groups: dict[str, Any], results: Any = CELLS, **fields: Any) -> Report:
    spec = {"datasets": [{"path": "d.csv"}], "models": ["m"], "summary_groups": groups} | fields
    return compile_report("Spring", results, spec=json.dumps(spec))


def rows(text: str) -> list[list[str]]:
    lines = text[text.index("# Groups") :].splitlines()[1:]
    table = [line for line in lines if line.startswith("|")]
    ends = next((n for n, line in enumerate(lines) if line.startswith("#")), len(lines))
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in table
        if lines.index(line) < ends
    ]


def test_the_groups_stand_in_the_report_with_what_they_lack() -> None:
    made = report(*GROUPS)
    for text in (markdown(made, "en"), as_markdown(frozen_blocks(made, "en"))):
        head, _, *shown = rows(text)
        assert head[-1] == "Questions"
        groups = [row[0].split(",")[0].split("<")[0] for row in shown[:6]]
        assert [name.split()[0] for name in groups] == ["Even", "Even", "Odd", "Odd", *["Sets"] * 2]
        assert "mean of 2 of 2 subjects" in text
        assert "questions of 1 of 1 subject" in text
        assert "Sets (less, sure): without e." in text
    assert "Sets" in write(made, "html", "en").decode()
    assert "# 分组" in markdown(made, "zh")
    assert "3 groups, of which 1 lacks members." in markdown(made, "en")
    assert "2 groups, each with all its members." in markdown(report(*GROUPS[:2]), "en")


def test_without_groups_nothing_is_added() -> None:
    made = report()
    assert "# Groups" not in markdown(made, "en")
    assert "summary_groups" not in json.loads(write_json(made, "en"))
    assert "summary_groups" not in dict(tables_of(made))
    assert not any("Groups" in str(block) for block in blocks(made, "en"))


def test_every_metric_of_a_group_is_in_the_json_in_the_unit_of_the_files() -> None:
    rows = json.loads(write_json(report(*GROUPS), "en"))["summary_groups"]
    named = {"group": "Even", "of": "subjects", "dataset": "d", "model": "less", "mean": "macro"}
    named |= {"members": "s0, s2"}
    even = {row["metric"]: row for row in rows if named.items() <= row.items()}
    subjects = {group.name: group for group in summarise(CELLS[0]).groups}
    by_subject = [subjects[name].accuracy for name in ("s0", "s2")]
    expected = sum(100 * each.value for each in by_subject if each) / 2
    accuracy = even["acc_origin"]
    assert accuracy["value"] == pytest.approx(expected)
    assert accuracy["low"] < accuracy["value"] < accuracy["high"]
    assert (accuracy["n"], accuracy["missing"]) == (40, "")
    known = summarise(CELLS[0]).figures
    assert {*even} == {name for name, figure in known.items() if figure is not None}
    assert (rows[-1]["group"], rows[-1]["missing"], rows[-1]["dataset"]) == ("Sets", "e", "")


def test_the_table_of_groups_is_exported() -> None:
    made = report(*GROUPS)
    table = dict(tables_of(made))["summary_groups"]
    names = [*table.columns]
    assert names[:9] == [
        *("group", "of", "dataset", "model", "mode", "mean", "metric", "value", "low")
    ]
    assert names[-1] == "signature"
    archive = b"".join(parts(made, "zip", "en"))
    assert b"summary_groups.csv" in archive
    paper = b"".join(parts(made, "tex", "en")).decode()
    assert r"\caption{Groups}" in paper
    assert paper.index("Even") < paper.index("Odd") < paper.index("Sets")


def test_the_frame_of_metrics_has_the_groups_in_its_columns() -> None:
    frames = report(*GROUPS).frames
    frame = frames["metrics"]
    assert list(frame.columns) == list(METRICS)
    even = frame[(frame.group == "Even") & (frame.metric == "acc_origin") & (frame.model == "less")]
    (row,) = even.to_dict("records")
    figure = frames["summary_groups"].set_index("metric").loc["acc_origin"].iloc[0]
    assert {name: row[name] for name in ("value", "low", "high", "n")} == {
        name: figure[name] for name in ("value", "low", "high", "n")
    }
    assert (row["kind"], row["mean"], row["unit"]) == ("subjects", "macro", "percent")
    assert (row["direction"], row["missing"], row["dataset"]) == ("higher", "", "d")
    sets = frame[(frame.group == "Sets") & (frame.metric == "n")]
    assert sets.kind.tolist() == ["datasets"] * 2
    assert sets.missing.tolist() == ["e", "e"]
    assert not frame.missing.isna().any()


def test_the_chosen_metrics_are_those_of_the_table_of_groups() -> None:
    text = markdown(with_metrics(report(*GROUPS), ["readable", "n"]), "en")
    head, *_ = rows(text)
    assert head[1:] == ["Dataset", "Model", "Readable answers", "Questions"]


def test_written_answers_have_a_table_of_groups() -> None:
    group = {"name": "All sets", "members": [DATASET], "of": "datasets"}
    results = [answers_result(model) for model in ("weak", "late")]
    text = markdown(report(group, results=results), "en")
    head, _, first, *_ = rows(text)
    assert head[1] == "Model"
    assert "mean of 1 of 1 dataset" in first[0]
    assert len(head) > 3


def test_a_report_takes_other_groups_and_refuses_those_of_other_subjects() -> None:
    other = [SummaryGroup(name="One", members=["s1"])]
    made = with_groups(report(*GROUPS), other)
    assert json.loads(made.spec)["summary_groups"] == [{"name": "One", "members": ["s1"]}]
    assert {group.group.name for group in made.groups} == {"One"}
    with pytest.raises(SpecError, match="'C-Eval STEM' has no figures"):
        with_groups(report(), published_groups(["ceval"]))


def standing(name: str) -> DatasetStanding:
    return standings(RUNS[name], baselines={BASE})[0]


def test_subjects_are_counted_by_the_figure_that_ranks():
    made = by_subject(standing("winner"), "en")
    assert made is not None
    finding, (table, caption) = made
    assert finding == f"{LATE} is ahead in 2 of 4; 60 questions each are too few."
    assert isinstance(table, Table)
    assert isinstance(caption, Paragraph)
    assert table.head == ("Subject", "n", LATE, EARLY, BASE)
    assert [row[0] for row in table.rows] == [
        "STEM",
        "Other",
        "All subjects",
        "s0",
        "s1",
        "s2",
        "s3",
    ]
    # The even subjects are those that are lost with the order.
    assert [row[3].value for row in table.rows[3:]] == ["0.0", "100.0", "0.0", "100.0"]
    assert table.rows[2][3] == ValueCell("50", "%", "44–56", "mean over subjects 50.0")
    assert caption.text == "Right in every order, with its plausible range."


def test_one_model_that_is_alike_in_all_subjects_has_one_figure():
    cells = [summary(halting(5), LATE, subjects=3, pattern="origin")]
    made = by_subject(standings(cells)[0], "en")
    assert made is not None
    assert made[0] == "80 % in each of 3 subjects."
    assert by_subject(standing("tie"), "en") is None


def test_subjects_of_fewer_than_five_questions_are_left_out_and_counted():
    # Three of each subject; their categories have six.
    few = [summary(halting(5), LATE, n=12, subjects=4, pattern="origin")]
    made = by_subject(standings(few)[0], "en")
    assert made is not None
    finding, (table, caption) = made
    assert isinstance(table, Table)
    assert isinstance(caption, Paragraph)
    assert [row[0] for row in table.rows] == ["STEM", "Other", "All subjects"]
    assert finding.startswith("From ")
    assert "(STEM)" in finding
    assert caption.text.endswith("4 with fewer than 5 questions are left out.")
    fewer = [summary(halting(5), LATE, n=4, subjects=4, pattern="origin")]
    assert by_subject(standings(fewer)[0], "en") is None


def test_what_has_nothing_to_say_is_no_section():
    assert (
        section("by-subject", by_subject, [standing("tie")], "en", kind="groups.subjects") is None
    )


def test_one_model_has_its_best_and_its_worst_subject():
    cells = [summary(halting(7), LATE, subjects=3, pattern="origin")]
    made = by_subject(standings(cells)[0], "en")
    assert made is not None
    assert made[0].startswith("From ")


def test_a_finding_on_subjects_looks_at_every_model():
    def weak(question: int, order: int, target: int) -> int:
        del order
        lost = question % 3 == 0 and question // 3 % 5 < 3
        return (target + lost) % 4

    cells = [summary(pick, m, subjects=3) for pick, m in ((halting(5), LATE), (weak, EARLY))]
    made = by_subject(standings(cells)[0], "en")
    assert made is not None
    assert made[0].startswith("From 40 % (s0) to 100")
