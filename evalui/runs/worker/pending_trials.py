"""The trials that a cell has still to do: all known at once, or judgements of answers to come."""

import threading
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Protocol

from evalui.runs.contest import JudgedItem, JudgingSpec, drawn_items, presentations_of
from evalui.store.connection import Database
from evalui.store.runs import CellRow
from evalui.store.trials import contestant_cells, read_answers_of, read_contestants
from evalui.types import Contestant, Sample, Variant

TrialPlace = tuple[Sample, Variant]


class Arrivals:
    """Which answers the cells of one run have written, so that its judges start on them as they
    come. `cells` are those that are still to give answers. It holds no answers itself.
    """

    def __init__(self, cells: Iterable[int] = ()) -> None:
        self._open = set(cells)
        self._feeds: list[ArrivalFeed] = []
        # Protects both, and what the feeds hold: cells write and end in several threads.
        self._changed = threading.Condition()

    def add(self, cell_id: int, sample_ids: Iterable[str]) -> None:
        """Note that a cell has written its answers to these questions."""
        with self._changed:
            for feed in self._feeds:
                feed.put(cell_id, sample_ids)
            self._changed.notify_all()

    def end(self, cell_id: int) -> None:
        """Note that a cell gives no further answers, whether it is done or has failed."""
        with self._changed:
            self._open.discard(cell_id)
            self._changed.notify_all()

    @property
    def are_coming(self) -> bool:
        """Whether a cell is still to give answers."""
        with self._changed:
            return bool(self._open)

    def follow(self, cells: Collection[int]) -> "ArrivalFeed":
        """What these cells write from now on. What is there already is read after this call."""
        feed = ArrivalFeed(cells, self._open, self._changed)
        with self._changed:
            self._feeds.append(feed)
        return feed


class ArrivalFeed:
    """The answers of some cells as they come, for one judge; made by `Arrivals.follow`."""

    def __init__(
        self, cells: Collection[int], still_open: Collection[int], changed: threading.Condition
    ) -> None:
        self._cells = frozenset(cells)
        self._still_open = still_open
        self._changed = changed
        self._new: dict[int, list[str]] = {}

    @property
    def is_over(self) -> bool:
        """Whether all that was written has been taken, and no more will be."""
        with self._changed:
            return not self._new and self._cells.isdisjoint(self._still_open)

    def close(self) -> None:
        """Take note of nothing from now on."""
        with self._changed:
            self._cells = frozenset()
            self._new.clear()

    def put(self, cell_id: int, sample_ids: Iterable[str]) -> None:
        """Take note of answers, with the condition held."""
        if cell_id in self._cells:
            self._new.setdefault(cell_id, []).extend(sample_ids)

    def take(self) -> dict[int, list[str]]:
        """The questions answered since the last call, by cell."""
        with self._changed:
            new, self._new = self._new, {}
        return new

    def wait(self, timeout_s: float) -> None:
        """Wait until there is something to take, a cell has ended, or the time is over."""
        with self._changed:
            if not self._new and not self._cells.isdisjoint(self._still_open):
                self._changed.wait(timeout_s)


class PendingTrials(Protocol):
    """Trials that are to be done; from one thread."""

    @property
    def is_over(self) -> bool:
        """Whether no more will come."""
        ...

    def take(self, n: int) -> list[TrialPlace]:
        """Up to `n` that can be done now; none may be there although more will come."""
        ...

    def wait(self, timeout_s: float) -> None:
        """Wait until it is worth while to look again, or for so long."""
        ...

    def close(self) -> None:
        """Take note of nothing more: it is not asked again."""
        ...


class KnownTrials:
    """Trials that can all be done at once."""

    def __init__(self, trials: Iterator[TrialPlace]) -> None:
        self._trials = trials
        self.is_over = False

    def take(self, n: int) -> list[TrialPlace]:
        """Up to `n`, in their order."""
        taken = list(islice(self._trials, n))
        self.is_over = len(taken) < n
        return taken

    def wait(self, timeout_s: float) -> None:
        """Return at once."""

    def close(self) -> None:
        """Nothing comes from elsewhere."""


class JudgedTrials:
    """Judgements of answers, each as soon as all it shows are in the store.

    Which are drawn depends on the seed, the questions and the names of the contestants alone, so
    nothing waits for that. A judgement waits for its own answers, and those with an answer missing
    are passed over only when the cells of all contestants have ended.
    """

    def __init__(
        self,
        database: Database,
        row: CellRow,
        judging: JudgingSpec,
        arrivals: Arrivals,
        *,
        samples: Sequence[Sample],
        is_wanted: Callable[[TrialPlace], bool],
    ) -> None:
        self._database = database
        self._judging = judging
        self._is_wanted = is_wanted
        self._cells = [cell for cell, _ in contestant_cells(database, row)]
        # Before the store is read: what is written meanwhile is then known twice, and not missed.
        self._feed = arrivals.follow(self._cells)
        self._answers = [dict(each.answers) for each in read_contestants(database, row)]
        names = [name for _, name in contestant_cells(database, row)]
        self.contestants = tuple(
            Contestant(name, answers) for name, answers in zip(names, self._answers, strict=True)
        )
        self._begun: deque[TrialPlace] = deque()  # the rest of an item that was taken in part
        self._ready: deque[JudgedItem] = deque()
        self._waiting: dict[str, list[JudgedItem]] = {}  # by question
        for item in drawn_items(judging, names, samples):
            if item.is_able(self._answers):
                self._ready.append(item)
            else:
                self._waiting.setdefault(item.sample.id, []).append(item)

    @property
    def is_over(self) -> bool:
        """Whether all that can be judged was taken and no answer will come."""
        return not (self._begun or self._ready) and self._feed.is_over

    def take(self, n: int) -> list[TrialPlace]:
        """Up to `n` whose answers are there, those of one question together."""
        self._receive()
        taken: list[TrialPlace] = []
        while len(taken) < n and (self._begun or self._ready):
            if not self._begun:
                shown = presentations_of(self._judging, self._ready.popleft())
                self._begun.extend(filter(self._is_wanted, shown))
            while self._begun and len(taken) < n:
                taken.append(self._begun.popleft())
        return taken

    def wait(self, timeout_s: float) -> None:
        """Wait until an answer was written, or all are there."""
        if not (self._begun or self._ready):
            self._feed.wait(timeout_s)

    def close(self) -> None:
        """Let no further answers be kept for it."""
        self._feed.close()

    def _receive(self) -> None:
        for cell_id, sample_ids in self._feed.take().items():
            answers = self._answers[self._cells.index(cell_id)]
            answers |= read_answers_of(self._database, cell_id, sample_ids)
            for sample_id in dict.fromkeys(sample_ids):
                waiting = self._waiting.pop(sample_id, [])
                left = [item for item in waiting if not item.is_able(self._answers)]
                self._ready.extend(item for item in waiting if item.is_able(self._answers))
                if left:
                    self._waiting[sample_id] = left
