"""A run as its form stands: uploads with their layouts, models, modes, and how models write."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args
from urllib.parse import parse_qsl, urlencode

from evalui.datasets.base import Layout
from evalui.datasets.columns import COLUMN_ROLES, columns_of, with_columns
from evalui.generation import AS_USUAL, OF_RUN, GenerationSettings, check_used, fitting
from evalui.modes import MODES
from evalui.modes.own_settings import settings_taken
from evalui.runs.contest import AnswersSpec, JudgingSpec
from evalui.runs.spec import (
    VERSION,
    DatasetSpec,
    LimitPer,
    ModeSpec,
    RunSpec,
)
from evalui.summary_groups import SummaryGroup
from evalui.types import DatasetKind, Pattern, Spellings

KINDS: Mapping[str, DatasetKind] = {name: name for name in get_args(DatasetKind)}
_KEY = "key"  # beside the roles of columns: what the right answer is written as
_KIND = "kind"  # beside them: the kind of questions
_USUAL_LAYOUT = Layout()


@dataclass(frozen=True, slots=True)
class AnswerSource:
    """Answers that are there already: the file at a place of an upload, or a model of a run."""

    model: str
    upload: str = ""
    place: int = 0
    run: str = ""


@dataclass(frozen=True, slots=True)
class RunForm:
    """A run as its form stands. `template` is a name, "" for one by question, or own text.

    `layouts` say how each upload is read. Of `generation` each mode takes what means something to
    it, and the run what it has at its top.
    """

    uploads: tuple[str, ...]
    models: tuple[str, ...]
    modes: tuple[str, ...]
    layouts: Mapping[str, Layout] = field(default_factory=dict[str, Layout])
    answers: tuple[AnswerSource, ...] = ()
    judging: JudgingSpec | None = None
    shots: tuple[int, ...] = (0,)
    pattern: Pattern = "circular"
    template: str | dict[str, Any] = ""
    chat: bool | None = None
    spellings: Spellings = "common"
    generation: GenerationSettings = AS_USUAL
    limit: int | None = None
    limit_per: LimitPer = "subject"
    name: str = ""
    metrics: tuple[str, ...] = ()
    summary_groups: tuple[SummaryGroup, ...] = ()
    replies_of: Mapping[str, str] = field(default_factory=dict[str, str])

    def layout_of(self, upload: str) -> Layout:
        """How an upload is read."""
        return self.layouts.get(upload, _USUAL_LAYOUT)

    def mode_specs(self) -> list[ModeSpec]:
        """Each mode with each number of worked examples; open questions have none.

        Raises:
            SpecError: a setting of writing means nothing to any of the modes.
        """
        if self.modes:
            taken = [settings_taken(each, self.spellings) for each in self.modes]
            check_used(self.generation, taken)
        return [
            ModeSpec(
                mode=mode,
                shots=shots,
                pattern=self.pattern if MODES[mode].shows_options else "origin",
                template="" if MODES[mode].gives == "answers" else self.template,
                chat=self.chat,
                spellings=self.spellings,
                **fitting(self.generation, settings_taken(mode, self.spellings) - OF_RUN),
            )
            for mode in self.modes
            for shots in ((0,) if MODES[mode].gives == "answers" else self.shots)
        ]

    def dataset_spec(
        self, paths: Sequence[str], *, name: str, sha256: str, upload: str = ""
    ) -> DatasetSpec:
        """One upload, read as the form states."""
        layout = self.layout_of(upload)
        return DatasetSpec(
            path=list(paths),
            name=name,
            sha256=sha256,
            skip_faulty=True,  # the page says how many rows are set aside
            columns=columns_of(layout),
            answer_key=layout.answer_key,
            sheet=layout.sheet,
            kind=layout.kind,
            head_row=layout.head_row,
            commas_in_text=layout.commas_in_text,
            split=layout.split,
            duplicate_options=layout.duplicate_options,
            cluster=layout.cluster,
        )

    def run_spec(
        self, datasets: Sequence[DatasetSpec], answers: Sequence[AnswersSpec] = ()
    ) -> RunSpec:
        """The whole run; `answers` are those of the form as the specification names them."""
        return RunSpec(
            version=VERSION,
            name=self.name,
            datasets=list(datasets),
            models=list(self.models),
            modes=self.mode_specs(),
            answers=list(answers),
            judging=self.judging,
            seed=self.generation.seed or 0,
            limit=self.limit,
            limit_per="dataset" if self.limit and self.limit_per == "dataset" else None,
            metrics=list(self.metrics),
            summary_groups=list(self.summary_groups),
            replies_of=dict(self.replies_of),
        )


def write_columns(layout: Layout) -> str:
    """The field of the form that says which column is what, "" for the format's own names."""
    key = {} if layout.answer_key == "letter" else {_KEY: layout.answer_key}
    return urlencode(columns_of(layout) | key)


def read_columns(text: str) -> Layout:
    """The inverse of `write_columns`."""
    columns = dict(parse_qsl(text))
    layout = Layout(answer_key=columns.get(_KEY, "") or "letter")
    return with_columns(layout, {role: columns[role] for role in COLUMN_ROLES if role in columns})


def write_kept_columns(layout: Layout) -> str:
    """What is kept of a layout for files with the same headers: its columns and its kind."""
    kind = {_KIND: layout.kind} if layout.kind else {}
    return "&".join(filter(None, (write_columns(layout), urlencode(kind))))


def read_kept_columns(text: str) -> Layout:
    """The inverse: the layout that was kept."""
    kind = dict(parse_qsl(text)).get(_KIND, "")
    return replace(read_columns(text), kind=KINDS.get(kind, ""))
