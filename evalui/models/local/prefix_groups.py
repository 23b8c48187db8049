"""Which prompts begin alike, so that their common beginning is computed once.

Token ids in, groups out; knows neither texts nor torch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from evalui.models.logprob_queries import TokenIds

_GROUP_COST = 128  # tokens; about what the forward passes of one family more cost


@dataclass(frozen=True, slots=True)
class PrefixGroup:
    """Prompts whose first `shared_length` tokens are the same. `members` are indices, longest
    first.
    """

    shared_length: int
    members: tuple[int, ...]


def group_by_prefix(prompts: Sequence[TokenIds]) -> list[PrefixGroup]:
    """Each prompt in one family, so that as little as possible is computed in all.

    At least one token of a prompt is its own. Those that save nothing are a family that shares
    nothing. The family with the longest prompt comes first.
    """
    order = sorted(range(len(prompts)), key=lambda index: prompts[index])
    common = [_shared_length(prompts[left], prompts[right]) for left, right in pairwise(order)]
    leaves = [_SortedSpan(place, place, 0, ((0, place, place),)) for place in range(len(order))]
    from_first, from_last = dict(enumerate(leaves)), dict(enumerate(leaves))
    # The closest first, so that every group is joined along its shortest common beginning.
    for place in sorted(range(len(common)), key=lambda place: -common[place]):
        left, right = from_last.pop(place), from_first.pop(place + 1)
        joined = _merge(left, right, shared=common[place])
        from_first[joined.first] = from_last[joined.last] = joined
    members: dict[tuple[int, int], list[int]] = {}
    for group in from_first.values():
        for shared, first, last in group.parts:
            kin = members.setdefault((shared, first if shared else 0), [])
            kin += order[first : last + 1]
    found = [
        PrefixGroup(shared, tuple(sorted(kin, key=lambda index: -len(prompts[index]))))
        for (shared, _), kin in members.items()
    ]
    return sorted(found, key=lambda family: -len(prompts[family.members[0]]))


@dataclass(frozen=True, slots=True)
class _SortedSpan:
    """Neighbours in alphabetical order, from `first` to `last`, parted as saves the most tokens.

    Each part is (tokens shared, first, last).
    """

    first: int
    last: int
    saved: int
    parts: tuple[tuple[int, int, int], ...]


def _merge(left: _SortedSpan, right: _SortedSpan, *, shared: int) -> _SortedSpan:
    together = (right.last - left.first) * shared - _GROUP_COST
    apart = left.saved + right.saved
    if together >= apart:
        return _SortedSpan(left.first, right.last, together, ((shared, left.first, right.last),))
    return _SortedSpan(left.first, right.last, apart, left.parts + right.parts)


def _shared_length(left: TokenIds, right: TokenIds) -> int:
    """The length of the longest common beginning that leaves a token of each."""
    most = min(len(left), len(right)) - 1
    for place in range(most):
        if left[place] != right[place]:
            return place
    return most
