"""Seconds of work: of the processor, and on the wall."""

import gc
import resource
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timing:
    """What a piece of work took. CPU seconds count this process and its finished children."""

    cpu: float
    wall: float


def timed(action: Callable[[], object]) -> tuple[Timing, object]:
    """How long the action took, and what it returned."""
    # What others left behind, and the data that was made for the action, are not its work.
    gc.collect()
    gc.freeze()
    wall, cpu = time.perf_counter(), _cpu()
    result = action()
    spent = Timing(_cpu() - cpu, time.perf_counter() - wall)
    gc.unfreeze()
    return spent, result


def median(timings: Sequence[Timing]) -> Timing:
    """The median of each kind of second."""
    return Timing(
        statistics.median(timing.cpu for timing in timings),
        statistics.median(timing.wall for timing in timings),
    )


def best(timings: Sequence[Timing]) -> Timing:
    """The least of each kind of second."""
    return Timing(min(timing.cpu for timing in timings), min(timing.wall for timing in timings))


def _cpu() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
