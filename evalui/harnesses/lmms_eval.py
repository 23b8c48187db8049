"""lmms-eval 0.7: `TIME_samples_TASK.jsonl` of `--log_samples`, and `TIME_results.json` beside.

A line has the prompt, the reply and marks; neither the question's own row nor its pictures. A task
of several filters has the lines of the first filter, then those of the next, without their names.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from evalui.datasets.model import as_list, as_object
from evalui.errors import DataError
from evalui.harnesses.base import (
    HARNESSES,
    Evidence,
    Flaw,
    FlawedAnswer,
    LoggedAnswer,
    LogPart,
    read_logs,
)
from evalui.harnesses.files import (
    JsonObject,
    as_number,
    as_text,
    first_object,
    json_lines,
    json_object,
)
from evalui.harnesses.lm_eval import (
    READINGS,
    TaskLog,
    by_part,
    figures_of,
    group_of,
    shots_of,
    subjects_of,
)
from evalui.harnesses.options import options_of, question_of, references_of, slot_of

NAME = "lmms-eval"
_SAMPLES = re.compile(r"(?P<time>\d{8}_\d{6})_samples_(?P<task>.+)")
_KEYS = {"doc_id", "target", "filtered_resps", "doc_hash", "input"}
_NO_MARKS = {*_KEYS, "resps", "token_counts", "input_media"}
_NO_FILTER = "none"
_NO_VERSION = "unknown@unknown"  # of a package that lies in no repository


def read_lmms_eval(files: Sequence[Path]) -> tuple[LogPart, ...]:
    """The parts of all its logs among the files; tasks of a group are one dataset.

    Raises:
        DataError: there are results and no samples, or samples of what is no written reply.
    """
    logs = [_TaskLog.of(path, files) for path in files if _has_samples(path)]
    if not logs:
        if results := next((path for path in files if _has_results(path)), None):
            raise DataError("log-lmms-eval-results", file=results.name)
        return ()
    return read_logs(lambda group=group: [_part(group)] for group in by_part(logs))


class _TaskLog(TaskLog):
    """The samples of one task, and the filters of its replies."""

    __slots__ = ()

    @classmethod
    def of(cls, path: Path, files: Iterable[Path]) -> "_TaskLog":
        name = _SAMPLES.fullmatch(path.stem)
        time, task = (name["time"], name["task"]) if name else ("", path.stem)
        beside = path.with_name(f"{time}_results.json")
        results = (json_object(beside) or {}) if beside in files else {}
        first = first_object(path) or {}
        return cls(path, task, time, group_of(task, results), _evidence(first), results)

    @property
    def filters(self) -> tuple[str, ...]:
        """The names of its filters, in the order of their lines."""
        printed = as_object(as_object(self.results.get("results")).get(self.task))
        named = (name.partition(",")[2] for name in printed)
        return tuple(dict.fromkeys(filter(None, named))) or (_NO_FILTER,)


def _has_samples(path: Path) -> bool:
    if path.suffix != ".jsonl":
        return False
    return (first_object(path) or {}).keys() >= _KEYS


def _has_results(path: Path) -> bool:
    if path.suffix != ".json" or not path.stem.endswith("_results"):
        return False
    return {"results", "configs", "lmms_eval_version"} <= (json_object(path) or {}).keys()


def _evidence(sample: JsonObject) -> Evidence:
    """What decides the answers of a task, by its first line."""
    options = options_of(as_text(sample.get("input")))
    named = slot_of(sample.get("target"), len(options)) is not None
    return "reply" if len(options) > 1 and named else "written"


def _part(logs: Sequence[_TaskLog]) -> LogPart:
    first = logs[0]
    results, dataset, evidence = first.results, first.dataset, first.evidence
    for log in logs:
        config = as_object(as_object(results.get("configs")).get(log.task))
        method = as_text(config.get("output_type")) or "generate_until"
        if method != "generate_until":
            raise DataError("log-lmms-eval-method", file=log.path.name, method=method)
    tasks = [log.task for log in logs]
    subjects = dict.fromkeys(tasks, "") if tasks == [dataset] else subjects_of(tasks, dataset)
    figures = [*figures_of(results, dataset, "")]
    for task, subject in subjects.items():
        figures += figures_of(results, task, subject) if subject else ()
    readings = READINGS[evidence]
    names = {f"{name},{each}" for log in logs for name in _names(log.path) for each in log.filters}
    main = f"exact_match,{first.filters[0]}"
    model = _model(results)
    version = as_text(results.get("lmms_eval_version"))
    return LogPart(
        harness=NAME,
        dataset=dataset,
        model=model or first.path.parent.name,
        evidence=evidence,
        files=tuple(log.path.name for log in logs),
        read=partial(_answers, logs, subjects),
        version="" if version == _NO_VERSION else version,
        shots=shots_of(results, tasks[0]),
        figures=tuple(figures),
        readings={
            name: readings[metric] for name in names if (metric := name.split(",")[0]) in readings
        },
        main_mark=main if evidence == "reply" and main in names else "",
        repeats=any(len(_replies(first_object(log.path) or {})) > 1 for log in logs),
        missing=(
            "pictures",
            *(("one-order", "probabilities") if evidence == "reply" else ()),
            *(("unfiltered",) if first.filters != (_NO_FILTER,) else ()),
            *(() if results else ("results",)),
        ),
        named_after=None if model else first.path.parent,
    )


def _model(results: JsonObject) -> str:
    """The model as the results state it, "" if they do not; of one without a name its kind."""
    name = as_text(results.get("model_name")) or as_text(
        as_object(results.get("config")).get("model")
    )
    return Path(name).name if name.startswith(("/", ".")) else name


def _answers(
    logs: Sequence[_TaskLog], subjects: Mapping[str, str]
) -> Iterator[LoggedAnswer | FlawedAnswer]:
    """The answers; the lines of other filters than the first are further marks of them."""
    for log in logs:
        seen: Counter[str] = Counter()
        subject = subjects[log.task]
        for number, sample in json_lines(log.path):
            place = f"{log.path.name}:{number}"
            if sample is None or not sample.keys() >= _KEYS:
                yield FlawedAnswer(place, "damaged")
                continue
            id_ = as_text(sample["doc_id"])
            id_ = f"{log.task}/{id_}" if subject else id_
            turn = seen[id_]
            seen[id_] += 1
            if turn >= len(log.filters):
                yield FlawedAnswer(place, "again")
                continue
            marks = {f"{name},{log.filters[turn]}": mark for name, mark in _marks(sample)}
            if turn:
                yield LoggedAnswer(id_, subject=subject, marks=marks, marks_only=True)
                continue
            read = _answer(sample, id_, subject, marks, log.evidence)
            yield read if isinstance(read, LoggedAnswer) else FlawedAnswer(place, read)


def _answer(
    sample: JsonObject, id_: str, subject: str, marks: Mapping[str, float], evidence: Evidence
) -> LoggedAnswer | Flaw:
    replies = _replies(sample)
    if not replies:
        return "no-answer"
    reply, *more = replies
    prompt, target = as_text(sample["input"]), as_text(sample["target"])
    if evidence == "written":
        return LoggedAnswer(
            id_,
            prompt.strip() or id_,
            references=references_of(target),
            subject=subject,
            reply=reply,
            more_replies=tuple(more),
            marks=marks,
        )
    options = options_of(prompt)
    if len(options) < 2:
        return "options"
    gold = slot_of(target, len(options))
    if gold is None:
        return "gold"
    filtered = as_list(sample["filtered_resps"]) or [sample["filtered_resps"]]
    return LoggedAnswer(
        id_,
        question_of(prompt) or id_,
        options,
        gold,
        subject=subject,
        reply=reply,
        more_replies=tuple(more),
        extracted=slot_of(filtered[0], len(options)),
        marks=marks,
    )


def _replies(sample: JsonObject) -> list[str]:
    """What the model replied, each reply of a task with repeats; [] if they are no texts.

    Replies that no filter has changed stand under `filtered_resps` alone.
    """
    written: Any = sample.get("resps", sample.get("filtered_resps"))
    while as_list(written) and all(isinstance(each, list) for each in written):
        written = [reply for each in written for reply in each]
    listed = as_list(written) or [written]
    return listed if all(isinstance(each, str) for each in listed) else []


def _names(path: Path) -> list[str]:
    return [name for name, _ in _marks(first_object(path) or {})]


def _marks(sample: JsonObject) -> Iterator[tuple[str, float]]:
    """Each mark of a line; one with more beside it is an object that has it as its score."""
    for name, value in sample.items():
        mark = as_number(as_object(value).get("score") if isinstance(value, dict) else value)
        if name not in _NO_MARKS and mark is not None:
            yield name, mark


HARNESSES.register(NAME)(read_lmms_eval)
