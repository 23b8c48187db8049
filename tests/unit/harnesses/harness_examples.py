"""Logs of other harnesses, and runs that are made of them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evalui.harnesses.importing import ImportedRun, import_run
from evalui.report.analyses.base import Report
from evalui.report.compile import compile_report
from evalui.runs.results import read_results
from evalui.store.connection import Database
from evalui.store.runs import read_left_out, read_run
from evalui.types import PrintedFigure

LOGS = Path(__file__).parents[2] / "golden" / "harnesses"


def imported(database: Database, *paths: Path | str, **more: Any) -> ImportedRun:
    return import_run(database, [LOGS / path for path in paths], **more)


def report_of(database: Database, run: ImportedRun) -> Report:
    results, left_out = read_results(database, run.run_id), read_left_out(database, run.run_id)
    return compile_report(read_run(database, run.run_id).name, results, left_out=left_out)


def figures_of(run: ImportedRun, dataset: str) -> dict[tuple[str, str], PrintedFigure]:
    """The figures of the first cell of a dataset, by their subject and name."""
    for cell, source in run.sources:
        if cell.dataset == dataset:
            return {(each.subject, each.name): each for each in source.figures}
    raise KeyError(dataset)


def choice_line(number: int = 0, **more: Any) -> dict[str, Any]:
    """A line of lm-eval: two options that are scored one by one, the first is right and best."""
    scores = [["-1.0", "True"], ["-3.0", "False"]]
    options = ["Paris", "Rome"]
    return {
        "doc_id": number,
        "doc": {"question": f"Capital of France? ({number})"},
        "target": "0",
        "arguments": [[f"Q{number}", f" {text}"] for text in options],
        "resps": [[score] for score in scores],
        "filtered_resps": scores,
        "filter": "none",
        "metrics": ["acc"],
        "acc": 1.0,
    } | more


def write_lm_eval(
    folder: Path, lines: Sequence[Mapping[str, Any] | str], printed: Mapping[str, Any] | None = None
) -> Path:
    """A folder of lm-eval with one task, `capitals`."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    (folder / "samples_capitals_2026-01-01T00-00-00.0.jsonl").write_text("\n".join(texts) + "\n")
    if printed is not None:
        results = {
            "results": {"capitals": dict(printed)},
            "configs": {"capitals": {"target_delimiter": " "}},
            "versions": {"capitals": 1.0},
            "n-shot": {"capitals": 0},
            "lm_eval_version": "0.4.13",
            "model_name": "m",
        }
        (folder / "results_2026-01-01T00-00-00.0.json").write_text(json.dumps(results))
    return folder
