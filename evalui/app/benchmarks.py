"""Published sets by name: which there are, which are on this machine, and one as a dataset."""

from collections.abc import Iterator
from dataclasses import dataclass

from evalui.app.datasets import store_upload
from evalui.app.permissions import requires
from evalui.app.service import AppService
from evalui.benchmarks.index import Benchmark, search
from evalui.benchmarks.preparing import availability, missing, resolve, task_data
from evalui.messages import Sentence, sentence


@dataclass(frozen=True, slots=True)
class OfferedBenchmark:
    """A set of the index; `hindrance` is why it cannot be taken, and what to do, None if it can."""

    benchmark: Benchmark
    hindrance: Sentence | None = None


@dataclass(frozen=True, slots=True)
class TakenBenchmark:
    """A set as a dataset of a person's own; `notes` say what differs from it as published."""

    upload: str
    notes: tuple[Sentence, ...] = ()


@requires("see")
def find_benchmarks(service: AppService, words: str, *, most: int) -> tuple[OfferedBenchmark, ...]:
    """The first sets that all of these words fit, those on this machine first."""
    data = task_data(service.settings)

    def offered() -> Iterator[OfferedBenchmark]:
        for each in search(words):
            yield OfferedBenchmark(each, hindrance_of(each))

    def hindrance_of(benchmark: Benchmark) -> Sentence | None:
        if benchmark.unsupported:
            return sentence(f"error.benchmark-{benchmark.unsupported}", name=benchmark.name)
        if availability(benchmark, data).origin:
            return None
        return missing(benchmark, data, benchmark.split)

    ranked = sorted(offered(), key=lambda each: each.hindrance is not None)
    return tuple(ranked[:most])


@requires("start")
def take_benchmark(service: AppService, name: str) -> TakenBenchmark:
    """Make a set one of the person's datasets; a split may stand behind the name, after a colon.

    Raises:
        DataError: its questions cannot be put to models, or its data are not here or are damaged.
        SpecError: the person would store more than they may.
        UnknownName: there is no such set.
    """
    prepared = resolve(name, service.settings)
    files = [(path.name, path.read_bytes()) for path in prepared.paths]
    return TakenBenchmark(store_upload(service, files), prepared.notes)
