"""What goes in and out: every field has its unit; times are seconds since 1970."""

from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    model_validator,
)

from evalui.access import Deed, Role, Scope
from evalui.app.files.views import PlannedCell
from evalui.benchmarks.published import PublishedFigure
from evalui.datasets.model import ColumnTable, Roles
from evalui.datasets.preview import FileReading, QuestionPreview
from evalui.messages import Messages
from evalui.runs.estimate import Estimate
from evalui.runs.fair_queue.limits import UserLimits
from evalui.runs.fair_queue.turns import QueueAhead
from evalui.runs.spec import check_json
from evalui.types import Ability, CellState, DatasetKind, Fault, Pattern, RunState

CheckedJson = BeforeValidator(check_json)


class Sent(BaseModel):
    """What comes in."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    _check_json = model_validator(mode="before")(check_json)


class Answered(BaseModel):
    """What goes out."""

    model_config = ConfigDict(frozen=True, from_attributes=True, populate_by_name=True)


def _translated(text: str, info: ValidationInfo) -> str:
    return info.context.translate(text) if isinstance(info.context, Messages) else text


# A sentence, in the language of the `Messages` that are given as context of the validation.
Translated = Annotated[str, BeforeValidator(_translated)]


class Me(Answered):
    """Who sends the request, what they may do at all, and the `limits` of what they may take."""

    name: str
    role: Role
    scope: Scope
    may: list[Deed]
    limits: UserLimits


class ColumnsShown(Answered):
    """The columns of a table, a guess of the role of each, and which column was `kept` for a role
    of files with these headers.
    """

    table: ColumnTable
    guess: Roles
    kept: dict[str, str]


class PreviewShown(Answered):
    """Questions as models are asked them, from the one at `start` (from 0) of `total`.

    `reading` has each choice about how the file is read, and its origin: a name in the file, its
    content, or a person. The columns in `unused` hold texts that nothing uses.
    """

    questions: list[QuestionPreview]
    start: int
    total: int
    unused: list[str]
    reading: FileReading | None


class DatasetPart(Answered):
    """One dataset of an upload: `questions` of `rows` can be used, the others have `faults`.

    Where a configuration has several, `name` is the `entry` of a specification. `unlisted` counts
    further faults. What is no table has no `columns`. `problem` is why nothing can be read as it
    stands, "" if it can; then the columns or the kind must be confirmed, and `kind` is "".
    """

    name: str
    kind: DatasetKind | Literal[""]
    questions: int = 0
    worked_examples: int = 0
    rows: int
    faults: list[Fault] = []
    unlisted: int = 0
    notes: list[str] = []
    columns: ColumnsShown | None
    preview: PreviewShown
    problem: str


class UploadedDatasets(Answered):
    """Files that were uploaded together, and what was read of them; `problem` states why they are
    no questions, "" if they are.

    While they are "waiting" for other files or "reading", there are no `parts` yet, and `rows_read`
    says how far it is. Then they are "ready", or "faulty" where a `problem` is left.
    """

    id: str
    files: list[str]
    bytes: int
    created: float
    state: Literal["waiting", "reading", "ready", "faulty"]
    rows_read: int = 0
    parts: list[DatasetPart] = []
    problem: str = ""


class BenchmarkShown(Answered):
    """A published set. `origin` is where its scored split is on this server ("given", "fetched",
    "cache", "" nowhere), `advice` what to do where it is not, or why no model is asked.
    """

    name: str
    names: list[str]
    title: str
    topic: str
    languages: list[str]
    licence: str
    hub: str
    source: str
    split: str
    questions: int
    lm_eval: str
    unsupported: str
    origin: str
    revision: str
    files: list[str]
    bytes: int
    advice: str
    published: list[PublishedFigure]


class CellProgress(Answered):
    """One model on one dataset in one mode; `accuracy` is that of the file's own order so far.

    `width` is how many requests its endpoint was last sent at a time, of `max_width`; 0 for others.
    """

    id: int
    dataset: str
    model: str
    mode: str
    label: str
    pattern: Pattern
    state: CellState
    done: int
    total: int
    accuracy: float | None
    width: int
    max_width: int
    error: Translated
    signature: str


class RunProgress(Answered):
    """How far a run is; trials are counted over all cells that can run."""

    id: str
    name: str
    owner: str
    state: RunState
    revision: int
    done: int
    total: int
    cancelling: bool
    error: Translated
    created: float
    started: float | None
    finished: float | None

    def __str__(self) -> str:
        return self.id  # as addresses name it


class RunDetail(RunProgress):
    """One run, what the sender `may` do with it, and whether `everyone` may see it.

    A run that waits has a `place` in the queue of all people, from 1, and is `held` for a reason
    beside its turn. `seconds_left` are those until the end of a run at work, as measured; what is
    unknown is None.
    """

    may: list[Deed]
    everyone: bool
    place: int | None
    held: str
    seconds_left: float | None
    left_out: list[str]
    cells: list[CellProgress]


class ImportSent(Sent):
    """The finished run of another harness: either an `upload` or a `path` on the server.

    Of an upload, `models` names the models that no file states, in their order; `without` are files
    that are no part of the log and are left out; `mapping` names the columns of a CSV file,
    `role=column` each.
    """

    upload: str = ""
    path: str = ""
    name: str = Field(default="", max_length=120)
    models: list[Annotated[str, Field(max_length=200)]] = Field(default=[])
    without: list[str] = Field(default=[])
    mapping: list[str] = Field(default=[])


class ImportDone(Answered):
    """The run that an import has made, and a sentence for each kind of answer left out of it."""

    run: RunDetail
    left_out: list[str]


class RunPlan(Answered):
    """A run that is not started; a `hindrance` is why it could not be, "" if it could."""

    cost: Estimate
    cells: list[PlannedCell]
    ahead: QueueAhead
    warnings: list[str]
    hindrance: str


class RunPage(Answered):
    """Runs, the newest first; `next` is the cursor of the next page, "" after the last."""

    runs: list[RunProgress]
    next: str


class TestedAbility(Answered):
    """What a test showed of one ability; `problem` "" if it was answered."""

    ability: Ability
    mode: str
    answer: str
    correct: bool | None
    seconds: float
    problem: Translated


class ModelTested(Answered):
    """The last test of a model that the sender requested."""

    state: Literal["queued", "running", "done", "failed"]
    created: float
    finished: float | None
    load_seconds: float | None = Field(validation_alias="load_s")
    error: Translated
    abilities: list[TestedAbility] = Field(validation_alias="ability_tests")


class ModelShown(Answered):
    """A model of the server; `problem` "" if nothing is known against it, `pending` while that is
    being looked at. `added`: it came by the Models page or this interface; `owner` is who added it.
    """

    name: str
    backend: str
    place: Literal["here", "endpoints", "demo"]
    baseline: bool
    chat: bool
    input_price: float
    output_price: float
    abilities: list[Ability]
    sees_pictures: bool
    problem: str
    pending: bool
    added: bool
    owner: str
    everyone: bool
    people: list[str]
    test: ModelTested | None
