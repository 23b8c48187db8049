"""What a server and its processes that read files send each other: pickles, for both ends are ours.

The first message is the settings; then each request has one answer. Before it come
numbers: of how many rows the process has made questions by then.
"""

from dataclasses import dataclass

from evalui.errors import EvaluiError


@dataclass(frozen=True, slots=True)
class FileRequest:
    """A call of a method of `FileWork`."""

    method: str
    arguments: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class FileAnswer:
    """What came of it: a `value`, or an `error` that a person can act on.

    With `out_of_memory`, or a `failure` (the traceback of our own mistake), the process has ended;
    `was_full` says that earlier requests had left it little memory.
    """

    value: object = None
    error: EvaluiError | None = None
    out_of_memory: bool = False
    was_full: bool = False
    failure: str = ""
