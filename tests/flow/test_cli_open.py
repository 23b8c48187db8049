"""`evalui run` on open questions: existing answers, judged both ways, and the same figures
from the files it leaves behind."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalui.cli.main import main

RIGHT = {"France": "Paris", "Italy": "Rome", "Spain": "Madrid", "Norway": "Oslo"}
NEAR = {"France": "It is Paris", "Italy": "Milan", "Spain": "Madrid", "Norway": "Bergen"}
WRONG = {"France": "Lyon", "Italy": "Turin", "Spain": "Sevilla", "Norway": "Bergen"}
ZH = ("中国的首都是哪里？", "中国的首都是北京", ("中国的首都是北京", "北京", "上海"))
TIMES = range(5)  # that each is asked: a group of fewer questions has no chart


def _lines(rows: list[dict[str, str]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A subjective file, three contestants' answers to it, and judges by rule."""
    rows = [
        {
            "index": f"en-{number}-{time}",
            "question": f"What is the capital of {land}? ({time})",
            "reference_answer": capital,
            "capability": "facts" if number < 3 else "geography",
        }
        for number, (land, capital) in enumerate(RIGHT.items(), start=1)
        for time in TIMES
    ]
    rows += [
        {
            "index": f"cn-{time}",
            "question": f"{ZH[0]}（{time}）",
            "reference_answer": ZH[1],
            "capability": "facts",
        }
        for time in TIMES
    ]
    (tmp_path / "capitals.jsonl").write_text(_lines(rows))
    for name, answers, chinese in zip(
        ("right", "near", "wrong"), (RIGHT, NEAR, WRONG), ZH[2], strict=True
    ):
        given = [
            {"index": f"en-{number}-{time}", "answer": answer}
            for number, answer in enumerate(answers.values(), start=1)
            for time in TIMES
        ]
        given += [{"index": f"cn-{time}", "answer": chinese} for time in TIMES]
        (tmp_path / f"answers_{name}.jsonl").write_text(_lines(given))
    (tmp_path / "models.toml").write_text(
        "".join(
            f'[{rule}]\nbackend = "scripted"\nbaseline = true\n'
            f'options = {{ rule = "{rule}", role = "judge" }}\n'
            for rule in ("reference-judge", "first-biased-judge")
        )
    )
    return tmp_path


@pytest.fixture
def run(desk: Path) -> Callable[..., dict[str, Any]]:
    def make(**change: Any) -> dict[str, Any]:
        spec = {
            "datasets": ["capitals.jsonl"],
            "answers": [
                {"model": name, "path": f"answers_{name}.jsonl"}
                for name in ("right", "near", "wrong")
            ],
            "judging": {"judges": ["reference-judge"]},
        }
        path = desk / "spec.json"
        path.write_text(json.dumps(spec | change))
        models = str(desk / "models.toml")
        out = desk / "out"
        assert main(["run", str(path), "--out", str(out), "--models-file", models]) == 0
        return json.loads((out / "report.json").read_text())

    return make


def _scored(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["score", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_run_leaves_a_report_for_people_and_one_for_machines(
    desk: Path, run: Callable[..., dict[str, Any]]
):
    told = run()
    written = {path.name for path in (desk / "out").iterdir()}
    assert {"report.md", "report.html", "report.json", "by_capa.png", "by_lang.png"} <= written
    assert [standing["model"] for standing in told["standings"]] == ["right", "near", "wrong"]
    page, *scripts = (desk / "out" / "report.html").read_text().split("<script>")
    assert len(scripts) == 2  # Plotly, and what draws with it
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_a_consistent_judge_under_both_orders_gives_no_draw_of_wins_and_losses(
    run: Callable[..., dict[str, Any]],
):
    tallies = {standing["model"]: standing for standing in run()["standings"]}
    assert tallies["right"]["win"] > tallies["right"]["lose"] == 0
    assert tallies["wrong"]["lose"] > tallies["wrong"]["win"] == 0


def test_battles_of_a_run_score_alike_alone(
    desk: Path, run: Callable[..., dict[str, Any]], capsys: pytest.CaptureFixture[str]
):
    standings = run()["standings"]
    alone = _scored(capsys, "battles", str(desk / "out" / "battles.jsonl"))
    for standing in standings:
        name = standing["model"]
        table = alone["table"][name]
        counts = [standing[key] for key in ("win", "tie", "lose", "not_bad")]
        assert [table[key] for key in ("W", "T", "L", "NB")] == counts
        assert alone["scores"][name] == standing["score"]
        assert alone["elo"]["permutations"]["median"][name] == pytest.approx(standing["elo"])


def test_answers_of_a_run_score_alike_alone(
    desk: Path, run: Callable[..., dict[str, Any]], capsys: pytest.CaptureFixture[str]
):
    told = {answers["model"]: answers for answers in run()["answers"]}
    trials = [json.loads(line) for line in (desk / "out" / "trials.jsonl").read_text().splitlines()]
    for name in ("right", "near", "wrong"):
        pairs = desk / f"pairs_{name}.jsonl"
        pairs.write_text(
            _lines(
                [
                    {"prediction": trial["reply"], "reference": trial["references"]}
                    for trial in trials
                    if trial["model"] == name
                ]
            )
        )
        alone = _scored(capsys, "texts", str(pairs))
        assert alone["n"] == told[name]["n"] == 5 * len(TIMES)
        for figure in ("rouge-1-r", "rouge-l-f", "bleu-1", "bleu-4", "token_f1"):
            assert told[name][figure] == pytest.approx(100 * alone[figure])


def test_an_order_biased_judge_is_exposed(run: Callable[..., dict[str, Any]]):
    (swayed,) = run(judging={"judges": ["first-biased-judge"]})["reliability"]
    (honest,) = run()["reliability"]
    flips = [found["changed_with_order"] for found in (swayed, honest)]
    assert flips[0] > 10
    assert flips[1] == 0


def test_a_panel_of_judges_votes(run: Callable[..., dict[str, Any]]):
    judges = ["reference-judge", "first-biased-judge"]
    rows = run(judging={"judges": judges})["reliability"]
    assert [row["judge"] for row in rows] == ["panel", *judges]


def test_single_answers_are_rated(run: Callable[..., dict[str, Any]]):
    rating = {"judges": ["reference-judge"], "template": "score10-en.1"}
    means = {marks["model"]: marks["mark"] for marks in run(judging=rating)["marks"]}
    assert means["right"] > means["wrong"]


def test_answers_of_a_run_can_be_brought_to_another(desk: Path, run: Callable[..., dict[str, Any]]):
    first = {answers["model"]: answers for answers in run()["answers"]}
    (desk / "out" / "trials.jsonl").rename(desk / "earlier.jsonl")
    again = run(answers=[{"model": name, "path": "earlier.jsonl"} for name in ("right", "near")])
    for answers in again["answers"]:
        figures = [name for name in answers if name.startswith(("rouge-", "bleu-"))]
        assert figures
        assert all(answers[name] == first[answers["model"]][name] for name in figures)
