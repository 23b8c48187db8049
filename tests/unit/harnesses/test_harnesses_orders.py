"""Logs of one model that hold the same questions in other orders are one run."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from harness_examples import LOGS, imported, report_of

from evalui.harnesses.base import LoggedAnswer, LogPart, LogReader
from evalui.harnesses.orders import join_orders
from evalui.runs.results import read_results
from evalui.scoring.bias import measure_bias
from evalui.scoring.choice.circular import circular_metrics
from evalui.store.connection import Database

OPTIONS = ("oak", "elm", "ash")


def rotated(by: int) -> tuple[str, ...]:
    return OPTIONS[by:] + OPTIONS[:by]


def answer(number: int, options: Sequence[str] = OPTIONS, picks: str = "A") -> LoggedAnswer:
    """The right option is always the oak, and the harness marks the letter that was picked."""
    gold = options.index("oak")
    mark = float("ABC".index(picks) == gold)
    question = f"Which tree is number {number}?"
    return LoggedAnswer(
        str(number), question, tuple(options), gold, reply=picks, marks={"exact_match": mark}
    )


def part(*answers: LoggedAnswer, **changes: Any) -> LogPart:
    made = LogPart(
        harness="lm-eval",
        dataset="trees",
        model="m",
        evidence="reply",
        files=("f",),
        read=lambda: iter(answers),
        readings={"exact_match": "tolerant"},
        missing=("one-order", "probabilities"),
    )
    return replace(made, **changes)


def reader_of(*parts: LogPart) -> LogReader:
    def read(files: Sequence[Path]) -> tuple[LogPart, ...]:
        del files
        return parts

    return read


def test_logs_of_three_orders_are_one_circular_cell(database: Database):
    """A model that always says A is right in one order of three, and in no question in all."""
    logs = [part(*(answer(n, rotated(by)) for n in range(4)), files=(f"f{by}",)) for by in range(3)]
    run = imported(database, "lmeval", reader=reader_of(*logs))
    (result,) = read_results(database, run.run_id)
    assert result.cell.pattern == "circular"
    assert {trial.variant.permutation for trial in result.trials} == {
        (0, 1, 2),
        (1, 2, 0),
        (2, 0, 1),
    }
    figures = circular_metrics(result.trials, "circular").values
    assert figures["acc_origin"] == 100
    assert figures["acc_circular"] == pytest.approx(100 / 3)
    assert figures["perf_circular"] == 0
    ((_, source),) = run.sources
    assert source.files == ("f0", "f1", "f2")
    assert source.missing == ("probabilities",)
    assert run.sources[0][0].model == "m"
    assert [(each.name, each.marked, each.ours) for each in source.figures] == [
        ("exact_match", 1.0, 1.0),
        ("exact_match (2)", 0.0, 0.0),
        ("exact_match (3)", 0.0, 0.0),
    ]


def test_questions_are_matched_by_text_and_not_by_id(database: Database):
    first = part(*(answer(n) for n in range(3)))
    second = part(*(replace(answer(n, rotated(1)), id=str(2 - n)) for n in range(3)))
    run = imported(database, "lmeval", reader=reader_of(first, second))
    (result,) = read_results(database, run.run_id)
    trials = {(trial.sample_id, trial.variant.permutation) for trial in result.trials}
    assert trials == {(str(n), order) for n in range(3) for order in ((0, 1, 2), (1, 2, 0))}
    assert not run.left_out


def test_a_question_that_matches_none_is_named(database: Database):
    second = part(answer(0, rotated(1)), answer(9, rotated(1)), files=("second.jsonl",))
    run = imported(database, "lmeval", reader=reader_of(part(answer(0)), second))
    (left,) = run.left_out
    assert (left.rule, left.rows) == ("log-unmatched", 1)
    assert left.what == "second.jsonl, 9 (Which tree is number 9?)"


def test_a_question_that_may_be_two_is_left_out():
    twice = [replace(answer(0), id=name) for name in ("a", "b")]
    (joined,) = join_orders([part(*twice), part(answer(0, rotated(1)))])
    assert [getattr(each, "flaw", "") for each in joined.read()] == ["", "", "unmatched"]


@pytest.mark.parametrize(
    "other",
    [
        part(answer(0)),  # the same order: the model has been run again
        part(answer(7, rotated(1))),
        part(answer(0, rotated(1)), model="another"),
        part(answer(0, rotated(1)), shots=5),
        part(answer(0, rotated(1)), answer(7), dataset="another"),
        part(answer(0, ("oak", "elm", "fir"))),
    ],
)
def test_other_logs_stay_apart(other: LogPart):
    first = part(answer(0))
    assert join_orders([first, other]) == (first, other)


def test_a_dataset_of_another_name_joins_if_all_its_questions_match():
    first = part(answer(0), answer(1))
    assert len(join_orders([first, part(answer(0, rotated(1)), dataset="trees_1")])) == 1


def test_logs_that_are_given_one_name_join(database: Database):
    parts = [part(answer(0), model="a"), part(answer(0, rotated(1)), model="b")]
    run = imported(database, "lmeval", reader=reader_of(*parts), models={"a": "m", "b": "m"})
    assert [(cell.model, cell.pattern) for cell, _ in run.sources] == [("m", "circular")]


def test_what_has_been_joined_is_joined_no_further():
    joined = join_orders([part(answer(0)), part(answer(0, rotated(1)))])
    third = part(answer(0, rotated(2)))
    assert join_orders([*joined, third]) == (*joined, third)


def test_a_golden_log_and_its_options_turned_are_one_run(database: Database, tmp_path: Path):
    folders = [tmp_path / str(times) for times in range(4)]
    for times, folder in enumerate(folders):
        copy_letters(folder, times)
    run = imported(database, *folders)
    (result,) = read_results(database, run.run_id)
    assert result.cell.pattern == "circular"
    assert len(result.samples) == 16
    assert len(result.trials) == 64
    (summary,) = report_of(database, run).summaries
    # The probabilities go with the texts: in every order the same option is chosen.
    assert summary.metrics["acc_circular"] == summary.metrics["perf_circular"] == 31.25
    assert not summary.incomplete
    (stratum,) = measure_bias(result.trials, "circular").strata
    assert stratum.n == 16
    ((_, source),) = run.sources
    marks = {each.name: each for each in source.figures if not each.subject}
    assert marks["acc,none"].marked == marks["acc,none"].printed == 0.3125
    assert marks["acc,none (4)"].marked == marks["acc,none (4)"].printed == 0.3125


def copy_letters(folder: Path, times: int) -> None:
    """The golden tasks of letters, the options of each line turned so many times."""
    source = LOGS / "lmeval" / "qwen2-small-4l256"
    own = folder / source.name
    own.mkdir(parents=True)
    shutil.copy(next(source.glob("results_*.json")), own)
    for path in source.glob("samples_letters_*.jsonl"):
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for _ in range(times):
            lines = [turned(line) for line in lines]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (own / path.name).write_text(text, encoding="utf-8")


def turned(line: dict[str, Any]) -> dict[str, Any]:
    """The line with its options in the order B, C, D, A, and what belongs to each with it."""

    def turn(values: Sequence[Any]) -> list[Any]:
        return [*values[1:], values[0]]

    choices = line["doc"]["choices"]
    prompt = line["doc"]["question"] + "".join(
        f"\n{letter}. {text}" for letter, text in zip("ABCD", turn(choices), strict=True)
    )
    return line | {
        "doc": line["doc"] | {"choices": turn(choices)},
        "target": str((int(line["target"]) - 1) % 4),
        "arguments": [[f"{prompt}\nAnswer:", f" {letter}"] for letter in "ABCD"],
        "resps": turn(line["resps"]),
        "filtered_resps": turn(line["filtered_resps"]),
    }
