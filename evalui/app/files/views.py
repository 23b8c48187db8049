"""What comes back of uploaded files: some kB whatever their size, never a dataset."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from evalui.datasets.base import Layout, UploadNote
from evalui.datasets.health import ChoiceHealth, OpenHealth
from evalui.models.base import ModelEntry
from evalui.models.catalog import ModelState
from evalui.runs.estimate import Estimate
from evalui.types import DatasetKind, Fault, Pattern


@dataclass(frozen=True, slots=True)
class UploadHealth:
    """The health of an upload's questions.

    `figures` have no ids of questions and at most 1,000 subjects or capabilities; what they leave
    out is counted beside them.
    """

    figures: ChoiceHealth | OpenHealth
    n_duplicates: int
    n_groups: int  # subjects, or capabilities that have a name
    n_referring: int = 0
    n_equal_options: int = 0


@dataclass(frozen=True, slots=True)
class UploadView:
    """An upload as it was read: what pages show of it.

    `n_questions` can be used, `n_shots` are the worked examples. The other names are those of a
    `LoadResult`. `n_chinese` questions are for a Chinese judge. `health` is None where no question
    can be used.
    """

    name: str
    kind: DatasetKind
    n_questions: int
    n_shots: int
    n_rows: int
    faults: tuple[Fault, ...]
    unlisted: int
    n_unusable_rows: int
    files: tuple[str, ...]
    notes: tuple[UploadNote, ...]
    sheets: tuple[str, ...]
    kinds: tuple[DatasetKind, ...]
    n_chinese: int
    health: UploadHealth | None = None
    unused_columns: tuple[str, ...] = ()

    @property
    def n_faults(self) -> int:
        """All faults, those too that are only counted."""
        return len(self.faults) + self.unlisted

    @property
    def n_references(self) -> int:
        """How many open questions have a reference; 0 of multiple choice."""
        figures = self.health.figures if self.health else None
        return figures.n - figures.without_reference if isinstance(figures, OpenHealth) else 0


@dataclass(frozen=True, slots=True)
class UploadPart:
    """A dataset of a form: an upload, or a part of one, and how it is read."""

    upload: str
    layout: Layout


@dataclass(frozen=True, slots=True)
class AnswersFile:
    """A file of answers beside the questions: which of them it answers.

    `matched` of `questions` have an answer, `unknown` are the first of `n_unknown` indices that
    no question has. `faults` are the rows that cannot be used, with the reason of each. `problem`
    is why the file cannot be read, else "".
    """

    upload: str
    place: int
    model: str
    name: str = ""
    matched: int = 0
    questions: int = 0
    unknown: tuple[str, ...] = ()
    n_unknown: int = 0
    faults: tuple[Fault, ...] = ()
    unlisted: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class EarlierRun:
    """A finished run whose models answered the same questions; (model, answers) each."""

    id: str
    name: str
    models: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class KnownModels:
    """The models that a run may name, and what is known of those it does name."""

    catalog: Mapping[str, ModelEntry]
    states: Mapping[str, ModelState] = field(default_factory=dict[str, ModelState])

    def describe(self, entry: ModelEntry) -> ModelState:
        """What is known of a model that the run names."""
        return self.states[entry.name]


@dataclass(frozen=True, slots=True)
class PlannedCell:
    """A cell of a run that could start, see `CellPlan`; `fits`: its mode is meant for the file."""

    model: str
    mode: str
    pattern: Pattern
    dataset: str
    dataset_key: str
    questions: int
    total: int
    impossible: str
    fits: bool
    has_price: bool


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A run form worked out: its cells, its cost, and whether a model computes on the server."""

    cells: tuple[PlannedCell, ...]
    cost: Estimate
    computes_here: bool
