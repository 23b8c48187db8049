"""What goes in and out: every field has its unit; times are seconds since 1970."""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo

from evalui.access import Deed, Right, Role, Scope
from evalui.messages import Messages
from evalui.runs.database.voting.plans import MAX_VOTERS
from evalui.runs.database.voting.votes import VoteChoice
from evalui.runs.fair_queue.limits import UserLimits
from evalui.runs.submitted import SentJson, check_json
from evalui.types import Ability, CellState, DatasetKind, Pattern, RunState

CheckedJson = BeforeValidator(check_json)


class _Sent(SentJson):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Answered(BaseModel):
    model_config = ConfigDict(frozen=True, from_attributes=True, populate_by_name=True)


def _translated(text: str, info: ValidationInfo) -> str:
    return info.context.translate(text) if isinstance(info.context, Messages) else text


# A sentence, in the language of the `Messages` that are given as context of the validation.
Translated = Annotated[str, BeforeValidator(_translated)]


class Problem(_Answered):
    """RFC 9457. `detail` is a sentence in the Accept-Language, `key` names it in any language."""

    type: str
    title: str
    status: int
    detail: str
    key: str


class Me(_Answered):
    """Who sends the request, what they may do at all, and the `limits` of what they may take."""

    name: str
    role: Role
    scope: Scope
    teams: list[str]
    may: list[Deed]
    limits: UserLimits


class UploadFault(_Answered):
    """A row that cannot be used."""

    file: str
    line: int
    column: str
    rule: str
    actual: str
    expected: str


class DatasetPart(_Answered):
    """One dataset of an upload: `questions` of `rows` can be used, the others have `faults`.

    Where a configuration has several, `name` is the `entry` of a specification. `unlisted` counts
    further faults.
    """

    name: str
    kind: DatasetKind
    questions: int
    worked_examples: int
    rows: int
    faults: list[UploadFault]
    unlisted: int
    notes: list[str]


class DatasetSummary(_Answered):
    """Files that were uploaded together."""

    id: str
    files: list[str]
    bytes: int
    created: float


class UploadedDatasets(DatasetSummary):
    """What was read of them; `problem` states why they are no questions, "" if they are."""

    parts: list[DatasetPart]
    problem: str


class CellProgress(_Answered):
    """One model on one dataset in one mode; `accuracy` is that of the file's own order so far."""

    dataset: str
    model: str
    mode: str
    label: str
    pattern: Pattern
    state: CellState
    done: int
    total: int
    accuracy: float | None
    error: Translated
    signature: str


class RunProgress(_Answered):
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
    """One run: what the sender `may` do with it, and the `rights` of teams.

    A run that waits has a `place` in the queue of all people, from 1, starts in so many seconds,
    and is `held` for a reason beside its turn; what is unknown is None. `seconds_left` are those
    until its end.
    """

    may: list[Deed]
    rights: dict[str, list[Right]]
    place: int | None
    starts_in_seconds: float | None
    held: str
    seconds_left: float | None
    left_out: list[str]
    cells: list[CellProgress]


class RunPage(_Answered):
    """Runs, the newest first; `next` is the cursor of the next page, "" after the last."""

    runs: list[RunProgress]
    next: str


class RightsSent(_Sent):
    """All that a team may do with a run; none takes back what it may."""

    rights: list[Right]


class VotersSent(_Sent):
    """Who votes on the pairs of a run, `overlap` of them on each; nobody named: everybody."""

    people: list[str] = Field(max_length=MAX_VOTERS)
    overlap: int = Field(default=1, ge=1, le=MAX_VOTERS)


class VoteSent(_Sent):
    """A vote on the pair of a ballot: `a` is what stood left, `b` right; `seconds` were spent."""

    pair: str = Field(max_length=200)
    choice: VoteChoice
    comment: str = Field(default="", max_length=10_000)
    seconds: float | None = Field(default=None, ge=0, le=86_400)


class BallotShown(_Answered):
    """Two answers without their models' names; `pair` "" when none is left."""

    pair: str
    dataset: str
    question: str
    left: list[str]
    right: list[str]
    voted: int
    pairs: int


class TestedAbility(_Answered):
    """What a test showed of one ability; `problem` "" if it was answered."""

    ability: Ability
    mode: str
    answer: str
    correct: bool | None
    seconds: float
    problem: Translated


class ModelTested(_Answered):
    """The last test of a model that the sender requested."""

    state: Literal["queued", "running", "done", "failed"]
    created: float
    finished: float | None
    load_seconds: float | None = Field(validation_alias="load_s")
    error: Translated
    abilities: list[TestedAbility] = Field(validation_alias="ability_tests")


class ModelShown(_Answered):
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
    problem: str
    pending: bool
    added: bool
    owner: str
    everyone: bool
    teams: list[str]
    test: ModelTested | None
