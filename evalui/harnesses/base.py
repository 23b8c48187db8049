"""What the log of another harness holds, whoever wrote it, and the registry of those that are read.

A reader recognises its files among those that were given and returns a part for each dataset that
a model has answered. Answers are read one after the other, so that a log of a million fits.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from evalui.errors import DataError
from evalui.registry import Registry
from evalui.types import Decision, LeftOut, PrintedFigure, Recorded

Evidence = Recorded  # what decides an answer
# Why an answer of a log cannot be used; each has a sentence, `left-log-…`.
Flaw = Literal[
    "damaged",
    "gold",
    "several",
    "options",
    "many",
    "scale",
    "again",
    "no-answer",
    "orders",
    "unmatched",
]


@dataclass(frozen=True, slots=True)
class LoggedAnswer:
    """One answer of a log; slots and scores are in the order in which `options` were shown.

    `gold` is the slot of the right option. `own_options` is the order of the dataset where the log
    holds it beside the one shown. `totals` are natural log-probabilities of the options,
    `unconditional` the same without the question, `greedy` says which option the model would have
    written. `decision` is what a model that only decides says of the options; its `reply` is the
    key that it names. `extracted` is the slot that the harness read in the `reply`. `marks` are
    what it gave the answer, by the names of its figures. `more_replies` are those that the model
    wrote to the same prompt beside `reply`, which alone the marks are of. `marks_only`: the answer
    was in the log before, and here is another mark of it. `log` counts those that were joined
    because they show the same questions in other orders.
    """

    id: str
    question: str = ""
    options: tuple[str, ...] = ()
    gold: int | None = None
    references: tuple[str, ...] = ()
    subject: str = ""
    own_options: tuple[str, ...] = ()
    totals: tuple[float, ...] = ()
    greedy: tuple[bool, ...] = ()
    unconditional: tuple[float, ...] | None = None
    decision: Decision | None = None
    reply: str = ""
    more_replies: tuple[str, ...] = ()
    extracted: int | None = None
    marks: Mapping[str, float] = field(default_factory=dict[str, float])
    marks_only: bool = False
    log: int = 1


@dataclass(frozen=True, slots=True)
class FlawedAnswer:
    """An answer that cannot be used; `place` is its file and line, or its file and id."""

    place: str
    flaw: Flaw


Block = Callable[[], Iterator[LoggedAnswer | FlawedAnswer]]


@dataclass(frozen=True, slots=True)
class LogPart:
    """One dataset as one model answered it.

    `version` is the harness's and `task_version` that of its task, "" where no file states it.
    `readings` name evalui's reading that corresponds to a figure of the harness; `main_mark` is the
    mark that says whether a reply was right, "" if there is none. `repeats`: a question may have
    several answers. `missing` are keys of sentences, `log.missing-…`. `read` may be called again.
    `blocks` gives the same answers in blocks, each read when it is called: several processes read
    a large part of which one answer a question is expected. The part can be pickled then.
    `named_after` is the folder that `model` is the name of where no file states it. `logs` counts
    those that were joined because they show the same questions in other orders. `left_out` is
    what the reader leaves out of the files beside the parts; one of its parts has it. `pictures`
    gives the folder of the pictures whose marks stand in the questions.
    """

    harness: str
    dataset: str
    model: str
    evidence: Evidence
    files: tuple[str, ...]
    read: Callable[[], Iterator[LoggedAnswer | FlawedAnswer]]
    version: str = ""
    task_version: str = ""
    shots: int | None = None
    figures: tuple[PrintedFigure, ...] = ()
    readings: Mapping[str, str] = field(default_factory=dict[str, str])
    main_mark: str = ""
    repeats: bool = False
    blocks: Callable[[], Iterator[Block]] | None = None
    missing: tuple[str, ...] = ()
    named_after: Path | None = None
    logs: int = 1
    left_out: tuple[LeftOut, ...] = ()
    pictures: Callable[[], str] | None = None


# From the files that were given, folders walked, to the parts among them that a reader knows.
LogReader = Callable[[Sequence[Path]], tuple[LogPart, ...]]
HARNESSES: Registry[LogReader] = Registry("harness")


def read_logs(logs: Iterable[Callable[[], Iterable[LogPart]]]) -> tuple[LogPart, ...]:
    """The parts of several logs, each read when it is called; the first part names those that
    cannot be used, with the cure of each.

    Raises:
        DataError: none can be used; that of the first.
    """
    parts: list[LogPart] = []
    errors: list[DataError] = []
    for read in logs:
        try:
            parts += read()
        except DataError as error:
            errors.append(error)
    if errors and not parts:
        raise errors[0]
    unread = tuple(LeftOut("log-unread", "", why=error.sentence) for error in errors)
    return (*(replace(one, left_out=one.left_out + unread) for one in parts[:1]), *parts[1:])
