"""The official figures of lm-eval's tasks for one of our models, without its own model code.

lm-eval (extra `benchmarks`) makes the requests and the figures; the model is ours, and gets all
requests of a kind at once, so that it orders them and shares their beginnings. Which task stands in
which file is in a shipped index: no folder of tasks is searched. A task that runs Python of its own
is refused unless it is in one of `SAFE_FOLDERS`.
"""

import gzip
import hashlib
import importlib.metadata
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from evalui.benchmarks.index import Benchmark, find, is_name, read_index
from evalui.benchmarks.places import DataFile, DataFolder, PartFile, TaskData, split_files
from evalui.benchmarks.preparing import check_unchanged, missing
from evalui.benchmarks.questions import read_rows
from evalui.errors import DataError, MissingAbility, ModelError
from evalui.messages import sentence
from evalui.models.base import Model
from evalui.types import Generate, GeneratedText, Loglik, Logprob, Request, Response

_INDEX = Path(__file__).with_name("lm_eval_tasks.json.gz")
# Folders of lm-eval's tasks whose Python may run. In 0.4.13 it was searched for imports and calls:
# none opens a file or connection or runs a text (race has literal_eval, which runs none). Scripts
# there that make task files are never imported by a task.
SAFE_FOLDERS = frozenset(
    {"agieval", "bbh", "hellaswag", "hendrycks_math", "medmcqa", "mmlu_pro", "race", "super_glue"}
    | {"truthfulqa", "winogrande"}
)
_SPLITS = ("test", "validation", "val", "dev", "train", "eval")
_FORMATS = {"parquet": "parquet", "jsonl": "json", "ndjson": "json", "json": "json", "csv": "csv"}
_MAX_GENERATED = 256  # tokens, where a task states no limit, as in lm-eval
# Settings of generation in lm-eval's words that ask for nothing where they have this value.
_WITHOUT_EFFECT: Mapping[str, Any] = {"num_beams": 1, "use_cache": True, "max_length": None}


@dataclass(frozen=True, slots=True)
class HarnessTask:
    """A task of lm-eval: its kind ("task", "group", "tag"), its file, and its members if a tag.

    `python`: it runs code of its own.
    """

    name: str
    kind: str
    file: str
    members: tuple[str, ...] = ()
    python: bool = False


@dataclass(frozen=True, slots=True)
class HarnessIndex:
    """The tasks of one version of lm-eval by name."""

    version: str
    tasks: Mapping[str, HarnessTask]


@dataclass(frozen=True, slots=True)
class OfficialFigure:
    """One figure as lm-eval gives it; `version` is the task's, `shots` how many were shown."""

    task: str
    metric: str
    filter: str
    value: float
    stderr: float | None
    n: int
    shots: int
    version: str


@dataclass(frozen=True, slots=True)
class OfficialResult:
    """The figures of a task, the version of lm-eval, and what it would have written itself."""

    figures: tuple[OfficialFigure, ...]
    harness_version: str
    raw: Mapping[str, Any]


@cache
def harness_index() -> HarnessIndex:
    """The shipped index."""
    whole = json.loads(gzip.decompress(_INDEX.read_bytes()))
    tasks = {
        name: HarnessTask(
            name, each["kind"], each["file"], tuple(each.get("members", ())), "python" in each
        )
        for name, each in whole["tasks"].items()
    }
    return HarnessIndex(whole["version"], tasks)


def task_of(name: str) -> HarnessTask:
    """The task that the name of a set or of a task of lm-eval stands for, if it may run.

    Raises:
        DataError: there is none, or it runs code that is not on the list.
    """
    wanted = find(name).lm_eval if is_name(name) else name
    if not wanted or wanted not in (tasks := harness_index().tasks):
        raise DataError("harness-unknown", name=name)
    _check_code(tasks[wanted])
    return tasks[wanted]


def _check_code(task: HarnessTask) -> None:
    if task.kind == "py_task" or (task.python and not _may_run(task)):
        raise DataError("harness-python", name=task.name)


def _may_run(task: HarnessTask) -> bool:
    """Whether the code of a task is in a folder whose Python may run."""
    return task.file.partition("/")[0] in SAFE_FOLDERS


def official_figures(
    name: str,
    model: Model,
    data: TaskData,
    *,
    shots: int | None = None,
    limit: int | None = None,
) -> OfficialResult:
    """What lm-eval says of a model on a task; `shots` and the first `limit` questions if given.

    Raises:
        DataError: lm-eval is not installed, or the task is unknown, may not run, or lacks its data.
        MissingAbility: the model cannot be asked what the task asks.
        ModelError: the model failed, or cannot be asked exactly what the task asks.
    """
    task = task_of(name)
    version = harness_version()
    evaluator: Any = import_module("lm_eval.evaluator")
    manager = _task_manager(data, shots)
    try:
        raw = evaluator.simple_evaluate(
            model=_language_model(model),
            tasks=[task.name],
            num_fewshot=shots,
            limit=limit,
            task_manager=manager,
        )
    except ValueError as error:  # too few examples for the shots, say
        raise DataError("harness-failed", name=task.name, reason=str(error)) from error
    return OfficialResult(tuple(_figures(raw)), version, raw)


def harness_version() -> str:
    """The version of lm-eval that is installed; raises `DataError` if none is, or one too old."""
    try:
        version = importlib.metadata.version("lm-eval")
        import_module("lm_eval")
    except (importlib.metadata.PackageNotFoundError, ImportError) as error:
        raise DataError("harness-not-installed") from error
    if version.split(".")[:2] != harness_index().version.split(".")[:2]:
        raise DataError("harness-version", version=version, known=harness_index().version)
    return version


def score_pairs(model: Model, pairs: Sequence[tuple[str, str]]) -> list[tuple[float, bool]]:
    """How probable each continuation is after its context, and whether the model would write it."""
    scored = _ask(model, [Loglik(*pair) for pair in pairs])
    return [(each.total, each.greedy) for each in cast("list[Logprob]", scored)]


def score_texts(model: Model, texts: Sequence[str]) -> list[float]:
    """How probable each text is as a whole.

    Raises:
        ModelError: one is longer than the model reads at once.
    """
    scored = cast("list[Logprob]", _ask(model, [Loglik("", text) for text in texts]))
    if cut := sum(each.truncated for each in scored):
        raise ModelError("harness-truncated", n=cut, total=len(texts))
    return [each.total for each in scored]


def write_texts(model: Model, contexts: Sequence[tuple[str, Mapping[str, Any]]]) -> list[str]:
    """What the model writes after each context, under lm-eval's settings of generation.

    Raises:
        ModelError: a setting is none that can be passed on.
    """
    written = _ask(model, [generation_request(*each) for each in contexts])
    return [each.text for each in cast("list[GeneratedText]", written)]


def generation_request(context: str, options: Mapping[str, Any]) -> Generate:
    """A request of lm-eval as one of ours; raises `ModelError` for a setting it cannot have."""
    rest = dict(options)
    until: Any = rest.pop("until", None) or []
    stop = (until,) if isinstance(until, str) else tuple(map(str, until))
    tokens = next(
        (rest.pop(k) for k in ("max_gen_toks", "max_tokens") if k in rest), _MAX_GENERATED
    )
    temperature, sampled = rest.pop("temperature", None), rest.pop("do_sample", None)
    samples = sampled if sampled is not None else bool(temperature)
    settings = {key: rest.pop(key) for key in ("top_p", "top_k") if key in rest and samples}
    for key in ("top_p", "top_k"):
        rest.pop(key, None)  # nothing is drawn, so they mean nothing
    for key, value in rest.items():
        if key not in _WITHOUT_EFFECT or value != _WITHOUT_EFFECT[key]:
            raise ModelError("harness-setting", setting=key, value=str(value))
    return Generate(
        context,
        int(tokens),
        stop,
        float(temperature if temperature is not None else 1.0) if samples else 0.0,
        settings=tuple(sorted(settings.items())),
    )


def _ask(model: Model, requests: Sequence[Request]) -> list[Response]:
    """The responses in the order of the requests."""
    if not requests:
        return []
    needed = "generate" if isinstance(requests[0], Generate) else "loglik"
    if needed not in model.abilities:
        raise MissingAbility("cannot-do", model=model.name, why=sentence(f"error.lacks-{needed}"))
    answers = dict(model.answer(requests))
    return [answers[place] for place in range(len(requests))]


def _language_model(model: Model) -> Any:
    """Our model as lm-eval's interface has it."""
    base: Any = import_module("lm_eval.api.model").LM

    class EvaluiLM(base):
        """Every request of a kind goes to the model in one call."""

        def loglikelihood(self, requests: Sequence[Any]) -> list[tuple[float, bool]]:
            return score_pairs(model, [each.args for each in requests])

        def loglikelihood_rolling(self, requests: Sequence[Any]) -> list[float]:
            return score_texts(model, [each.args[0] for each in requests])

        def generate_until(self, requests: Sequence[Any]) -> list[str]:
            return write_texts(model, [each.args for each in requests])

    return EvaluiLM()


def _task_manager(data: TaskData, shots: int | None) -> Any:
    """lm-eval's manager of tasks, with our index in place of a search, and our places of data."""
    tasks: Any = import_module("lm_eval.tasks")
    index: Any = import_module("lm_eval.tasks._index")
    factory: Any = import_module("lm_eval.tasks._factory").TaskFactory
    root = Path(tasks.__file__).parent

    class LocalData(factory):
        """Reads the files of this machine where a task names a dataset of the hub."""

        def _load_full_config(self, entry: Any, overrides: Any = None) -> dict[str, Any]:
            if entry.name in harness_index().tasks:
                _check_code(harness_index().tasks[entry.name])
            config = cast("dict[str, Any]", super()._load_full_config(entry, overrides))
            return config | _local_dataset(entry.name, config, data, shots)

    manager: Any = tasks.TaskManager(include_defaults=False)
    kinds = {kind.name.lower(): kind for kind in index.Kind}
    manager._index = {
        each.name: index.Entry(
            each.name,
            kinds[each.kind],
            root / each.file if each.file else None,
            tags=set(each.members),
        )
        for each in harness_index().tasks.values()
    }
    manager._factory = LocalData()
    return manager


def _local_dataset(
    name: str, config: Mapping[str, Any], data: TaskData, shots: int | None
) -> dict[str, Any]:
    """The fields of a task that let it read our files in place of a dataset of the hub.

    Raises:
        DataError: a split that it needs is not on this machine.
    """
    hub = config.get("dataset_path")
    if not isinstance(hub, str) or isinstance(config.get("task"), list):
        return {}
    part = str(config.get("dataset_name") or "")
    benchmark = _benchmark_of(hub, part)
    # Files by subject are laid out as their authors do, without heads: not what a task reads.
    layouts = [each for each in benchmark.layouts if "{subject}" not in each] if benchmark else []
    shown = shots if shots is not None else int(config.get("num_fewshot") or 0)
    needed = _needed_splits(config, shown)
    for folder in data.folders(hub):
        splits, filters = _splits(folder, (part,) if part else (), layouts), []
        if not splits and benchmark and benchmark.configs == ("all",) and benchmark.subject:
            # The parts stand in one file, too, each row with the part that it is of.
            whole = _splits(folder, benchmark.configs, layouts)
            column = benchmark.subject
            splits = {
                split: files for split, files in whole.items() if part in _values(files, column)
            }
            filters = [(column, "==", part)]
        if needed <= splits.keys():
            # The harness opens every split that a task names, those too that it does not use.
            absent = {
                key: None
                for key in ("training_split", "validation_split", "test_split", "fewshot_split")
                if config.get(key) and config[key] not in splits
            }
            return absent | _loader(splits, filters, data.fetched.parent / "unpacked")
    split = ", ".join(sorted(needed))
    known = benchmark or Benchmark(name, name, "", (), "", split, hub=hub)
    raise DataError(
        "harness-split", name=name, hub=hub, part=part or "*", advice=missing(known, data, split)
    )


def _needed_splits(config: Mapping[str, Any], shots: int) -> set[str]:
    """The split that a task scores, and the one that its examples are from if there are any."""
    scored = config.get("test_split") or config.get("validation_split")
    shown = (
        config.get("fewshot_split"),
        config.get("training_split"),
        config.get("validation_split"),
    )
    needed = {str(scored)} if scored else set[str]()
    if shots and (first := next((each for each in shown if each), None)):
        needed.add(str(first))
    return needed


def _benchmark_of(hub: str, part: str) -> Benchmark | None:
    """The set of our index that has this dataset, preferably this part of it."""
    same = [each for each in read_index().values() if hub in (each.hub, each.lm_eval_hub)]
    return next((each for each in same if part in each.configs), next(iter(same), None))


def _splits(
    folder: DataFolder, parts: Sequence[str], layouts: Sequence[str]
) -> dict[str, tuple[PartFile, ...]]:
    """The files of each split that a folder has."""
    files = {split: split_files(folder.files, parts, split, layouts) for split in _SPLITS}
    for each in files.values():
        check_unchanged(folder, each)
    return {split: each for split, each in files.items() if each}


def _loader(
    splits: Mapping[str, Sequence[PartFile]],
    filters: Sequence[tuple[str, str, str]],
    unpacked: Path,
) -> dict[str, Any]:
    """What has lm-eval's loader of datasets read these files, and of them only some rows.

    It reads files alone: those in a zip are written to the folder `unpacked`.
    """
    files = {
        split: [str(_plain_file(each.data, unpacked)) for each in parts]
        for split, parts in splits.items()
    }
    suffix = next(iter(splits.values()))[0].data.path.rpartition(".")[2].lower()
    options: dict[str, Any] = {"data_files": files}
    if filters:
        options["filters"] = list(filters)
    return {
        "dataset_path": _FORMATS.get(suffix, suffix),
        "dataset_name": None,
        "dataset_kwargs": options,
    }


def _plain_file(file: DataFile, unpacked: Path) -> Path:
    """A file of its own with these contents."""
    if not file.member:
        return file.file
    content = file.read()
    path = unpacked / hashlib.sha256(content).hexdigest()[:16] / Path(file.member).name
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        written = path.with_name(f".{os.getpid()}")
        written.write_bytes(content)
        written.replace(path)
    return path


def _values(files: Sequence[PartFile], column: str) -> frozenset[str]:
    """Which values a column has in any of the files."""
    stamped = tuple((each.data, each.data.file.stat().st_mtime_ns) for each in files)
    return _read_values(stamped, column)


@lru_cache(maxsize=16)
def _read_values(files: tuple[tuple[DataFile, int], ...], column: str) -> frozenset[str]:
    return frozenset(str(row.get(column, "")) for file, _ in files for row in read_rows(file))


def _figures(raw: Mapping[str, Any]) -> Iterator[OfficialFigure]:
    for task, figures in raw["results"].items():
        count = raw.get("n-samples", {}).get(task, {})
        for key, value in figures.items():
            metric, comma, chosen = str(key).partition(",")
            if not comma or metric.endswith("_stderr") or not isinstance(value, int | float):
                continue
            stderr = figures.get(f"{metric}_stderr,{chosen}")
            yield OfficialFigure(
                task,
                metric,
                chosen,
                float(value),
                float(stderr) if isinstance(stderr, int | float) else None,
                int(count.get("effective", 0)),
                int(raw.get("n-shot", {}).get(task, 0)),
                str(raw.get("versions", {}).get(task, "")),
            )
