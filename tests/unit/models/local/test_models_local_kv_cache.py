from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalui.models.local.kv_cache import PrefixGroup, group_by_prefix

SYSTEM = tuple(range(200))
SHOTS = tuple(range(1000, 1300))
PROMPTS = st.lists(
    st.builds(
        lambda parts: tuple(token for part in parts for token in part),
        st.tuples(
            st.sampled_from([(), SYSTEM]),
            st.sampled_from([(), SHOTS[:150], SHOTS[:300]]),
            st.lists(st.integers(0, 3), min_size=1, max_size=12),
        ),
    ),
    max_size=12,
)


EDGES = ("just too little", "just enough", "two savings that are more than one")


@pytest.mark.parametrize(
    ("prompts", "expected"),
    [
        ([], []),
        ([(1, 2)], [PrefixGroup(0, (0,))]),
        ([(1, 2), (1, 3)], [PrefixGroup(0, (0, 1))]),
        ([(*SYSTEM, 50), (*SYSTEM, 51, 52)], [PrefixGroup(200, (1, 0))]),
        ([(*SYSTEM, 50), (*SYSTEM, 50, 51)], [PrefixGroup(200, (1, 0))]),
        ([SYSTEM, SYSTEM], [PrefixGroup(199, (0, 1))]),
        ([(*SYSTEM[:127], 50), (*SYSTEM[:127], 51)], [PrefixGroup(0, (0, 1))]),
        ([(*SYSTEM[:128], 50), (*SYSTEM[:128], 51)], [PrefixGroup(128, (0, 1))]),
        (
            [(*SYSTEM[:80], *SHOTS[at : at + 120], n) for at in (0, 150) for n in (1, 2)],
            [PrefixGroup(200, (0, 1)), PrefixGroup(200, (2, 3))],
        ),
        (
            [
                (1,),
                (*SYSTEM, 1),
                (*SYSTEM, *SHOTS, 1),
                (*SYSTEM, 2),
                (*SYSTEM, *SHOTS, 2, 3),
                (*SYSTEM, *SHOTS, 4),
            ],
            [PrefixGroup(500, (4, 2, 5)), PrefixGroup(200, (1, 3)), PrefixGroup(0, (0,))],
        ),
    ],
    ids=[
        "none",
        "one",
        "too little",
        "alike",
        "one begins the other",
        "the same",
        *EDGES,
        "two kinds",
    ],
)
def test_prompts_that_begin_alike_are_a_group(
    prompts: Sequence[tuple[int, ...]], expected: list[PrefixGroup]
):
    assert group_by_prefix(prompts) == expected


@given(PROMPTS)
def test_each_prompt_has_one_group_that_shares_its_beginning(prompts: list[tuple[int, ...]]):
    found = group_by_prefix(prompts)
    assert sorted(index for group in found for index in group.members) == list(range(len(prompts)))
    for group in found:
        beginnings = {prompts[index][: group.shared_length] for index in group.members}
        assert len(beginnings) == 1
        assert all(group.shared_length < len(prompts[index]) for index in group.members)
        lengths = [len(prompts[index]) for index in group.members]
        assert lengths == sorted(lengths, reverse=True)


@given(PROMPTS)
def test_families_never_compute_more_than_prompts_apart_or_all_together(
    prompts: list[tuple[int, ...]],
):
    groups = [group for group in group_by_prefix(prompts) if group.shared_length]
    saved = sum((len(group.members) - 1) * group.shared_length - 128 for group in groups)
    columns = zip(*prompts, strict=False)
    common = 0
    for column in columns:
        if len(set(column)) > 1:
            break
        common += 1
    common = min(common, min(map(len, prompts), default=1) - 1)
    assert saved >= max(0, (len(prompts) - 1) * common - 128)
