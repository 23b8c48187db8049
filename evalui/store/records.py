"""What the store hands out: rows of runs, cells, datasets and pages of questions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from evalui.access import Owned
from evalui.types import Cell, CellState, RunState, Sample, Trial

TrialOutcome = Literal["right", "wrong", "unreadable", "tied"]
OutcomeFilter = Literal[
    "", "wrong", "right", "order_sensitive", "unreadable", "tied", "answered", "empty", "cut"
]
LIVE_STATES: tuple[RunState, ...] = ("queued", "running")  # of runs that can still change
ENDED_STATES: tuple[RunState, ...] = ("done", "failed", "cancelled")
QuestionSort = Literal["file", "worst", "best"]  # of written answers: by ROUGE-L's f


@dataclass(frozen=True, slots=True)
class Lease:
    """A worker's right to write one run. `attempt` grows with every claim.

    A worker that was thought dead and comes back holds an old attempt, so it can write nothing.
    """

    run_id: str
    worker: str
    attempt: int


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run. Times are seconds since 1970, None if not yet. `spec` is its JSON.

    `done` and `total` count trials over all cells that can run. `cancelling`: its owner has
    stopped it and its worker has not noticed yet. `attempt` counts the claims. `voters` are those
    whom its plan of votes names; `everyone` with an account may see it.
    """

    id: str
    owner: str
    name: str
    spec: str
    state: RunState
    created: float
    started: float | None
    finished: float | None
    cancelling: bool
    worker: str
    attempt: int
    error: str
    revision: int
    done: int
    total: int
    voters: frozenset[str]
    everyone: bool

    @property
    def owned(self) -> Owned:
        """The run as `access.may` knows it."""
        return Owned(self.owner, run=self.id, voters=self.voters, everyone=self.everyone)

    @property
    def lease(self) -> Lease:
        """The right to write the run, meant for the worker that claimed it."""
        return Lease(self.id, self.worker, self.attempt)


@dataclass(frozen=True, slots=True)
class CellRow:
    """One cell of a run and how far it is.

    `plan` is its `ModeSpec` as JSON, run on the first `questions` of the dataset. `done` and
    `total` count trials, `requests` what they send to the model. `rate` is in trials
    per second, lately; `seconds` is the time spent on the cell so far. Of the trials in the
    file's own order, `origin_n` are done and `origin_credit` is the sum of their credit.
    `unreadable` and `tied` count trials in any order; `unreferenced` those that a judge did not
    judge for lack of a reference. `width` is how many requests its model is sent at a time now, of
    `max_width`; 0 where that is not counted.
    """

    id: int
    run_id: str
    cell: Cell
    dataset_key: str
    source: str
    plan: str
    questions: int
    state: CellState
    done: int
    total: int
    requests: int
    error: str
    traceback: str
    started: float | None
    finished: float | None
    seconds: float
    rate: float | None
    origin_n: int
    origin_credit: float
    unreadable: int
    tied: int
    unreferenced: int
    width: int = 0
    max_width: int = 0

    @property
    def accuracy(self) -> float | None:
        """The accuracy so far in the file's own order, 0 to 1; None before the first trial."""
        return self.origin_credit / self.origin_n if self.origin_n else None

    @property
    def remaining_seconds(self) -> float | None:
        """Seconds until the cell is done at the present rate, None while it is unknown."""
        if self.done >= self.total:
            return 0.0
        return (self.total - self.done) / self.rate if self.rate else None


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """One worker: `model` is "" while it is idle, `device` "" until the model is loaded.

    `run` is the id of its run, "" while it tries a model out, or only `keeps` one loaded for the
    next run. `bytes` is what its processes hold of the machine's memory. `own_device` is the one
    that it was started for, "" if for any.
    """

    name: str
    seen: float
    device: str = ""
    model: str = ""
    run: str = ""
    bytes: int = 0
    own_device: str = ""
    keeps: bool = False

    @property
    def is_busy(self) -> bool:
        """Whether it works on anything."""
        return bool(self.model or self.run) and not self.keeps

    @property
    def has_loaded_model(self) -> bool:
        """Whether its model is loaded."""
        return bool(self.model and self.device)


@dataclass(frozen=True, slots=True)
class QuestionFilter:
    """Which questions of a cell are listed, and in which order; "" and None filter nothing.

    `wrong` and `right` speak of the file's own order; `order_sensitive` is right in some orders
    and not in all; the last three are of written answers. `rule`, `gold` and `picked` (slots, from
    0) must meet in one trial. `find` is looked for in questions and replies, or is an id.
    """

    outcome: OutcomeFilter = ""
    subject: str = ""
    capability: str = ""
    rule: str = ""
    gold: int | None = None
    picked: int | None = None
    find: str = ""
    sort: QuestionSort = "file"


@dataclass(frozen=True, slots=True)
class TrialMark:
    """What a list says of one trial; `credit` is ROUGE-L's f if a written answer has references."""

    outcome: TrialOutcome
    rule: str
    credit: float


@dataclass(frozen=True, slots=True)
class ListedQuestion:
    """One question of a list. `marks` are those of each cell's trials, in variant order."""

    place: int
    sample: Sample
    marks: Mapping[int, tuple[TrialMark, ...]]


@dataclass(frozen=True, slots=True)
class QuestionDetail:
    """One question with its trials in variant order, by cell; `place` counts the file from 0."""

    place: int
    sample: Sample
    trials: Mapping[int, tuple[Trial, ...]]


@dataclass(frozen=True, slots=True)
class Facets:
    """What the questions of a cell can be filtered by; `n_options` is the most any of them has."""

    subjects: tuple[str, ...]
    rules: tuple[str, ...]
    n_options: int
    capabilities: tuple[str, ...] = ()
