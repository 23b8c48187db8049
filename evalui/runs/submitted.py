"""A specification whose files were uploaded: ids of uploads stand in it where others have paths."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field, model_validator

from evalui.datasets.tables.table import has_lone_surrogate
from evalui.errors import SpecError
from evalui.runs.contest import AnswersSpec
from evalui.runs.spec import DatasetSpec, RunSpec

_MAX_DEPTH = 32  # of lists and objects in each other
_MAX_NAME = 120  # characters, as in the form
PathsOf = Callable[[str], Sequence[Path]]  # the files of an upload


def check_json(values: Any) -> Any:
    """What was sent as JSON if it can be stored.

    Raises:
        SpecError: it has halves of characters, or is nested for ever.
    """
    if _is_deeper(values, _MAX_DEPTH):
        raise SpecError("spec-too-deep")
    if isinstance(values, dict) and has_lone_surrogate(values):
        raise SpecError("half-character")
    return cast("Any", values)


class SentJson(BaseModel):
    """What is sent as JSON and can be stored, see `check_json`."""

    _check_json = model_validator(mode="before")(check_json)


class UploadedDataset(DatasetSpec):
    """A dataset of which `upload` is the id of its files; a server takes no `path`."""

    model_config = ConfigDict(title="Dataset")

    path: str | list[str] = Field(default="", exclude=True)
    name: str = Field(default="", max_length=_MAX_NAME)
    upload: str = ""

    @property
    def key(self) -> str:
        """What the dataset is called before it is read."""
        return self.name or self.entry or self.upload or super().key


class UploadedAnswers(AnswersSpec):
    """Answers in the one file of an `upload`, or of an earlier run; a server takes no `path`."""

    model_config = ConfigDict(title="Answers")

    path: str = Field(default="", exclude=True)
    model: str = Field(min_length=1, max_length=_MAX_NAME)
    upload: str = ""


class SubmittedSpec(SentJson, RunSpec):
    """A run as `evalui run` reads it, with ids of uploads in place of paths."""

    model_config = ConfigDict(title="Run")

    name: str = Field(default="", max_length=_MAX_NAME)
    datasets: list[UploadedDataset] = Field(default=[], min_length=1)  # pyright: ignore[reportIncompatibleVariableOverride] # ty: ignore[incompatible-attribute-override]
    answers: list[UploadedAnswers] = Field(default=[])  # pyright: ignore[reportIncompatibleVariableOverride] # ty: ignore[incompatible-attribute-override]


def locate(spec: SubmittedSpec, paths_of: PathsOf) -> SubmittedSpec:
    """The specification with the paths of its uploads, which it does not show when it is written.

    Raises:
        SpecError: it names a path, or neither an upload nor a run, or an upload of several files
            as one file of answers.
        DataError: as `paths_of` does.
    """
    datasets: list[UploadedDataset] = []
    for place, source in enumerate(spec.datasets):
        _require_upload(f"datasets[{place}]", source.path, source.upload)
        paths = [str(path) for path in paths_of(source.upload)]
        datasets.append(source.model_copy(update={"path": paths}))
    answers = [_located(place, each, paths_of) for place, each in enumerate(spec.answers)]
    return spec.model_copy(update={"datasets": datasets, "answers": answers})


def _located(place: int, wanted: UploadedAnswers, paths_of: PathsOf) -> UploadedAnswers:
    if wanted.run and not (wanted.path or wanted.upload):
        return wanted
    _require_upload(f"answers[{place}]", wanted.path, wanted.upload)
    paths = paths_of(wanted.upload)
    if len(paths) != 1:
        raise SpecError("spec-one-file", place=f"answers[{place}]", n=len(paths))
    return wanted.model_copy(update={"path": str(paths[0])})


def _is_deeper(value: Any, depth: int) -> bool:
    inner: Iterable[Any] = ()
    if isinstance(value, dict):
        inner = cast("dict[str, Any]", value).values()
    elif isinstance(value, list):
        inner = cast("list[Any]", value)
    return not depth or any(_is_deeper(each, depth - 1) for each in inner)


def _require_upload(place: str, path: str | list[str], upload: str) -> None:
    if path:
        raise SpecError("spec-path", place=place)
    if not upload:
        raise SpecError("spec-no-upload", place=place)
