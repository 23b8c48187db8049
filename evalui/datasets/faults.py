"""What is wrong with rows: the first faults are kept, of the others it is known how many."""

from collections.abc import Iterable, Sequence

from evalui.types import Fault

MAX_FAULTS = 1000  # nobody reads more, and a file may have a million


class FaultList:
    """The first `MAX_FAULTS` faults in the order in which they are added.

    `kept` are those, `unlisted` counts the others, and `rows` the lines that have any, if the
    faults of a line are added one after another.
    """

    def __init__(self, faults: Iterable[Fault] = ()) -> None:
        self._kept: list[Fault] = []
        self._last = ("", -1)
        self.unlisted = 0
        self.rows = 0
        self.add(*faults)

    @property
    def kept(self) -> tuple[Fault, ...]:
        """The faults that can be shown."""
        return tuple(self._kept)

    @property
    def total(self) -> int:
        """How many faults there are."""
        return len(self._kept) + self.unlisted

    def add(self, *faults: Fault, unlisted: int = 0) -> None:
        """Keep the faults as long as there is room; `unlisted` more are only counted."""
        for fault in faults:
            if (fault.file, fault.line) != self._last:
                self._last = fault.file, fault.line
                self.rows += 1
            if len(self._kept) < MAX_FAULTS:
                self._kept.append(fault)
            else:
                self.unlisted += 1
        self.unlisted += unlisted


def sort_by_line(*faults: Sequence[Fault]) -> list[Fault]:
    """The faults of one file in the order of its lines."""
    return sorted((fault for some in faults for fault in some), key=lambda fault: fault.line)
