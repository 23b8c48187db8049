"""Large parts of logs, read and graded by several processes beside the one that writes.

`python -m evalui.harnesses.reading_ahead` is such a process. Of every n blocks of a part the
k-th process reads the k-th, so that the answers come in the order of the log whatever n is. A
process is at most one block ahead: what it has read waits in its pipe.
"""

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from itertools import cycle, islice
from operator import attrgetter
from types import TracebackType
from typing import Any, BinaryIO, Self

from evalui.errors import DataError, EvaluiError
from evalui.harnesses.base import FlawedAnswer, LoggedAnswer, LogPart
from evalui.harnesses.grading import GradedAnswer, ReadAnswer, graded_answers
from evalui.imports import uncollected
from evalui.types import Sample, Trial

_COMMAND = (sys.executable, "-m", "evalui.harnesses.reading_ahead")
# Each thread of these libraries reserves memory.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
# A tuple of values is pickled in an eighth of the time that a dataclass with slots takes.
_values_of_sample = attrgetter(*(each.name for each in fields(Sample)))
_values_of_trial = attrgetter(*(each.name for each in fields(Trial)))
# An answer on its way: values of its question and of its trial, and its marks.
_Packed = tuple[tuple[Any, ...], tuple[Any, ...], Mapping[str, float]] | LoggedAnswer | FlawedAnswer


class ReadingAhead:
    """`n` processes that read and grade `parts`, all of which have blocks.

    Raises:
        DataError: a process cannot be started.
    """

    def __init__(self, parts: Sequence[LogPart], n: int) -> None:
        self._places = {id(part): place for place, part in enumerate(parts)}
        self._processes: list[subprocess.Popen[bytes]] = []
        try:
            for _ in range(n):
                self._start()
        except OSError as error:  # the machine has no memory or no processes left
            self.close()
            raise DataError("log-reader-not-started", reason=str(error.strerror)) from error
        # They load what they need beside each other, and read this when they are ready.
        for share, process in enumerate(self._processes):
            self._send(process, (tuple(parts), share, n))

    def __enter__(self) -> Self:
        """The processes work already."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """End them, whatever they have read."""
        self.close()

    def reads(self, part: LogPart) -> bool:
        """Whether the part is one of those that the processes read."""
        return id(part) in self._places

    def answers(self) -> Iterator[ReadAnswer]:
        """The answers of the next part, in the order of its log.

        Raises:
            DataError: a file cannot be read, or a process has ended.
        """
        processes = cycle(self._processes)
        for process in processes:
            block = self._receive(process)
            if block is None:
                break
            yield from map(_unpacked, block)
        for process in islice(processes, len(self._processes) - 1):
            end = self._receive(process)
            assert end is None, "no process has a block behind the last one"

    def close(self) -> None:
        """End the processes."""
        for process in self._processes:
            with process:  # its pipes are closed, and its end is awaited
                process.kill()
        self._processes.clear()

    def _start(self) -> None:
        process = subprocess.Popen(
            _COMMAND,
            env=os.environ | _ONE_THREAD,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._processes.append(process)

    def _send(self, process: subprocess.Popen[bytes], message: object) -> None:
        assert process.stdin, "it was requested"
        with suppress(BrokenPipeError), process.stdin as sink:  # what it answers shows the end
            pickle.dump(message, sink)

    def _receive(self, process: subprocess.Popen[bytes]) -> list[_Packed] | None:
        assert process.stdout, "it was requested"
        try:
            received = pickle.load(process.stdout)
        except (EOFError, pickle.UnpicklingError) as error:
            raise DataError("log-reader-ended", code=process.wait()) from error
        if isinstance(received, EvaluiError):
            raise received
        return received


def main() -> None:
    """Read a share of the parts that stdin names, and write their answers to stdout."""
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # so that nothing else gets into the pipe
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who reads the answers ends this process
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    parts, share, n = pickle.load(source)
    with uncollected():
        try:
            for part in parts:
                _write_answers(part, share, n, sink)
        except EvaluiError as error:
            _write(error, sink)


def _write_answers(part: LogPart, share: int, n: int, sink: BinaryIO) -> None:
    assert part.blocks, "only parts of blocks are read ahead"
    for block in islice(part.blocks(), share, None, n):
        _write([_packed(answer) for answer in graded_answers(part, block())], sink)
    _write(None, sink)


def _write(message: object, sink: BinaryIO) -> None:
    pickle.dump(message, sink, pickle.HIGHEST_PROTOCOL)
    sink.flush()


def _packed(answer: ReadAnswer) -> _Packed:
    if not isinstance(answer, GradedAnswer):
        return answer
    return _values_of_sample(answer.sample), _values_of_trial(answer.trial), answer.marks


def _unpacked(packed: _Packed) -> ReadAnswer:
    if not isinstance(packed, tuple):
        return packed
    sample, trial, marks = packed
    return GradedAnswer(Sample(*sample), Trial(*trial), marks)


if __name__ == "__main__":
    main()
