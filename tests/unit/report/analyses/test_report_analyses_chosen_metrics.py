"""The metrics that a specification chooses lead its report."""

import json
from dataclasses import replace

import pytest
from bias_examples import cell_result, halting, often_first, right
from open_examples import answers_result

from evalui.report.compile import compile_report, frozen_blocks, markdown
from evalui.report.render.markdown import as_markdown
from evalui.scoring.metrics import METRICS, Metric
from evalui.types import CellResult

CHOICES = [cell_result(halting(3), model="less", n=60), cell_result(right, model="sure", n=60)]
WRITTEN = [answers_result(model) for model in ("weak", "late", "early")]


def specification(*metrics: str) -> str:
    return json.dumps({"datasets": [{"path": "d.csv"}], "models": ["m"], "metrics": metrics})


def report(results: list[CellResult], *metrics: str) -> str:
    made = compile_report("Spring", results, spec=specification(*metrics))
    return markdown(made, "en").replace("\\_", "_")


def rows(text: str) -> list[list[str]]:
    lines = text[text.index("Chosen metrics") :].splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("|"))
    table = lines[start : start + 2 + 3]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table if "|" in line]


def test_the_chosen_metrics_stand_in_their_order_before_all_else():
    text = report(CHOICES, "robust", "n", "acc_origin")
    assert text.index("Chosen metrics") < text.index("# Every figure")
    head, _, first, second, *_ = rows(text)
    assert head[1] == "Model"
    assert len(head) == 5
    assert [row[1].split()[-1] for row in (first, second)] == ["sure", "less"]
    assert [first[0], second[0]] == ["1", "2"]
    assert first[3] == "60"
    assert "1 of 1 pair told apart after correction." in text


def test_the_names_of_readings_and_of_opencompass_may_be_chosen():
    names = ("perf_circular", "more_3_circular", "acc_circular", "tolerant")
    made = compile_report("Spring", CHOICES, spec=specification(*names))
    text = markdown(made, "en").replace("\\_", "_")
    head, _, first, second, *_ = rows(text)
    assert head[2:] == list(names)
    assert [row[1].split()[-1] for row in (first, second)] == ["sure", "less"]
    by_model = {summary.cell.model: summary for summary in made.summaries}
    assert second[2].partition(" ")[0] == f"{by_model['less'].metrics['perf_circular']:.1f}"
    pairs, metrics = made.frames["pairs"], made.frames["metrics"]
    (robust,) = pairs[pairs["measure"] == "perf_circular"].to_dict("records")
    assert (robust["first"], robust["n"]) == ("less", 60)
    places = zip(metrics["model"], metrics["metric"], strict=True)
    shown = dict(zip(places, metrics["value"], strict=True))
    for name in names:
        assert robust["points"] == pytest.approx(
            shown["less", "perf_circular"] - shown["sure", "perf_circular"]
        )
        assert ("sure", name) in shown


def test_who_is_no_better_than_guessing_has_no_rank_by_an_accuracy_either():
    constant = cell_result(lambda *_: 0, model="constant", pattern="origin")
    able = cell_result(right, model="able", pattern="origin")
    cells = [often_first(cell) for cell in (constant, able)]
    _, _, first, second, *_ = rows(report(cells, "acc_origin"))
    assert (first[0], second[0]) == ("1", "–")


def test_a_metric_whose_lower_values_are_better_ranks_the_lowest_first(
    monkeypatch: pytest.MonkeyPatch,
):
    metric = Metric(
        "wrong",
        lambda cell: 1 - float(cell.columns.reading.credit.mean()),
        direction="lower",
        label={"en": "Wrong"},
    )
    monkeypatch.setitem(METRICS._entries, "wrong", metric)  # pyright: ignore[reportPrivateUsage]
    _, _, first, second, *_ = rows(report(CHOICES, "wrong"))
    assert [row[1].split()[-1] for row in (first, second)] == ["sure", "less"]
    assert [first[0], second[0]] == ["1", "2"]


def test_any_text_metric_leads_and_is_ranked():
    head, _, first, *_ = rows(report(WRITTEN, "bleu-4", "exact_match"))
    assert head[2:] == ["bleu-4", "exact_match"]
    assert (first[0], first[1].split()[-1]) == ("1", "late")


def test_a_metric_that_is_not_installed_and_one_without_a_figure_are_named():
    text = report(CHOICES, "acc_origin", "label_mass", "gone")
    assert "- gone is not installed here." in text
    assert "- label_mass is not shown: the model gave no probabilities." in text


def test_without_a_choice_nothing_is_added():
    assert "Chosen metrics" not in report(CHOICES)
    pairs = compile_report("", CHOICES, spec=specification()).frames["pairs"]
    assert pairs["measure"].tolist() == ["robust"]


def test_every_pair_in_every_chosen_metric_is_exported():
    made = compile_report("", WRITTEN, spec=specification("bleu-1", "exact_match"))
    pairs = made.frames["pairs"]
    chosen = pairs[pairs["mode"].notna()]  # the others are those of every run
    assert chosen["measure"].tolist() == ["bleu-1"] * 3 + ["exact_match"] * 3
    assert "Chosen metrics" in as_markdown(frozen_blocks(made, "en"))


def test_pairs_wait_until_all_answers_are_in():
    open_ = [replace(WRITTEN[0], state="running"), *WRITTEN[1:]]
    assert "Pairs in" not in report(open_, "bleu-1")
    assert "Pairs in bleu-1" in report(WRITTEN, "bleu-1")
