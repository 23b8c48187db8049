"""Inspect: `.eval`, a zip archive with a file for each sample, and `.json`, one object.

Newer versions pack the members with Zstandard, which Python's own zip module reads from 3.14 on.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalui.datasets.files import ARCHIVE_ERRORS, read_all
from evalui.datasets.model import as_list, as_object
from evalui.errors import DataError
from evalui.harnesses.base import (
    HARNESSES,
    Flaw,
    FlawedAnswer,
    LoggedAnswer,
    LogPart,
    read_logs,
)
from evalui.harnesses.files import (
    MAX_OBJECT_BYTES,
    JsonObject,
    as_number,
    as_text,
    head_of,
    json_object,
    parsed,
)
from evalui.harnesses.options import options_of, slot_of
from evalui.types import PrintedFigure

if sys.version_info >= (3, 14):
    import zipfile

    from compression.zstd import ZstdError
else:
    from backports.zstd import ZstdError, zipfile

NAME = "inspect"
_DAMAGES = (*ARCHIVE_ERRORS, zipfile.BadZipFile, ZstdError)
_HEADER, _START, _SAMPLES = "header.json", "_journal/start.json", "samples/"
# Inspect's marks: correct, partial, incorrect, no answer.
_MARKS: Mapping[str, float] = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_MEANS = ("accuracy", "mean")  # metrics that are the mean of the marks
_MEAN = "mean"  # the reducer of epochs that keeps it so
_SPREADS = ("stderr", "bootstrap_stderr", "std", "var")


def read_inspect(files: Sequence[Path]) -> tuple[LogPart, ...]:
    """A part for each log among the files.

    Raises:
        DataError: every log is damaged, is not finished, or was written without its samples.
    """
    archives = [path for path in files if path.suffix == ".eval"]
    objects = [path for path in files if _is_json_log(path)]
    return read_logs(
        (
            *(lambda path=path: [_part(_open_archive(path))] for path in archives),
            *(lambda path=path: [_part(_open_json(path))] for path in objects),
        )
    )


@dataclass(frozen=True, slots=True)
class _Log:
    """One log: what stands before its samples, and a reader of the samples in the dataset's order.

    A sample that cannot be read is None, with its name.
    """

    path: Path
    header: JsonObject
    samples: Callable[[], Iterator[tuple[str, JsonObject | None]]]


def _open_archive(path: Path) -> _Log:
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            head = _HEADER if _HEADER in names else _START
            header = as_object(parsed(_read(path, archive, head)) if head in names else None)
    except _DAMAGES as error:
        raise DataError("log-damaged", file=path.name, reason=str(error)) from error
    members = [name for name in names if name.startswith(_SAMPLES)]
    if not as_object(header.get("eval")):
        raise DataError("log-damaged", file=path.name, reason=f"{_HEADER}?")
    if not members:
        _reject(path, header)
    order = _places(header)

    def place(name: str) -> tuple[int, int, str]:
        id_, _, epoch = name.removeprefix(_SAMPLES).removesuffix(".json").rpartition("_epoch_")
        return int(epoch) if epoch.isdecimal() else 0, order.get(id_, len(order)), id_

    def samples() -> Iterator[tuple[str, JsonObject | None]]:
        with zipfile.ZipFile(path) as archive:
            for name in sorted(members, key=place):
                try:
                    sample = as_object(parsed(_read(path, archive, name)))
                except (*_DAMAGES, DataError):
                    sample = None
                yield name, sample or None

    return _Log(path, header, samples)


def _read(path: Path, archive: Any, name: str) -> bytes:
    """A member of an archive, no further than the size that it declares."""
    info = archive.getinfo(name)
    if info.file_size > MAX_OBJECT_BYTES:
        raise DataError("log-too-large", file=path.name, gb=f"{MAX_OBJECT_BYTES / 1e9:.1f}")
    return read_all(archive, info)


def _is_json_log(path: Path) -> bool:
    if path.suffix != ".json":
        return False
    head = head_of(path)
    return b'"eval"' in head and b'"status"' in head and b'"version"' in head


def _open_json(path: Path) -> _Log:
    header = json_object(path)
    if header is None:
        raise DataError("log-damaged", file=path.name, reason="JSON?")
    if not as_list(header.get("samples")):
        _reject(path, header)
    order = _places(header)

    def place(sample: JsonObject) -> tuple[float, int]:
        return as_number(sample.get("epoch")) or 0, order.get(as_text(sample.get("id")), len(order))

    def samples() -> Iterator[tuple[str, JsonObject | None]]:
        for sample in sorted(map(as_object, as_list(header["samples"])), key=place):
            yield as_text(sample.get("id")), sample or None

    return _Log(path, header, samples)


def _reject(path: Path, header: JsonObject) -> None:
    state = as_text(header.get("status"))
    if state and state != "success":
        raise DataError("log-inspect-state", file=path.name, state=state)
    raise DataError("log-inspect-samples", file=path.name)


def _places(header: JsonObject) -> dict[str, int]:
    """The place of each sample in its dataset: samples are logged in the order they are done in."""
    ids = as_list(as_object(as_object(header.get("eval")).get("dataset")).get("sample_ids"))
    return {as_text(id_): place for place, id_ in enumerate(ids)}


def _part(log: _Log) -> LogPart:
    run = as_object(log.header.get("eval"))
    scored = (sample for _, sample in log.samples() if sample and sample.get("scores"))
    first = next(scored, None) or next(log.samples(), ("", None))[1] or as_object(None)
    has_options = len(as_list(first.get("choices"))) > 1
    figures = tuple(_figures(log.header, _values(first)))
    means = _means(_values(first), figures)
    main = next(iter(means.values()), [""])[0]
    # Of scorers of written answers, these two compare them with the target as `exact_match` does.
    readings = {
        name: "tolerant" if has_options else "exact_match"
        for score, names in means.items()
        for name in names
        if has_options or score in ("match", "exact")
    }
    results = as_object(log.header.get("results"))
    model = as_text(run.get("model"))
    return LogPart(
        harness=NAME,
        dataset=as_text(run.get("task")).rpartition("/")[2] or log.path.stem,
        model=model or log.path.parent.name,
        evidence="reply" if has_options else "written",
        files=(log.path.name,),
        read=lambda: _answers(log, means, has_options=has_options),
        version=as_text(as_object(run.get("packages")).get("inspect_ai")),
        task_version=as_text(run.get("task_version")),
        figures=figures,
        readings=readings,
        main_mark=main if has_options else "",
        repeats=True,
        missing=(
            *(("one-order", "probabilities") if has_options else ()),
            *(() if results else ("results",)),
        ),
        named_after=None if model else log.path.parent,
    )


def _values(sample: JsonObject) -> dict[str, Any]:
    """What each scorer gave a sample; of a dictionary each value: "scorer/key"."""
    values: dict[str, Any] = {}
    for scorer, score in as_object(sample.get("scores")).items():
        value: Any = as_object(score).get("value")
        keys = as_object(value)
        values |= {f"{scorer}/{key}": each for key, each in keys.items()} or {scorer: value}
    return values


def _figures(header: JsonObject, values: Mapping[str, Any]) -> Iterator[PrintedFigure]:
    """The printed metrics, "score/metric"; of epochs that are not reduced to their mean
    "score/reducer/metric".
    """
    for score in map(as_object, as_list(as_object(header.get("results")).get("scores"))):
        name = as_text(score.get("name"))
        of_key = f"{as_text(score.get('scorer'))}/{name}"
        reducer = as_text(score.get("reducer"))
        parts = [of_key if of_key in values else name, reducer if reducer != _MEAN else ""]
        for metric in map(as_object, as_object(score.get("metrics")).values()):
            name = as_text(metric.get("name")).rpartition("/")[2]
            value = as_number(metric.get("value"))
            if value is not None and name not in _SPREADS:
                yield PrintedFigure("/".join(filter(None, (*parts, name))), value)


def _means(values: Iterable[str], figures: Sequence[PrintedFigure]) -> dict[str, list[str]]:
    """For each score the figures that are means of its marks; of one without any, its accuracy."""
    printed = {figure.name for figure in figures}
    means: dict[str, list[str]] = {}
    for score in values:
        known = [f"{score}/{name}" for name in _MEANS if f"{score}/{name}" in printed]
        means[score] = known or [f"{score}/{_MEANS[0]}"]
    return means


def _answers(
    log: _Log, means: Mapping[str, Sequence[str]], *, has_options: bool
) -> Iterator[LoggedAnswer | FlawedAnswer]:
    for name, sample in log.samples():
        place = f"{log.path.name}:{name}"
        if sample is None:
            yield FlawedAnswer(place, "damaged")
            continue
        read = _answer(sample, means, has_options=has_options)
        yield read if isinstance(read, LoggedAnswer) else FlawedAnswer(place, read)


def _answer(
    sample: JsonObject, means: Mapping[str, Sequence[str]], *, has_options: bool
) -> LoggedAnswer | Flaw:
    output = as_object(sample.get("output"))
    if not as_list(output.get("choices")) or sample.get("error"):
        return "no-answer"
    written = (as_object(as_object(each).get("message")) for each in as_list(output["choices"]))
    reply, *more = (_text(each.get("content")) for each in written)
    targets = [as_text(each) for each in as_list(sample.get("target"))]
    targets = targets or [as_text(sample.get("target"))]
    marks = {
        figure: mark
        for name, value in _values(sample).items()
        if (mark := _mark(value)) is not None
        for figure in means.get(name, ())
    }
    id_, question = as_text(sample.get("id")), _question(sample)
    subject = as_text(as_object(sample.get("metadata")).get("subject"))
    if not has_options:
        references = tuple(filter(None, targets))
        return LoggedAnswer(
            id_,
            question,
            references=references,
            subject=subject,
            reply=reply,
            more_replies=tuple(more),
            marks=marks,
        )
    own = tuple(map(as_text, as_list(sample.get("choices"))))
    if len(own) < 2:
        return "options"
    if len(targets) > 1:
        return "several"
    gold = slot_of(targets[0], len(own))
    if gold is None:
        return "gold"
    shown = _shown(sample, own)
    main = next(iter(means), "")
    scores = as_object(sample.get("scores")).items()
    first = (as_object(each) for name, each in scores if main.startswith(name))
    score: JsonObject = next(first, as_object(None))
    return LoggedAnswer(
        id_,
        question,
        shown,
        shown.index(own[gold]),
        subject=subject,
        own_options=own,
        reply=reply,
        more_replies=tuple(more),
        extracted=slot_of(score.get("answer"), len(own)),
        marks=marks,
    )


def _shown(sample: JsonObject, own: tuple[str, ...]) -> tuple[str, ...]:
    """The options as the prompt shows them; a solver may have moved them."""
    for message in reversed([*map(as_object, as_list(sample.get("messages")))]):
        if message.get("role") == "user":
            shown = options_of(_text(message.get("content")))
            if sorted(shown) == sorted(own):
                return shown
    return own


def _question(sample: JsonObject) -> str:
    given = sample.get("input")
    if isinstance(given, str):
        return given
    turns = [each for each in map(as_object, as_list(given)) if each.get("role") == "user"]
    return _text(turns[-1].get("content")) if turns else as_text(sample.get("id"))


def _text(content: Any) -> str:
    """The text of a message; what the model thought, pictures and the like are no part of it."""
    if isinstance(content, str):
        return content
    parts = map(as_object, as_list(content))
    return "\n".join(as_text(each.get("text")) for each in parts if each.get("type") == "text")


def _mark(value: Any) -> float | None:
    return _MARKS.get(value) if isinstance(value, str) else as_number(value)


HARNESSES.register(NAME)(read_inspect)
