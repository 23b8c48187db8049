"""A cache of computed results, limited in bytes."""

import gc
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from types import FunctionType, MethodType, ModuleType
from typing import ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")

_SAMPLE = 64  # elements of a collection that are looked at; of one within it a quarter
_MIN_SAMPLE = 16  # fields of an object, and elements of a short tuple, differ: all of them are
_SAMPLED_TYPES = (tuple, list, set, frozenset)
_SHARED_TYPES = (type, ModuleType, FunctionType, MethodType)  # belong to the program


class ResultCache:
    """Keeps the newest results of several functions, of `limit` bytes together.

    What was not used for the longest time goes first. The newest result stays whatever its size:
    it will be wanted again at the next click. Safe to share between threads.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()  # protects both below
        self._entries: OrderedDict[tuple[object, ...], tuple[object, int]] = OrderedDict()
        self._size = 0

    @property
    def size(self) -> int:
        """The bytes that are kept, by `size_of`."""
        with self._lock:
            return self._size

    def memoize(self, work: Callable[P, T]) -> Callable[P, T]:
        """The same function, which remembers; its arguments are hashable and have no names."""

        def remembered(*arguments: P.args, **named: P.kwargs) -> T:
            key = (work, *arguments)
            with self._lock:
                if key in self._entries:
                    self._entries.move_to_end(key)
                    return cast("T", self._entries[key][0])  # of this very function
            # Outside of the lock: two threads may work at the same, and others never wait for it.
            result = work(*arguments, **named)
            self._store(key, result, size_of(result))
            return result

        return remembered

    def _store(self, key: tuple[Hashable, ...], result: object, size: int) -> None:
        with self._lock:
            _, before = self._entries.pop(key, (None, 0))
            self._entries[key] = result, size
            self._size += size - before
            while self._size > self._limit and len(self._entries) > 1:
                _, (_, gone) = self._entries.popitem(last=False)
                self._size -= gone


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
