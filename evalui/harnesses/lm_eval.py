"""lm-evaluation-harness 0.4: `samples_*.jsonl` of `--log_samples`, and `results_*.json` beside.

Each line is a question. Of a choice it has the log-likelihood of each continuation and whether it
is the greedy one: letters after the options, or the texts of options that the prompt does not show.
A task of several filters has a line for each filter. A line of a task with `repeats` has several
replies.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from evalui.datasets.model import as_list, as_object
from evalui.errors import DataError
from evalui.harnesses.base import (
    HARNESSES,
    Block,
    Evidence,
    Flaw,
    FlawedAnswer,
    LoggedAnswer,
    LogPart,
)
from evalui.harnesses.files import (
    JsonObject,
    as_number,
    as_text,
    first_object,
    json_line,
    json_lines,
    json_object,
    line_blocks,
)
from evalui.harnesses.options import options_of, question_of, slot_of
from evalui.types import LETTERS, PrintedFigure

NAME = "lm-eval"
_SAMPLES = re.compile(r"samples_(?P<task>.+?)(?:_(?P<time>\d{4}-\d\d-\d\dT[\d.:-]+))?$")
_RESULTS = re.compile(r"results(?:_(?P<time>\d{4}-\d\d-\d\dT[\d.:-]+))?$")
_KEYS = {"doc_id", "doc", "target", "arguments", "filtered_resps"}
_NO_FIGURES = ("alias", "name", "sample_len", "sample_count")
# evalui's reading of the same answers, by the metric of lm-eval.
READINGS: Mapping[Evidence, Mapping[str, str]] = {
    "letters": {"acc": "forced", "acc_norm": "forced"},
    "texts": {"acc": "raw", "acc_norm": "ln_char", "acc_bytes": "ln_byte", "acc_mutual_info": "un"},
    "reply": {"exact_match": "tolerant", "acc": "tolerant"},
    "written": {"exact_match": "exact_match"},
}
_MISSING: Mapping[Evidence, tuple[str, ...]] = {
    "letters": ("one-order",),
    "texts": ("one-order-texts", "tokens"),
    "reply": ("one-order",),
    "written": (),
}


def read_lm_eval(files: Sequence[Path]) -> tuple[LogPart, ...]:
    """The parts of all its logs among the files; tasks of a group are one dataset.

    Raises:
        DataError: there are results and no samples.
    """
    logs = [_TaskLog.of(path, files) for path in files if _has_samples(path)]
    if not logs:
        if results := next((path for path in files if _has_results(path)), None):
            raise DataError("log-lm-eval-results", file=results.name)
        return ()
    return tuple(map(_part, by_part(logs)))


@dataclass(frozen=True, slots=True)
class TaskLog:
    """The samples of one task; `dataset` is the group that the task belongs to, or the task."""

    path: Path
    task: str
    time: str
    dataset: str
    evidence: Evidence
    results: JsonObject


_Log = TypeVar("_Log", bound=TaskLog)


def by_part(logs: Iterable[_Log]) -> list[list[_Log]]:
    """The logs of one moment, data set and kind of evidence together."""
    groups: dict[tuple[Path, str, str, Evidence], list[_Log]] = {}
    for log in logs:
        key = (log.path.parent, log.time, log.dataset, log.evidence)
        groups.setdefault(key, []).append(log)
    return list(groups.values())


class _TaskLog(TaskLog):
    """The same, with what else a part is made of."""

    __slots__ = ()

    @classmethod
    def of(cls, path: Path, files: Iterable[Path]) -> "_TaskLog":
        name = _SAMPLES.match(path.stem)
        task, time = (name["task"], name["time"] or "") if name else (path.stem, "")
        results = _results_beside(path, time, files)
        first = first_object(path) or {}
        return cls(path, task, time, group_of(task, results), _evidence(first), results)

    @property
    def delimiter(self) -> str:
        """What stands between the prompt and a continuation."""
        config = as_object(as_object(self.results.get("configs")).get(self.task))
        return as_text(config.get("target_delimiter", " "))


def _has_samples(path: Path) -> bool:
    if path.suffix != ".jsonl":
        return False
    return (first_object(path) or {}).keys() >= _KEYS


def _has_results(path: Path) -> bool:
    if path.suffix != ".json" or not _RESULTS.match(path.stem):
        return False
    return {"results", "configs"} <= (json_object(path) or {}).keys()


def _results_beside(path: Path, time: str, files: Iterable[Path]) -> JsonObject:
    """The results of the same moment in the same folder, else the only ones there; {} if none."""
    beside = [each for each in files if each.parent == path.parent and _RESULTS.match(each.stem)]
    same = [each for each in beside if time and each.stem.endswith(time)]
    chosen = same[:1] or (beside if len(beside) == 1 else [])
    return (json_object(chosen[0]) or {}) if chosen else {}


def group_of(task: str, results: JsonObject) -> str:
    """The outermost group of a task, the task itself if it is in none."""
    parents = {
        as_text(child): group
        for group, children in as_object(results.get("group_subtasks")).items()
        for child in as_list(children)
    }
    seen = {task}
    while (parent := parents.get(task)) and parent not in seen:
        seen.add(parent)
        task = parent
    return task


def _evidence(sample: JsonObject) -> Evidence:
    """What decides the answers of a task, by its first line."""
    calls = _calls(sample)
    if calls and isinstance(calls[0][1], str) and len(calls) > 1:
        letters = _letters(calls)
        return "letters" if letters and _shown_options(sample, calls, letters) else "texts"
    options = options_of(calls[0][0]) if calls else ()
    named = slot_of(sample.get("target"), len(options)) is not None
    return "reply" if len(options) > 1 and named else "written"


def _part(logs: Sequence[_TaskLog]) -> LogPart:
    first = logs[0]
    results, dataset, evidence = first.results, first.dataset, first.evidence
    missing = _MISSING[evidence] + (() if results else ("results",))
    tasks = [log.task for log in logs]
    subjects = dict.fromkeys(tasks, "") if tasks == [dataset] else subjects_of(tasks, dataset)
    figures = [*figures_of(results, dataset, "")] if results else []
    for task, subject in subjects.items():
        figures += figures_of(results, task, subject) if subject else ()
    readings = READINGS[evidence]
    metrics = {figure.name for figure in figures} | {name for log in logs for name in _names(log)}
    main = next((name for name in metrics if name.partition(",")[0] in readings), "")
    model = _model(results)
    return LogPart(
        harness=NAME,
        dataset=dataset,
        model=model or first.path.parent.name,
        evidence=evidence,
        files=tuple(log.path.name for log in logs),
        read=partial(_answers, logs, subjects),
        blocks=partial(_blocks, logs, subjects),
        version=as_text(results.get("lm_eval_version")),
        task_version=as_text(as_object(results.get("versions")).get(dataset)),
        shots=shots_of(results, tasks[0]),
        figures=tuple(figures),
        readings={name: readings[key] for name in metrics if (key := _metric(name)) in readings},
        main_mark=main,
        repeats=evidence in ("reply", "written")
        and any(len(_replies(first_object(log.path) or {})) > 1 for log in logs),
        missing=missing,
        named_after=None if model else first.path.parent,
    )


def _metric(name: str) -> str:
    return name.partition(",")[0]


def _names(log: _TaskLog) -> Iterator[str]:
    sample = first_object(log.path) or {}
    return (f"{name},{_filter(sample)}" for name in _metrics(sample))


def subjects_of(tasks: Sequence[str], dataset: str) -> dict[str, str]:
    """The task names without the name of their group before them."""
    return {task: task.removeprefix(f"{dataset}_") for task in tasks}


def shots_of(results: JsonObject, task: str) -> int | None:
    """How many worked examples stood before a question, None if no file states it."""
    number = as_number(as_object(results.get("n-shot")).get(task))
    return None if number is None else int(number)


def _model(results: JsonObject) -> str:
    """The model as the results state it, "" if they do not."""
    arguments = as_object(as_object(results.get("config")).get("model_args"))
    name = as_text(results.get("model_name"))
    name = name or as_text(arguments.get("pretrained")) or as_text(arguments.get("model"))
    return Path(name).name if name.startswith(("/", ".")) else name


def figures_of(results: JsonObject, task: str, subject: str) -> Iterator[PrintedFigure]:
    """What is printed of a task or a group; standard errors are no figures of their own."""
    printed = as_object(as_object(results.get("results")).get(task))
    printed = as_object(as_object(results.get("groups")).get(task)) or printed
    for name, value in printed.items():
        if name in _NO_FIGURES or "_stderr" in name or isinstance(value, dict):
            continue
        if (number := as_number(value)) is not None:
            yield PrintedFigure(name, number, subject=subject)


def _answers(
    logs: Sequence[_TaskLog], subjects: Mapping[str, str]
) -> Iterator[LoggedAnswer | FlawedAnswer]:
    for block in _blocks(logs, subjects):
        yield from block()


def _blocks(logs: Sequence[_TaskLog], subjects: Mapping[str, str]) -> Iterator[Block]:
    for log in logs:
        lines = (sample for _, sample in json_lines(log.path))
        whole = (sample for sample in lines if sample is not None and sample.keys() >= _KEYS)
        first_filter = _filter(next(whole, as_object(None)))
        for block in line_blocks(log.path):
            yield partial(_answers_of_lines, log, subjects[log.task], first_filter, block)


def _answers_of_lines(
    log: _TaskLog, subject: str, first_filter: str, lines: Sequence[tuple[int, bytes]]
) -> Iterator[LoggedAnswer | FlawedAnswer]:
    """The answers of numbered lines; those of other filters than the first are further marks."""
    delimiter = log.delimiter
    for number, line in lines:
        sample = json_line(line)
        if sample is None or not sample.keys() >= _KEYS:
            yield FlawedAnswer(f"{log.path.name}:{number}", "damaged")
            continue
        id_ = as_text(sample["doc_id"])
        id_ = f"{log.task}/{id_}" if subject else id_
        filter_ = _filter(sample)
        marks = _marks(sample, filter_)
        if filter_ != first_filter:
            yield LoggedAnswer(id_, subject=subject, marks=marks, marks_only=True)
            continue
        read = _answer(sample, _Known(id_, subject, marks), log.evidence, delimiter)
        if isinstance(read, LoggedAnswer):
            yield read
        else:
            yield FlawedAnswer(f"{log.path.name}:{number}", read)


class _Known(NamedTuple):
    """What is known of a line before its answer is read."""

    id: str
    subject: str
    marks: Mapping[str, float]


def _answer(
    sample: JsonObject, known: _Known, evidence: Evidence, delimiter: str
) -> LoggedAnswer | Flaw:
    """The answer of a line, or why it cannot be used."""
    calls = _calls(sample)
    if not calls:
        return "no-answer"
    if isinstance(sample["target"], list):
        return "several"
    if evidence in ("letters", "texts"):
        return _scored(sample, known, calls, evidence, delimiter)
    replies = _replies(sample)
    if not replies or not all(isinstance(each, str) for each in replies):
        return "no-answer"
    reply, *more = replies
    prompt = calls[0][0]
    if evidence == "written":
        return LoggedAnswer(
            known.id,
            _question(sample, prompt),
            references=(as_text(sample["target"]),),
            subject=known.subject,
            reply=reply,
            more_replies=tuple(more),
            marks=known.marks,
        )
    options = options_of(prompt)
    gold = slot_of(sample["target"], len(options))
    if gold is None:
        return "gold"
    extracted = as_list(sample["filtered_resps"])
    return LoggedAnswer(
        known.id,
        _question(sample, prompt),
        options,
        gold,
        subject=known.subject,
        reply=reply,
        more_replies=tuple(more),
        extracted=slot_of(extracted[0] if extracted else None, len(options)),
        marks=known.marks,
    )


def _replies(sample: JsonObject) -> list[Any]:
    """What the model replied to the one prompt of a line; of scored options nothing counts here."""
    resps = as_list(sample.get("resps"))
    return as_list(resps[0]) if resps else []


def _scored(
    sample: JsonObject,
    known: _Known,
    calls: Sequence[tuple[str, Any]],
    evidence: Evidence,
    delimiter: str,
) -> LoggedAnswer | Flaw:
    scores = [as_list(each) for each in as_list(sample["filtered_resps"])]
    try:
        totals = tuple([float(each[0]) for each in scores])
    except (IndexError, TypeError, ValueError):
        return "damaged"
    greedy = tuple([str(each[1]) == "True" for each in scores if len(each) > 1])
    unconditional: tuple[float, ...] | None = None
    half = len(calls) // 2
    if len(calls) % 2 == 0 and calls[half][0] == "" != calls[0][0]:
        unconditional, calls = totals[half:], calls[:half]
        totals, greedy = totals[:half], greedy[:half]
    if not len(calls) == len(totals) > 1:
        return "damaged"
    options = (
        _shown_options(sample, calls, _letters(calls))
        if evidence == "letters"
        else _continued(calls, delimiter)
    )
    if len(options) != len(totals) or len(totals) > len(LETTERS) or not all(options):
        return "options"
    if as_number(sample.get("acc")) not in (None, 0.0, 1.0):
        return "several"  # a share of the probability, as of TruthfulQA's second form
    gold = _gold(sample, options, calls, totals)
    if gold is None:
        return "gold"
    return LoggedAnswer(
        known.id,
        _question(sample, calls[0][0]),
        options,
        gold,
        subject=known.subject,
        marks=known.marks,
        totals=totals,
        greedy=greedy if len(greedy) == len(totals) else (),
        unconditional=unconditional,
    )


def _gold(
    sample: JsonObject,
    options: Sequence[str],
    calls: Sequence[tuple[str, Any]],
    totals: Sequence[float],
) -> int | None:
    """The slot of the right option; None if the target, the options and the mark disagree.

    A target such as "2" may be a place or a text. Where the log has `acc`, which lm-eval gives for
    the first of the best options, only what agrees with it counts.
    """
    target = sample["target"]
    readings: list[int] = []
    text = str(target).strip()
    if text.isdecimal() and int(text) < len(options):
        readings.append(int(text))
    readings += [place for place, call in enumerate(calls) if str(call[1]).strip() == text]
    if text in options:
        readings += [place for place, each in enumerate(options) if each == text]
    if not readings and (slot := slot_of(target, len(options))) is not None:
        readings.append(slot)
    acc = as_number(sample.get("acc"))
    if acc is not None:
        best = totals.index(max(totals))
        readings = [slot for slot in readings if (slot == best) == (acc == 1.0)]
    elif len(set(readings)) > 1:
        return None
    return readings[0] if readings else None


def _calls(sample: JsonObject) -> list[tuple[str, Any]]:
    """Each request: the prompt, and the continuation or the settings; [] if they are unreadable."""
    arguments: Any = sample.get("arguments")
    listed = list(as_object(arguments).values()) or as_list(arguments)
    calls: list[tuple[str, Any]] = []
    for each in listed:
        pair: list[Any] = [*each.values()] if isinstance(each, dict) else as_list(each)
        if len(pair) < 2 or not isinstance(pair[0], str):
            return []
        calls.append((pair[0], pair[1]))
    return calls


def _letters(calls: Sequence[tuple[str, Any]]) -> tuple[str, ...]:
    """The continuations if they are A, B, C, ...; else ()."""
    return _letters_of(tuple([str(call[1]) for call in calls]))


@lru_cache(maxsize=256)  # a task has few
def _letters_of(continuations: tuple[str, ...]) -> tuple[str, ...]:
    named = tuple([each.strip().strip("().") for each in continuations])
    return named if len(named) > 1 and named == tuple(LETTERS[: len(named)]) else ()


def _shown_options(
    sample: JsonObject, calls: Sequence[tuple[str, Any]], letters: Sequence[str]
) -> tuple[str, ...]:
    """The texts that letters stand for: as the prompt shows them, else as the question's row has
    them.
    """
    if len(options := options_of(calls[0][0])) == len(letters):
        return options
    row = as_object(sample.get("doc"))
    for key in ("choices", "options"):
        listed = as_object(row.get(key)).get("text") or row.get(key)
        if len(texts := tuple(map(as_text, as_list(listed)))) == len(letters):
            return texts
    if all(letter in row for letter in letters):
        return tuple(as_text(row[letter]) for letter in letters)
    return ()


def _continued(calls: Sequence[tuple[str, Any]], delimiter: str) -> tuple[str, ...]:
    """The texts of options that are scored one by one.

    Where each option continues another prompt in the same way (Winogrande), it is what the prompts
    differ in.
    """
    texts = tuple(str(call[1]).removeprefix(delimiter) for call in calls)
    if len(set(texts)) > 1:
        return texts
    prompts = [call[0] for call in calls]
    shared = 0
    while all(len(each) > shared and each[shared] == prompts[0][shared] for each in prompts):
        shared += 1
    start = prompts[0].rfind(" ", 0, shared) + 1
    return tuple(each[start:].strip() for each in prompts)


def _question(sample: JsonObject, prompt: str) -> str:
    row = as_object(sample.get("doc"))
    for key in ("question", "query", "goal", "sentence", "ctx", "input", "problem"):
        if key in row and (text := as_text(row[key]).strip()):
            return text
    return question_of(prompt) or prompt.strip() or as_text(sample["doc_id"])


def _filter(sample: JsonObject) -> str:
    return as_text(sample.get("filter")) or "none"


def _metrics(sample: JsonObject) -> list[str]:
    """The names of the metrics of a line; older logs do not list them."""
    if named := [as_text(name) for name in as_list(sample.get("metrics"))]:
        return named
    known = {*_KEYS, "resps", "filter", "doc_hash", "prompt_hash", "target_hash"}
    return [name for name in sample if name not in known]


def _marks(sample: JsonObject, filter_: str) -> dict[str, float]:
    marks: dict[str, float] = {}
    for name in _metrics(sample):
        if (mark := as_number(sample.get(name))) is not None:
            marks[f"{name},{filter_}"] = mark
    return marks


HARNESSES.register(NAME)(read_lm_eval)
