"""What comes back of uploaded files: some kB whatever their size, never a dataset."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from evalui.datasets.health import ChoiceHealth, OpenHealth
from evalui.datasets.model import Layout, UploadNote
from evalui.errors import SpecError
from evalui.messages import Sentence
from evalui.models.base import ModelEntry
from evalui.models.catalog import ModelState
from evalui.runs.estimate import Estimate
from evalui.types import DatasetKind, Fault, Pattern

_NAMED_FILES = 5  # in an error


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
class LoggedRun:
    """What one model answered of one dataset in a log; `missing` are keys of sentences, `log.…`.

    `harness` is a name under `harness.`, `version` its own, "" where no file states it.
    """

    harness: str
    version: str
    dataset: str
    model: str
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UnnamedModel:
    """A model whose name no file of a log states.

    `label` is what it is called until somebody names it, `guess` the name of the folder in which
    its answers came, "" if they came without one. `files` have the answers.
    """

    label: str
    guess: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LogChoices:
    """What a person says of a log that is imported.

    `models` are the names of the `LogView.unnamed`, in their order: "" is the guess. `without` are
    the files among `LogView.apart` that are left out. `mapping` names the columns of a CSV file.
    """

    name: str = ""
    models: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    mapping: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LogView:
    """An upload as the finished run of a harness, or as a bundle of evalui's own.

    `runs` are the first of `n_runs`. `apart` are dropped files that have questions or a run of
    their own and are no part of this one; `beside` the first of `n_beside` other files that have
    no answers of it, some of which state its figures. `has_folders`: the files came in folders.
    """

    runs: tuple[LoggedRun, ...]
    n_runs: int
    n_models: int
    n_datasets: int
    unnamed: tuple[UnnamedModel, ...] = ()
    apart: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    n_beside: int = 0
    has_folders: bool = True
    bundle: str = ""  # the name of its run

    def named_models(self, choices: LogChoices) -> dict[str, str]:
        """The names of the models that no file states, by their labels.

        Raises:
            SpecError: one is missing, or a file is no part of the log and nobody has said to leave
                it out: the run would be wrong in silence.
        """
        if apart := [name for name in self.apart if name not in choices.without]:
            raise SpecError("log-apart", files=", ".join(apart[:_NAMED_FILES]))
        if len(choices.models) > len(self.unnamed):
            raise SpecError("log-models", n=len(choices.models), unnamed=len(self.unnamed))
        names: dict[str, str] = {}
        for place, model in enumerate(self.unnamed):
            stated = choices.models[place].strip() if place < len(choices.models) else ""
            if not (name := stated or model.guess):
                raise SpecError("log-model-unnamed", files=", ".join(model.files[:_NAMED_FILES]))
            names[model.label] = name
        return names


@dataclass(frozen=True, slots=True)
class KnownModels:
    """The models that a run may name, and what is known of those it does name.

    `hindrances` are why modes of the run cannot run on this machine: a process that reads files
    cannot find out.
    """

    catalog: Mapping[str, ModelEntry]
    states: Mapping[str, ModelState] = field(default_factory=dict[str, ModelState])
    hindrances: Mapping[str, Sentence | None] = field(default_factory=dict[str, Sentence | None])

    def describe(self, entry: ModelEntry) -> ModelState:
        """What is known of a model that the run names."""
        return self.states[entry.name]

    def mode_hindrance(self, mode: str) -> Sentence | None:
        """Why a mode that the run names cannot run here, None if it can."""
        return self.hindrances[mode]


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
