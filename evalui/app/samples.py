"""The shipped samples, the runs that "Try it" starts on them, and the example files to download."""

import csv
import io
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from evalui.app.models_service import is_demo
from evalui.errors import DataError, SpecError
from evalui.models.catalog import ModelState
from evalui.modes import usual_mode
from evalui.runs.contest import JudgingSpec
from evalui.runs.spec import VERSION, DatasetSpec, ModeSpec, RunSpec
from evalui.shipped_files import ASSETS

SAMPLE_JUDGE = "reference-judge"  # shipped: it follows a rule, so it costs nothing
_SAMPLES = ASSETS / "samples"
_DEMO = _SAMPLES / "demo"
_OPEN_SAMPLE = _SAMPLES / "open" / "arena-demo.jsonl"
_SAMPLE_NAME = "evalui-sample.zip"
_SAMPLE_MODELS = 2


def _sample_files() -> tuple[Path, ...]:
    """The files of the shipped sample, () if there are none."""
    return tuple(sorted(_DEMO.glob("*.csv")))


def sample_archive() -> tuple[str, bytes]:
    """The shipped sample as an upload; raises `DataError` if there is none."""
    if not _sample_files():
        raise DataError("no-sample")
    return _SAMPLE_NAME, _packed(_DEMO, _sample_files())


def open_sample() -> tuple[str, bytes]:
    """The shipped open questions as a file; raises `DataError` if there are none."""
    if not _OPEN_SAMPLE.exists():
        raise DataError("no-sample")
    return _OPEN_SAMPLE.name, _OPEN_SAMPLE.read_bytes()


def sample_run(upload: str, states: Sequence[ModelState]) -> RunSpec:
    """The shipped questions in the orders of a circle; raises `SpecError` if no model can run."""
    mode = ModeSpec(mode=usual_mode("choices"), pattern="circular")
    return RunSpec(
        version=VERSION,
        datasets=[DatasetSpec(upload=upload, skip_faulty=True)],
        models=_sample_models(states),
        modes=[mode],
    )


def open_sample_run(upload: str, states: Sequence[ModelState]) -> RunSpec:
    """The shipped open questions, judged where the shipped judge is there; raises likewise."""
    judges = [state.entry.name for state in states if state.entry.name == SAMPLE_JUDGE]
    judging = JudgingSpec(judges=judges) if judges else None
    return RunSpec(
        version=VERSION,
        datasets=[DatasetSpec(upload=upload, skip_faulty=True)],
        models=_sample_models(states),
        modes=[ModeSpec(mode=usual_mode("answers"))],
        judging=judging,
    )


@cache
def sample_size() -> int:
    """The questions of the shipped sample that are scored, 0 if there is none."""
    scored = [path for path in _sample_files() if not path.stem.endswith("_dev")]
    return sum(len(list(csv.DictReader(io.StringIO(path.read_text("utf-8"))))) for path in scored)


@cache
def open_sample_size() -> int:
    """The shipped open questions, 0 if there are none."""
    lines = _OPEN_SAMPLE.read_bytes().split(b"\n") if _OPEN_SAMPLE.exists() else []
    return sum(bool(line.strip()) for line in lines)


def _sample_models(states: Sequence[ModelState]) -> list[str]:
    """The demo models; where an administrator has none, the first that run here."""
    able = [each for each in states if not each.problem and not each.entry.judges_only]
    chosen = [state for state in able if is_demo(state.entry)] or able
    if not chosen:
        raise SpecError("no-model")
    return [state.entry.name for state in chosen[:_SAMPLE_MODELS]]


def _packed(folder: Path, paths: Iterable[Path]) -> bytes:
    """Files below a folder as an archive."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in paths:
            # Always the same date, so that the same files make the same archive, and upload.
            name = str(path.relative_to(folder))
            archive.writestr(zipfile.ZipInfo(name), path.read_bytes())
    return packed.getvalue()


def _swift_archive() -> bytes:
    folder = _SAMPLES / "swift"
    return _packed(folder, sorted(path for path in folder.rglob("*") if path.is_file()))


def _options_in_a_list() -> bytes:
    return (
        b'{"question": "Which of these is a fruit?", "choices": ["apple", "chair", "river"], '
        b'"answer": "A"}\n'
        b'{"question": "Which of these is a colour?", "choices": ["seven", "green", "loud"], '
        b'"answer": "B"}\n'
    )


# A small file of each format that is read, by the name under which it is downloaded.
EXAMPLES: Mapping[str, Callable[[], bytes]] = {
    "choice.csv": lambda: (_DEMO / "capitals_en_val.csv").read_bytes(),
    "options.jsonl": _options_in_a_list,
    "dev-and-val.zip": lambda: sample_archive()[1],
    "question-answer.jsonl": lambda: (
        _SAMPLES / "swift" / "custom_general_qa" / "default.jsonl"
    ).read_bytes(),
    "open-questions.xlsx": lambda: (_SAMPLES / "zbench" / "subjective_zbench.xlsx").read_bytes(),
    "ms-swift.zip": _swift_archive,
}
