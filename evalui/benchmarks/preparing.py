"""A published set by its name becomes files that every part of evalui reads.

The rows on this machine are written anew as JSON Lines, one file to be scored and one of worked
examples, in a folder that is called by the digest of what they were made of. Equal data give equal
files, and so the same digest of the dataset in the signature of a run, on every machine.
"""

import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from evalui.benchmarks.index import Benchmark, Kind, find, is_name
from evalui.benchmarks.picture_tables import PictureTables
from evalui.benchmarks.places import DataFolder, PartFile, TaskData
from evalui.benchmarks.questions import ReadQuestion, Row, UnreadableRow, read_question, read_rows
from evalui.datasets.open_samples import STARTER, TESTS
from evalui.errors import DataError
from evalui.messages import Sentence, sentence
from evalui.modes import bubblewrap
from evalui.types import LETTERS, DatasetKind

if TYPE_CHECKING:
    from evalui.settings import Settings

FORMAT = 1  # of the files that are written; another number makes other folders
_MAX_SHOTS = 32  # worked examples of each subject
_MAX_UNREADABLE = 0.05  # of the rows; more, and the files are not what the index describes
_IDS = ("id", "task_id", "idx", "uid", "qid", "question_id", "ind", "index")
_KINDS: Mapping[Kind, DatasetKind] = {
    "choice": "multiple_choice",
    "text": "general_qa",
    "code": "code",
}
_ROLES = {"validation": "val", "val": "val"}  # every other split is scored as "test"


@dataclass(frozen=True, slots=True)
class PreparedBenchmark:
    """A set that can be evaluated: its files, and what they were made of.

    `expected` is how many questions the split has as published, 0 where that is not known.
    `stands_for` is the other set that its name may mean, "" if none.
    `unreadable` rows stand in the files as rows that cannot be used, with the first reason.
    `left_out` rows of a set of pictures have none, or have no options. `judged`: a judge of its
    authors rates the answers.
    """

    name: str
    title: str
    stands_for: str
    split: str
    paths: tuple[Path, ...]
    kind: DatasetKind
    questions: int
    shots: int
    unreadable: int
    reason: str
    expected: int
    origin: str
    revision: str
    sources: tuple[str, ...]
    left_out: int = 0
    judged: bool = False

    @property
    def notes(self) -> tuple[Sentence, ...]:
        """What differs from the set as published."""
        notes: list[Sentence] = []
        if other := self.stands_for:
            notes.append(
                sentence("note.benchmark-other", name=self.name, title=self.title, other=other)
            )
        if self.expected and self.questions != self.expected:
            n, expected = self.questions, self.expected
            notes.append(sentence("note.benchmark-count", name=self.name, n=n, expected=expected))
        if n := self.left_out:
            notes.append(sentence("note.benchmark-left-out", name=self.name, n=n))
        if self.judged:
            notes.append(sentence("note.benchmark-judged", name=self.name))
        return tuple(notes)


@dataclass(frozen=True, slots=True)
class Availability:
    """Where a set is on this machine: `origin` "" if it is not, else as in `DataFolder`."""

    origin: str = ""
    path: str = ""
    revision: str = ""
    files: tuple[str, ...] = ()
    bytes: int = 0


def task_data(settings: "Settings") -> TaskData:
    """The places in which a server or command looks for the files of sets."""
    return TaskData(settings.data_dir / "benchmarks" / "hub", settings.task_data)


def availability(benchmark: Benchmark, data: TaskData) -> Availability:
    """Where the scored split of a set is."""
    folder = data.with_split(benchmark, benchmark.split)
    if folder is None:
        return Availability()
    files = [each.data for each in folder.split(benchmark, benchmark.split)]
    size = sum(path.stat().st_size for path in {each.file for each in files})
    names = tuple(each.path for each in files)
    return Availability(folder.origin, str(folder.root), folder.revision, names, size)


def split_name(name: str) -> tuple[str, str]:
    """The name of a set and the split that is asked for: "arc_challenge:validation"."""
    own, _, split = name.partition(":")
    return own, split


def is_benchmark(name: str) -> bool:
    """Whether a text is the name of a set, perhaps with a split."""
    return is_name(split_name(name)[0])


def resolve(name: str, settings: "Settings") -> PreparedBenchmark:
    """The files of the set of a name, made of the data on this machine.

    `name` may have a split behind it, as in "arc_challenge:validation".

    Raises:
        UnknownName: there is no such set.
        DataError: its questions cannot be put to models, or its data are not here or are damaged.
    """
    own, wanted = split_name(name)
    benchmark = find(own)
    if reason := _refusal(benchmark):
        raise DataError(reason)
    data, split = task_data(settings), wanted or benchmark.split
    folder = data.with_split(benchmark, split)
    if folder is None:
        raise DataError(missing(benchmark, data, split))
    return _prepare(benchmark, folder, split, settings.data_dir / "benchmarks" / "prepared")


def hindrance(benchmark: Benchmark, data: TaskData) -> Sentence | None:
    """Why a set cannot be taken, and what to do; None if it can."""
    if reason := _refusal(benchmark):
        return reason
    if availability(benchmark, data).origin:
        return None
    return missing(benchmark, data, benchmark.split)


def _refusal(benchmark: Benchmark) -> Sentence | None:
    """Why the questions of a set are put to no model here, wherever its data are."""
    if benchmark.unsupported:
        return sentence(f"error.benchmark-{benchmark.unsupported}", name=benchmark.name)
    return bubblewrap.hindrance() if benchmark.kind == "code" else None


def missing(benchmark: Benchmark, data: TaskData, split: str) -> Sentence:
    """What to do for data that are not here: fetch them, or copy which files where."""
    folder = str(data.target / benchmark.place)
    part = ", ".join(benchmark.configs) if benchmark.configs not in ((), ("*",)) else "*"
    name = benchmark.name
    if benchmark.pictures:
        return sentence(
            "error.benchmark-missing-table", name=name, source=benchmark.source, folder=folder
        )
    if not benchmark.hub:
        return sentence(
            "error.benchmark-missing-source",
            name=name,
            split=split,
            part=part,
            source=benchmark.source,
            folder=folder,
        )
    return sentence(
        "error.benchmark-missing",
        name=name,
        split=split,
        part=part,
        hub=benchmark.hub,
        folder=folder,
    )


def check_unchanged(folder: DataFolder, files: Iterable[PartFile]) -> None:
    """Raise `DataError` if a file that was fetched is another one by now."""
    recorded = folder.manifest.get("files", {})
    for path in {each.data.file for each in files}:
        relative = path.relative_to(folder.root).as_posix()
        if relative in recorded and recorded[relative]["sha256"] != file_digest(path):
            raise DataError("benchmark-changed", file=relative, folder=str(folder.root))


def file_digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _prepare(
    benchmark: Benchmark, folder: DataFolder, split: str, target: Path
) -> PreparedBenchmark:
    scored = folder.split(benchmark, split)
    shown = () if split == benchmark.shots else folder.split(benchmark, benchmark.shots)
    check_unchanged(folder, (*scored, *shown))
    name = benchmark.name if split == benchmark.split else f"{benchmark.name}-{split}"
    made_of = _digest(benchmark, split, scored, shown)
    place = target / name / made_of[:16]
    summary = place / "made.json"
    if not summary.is_file():
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=place.parent) as waiting:
            _write(benchmark, name, split, scored, shown, place, PictureTables(waiting))
    counts = json.loads(summary.read_text("utf-8"))
    return PreparedBenchmark(
        name=name,
        title=benchmark.title,
        stands_for=benchmark.stands_for,
        split=split,
        paths=tuple(sorted(place.glob("*.jsonl"))),
        kind=_KINDS[benchmark.kind],
        expected=benchmark.questions if split == benchmark.split else 0,
        origin=folder.origin,
        revision=folder.revision,
        sources=tuple(each.data.path for each in (*scored, *shown)),
        judged=benchmark.judged,
        **counts,
    )


def _digest(
    benchmark: Benchmark, split: str, scored: Sequence[PartFile], shown: Sequence[PartFile]
) -> str:
    total = hashlib.sha256(f"{FORMAT}:{split}:{asdict(benchmark)!r}".encode())
    for role, files in (("scored", scored), ("shown", shown)):
        for each in files:
            with each.data.open() as opened:
                digest = hashlib.file_digest(cast(Any, opened), "sha256").hexdigest()
            total.update(f"{role}:{each.part}:{each.data.path}:{digest}\n".encode())
    return total.hexdigest()


def _write(
    benchmark: Benchmark,
    name: str,
    split: str,
    scored: Sequence[PartFile],
    shown: Sequence[PartFile],
    place: Path,
    tables: PictureTables,
) -> None:
    """Write both files and what was counted, all at once or not at all."""
    rows = list(_rows(benchmark, scored, tables))
    unreadable = [reason for *_, reason in rows if reason]
    if not rows or len(unreadable) > _MAX_UNREADABLE * len(rows):
        files = ", ".join(each.data.path for each in scored[:3])
        raise DataError(
            "benchmark-other-layout",
            name=benchmark.name,
            files=files,
            n=len(unreadable),
            rows=len(rows),
            reason=unreadable[0] if unreadable else "",
        )
    if not any(question and _is_answered(question, benchmark) for _, question, _ in rows):
        raise DataError("benchmark-no-answers", name=benchmark.name, split=split)
    examples = list(_examples(benchmark, shown, tables))
    counts = {
        "questions": len(rows),
        "shots": len(examples),
        "unreadable": len(unreadable),
        "reason": unreadable[0] if unreadable else "",
        "left_out": tables.left_out,
    }
    with tempfile.TemporaryDirectory(dir=place.parent) as folder:
        made = Path(folder) / "made"
        made.mkdir()
        scored_file = made / f"{name}_{_ROLES.get(split, 'test')}.jsonl"
        _write_lines(scored_file, benchmark, rows, tables)
        if examples:
            _write_lines(made / f"{name}_dev.jsonl", benchmark, examples, tables)
        (made / "made.json").write_text(json.dumps(counts, ensure_ascii=False), "utf-8")
        try:
            made.replace(place)
        except OSError:
            if not place.is_dir():  # another process has made the same
                raise


def _rows(
    benchmark: Benchmark, files: Sequence[PartFile], tables: PictureTables
) -> Iterator[tuple[str, ReadQuestion | None, str]]:
    """The id, the question and what is wrong with it, of each row."""
    rows: list[tuple[str, Row]] = [
        (each.part, row)
        for each in files
        for row in (
            tables.read_rows(each.data, benchmark)
            if benchmark.pictures
            else read_rows(each.data, benchmark.columns)
        )
    ]
    for (part, row), own in zip(rows, _ids(rows), strict=True):
        try:
            yield own, read_question(row, benchmark, part), ""
        except UnreadableRow as error:
            yield own, None, f"{own}: {error}"


def _ids(rows: Sequence[tuple[str, Row]]) -> list[str]:
    """The ids that the rows have, if each has one of its own; else their places."""
    for name in _IDS:
        own = [str(row.get(name) or "") for _, row in rows]
        if all(own) and len(set(own)) == len(own):
            return own
    seen: Counter[str] = Counter()
    ids: list[str] = []
    for part, _ in rows:
        seen[part] += 1
        ids.append(f"{part}-{seen[part]}" if part else str(seen[part]))
    return ids


def _examples(
    benchmark: Benchmark, files: Sequence[PartFile], tables: PictureTables
) -> Iterator[tuple[str, ReadQuestion | None, str]]:
    """The first answered rows of each subject."""
    shown: Counter[str] = Counter()
    for own, question, reason in _rows(benchmark, files, tables):
        if question and _is_answered(question, benchmark) and shown[question.subject] < _MAX_SHOTS:
            shown[question.subject] += 1
            yield own, question, reason


def _is_answered(question: ReadQuestion, benchmark: Benchmark) -> bool:
    if benchmark.kind == "choice":
        return question.right is not None
    return bool(question.references)


def _write_lines(
    path: Path,
    benchmark: Benchmark,
    rows: Sequence[tuple[str, ReadQuestion | None, str]],
    tables: PictureTables,
) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for own, question, _ in rows:
            line = _line(own, question, benchmark)
            if question and question.pictures:
                line["images"] = [tables.picture(each) for each in question.pictures]
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def _line(own: str, question: ReadQuestion | None, benchmark: Benchmark) -> dict[str, Any]:
    """A row as the formats `choices`, `general_qa` and `code` read it; an unusable one is empty."""
    shown = question or ReadQuestion("")
    line: dict[str, Any] = {"id": own, **shown.metadata}
    if benchmark.metric:
        line["metric"] = benchmark.metric
    if benchmark.subject:
        line["subject"] = shown.subject
    if benchmark.kind != "choice":
        line |= {"query": shown.question, "response": list(shown.references)}
        if benchmark.kind == "code":
            line |= {TESTS: shown.tests, STARTER: shown.starter}
        return line
    labels = list(LETTERS[: len(shown.options)])
    right = "" if shown.right is None else labels[shown.right]
    choices = {"text": list(shown.options), "label": labels}
    return line | {"question": shown.question, "choices": choices, "answerKey": right}
