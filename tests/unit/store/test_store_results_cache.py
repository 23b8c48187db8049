import threading
import tracemalloc
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import pytest

from evalui.store import results_cache
from evalui.store.results_cache import ResultCache, size_of
from evalui.types import Sample


def block(size: int) -> bytes:
    return b"x" * size


class Worker:
    """A function that notes what it was called with."""

    def __init__(self, work: Callable[[int], object] = block) -> None:
        self.work = work
        self.calls: list[int] = []

    def __call__(self, size: int) -> object:
        self.calls.append(size)
        return self.work(size)


def test_what_is_known_is_not_worked_out_again():
    work = Worker()
    remembered = ResultCache(10_000).memoize(work)
    assert [len(remembered(size)) for size in (100, 100, 200, 100)] == [100, 100, 200, 100]
    assert work.calls == [100, 200]


def test_what_was_not_used_for_the_longest_time_makes_room():
    work = Worker()
    memory = ResultCache(1000)
    remembered = memory.memoize(work)
    for size in (300, 301, 300, 302, 300, 301):
        remembered(size)
        assert memory.size <= 1000
    assert work.calls == [300, 301, 302, 301]


def test_the_newest_stays_whatever_its_size():
    work = Worker()
    memory = ResultCache(1000)
    remembered = memory.memoize(work)
    remembered(300)
    remembered(5000)
    remembered(5000)
    assert memory.size > 5000
    remembered(300)
    assert work.calls == [300, 5000, 300]
    assert memory.size < 1000


def test_functions_share_the_room_and_not_their_results():
    first, second = Worker(), Worker(lambda size: block(size + 1))
    memory = ResultCache(1000)
    one, other = memory.memoize(first), memory.memoize(second)
    assert (len(one(300)), len(other(300))) == (300, 301)
    other(302)
    one(300)
    assert first.calls == [300, 300]


def test_an_error_is_not_remembered():
    def fails(size: int) -> object:
        raise ValueError(size)

    work = Worker(fails)
    remembered = ResultCache(1000).memoize(work)
    for _ in range(2):
        with pytest.raises(ValueError, match="5"):
            remembered(5)
    assert work.calls == [5, 5]


def test_no_caller_waits_for_what_another_computes():
    begun, go_on = threading.Event(), threading.Event()

    def slow(size: int) -> object:
        if size == 1:
            begun.set()
            assert go_on.wait(30)
        return block(size)

    remembered = ResultCache(1000).memoize(Worker(slow))
    thread = threading.Thread(target=remembered, args=(1,))
    thread.start()
    assert begun.wait(30)
    assert remembered(2) == b"xx"
    go_on.set()
    thread.join(30)


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> threading.Semaphore:
    """Released by each thread that waits for what another works out."""
    arrived = threading.Semaphore(0)

    class Watched(Future[object]):
        def result(self, timeout: float | None = None) -> object:
            arrived.release()
            return super().result(timeout or 30)

    monkeypatch.setattr(results_cache, "Future", Watched)
    return arrived


def all_at_once(n: int, call: Callable[[], object]) -> list[object]:
    """What `n` threads get: a result, or the error that it ended with."""

    def one(_: int) -> object:
        try:
            return call()
        except ValueError as error:
            return error

    with ThreadPoolExecutor(n) as pool:
        return list(pool.map(one, range(n)))


def test_of_many_that_want_the_same_one_works(waiting: threading.Semaphore):
    def when_all_wait(size: int) -> object:
        assert all(waiting.acquire(timeout=30) for _ in range(49))
        return block(size)

    work = Worker(when_all_wait)
    remembered = ResultCache(1000).memoize(work)
    found = all_at_once(50, lambda: remembered(7))
    assert work.calls == [7]
    assert all(each is found[0] for each in found)


def test_all_who_wait_get_the_error_and_the_next_works_anew(waiting: threading.Semaphore):
    def fails(size: int) -> object:
        assert all(waiting.acquire(timeout=30) for _ in range(4))
        raise ValueError(size)

    work = Worker(fails)
    remembered = ResultCache(1000).memoize(work)
    found = all_at_once(5, lambda: remembered(7))
    assert [str(each) for each in found] == ["7"] * 5
    assert work.calls == [7]
    work.work = block
    assert remembered(7) == block(7)


def test_only_the_newest_version_is_kept():
    calls: list[tuple[str, int]] = []

    def page(name: str, version: int) -> bytes:
        calls.append((name, version))
        return block(300)

    memory = ResultCache(10_000)
    remembered = memory.memoize_newest(page)
    for version in range(20):
        remembered("one", version)
        remembered("other", 0)
    assert memory.size < 1000
    remembered("one", 19)
    assert calls.count(("other", 0)) == 1
    assert len(calls) == 21


def samples(n: int) -> list[Sample]:
    return [
        Sample(
            id=f"law/{number}",
            question=f"Which of these is number {number}?" * (1 + number % 5),
            choices=tuple(f"choice {number} {letter}" for letter in "ABCD"),
            target=number % 4,
            metadata={"file": f"law_{number}.csv", "line": str(number)},
        )
        for number in range(n)
    ]


@dataclass
class Deep:
    name: str
    parts: dict[str, list[float]] = field(default_factory=dict)


@pytest.mark.parametrize(
    "make",
    [
        lambda: samples(20_000),
        lambda: {sample.id: sample for sample in samples(5000)},
        lambda: tuple((str(n), n * 1.5, [n, n + 1000]) for n in range(1000, 20_000)),
        lambda: [
            Deep(str(n), {f"{n}-{k}": [n + k / 7] * 3 for k in range(5)}) for n in range(3000)
        ],
    ],
)
def test_a_size_is_about_what_was_allocated(make: Callable[[], object]):
    tracemalloc.start()
    value = make()
    allocated, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert allocated / 1.5 < size_of(value) < allocated * 1.5


def test_fields_are_not_taken_for_each_other():
    (sample,) = samples(1)
    long = replace(sample, question="long " * 1000)
    assert 5000 < size_of([long]) < 8000
    many = [replace(long, question=f"{'long ' * 1000}{n}") for n in range(60)]
    assert 300_000 < size_of({"all": (many,)}) < 400_000


def test_what_elements_share_counts_once():
    shared = block(1_000_000)
    assert size_of([(number, shared) for number in range(1000)]) < 2_000_000


def test_a_ring_has_a_size():
    ring: list[object] = []
    ring.append(ring)
    assert 0 < size_of(ring) < 1000
