"""A cache of computed results, limited in bytes."""

import gc
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from types import FunctionType, MethodType, ModuleType
from typing import NamedTuple, ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")
Key = tuple[Hashable, ...]  # a function and its arguments

_SAMPLE = 64  # elements of a collection that are looked at; of one within it a quarter
_MIN_SAMPLE = 16  # fields of an object, and elements of a short tuple, differ: all of them are
_SAMPLED_TYPES = (tuple, list, set, frozenset)
_SHARED_TYPES = (type, ModuleType, FunctionType, MethodType)  # belong to the program


class _Entry(NamedTuple):
    version: Hashable
    result: object
    size: int  # bytes


class ResultCache:
    """Keeps the newest results of several functions, of `limit` bytes together.

    What was not used for the longest time goes first. The newest result stays whatever its size:
    it will be wanted again at the next click. Safe to share between threads: of several that want
    the same at the same time one works, and the others wait for its result or its error. An error
    is not kept.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()  # protects all below
        self._entries: OrderedDict[Key, _Entry] = OrderedDict()
        self._under_way: dict[tuple[Key, Hashable], Future[object]] = {}
        self._size = 0

    @property
    def size(self) -> int:
        """The bytes that are kept, by `size_of`."""
        with self._lock:
            return self._size

    def memoize(self, work: Callable[P, T]) -> Callable[P, T]:
        """The same function, which remembers; its arguments are hashable and have no names."""

        def remembered(*arguments: P.args, **named: P.kwargs) -> T:
            result = self._find((work, *arguments), None, lambda: work(*arguments, **named))
            return cast("T", result)  # of this very function

        return remembered

    def memoize_newest(self, work: Callable[P, T]) -> Callable[P, T]:
        """As `memoize`, where the last argument is a version of what the others name.

        Only the last version that was worked out is kept.
        """

        def remembered(*arguments: P.args, **named: P.kwargs) -> T:
            *name, version = arguments
            result = self._find((work, *name), version, lambda: work(*arguments, **named))
            return cast("T", result)

        return remembered

    def _find(self, key: Key, version: Hashable, work: Callable[[], object]) -> object:
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None and entry.version == version:
                self._entries.move_to_end(key)
                return entry.result
            mine: Future[object] = Future()
            shared = self._under_way.setdefault((key, version), mine)
        # Outside of the lock: who wants something else never waits.
        return self._work(key, version, work, mine) if shared is mine else shared.result()

    def _work(
        self, key: Key, version: Hashable, work: Callable[[], object], shared: Future[object]
    ) -> object:
        try:
            result = work()
        except BaseException as error:
            with self._lock:
                del self._under_way[key, version]
            shared.set_exception(error)
            raise
        shared.set_result(result)
        self._store(key, _Entry(version, result, size_of(result)))
        return result

    def _store(self, key: Key, entry: _Entry) -> None:
        with self._lock:
            del self._under_way[key, entry.version]
            before = self._entries.pop(key, None)
            self._entries[key] = entry
            self._size += entry.size - (before.size if before else 0)
            while self._size > self._limit and len(self._entries) > 1:
                _, gone = self._entries.popitem(last=False)
                self._size -= gone.size


def size_of(value: object) -> int:
    """About the bytes that a value takes, with everything that it holds.

    Of each collection a sample, spread evenly, is looked at and taken for the rest. What several
    elements share counts for the first of them, and for nothing else.
    """
    return _size_of(value, _SAMPLE, set())


def _size_of(value: object, most: int, seen: set[int]) -> int:
    if id(value) in seen or isinstance(value, _SHARED_TYPES):
        return 0
    seen.add(id(value))
    size = sys.getsizeof(value)
    if isinstance(value, dict):
        pairs = cast("dict[object, object]", value)
        return (
            size
            + _size_of_all(list(pairs), most, seen)
            + _size_of_all(list(pairs.values()), most, seen)
        )
    held = gc.get_referents(value)
    return size + _size_of_all(held, most if isinstance(value, _SAMPLED_TYPES) else len(held), seen)


def _size_of_all(values: Sequence[object], most: int, seen: set[int]) -> int:
    if not values:
        return 0
    step = -(-len(values) // most)
    first, *others = values[::step]
    within = max(_MIN_SAMPLE, min(most, _SAMPLE) // 4)
    size = _size_of(first, within, seen)
    # The first one apart: it has paid for what all of them share.
    rest = sum(_size_of(each, within, seen) for each in others)
    return size + (rest * (len(values) - 1) // len(others) if others else 0)
