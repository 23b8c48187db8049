"""The nouns of evalui. Everything else is a function between them.

    file -> Sample -> Request -> Response -> Trial -> metrics -> picture

Nothing here knows files, models, databases or screens.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, Protocol, Self

from evalui.pictures import Picture, has_marks

MAX_REPEATS = 256  # replies to one question
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

Ability = Literal["next_token", "loglik", "generate", "schema", "decide"]
Pattern = Literal["origin", "circular", "all_possible"]
# What stands for an option: the spellings of its letter that are tokens, the one that lm-eval has,
# or a key of a decision, see `Decide`.
Spellings = Literal["common", "lm_eval", "decision"]
# The keys of a decision: letters by place, letters dealt anew in each order, the options' texts, or
# keys that have no order, dealt anew.
Labels = Literal["", "dealt", "texts", "neutral"]
DatasetKind = Literal["multiple_choice", "general_qa", "subjective", "code"]
Gives = Literal["choices", "answers", "verdicts"]  # what the trials of a mode hold
# What a record of another program holds: the scores of letters or of whole options, a reply that
# names an option or is an answer in writing, or a decision.
Recorded = Literal["letters", "texts", "reply", "written", "decision"]
Split = Literal["dev", "val", "test", "train"]
Language = Literal["zh", "en"]
# Why the options of a question are asked in the order as written only, "" if they may move:
# they speak of each other, or several have the same text.
FixedOrderReason = Literal["", "naming", "duplicates"]
Outcome = Literal["a", "b", "tie", "neither"]  # tie: both answers are good, neither: both are bad
PresentationOrders = Literal["double", "random", "single"]  # in which a judge sees two answers
ConflictRule = Literal["tie", "half", "drop"]  # what two orders count that contradict each other
# What a judge gives its verdict in: words, JSON that fits a schema, how probable each label is as
# the next token, or a decision between the labels.
JudgeOutput = Literal["text", "schema", "probabilities", "decision"]
CellState = Literal["waiting", "running", "done", "failed", "cancelled", "impossible"]
GroupMean = Literal["macro", "micro"]
GroupOf = Literal["subjects", "datasets"]
RunState = Literal["queued", "running", "done", "failed", "cancelled"]

_NO_METADATA: Mapping[str, str] = MappingProxyType({})


class HasState(Protocol):
    """A cell, or what was made of one."""

    @property
    def state(self) -> str:
        """The state of the cell, a `CellState`."""
        ...


def is_unfinished(cell: HasState) -> bool:
    """Whether more answers are to come."""
    return cell.state in ("waiting", "running")


def has_options(kind: str) -> bool:
    """Whether the questions of a kind of dataset have options to choose from."""
    return kind == "multiple_choice"


@dataclass(frozen=True, slots=True)
class Sample:
    """One question, whatever file it came from.

    `target` is the index of the right option for multiple choice and the reference texts (none,
    one or several) for the other kinds. `refers_to_other_options` marks options that speak of other
    options ("A and B", "all of the above"): reordering them changes what they mean. `history` are
    the turns before the question, `follow_ups` the questions asked after its answer. `cluster`
    names what it shares with others (a passage, a document), "" where nothing is named.
    """

    id: str
    question: str
    choices: tuple[str, ...] = ()
    target: int | tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=lambda: _NO_METADATA)
    refers_to_other_options: bool = False
    history: tuple["Message", ...] = ()
    follow_ups: tuple[str, ...] = ()
    cluster: str = ""

    @property
    def texts(self) -> tuple[str, ...]:
        """All of it where pictures may stand: what models, judges and people are shown."""
        notes = (self.metadata.get(name, "") for name in ("explanation", "guidance"))
        return (*self.texts_for_models, *notes)

    @property
    def texts_for_models(self) -> tuple[str, ...]:
        """Those of them that a model may be shown that is evaluated."""
        turns = (turn.content for turn in self.history)
        return (self.question, *self.choices, *self.references, *turns, *self.follow_ups)

    @property
    def content(self) -> tuple[object, ...]:
        """What two samples share that ask the same, in whatever order their options stand."""
        text = " ".join(self.question.split())
        return text, tuple(sorted(self.choices)), self.history, self.follow_ups

    @property
    def subject(self) -> str:
        """The subject the sample belongs to, "" if its file has none."""
        return self.metadata.get("subject", "")

    @property
    def duplicate_options(self) -> bool:
        """Whether several options have the same text, to the letter."""
        return len(set(self.choices)) < len(self.choices)

    @property
    def fixed_reason(self) -> FixedOrderReason:
        """Why the options keep their order; the same text is told first."""
        return (
            "duplicates"
            if self.duplicate_options
            else "naming"
            if self.refers_to_other_options
            else ""
        )

    @property
    def references(self) -> tuple[str, ...]:
        """The reference texts; () for multiple choice."""
        return () if isinstance(self.target, int) else self.target


def ask_with_pictures(samples: Iterable[Sample]) -> bool:
    """Whether there are pictures in some questions, and not in explanations alone."""
    return any(has_marks(text) for sample in samples for text in sample.texts_for_models)


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong in an uploaded file, told so that a person can mend it.

    `line` counts from 1 as a text editor does, 0 means the whole file. `rule` names the check
    that failed (the key of its translation), `actual` and `expected` are what it saw and wanted.
    """

    file: str
    line: int
    column: str
    rule: str
    actual: str
    expected: str

    def __str__(self) -> str:
        """The fault as one English sentence."""
        place = self.file + (f", line {self.line}" if self.line else "")
        place += f", column {self.column}" if self.column else ""
        return f"{place}: found {self.actual}, expected {self.expected}"


@dataclass(frozen=True, slots=True)
class Dataset:
    """The usable questions of one upload. `shots` are dev rows: shown as examples, never scored.

    `packages` are those of other people whose formats have read it, each with its version.
    `pictures` is where those of its questions are: a folder, or "stored:" and its number in the
    store; "" without any.
    """

    name: str
    kind: DatasetKind
    samples: tuple[Sample, ...]
    shots: tuple[Sample, ...] = ()
    sha256: str = ""
    packages: tuple[str, ...] = ()
    pictures: str = ""

    @property
    def has_options(self) -> bool:
        """Whether its questions have options to choose from."""
        return has_options(self.kind)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that a run was given and does not evaluate.

    `rule` says why and is the key of its sentence in a report. `what` is the name of the file,
    entry or model, `mode` those of the modes, `why` what else there is to know; "" where there is
    none. `rows` counts rows of a file.
    """

    rule: str
    dataset: str
    what: str = ""
    mode: str = ""
    why: str = ""
    rows: int = 0


@dataclass(frozen=True, slots=True)
class Variant:
    """One order of the options: `permutation[slot]` is the index of the option shown there.

    `repeat` counts from 0 where a question is asked several times in one order.
    """

    permutation: tuple[int, ...]
    repeat: int = 0

    @property
    def is_origin(self) -> bool:
        """True for the order in which the file has the options."""
        return self.permutation == tuple(range(len(self.permutation)))

    @property
    def order(self) -> "Variant":
        """The same order as the first repeat has it."""
        return Variant(self.permutation) if self.repeat else self


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation; its content may have marks of pictures."""

    role: Literal["system", "user", "assistant"]
    content: str


# A conversation is rendered with the model's own chat template, a text is sent as it is. Both may
# have marks of pictures, see `evalui.pictures`; a request that is sent has them in `pictures`, made
# smaller to `picture_side` pixels, 0 for as many as usual.
Prompt = str | tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class NextToken:
    """Ask how probable each label is as the next token; answered by `LabelProbs`."""

    context: Prompt
    labels: tuple[str, ...]
    pictures: tuple[Picture, ...] = ()
    picture_side: int = 0


@dataclass(frozen=True, slots=True)
class Loglik:
    """Ask how probable `continuation` is after `context`; answered by `Logprob`.

    The empty context stands for the model's begin- or end-of-text token, as in lm-eval.
    """

    context: Prompt
    continuation: str
    pictures: tuple[Picture, ...] = ()
    picture_side: int = 0


@dataclass(frozen=True, slots=True)
class Generate:
    """Ask the model to write; answered by `GeneratedText`.

    `json_schema` is a JSON schema as a JSON text, "" for none. A model with the ability "schema"
    writes nothing that does not fit it; any other leaves it, and `constrained` says so.
    `settings` are further settings by name, see `generation.GenerationSettings`: those that are
    not at their default, sorted. `repeat` tells draws of one request apart, and `seed` those of one
    run from those of another, see `sampling_seed`; it is 0 where nothing is drawn.
    """

    prompt: Prompt
    max_tokens: int = 256
    stop: tuple[str, ...] = ()
    temperature: float = 0.0
    json_schema: str = ""
    settings: tuple[tuple[str, float | int | str | tuple[str, ...]], ...] = ()
    repeat: int = 0
    seed: int = 0
    pictures: tuple[Picture, ...] = ()
    picture_side: int = 0

    def setting(self, name: str) -> Any:
        """The value of one of the settings, None if it is at its default."""
        return dict(self.settings).get(name)


@dataclass(frozen=True, slots=True)
class Decide:
    """Ask which of 2 to 255 options is right, and how probable each is; answered by `Decision`.

    `context` is what the `question` is about. `options` are in the order shown: the key by which
    the model names it, no two the same, and its text.
    """

    context: str
    question: str
    options: tuple[tuple[str, str], ...]
    pictures: tuple[Picture, ...] = ()
    picture_side: int = 0


Request = NextToken | Loglik | Generate | Decide
# What a model needs to answer a request.
ABILITY_OF: Mapping[type[Request], Ability] = {
    NextToken: "next_token",
    Loglik: "loglik",
    Generate: "generate",
    Decide: "decide",
}


def prompt_of(request: Request) -> Prompt:
    """What a model is sent before what it writes or what is scored."""
    return request.prompt if isinstance(request, Generate) else request.context


def texts_of(request: Request) -> tuple[str, ...]:
    """The texts of a request, in which marks of pictures may stand."""
    prompt = prompt_of(request)
    texts = (prompt,) if isinstance(prompt, str) else tuple(turn.content for turn in prompt)
    if isinstance(request, Loglik):
        return (*texts, request.continuation)
    if isinstance(request, Decide):
        return (*texts, request.question, *(part for option in request.options for part in option))
    return texts


@dataclass(frozen=True, slots=True)
class LabelProbs:
    """Natural log-probability of each label, all its one-token spellings summed.

    `mass` is the probability of all labels together, `top_token` the text of the most probable
    token of the whole vocabulary. `truncated`: the prompt was cut on the left to fit the model.
    """

    logprobs: tuple[float, ...]
    mass: float
    top_token: str
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Logprob:
    """Summed natural log-probability of a continuation of `n_tokens` tokens.

    `greedy`: every token was the model's first choice. `merged`: the tokenizer joined the end
    of the context with the beginning of the continuation, so both were scored from the longest
    common token prefix.
    """

    total: float
    n_tokens: int
    greedy: bool
    merged: bool = False
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens a request cost."""

    prompt_tokens: int
    completion_tokens: int

    def __add__(self, other: "Usage") -> "Usage":
        """Both together."""
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )


@dataclass(frozen=True, slots=True)
class GeneratedText:
    """What the model wrote. `finish_reason` "length" means it was cut off at `max_tokens`.

    `thoughts` are what it thought before that, "" if it shows none: no part of the reply that is
    read, judged or measured. `constrained`: it could write nothing but JSON that fits the schema
    of the request.
    """

    text: str
    usage: Usage | None = None
    finish_reason: str = "stop"
    truncated: bool = False
    thoughts: str = ""
    constrained: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """Which option a model chose, and how probable it says each is.

    `probabilities` are as the model gave them, in the order of the request: they may be rounded and
    sum to less or more than 1; () unless each option has one. `choice` is the place of the option
    that it names, None if it names none. `refused`: it declined to answer. `confidence` is what
    the model says of its choice in 0..1, by a rule of its own. `truncated`: the server says that it
    did not read all of the request.
    """

    probabilities: tuple[float, ...] = ()
    choice: int | None = None
    refused: bool = False
    confidence: float | None = None
    truncated: bool = False


Response = LabelProbs | Logprob | GeneratedText | Decision


@dataclass(frozen=True, slots=True)
class Reading:
    """Which slot one rule reads from the model's answer.

    `choice` is None when nothing can be read or when options tie at the top. `credit` is 1 for
    right, 0 for wrong and unreadable, 1/t when t options tie and the right one is among them.
    `rule` is the line of the rule table that decided.
    """

    choice: int | None
    credit: float
    rule: str
    tied: bool = False

    @classmethod
    def of_tie(cls, slots: Sequence[int], target: int) -> Self:
        """Of an answer that names several slots equally: no choice, and 1/t of the credit."""
        return cls(None, (target in slots) / len(slots), "tie", tied=True)


@dataclass(frozen=True, slots=True)
class Trial:
    """One graded variant of one sample.

    All positions are slots as shown to the model; `variant` maps them to the file's options.
    An open answer has the empty variant and slot 0 as its choice; a judgement has the contestants
    it showed as its variant, and the place of its outcome in `OUTCOMES` as its choice.
    `readings` holds the answer under every rule of the mode ("forced", "tolerant", "strict", or
    a normalisation), `headline` names the one that counts. `probabilities` are per slot and sum
    to 1; `mass` is what they summed to before. `scores` are the cloze scores per slot, the text
    figures of an open answer, or the marks of a judgement. `turns` are the answers to each question
    of a conversation, of which `reply` is the last. `fixed_reason` is that of the sample.
    `thoughts` are what the model thought before it replied, for a person to read and nothing else.
    """

    sample_id: str
    variant: Variant
    target: int
    headline: str
    readings: Mapping[str, Reading]
    probabilities: tuple[float, ...] = ()
    mass: float | None = None
    reply: str | None = None
    scores: Mapping[str, tuple[float, ...]] = field(default_factory=dict[str, tuple[float, ...]])
    merged_boundaries: int = 0
    truncated: bool = False
    fixed_reason: FixedOrderReason = ""
    turns: tuple[str, ...] = ()
    thoughts: str = ""

    @property
    def reading(self) -> Reading:
        """The reading that counts."""
        return self.readings[self.headline]

    @property
    def answers(self) -> tuple[str, ...]:
        """The reply, or those to each question of a conversation."""
        return self.turns or (self.reply or "",)

    @property
    def choice(self) -> int | None:
        """The chosen slot, None if unreadable or tied."""
        return self.reading.choice

    @property
    def correct(self) -> bool | None:
        """Right or wrong, None if unreadable or tied."""
        return None if self.choice is None else self.choice == self.target

    @property
    def unreadable(self) -> bool:
        """True if no answer could be read; a tie is an answer, though not a decided one."""
        return self.choice is None and not self.reading.tied


# The choices of a judgement, in the order of OpenCompass's letters A to D.
OUTCOMES: tuple[Outcome, ...] = ("a", "b", "tie", "neither")
# How rows of battles name the winner, see `report.imports.battles`.
WINNERS: Mapping[Outcome, str] = {
    "a": "model_a",
    "b": "model_b",
    "tie": "tie",
    "neither": "neither",
}
# What the answer on side a earns of the one point.
POINTS: Mapping[Outcome, float] = {"a": 1.0, "b": 0.0, "tie": 0.5, "neither": 0.5}
# The rule of a judgement that was not made: the judge needs a reference, the question has none.
NO_REFERENCE = "no-reference"
SAME_ANSWERS = "same-answers"  # a tie that no judge was asked for
NOT_MEANINGFUL = "EM"  # OpenCompass's verdict on two answers with the same text: nobody judged them
CRITERION = "criterion:"  # begins the name of the score that is the mark of a criterion


@dataclass(frozen=True, slots=True)
class Contestant:
    """One model's answers to a dataset, by sample id; a conversation has several turns."""

    name: str
    answers: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Duel:
    """Two answers to one question, side by side: that of `model_a` was shown first."""

    sample_id: str
    model_a: str
    model_b: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge or a person said of a duel.

    `outcome` is None if it cannot be read, or if nothing was judged, see `unreferenced`.
    `rater` is the name of the judge model or of the person. `rule` says how the reply was read,
    `strength` is 3 for "much better". `injected`: an answer spoke to the judge. `retried`: its
    first reply could not be read, and this is what the second one brought. `probabilities` are
    those of the outcomes in the order of `OUTCOMES`, () of a verdict in words.
    """

    duel: Duel
    outcome: Outcome | None
    rater: str
    rule: str = ""
    reply: str = ""
    strength: int | None = None
    injected: bool = False
    retried: bool = False
    probabilities: tuple[float, ...] = ()

    @property
    def unreferenced(self) -> bool:
        """Whether the judge did not judge, since the question lacks the reference it needs."""
        return self.rule == NO_REFERENCE


@dataclass(frozen=True, slots=True)
class CastVote(Verdict):
    """The verdict of a person, `created` in seconds since 1970, after `seconds` if measured.

    `assigned`: the pair was theirs to vote on. `adjudicated` is the outcome that was decided where
    people differed, seen from the sides of this vote; None if none was.
    """

    created: float = 0.0
    seconds: float | None = None
    assigned: bool = False
    adjudicated: Outcome | None = None


@dataclass(frozen=True, slots=True)
class DeclaredGroup:
    """One group to make figures of: all that its declaration leaves open is decided.

    `published` has all subjects of the list that it is from; none of a group of a user's own.
    """

    name: str
    members: tuple[str, ...]
    of: GroupOf = "subjects"
    dataset: str = ""
    mean: GroupMean = "macro"
    weights: Mapping[str, float] = field(default_factory=dict[str, float])
    published: frozenset[str] = frozenset()

    def counts_in(self, dataset: str, subjects: Collection[str]) -> bool:
        """Whether a group of subjects has figures of a dataset.

        Lists share names of subjects: a published one counts where more than half of the subjects
        are its own, unless a dataset is named.
        """
        if self.of == "datasets" or self.dataset not in ("", dataset):
            return False
        if self.published and not self.dataset:
            return 2 * len(self.published.intersection(subjects)) > len(subjects)
        return not (self.published or frozenset(self.members)).isdisjoint(subjects)


@dataclass(frozen=True, slots=True)
class PrintedFigure:
    """A figure of another harness, beside what its own log and evalui make of the same answers.

    `printed` is as its files state it, where `full` stands for all right (1 or 100), and None if
    they state none. `marked` is the mean of the marks that the harness gave the `n` answers that
    are in its log, `ours` that of their credits under evalui's `reading`, both in 0..1 and None
    where there are none. `differing` answers have another credit than mark, `tied` of them because
    options tie, `unread` because evalui reads no option. `subject` "" is the whole dataset.
    """

    name: str
    printed: float | None
    full: float = 1.0
    subject: str = ""
    n: int = 0
    marked: float | None = None
    reading: str = ""
    ours: float | None = None
    differing: int = 0
    tied: int = 0
    unread: int = 0

    @property
    def confirmed(self) -> bool:
        """Whether the marks in the log give the printed figure, to its last digit."""
        return self.marked is not None and self.is_printed_as(self.marked)

    def is_printed_as(self, share: float) -> bool:
        """Whether a share in 0..1 is what was printed, to its last digit."""
        if self.printed is None:
            return False
        decimals = len(f"{self.printed:.12f}".rstrip("0").partition(".")[2])
        # The mean of a sum in another order may differ in the last of sixteen digits.
        return abs(self.printed - share * self.full) <= 0.5 * 10**-decimals + 1e-9


@dataclass(frozen=True, slots=True)
class LogSource:
    """Where the answers of a cell come from: the finished run of another `harness`.

    `version` is the harness's, "" if its files do not state it. `files` are names without folders.
    `missing` are keys of sentences: what the log does not hold, so that it stays empty here.
    `left_out` counts answers of the log that cannot be used. `repeat` counts from 1 where the log
    has several answers to one order of a question.
    """

    harness: str
    version: str = ""
    files: tuple[str, ...] = ()
    figures: tuple[PrintedFigure, ...] = ()
    missing: tuple[str, ...] = ()
    left_out: int = 0
    repeat: int = 1


@dataclass(frozen=True, slots=True)
class Cell:
    """One square of a run's matrix: which model answers which dataset in which mode.

    `mode` is the mode's registered name, `label` tells it from others of the same mode.
    `signature` says how every figure of the cell was made, in sacreBLEU's manner. `gives` is what
    the mode declares to give, and decides which figures are made of the trials.
    """

    dataset: str
    model: str
    mode: str
    label: str
    pattern: Pattern
    signature: str
    gives: Gives = "choices"


@lru_cache(maxsize=4096)
def signature_parts(signature: str) -> dict[str, str]:
    """What a signature states after its dataset, by name; for reading only.

    >>> signature_parts("law@1f|mode:cloze|shots:5")
    {'mode': 'cloze', 'shots': '5'}
    """
    parts = (part.partition(":") for part in signature.split("|")[1:])
    return {name: value for name, colon, value in parts if colon}


def leaves_out_pictures(signature: str) -> bool:
    """Whether the prompts of a cell have no pictures, though its questions may have some."""
    return signature_parts(signature).get("pictures") == '"none"'  # as settings are written: JSON


def differ_in_pictures(one: str, other: str) -> bool:
    """Whether the first of two signatures leaves out the pictures, and nothing else differs."""
    parts = {name: value for name, value in signature_parts(one).items() if name != "pictures"}
    return leaves_out_pictures(one) and parts == signature_parts(other)


@dataclass(frozen=True, slots=True)
class Interval:
    """A share with its plausible range. All three in 0..1; `n` is the number of questions."""

    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class CellResult:
    """What a report is made of: one cell, its questions in file order, and its trials so far.

    `total` counts the trials planned. `state` is the cell's, `error` its message if it failed
    or the reason if it cannot run. A judge's cell has the `contestants` it compares, the `orders`
    in which it saw them, the rule for orders that `conflict`, how many battles a `strong` verdict
    is, the `output` in which it gave its verdicts, and whether their form `says_neither`. `log` is
    where answers come from that another harness has collected.
    """

    cell: Cell
    samples: Mapping[str, Sample]
    trials: Sequence[Trial]
    total: int
    state: CellState = "done"
    error: str = ""
    contestants: tuple[Contestant, ...] = ()
    orders: PresentationOrders = "double"
    conflict: ConflictRule = "tie"
    strong: int = 1
    output: JudgeOutput = "text"
    says_neither: bool = True
    log: LogSource | None = None
