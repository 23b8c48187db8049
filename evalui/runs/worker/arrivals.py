"""Which answers of a run are written by now: its judges start on them as they come.

Tells of answers that are in the store, and holds none itself.
"""

import threading
from collections.abc import Collection, Iterable


class Arrivals:
    """What the cells of one run write. `cells` are those that are still to give answers."""

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
