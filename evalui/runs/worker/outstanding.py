"""How many requests of a model's cells are not answered, and so when its next cell begins."""

import threading


class OutstandingRequests:
    """The requests of the cells of one model that are at work at the same time.

    At most `max_cells` are at work, and of several together at most `max_questions` questions.
    """

    def __init__(self, max_cells: int, max_questions: int) -> None:
        self._max_cells = max_cells
        self._max_questions = max_questions
        self._width = 0  # requests that the model works on at a time
        self._open: dict[int, int | None] = {}  # requests by cell; None until they are known
        self._questions: dict[int, int] = {}  # by cell
        # Protects them: cells report from threads of their own.
        self._changed = threading.Condition()

    def begin(self, cell_id: int, questions: int) -> None:
        """Note that a cell is at work; there is no room before it has reported."""
        with self._changed:
            self._open[cell_id], self._questions[cell_id] = None, questions

    def record(self, cell_id: int, requests: int, width: int) -> None:
        """Note how many requests of a cell are not answered; from any thread."""
        with self._changed:
            self._open[cell_id], self._width = requests, width
            if self._leave_something():
                self._changed.notify_all()

    def end(self, cell_id: int) -> None:
        """Note that a cell has ended, whatever came of it; from any thread."""
        with self._changed:
            del self._open[cell_id], self._questions[cell_id]
            self._changed.notify_all()

    def wait_for_room(self, questions: int) -> None:
        """Wait until the cells at work leave the model something to do, for a further one with so
        many questions. There is room where none is at work.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._has_room(questions))

    def _has_room(self, questions: int) -> bool:
        return not self._open or (
            self._leave_something()
            and len(self._open) < self._max_cells
            and sum(self._questions.values()) + questions <= self._max_questions
        )

    def _leave_something(self) -> bool:
        known = [requests for requests in self._open.values() if requests is not None]
        return len(known) == len(self._open) and sum(known) < self._width
