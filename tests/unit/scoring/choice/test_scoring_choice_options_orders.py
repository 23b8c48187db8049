import pytest
from hypothesis import given
from hypothesis import strategies as st
from scoring_examples import golden, variant_from_label

from evalui.scoring.choice.options import (
    count_variants,
    variant_label,
    variants,
)
from evalui.types import LETTERS, Pattern, Variant

EXPANSIONS = golden("opencompass/circular.json")["expansions"]


def test_bcda_shows_the_options_d_a_b_c():
    assert variant_from_label("BCDA") == Variant((3, 0, 1, 2))
    assert variant_label(Variant((3, 0, 1, 2))) == "BCDA"


def test_dabc_shows_the_options_b_c_d_a():
    assert variant_from_label("DABC") == Variant((1, 2, 3, 0))


def test_the_circular_labels_come_in_opencompass_order():
    assert [variant_label(v) for v in variants(4, "circular")] == ["ABCD", "BCDA", "CDAB", "DABC"]


def test_all_orders_of_three_options_come_as_itertools_makes_them():
    labels = [variant_label(v) for v in variants(3, "all_possible")]
    assert labels == ["ABC", "ACB", "BAC", "BCA", "CAB", "CBA"]


@pytest.mark.parametrize("pattern", ["origin", "circular", "all_possible"])
@pytest.mark.parametrize("n_options", [2, 3, 4, 5, 6])
def test_the_original_order_is_first_and_the_count_is_right(n_options: int, pattern: Pattern):
    orders = variants(n_options, pattern)
    assert orders[0].is_origin
    assert len(set(orders)) == len(orders) == count_variants(n_options, pattern)


def test_orders_are_counted_without_making_them():
    assert count_variants(10, "all_possible") == 3_628_800


@pytest.mark.parametrize("n_options", [2, 3, 4, 5])
def test_circular_shows_every_option_once_in_every_slot(n_options: int):
    shown = zip(*(v.permutation for v in variants(n_options, "circular")), strict=True)
    assert all(sorted(slot) == list(range(n_options)) for slot in shown)


@pytest.mark.parametrize("case", EXPANSIONS, ids=range(len(EXPANSIONS)))
def test_options_move_as_in_opencompass(case: dict):
    keys, item = case["option_keys"], case["item"]
    orders = variants(len(keys), case["pattern"])
    shown = [[item[keys[content]] for content in v.permutation] for v in orders]
    assert shown == [[row[key] for key in keys] for row in case["expanded"]]


@pytest.mark.parametrize("case", EXPANSIONS, ids=range(len(EXPANSIONS)))
def test_the_label_is_opencompass_circular_pattern(case: dict):
    keys = case["option_keys"]
    labels = [variant_label(v) for v in variants(len(keys), case["pattern"])]
    patterns = [
        [LETTERS[keys.index(key)] for key in row["circular_pattern"]] for row in case["expanded"]
    ]
    assert labels == ["".join(pattern) for pattern in patterns]


@given(st.permutations(range(6)))
def test_a_label_names_its_variant(permutation: list[int]):
    variant = Variant(tuple(permutation))
    assert variant_from_label(variant_label(variant)) == variant


@given(st.permutations(range(5)), st.integers(0, 4))
def test_the_letter_at_an_option_is_the_slot_that_shows_it(permutation: list[int], content: int):
    variant = Variant(tuple(permutation))
    slot = LETTERS.index(variant_label(variant)[content])
    assert variant.permutation[slot] == content
