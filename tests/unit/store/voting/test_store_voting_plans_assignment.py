"""Pairs assigned to people: equally many each, k people on each pair, nothing moves later."""

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalui.store.voting.plans import assign_pairs

KEYS = st.lists(st.text("0123456789abcdef", min_size=4, max_size=16), unique=True, max_size=120)


@st.composite
def plans(draw: st.DrawFn) -> tuple[list[str], list[str], int]:
    n = draw(st.integers(1, 9))
    return draw(KEYS), [f"person {place}" for place in range(n)], draw(st.integers(1, n))


@given(plans())
def test_each_pair_goes_to_k_different_people_and_all_have_equally_many(
    plan: tuple[list[str], list[str], int],
):
    keys, people, overlap = plan
    assigned = assign_pairs(keys, people, overlap)
    assert list(assigned) == keys
    assert all(len(set(chosen)) == len(chosen) == overlap for chosen in assigned.values())
    counted = Counter(one for chosen in assigned.values() for one in chosen)
    assert max(counted[one] for one in people) - min(counted[one] for one in people) <= 1
    assert assign_pairs(keys, people, overlap) == assigned


@given(plans(), st.integers(0, 120))
def test_later_pairs_change_nothing_of_those_before(
    plan: tuple[list[str], list[str], int], before: int
):
    keys, people, overlap = plan
    earlier = assign_pairs(keys[:before], people, overlap)
    later = assign_pairs(keys, people, overlap)
    assert {key: later[key] for key in earlier} == earlier


@pytest.mark.parametrize("n", range(2, 10))
@pytest.mark.parametrize("overlap", [2, 3])
def test_each_two_people_share_about_equally_many_pairs(n: int, overlap: int):
    people = [f"person {place}" for place in range(max(n, overlap))]
    keys = [f"{7919 * number:08x}" for number in range(20 * len(people))]
    assigned = assign_pairs(keys, people, overlap)
    together = Counter(two for chosen in assigned.values() for two in combinations(chosen, 2))
    mean = sum(together.values()) / len(list(combinations(people, 2)))
    shares = [together[two] / mean for two in combinations(people, 2)]
    assert 0.6 < min(shares) <= max(shares) < 1.4


def test_nobody_gets_all_pairs_of_the_same_two_models():
    # With each answer of the third model two pairs come, one with each of the others.
    keys = [f"{number * 2654435761 % 2**32:08x}{side}" for number in range(400) for side in "ab"]
    assigned = assign_pairs(keys, ["ann", "ben"], 1)
    with_first = Counter(chosen for key, (chosen,) in assigned.items() if key.endswith("a"))
    assert all(150 < with_first[one] < 250 for one in ("ann", "ben"))


@pytest.mark.parametrize("overlap", [0, 3])
def test_more_votes_on_a_pair_than_people_are_refused(overlap: int):
    with pytest.raises(ValueError, match="of 2 people"):
        assign_pairs(["a"], ["ann", "ben"], overlap)
