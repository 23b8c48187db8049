"""A cache for arguments that cannot be hashed, such as questions with their metadata."""

from collections.abc import Callable
from functools import lru_cache, update_wrapper
from operator import is_
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class CachedByIdentity(Generic[P, T]):
    """A function that is computed once for the same objects; `size` results are kept.

    The arguments must never be changed. They are kept beside the result, so that no other object
    gets their place in memory while the result is known.
    """

    def __init__(self, function: Callable[P, T], size: int) -> None:
        compute: Callable[..., T] = function

        @lru_cache(size)
        def cached(key: _Identities) -> T:
            return compute(*key.values)

        update_wrapper(self, function)
        self._cached = cached

    def __call__(self, *values: P.args, **named: P.kwargs) -> T:
        """The result for these very objects, which are given by position."""
        assert not named, "arguments are given by position"
        return self._cached(_Identities(values))

    @property
    def computed(self) -> int:
        """How many results were computed so far."""
        return self._cached.cache_info().misses


def cached_by_identity(size: int) -> Callable[[Callable[P, T]], CachedByIdentity[P, T]]:
    """A decorator, see `CachedByIdentity`."""
    return lambda function: CachedByIdentity(function, size)


class _Identities:
    """Objects as a key that equals the keys of these very objects only."""

    __slots__ = ("values",)

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.values = values

    def __hash__(self) -> int:
        return hash(tuple(map(id, self.values)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identities) and all(map(is_, self.values, other.values))
