"""Which of several people vote on which pairs: k of them on each, all of them on equally many."""

import zlib
from collections.abc import Iterable, Sequence

Assignment = dict[str, tuple[str, ...]]  # the people of each pair, by its key


def assign_pairs(keys: Iterable[str], people: Sequence[str], overlap: int) -> Assignment:
    """`overlap` different people for each pair, in the order in which the pairs came.

    Each pair goes to those who have the fewest, among them to those who share the fewest with each
    other, and else by its key, so that nobody gets all pairs of the same two models. So people's
    numbers of pairs differ by one at most, each two people share pairs, and a pair that comes later
    changes nothing of those before it.

    Raises:
        ValueError: there are fewer people than are to vote on each pair.
    """
    n = len(people)
    if not 0 < overlap <= n:
        raise ValueError(f"{overlap} of {n} people cannot vote on a pair")
    load = [0] * n
    shared = [[0] * n for _ in people]
    assigned: Assignment = {}
    for key in keys:
        chosen: list[int] = []
        first = zlib.crc32(key.encode("utf-8", "surrogatepass"))
        for _ in range(overlap):
            rank = min(
                (load[one], sum(shared[one][other] for other in chosen), (one + first) % n, one)
                for one in range(n)
                if one not in chosen
            )
            chosen.append(rank[-1])
        for one in chosen:
            load[one] += 1
            for other in chosen:
                shared[one][other] += one != other
        assigned[key] = tuple(people[one] for one in sorted(chosen))
    return assigned
