"""A run as lm-evaluation-harness 0.4 leaves it with `--log_samples`: tools that read its logs, and
`evalui import`, read this.

A folder for each model holds a results file, and a file of samples for each task: a dataset in a
mode, and in one order of the options where several were shown. lm-eval has no answers of judges.
"""

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from evalui.report.analyses.base import Report
from evalui.report.export.archive import zip_parts
from evalui.report.export.encoder import JsonObject, json_text
from evalui.report.export.json import json_lines
from evalui.report.export.trial_cells import chunks_of
from evalui.types import LETTERS, CellResult, Language, Sample, Trial
from evalui.version import __version__

_MOMENT = "1980-01-01T00-00-00.000000"  # the same run gives the same archive
_NONE = "none"  # the name of lm-eval's filter that changes nothing
_CUE = "Answer:"
_SMALLEST = 1e-300  # of a probability, so that its logarithm is finite
# Of the readings of scored texts, lm-eval's metric that picks the same option.
_TEXT_METRICS = {"raw": "acc", "ln_char": "acc_norm", "ln_byte": "acc_bytes"}


@dataclass(frozen=True, slots=True)
class _Task:
    """Trials of one cell in one order of the options; `order` numbers them, 0 is the file's own."""

    name: str
    result: CellResult
    order: int


def lm_eval_zip(report: Report, language: Language) -> Iterator[bytes]:
    """All cells but those of judges, an archive piece by piece; names are in no language."""
    del language
    return zip_parts(_files(report))


def _files(report: Report) -> Iterator[tuple[str, Iterable[bytes]]]:
    models: dict[str, list[_Task]] = {}
    for result in report.results:
        if result.cell.gives != "verdicts":
            models.setdefault(result.cell.model, []).extend(_tasks(result))
    for number, (model, tasks) in enumerate(models.items(), start=1):
        folder = f"{number:02}_{_file_name(model)}"
        results = _results(model, tasks)
        text = f"{json_text(results, indented=True)}\n"
        yield f"{folder}/results_{_MOMENT}.json", (text.encode(),)
        for task in tasks:
            lines = json_lines(_samples(task))
            yield (
                f"{folder}/samples_{task.name}_{_MOMENT}.jsonl",
                (line.encode(errors="backslashreplace") for line in lines),
            )


def _tasks(result: CellResult) -> list[_Task]:
    """A task for each order that a question was shown in."""
    base = _file_name(f"{result.cell.dataset}_{result.cell.label}")
    orders = sorted({order for order, _ in _numbered(result)}) or [0]
    return [_Task(base + (f"_order{order}" if order else ""), result, order) for order in orders]


def _numbered(result: CellResult) -> Iterator[tuple[int, Trial]]:
    """Each trial with the number of its order among those of its question, 0 for the file's own."""
    seen: dict[str, int] = {}
    for chunk in chunks_of(result):
        for trial in chunk.objects:
            if trial.variant.is_origin or not trial.variant.permutation:
                yield 0, trial
                continue
            seen[trial.sample_id] = seen.get(trial.sample_id, 0) + 1
            yield seen[trial.sample_id], trial


def _samples(task: _Task) -> Iterator[JsonObject]:
    """The lines of a task, each with the metrics of lm-eval that its answer has."""
    places = {id_: place for place, id_ in enumerate(task.result.samples)}
    write = _writer(task.result)
    for order, trial in _numbered(task.result):
        if order == task.order:
            sample = task.result.samples[trial.sample_id]
            yield _line(places[sample.id], *write(sample, trial))


_Written = tuple[JsonObject, str, list[tuple[str, Any]], list[Any], dict[str, float]]


def _writer(result: CellResult) -> Callable[[Sample, Trial], _Written]:
    """What a line holds: the question's row, the target, the requests, the replies, the marks."""
    if result.cell.gives == "answers":
        return _answer_line
    return _choice_line


def _choice_line(sample: Sample, trial: Trial) -> _Written:
    shown = [sample.choices[content] for content in trial.variant.permutation]
    letters = list(LETTERS[: len(shown)])
    listed = "\n".join(f"{letter}. {text}" for letter, text in zip(letters, shown, strict=True))
    prompt = f"{sample.question}\n{listed}\n{_CUE}"
    row: JsonObject = {
        "id": sample.id,
        "question": sample.question,
        "choices": shown,
        "answer": trial.target,
        "subject": sample.subject,
    }
    if raw := trial.scores.get("raw"):
        before = f"{sample.question}\n{_CUE}"
        calls: list[tuple[str, Any]] = [(before, f" {text}") for text in shown]
        marks = {
            metric: _mark(trial.scores[name], trial.target)
            for name, metric in _TEXT_METRICS.items()
            if name in trial.scores
        }
        return row, str(trial.target), calls, _scored(raw), marks
    if trial.probabilities:
        calls = [(prompt, f" {letter}") for letter in letters]
        logs = _logs(trial)
        return row, str(trial.target), calls, _scored(logs), {"acc": _mark(logs, trial.target)}
    reply = trial.reply or ""
    read = trial.reading.choice
    marks = {"exact_match": trial.reading.credit}
    calls = [(prompt, {"until": [], "do_sample": False})]
    extracted = "" if read is None else LETTERS[read]
    return row, LETTERS[trial.target], calls, [(reply, extracted)], marks


def _answer_line(sample: Sample, trial: Trial) -> _Written:
    reply = "\n\n".join(trial.answers)
    row: JsonObject = {"id": sample.id, "question": sample.question, "subject": sample.subject}
    row["references"] = list(sample.references)
    calls: list[tuple[str, Any]] = [(sample.question, {"until": [], "do_sample": False})]
    exact = trial.scores.get("exact_match")
    marks = {"exact_match": exact[0]} if exact else {}
    target = sample.references[0] if sample.references else ""
    return row, target, calls, [(reply, reply)], marks


def _line(place: int, row: JsonObject, target: str, *rest: Any) -> JsonObject:
    calls, replies, marks = rest
    arguments = {
        f"gen_args_{n}": {"arg_0": prompt, "arg_1": more} for n, (prompt, more) in enumerate(calls)
    }
    is_scored = len(calls) > 1
    first = [[reply] if is_scored else [reply[0]] for reply in replies]
    return {
        "doc_id": place,
        "doc": row,
        "target": target,
        "arguments": arguments,
        "resps": first,
        "filtered_resps": replies if is_scored else [reply[1] for reply in replies],
        "filter": _NONE,
        "metrics": list(marks),
        "doc_hash": _digest(json_text(row)),
        "prompt_hash": _digest(calls[0][0]),
        "target_hash": _digest(target),
        **marks,
    }


def _scored(totals: Sequence[float]) -> list[list[str]]:
    """Log-likelihoods as lm-eval writes them; whether one is greedy is known of the best alone."""
    best = max(range(len(totals)), key=totals.__getitem__)
    return [[repr(total), str(place == best)] for place, total in enumerate(totals)]


def _logs(trial: Trial) -> tuple[float, ...]:
    """What the letters had of the probability of the whole vocabulary, in natural logarithms."""
    mass = trial.mass if trial.mass else 1.0
    return tuple(math.log(max(each * mass, _SMALLEST)) for each in trial.probabilities)


def _mark(scores: Sequence[float], target: int) -> float:
    """As lm-eval marks: the first of the best options is the answer."""
    return float(max(range(len(scores)), key=scores.__getitem__) == target)


def _results(model: str, tasks: Sequence[_Task]) -> JsonObject:
    figures = {task.name: _means(task) for task in tasks}
    return {
        "results": {
            name: {"alias": name, **{f"{metric},{_NONE}": mean for metric, mean in own.items()}}
            for name, own in figures.items()
        },
        "group_subtasks": {task.name: list[str]() for task in tasks},
        "configs": {
            task.name: {"task": task.name, "target_delimiter": " ", "metadata": _about(task)}
            for task in tasks
        },
        "versions": dict.fromkeys(figures, 1.0),
        "config": {"model": "evalui", "model_args": {"pretrained": model}},
        "model_name": model,
        "model_source": f"evalui {__version__}",
    }


def _about(task: _Task) -> dict[str, str]:
    return {"signature": task.result.cell.signature, "dataset": task.result.cell.dataset}


def _means(task: _Task) -> dict[str, float]:
    """The mean of each mark over the lines of a task."""
    totals: dict[str, list[float]] = {}
    for line in _samples(task):
        for metric in line["metrics"]:
            totals.setdefault(metric, []).append(line[metric])
    return {metric: math.fsum(own) / len(own) for metric, own in totals.items()}


def _file_name(text: str) -> str:
    return re.sub(r"[^\w.+-]+", "_", text)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
