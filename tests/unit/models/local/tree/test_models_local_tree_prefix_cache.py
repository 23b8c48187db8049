from evalui.models.local.tree.prefix_cache import Trunks


def store(limit: int) -> Trunks[str]:
    return Trunks(limit, size=len)


def test_the_trunk_that_shares_most_is_found_with_how_much():
    trunks = store(99)
    trunks.put((1, 2, 3), "a")
    trunks.put((1, 5, 6), "b")
    assert trunks.nearest((1, 5, 7, 8)) == (2, "b")
    assert trunks.nearest((9,)) == (0, None)


def test_a_longer_trunk_takes_the_place_of_its_beginning():
    trunks = store(99)
    trunks.put((1, 2), "a")
    trunks.put((1, 2, 3), "b")
    assert list(trunks) == [(1, 2, 3)]


def test_the_one_used_longest_ago_goes_first():
    trunks = store(4)
    trunks.put((1,), "aa")
    trunks.put((2,), "bb")
    trunks.nearest((1, 9))
    trunks.put((3,), "cc")
    assert list(trunks) == [(1,), (3,)]


def test_the_newest_is_kept_even_if_it_is_over_the_limit():
    trunks = store(1)
    trunks.put((1,), "a")
    trunks.put((2,), "too much")
    assert list(trunks) == [(2,)]


def test_all_can_be_given_up():
    trunks = store(9)
    trunks.put((1,), "a")
    trunks.clear()
    assert trunks.nearest((1,)) == (0, None)


def test_a_trunk_at_hand_gives_way_to_the_next_and_to_one_that_is_kept():
    trunks = store(99)
    trunks.hold((1, 2, 3), "b")
    assert trunks.nearest((1, 2, 4)) == (2, "b")
    trunks.put((1, 2), "a")
    trunks.hold((1, 2, 3), "b")
    trunks.hold((1, 2, 4), "c")
    assert list(trunks) == [(1, 2), (1, 2, 4)]
    assert trunks.nearest((1, 2, 3)) == (2, "a")
    assert trunks.nearest((1, 2, 4, 5)) == (3, "c")
    trunks.put((7,), "d")
    assert list(trunks) == [(1, 2), (7,)]


def test_a_trunk_stays_in_use_by_what_stands_on_it():
    trunks = store(6)
    trunks.put((1,), "aa")
    trunks.put((2,), "bb")
    trunks.hold((1, 3), "cc")
    trunks.nearest((1, 3))
    trunks.put((4,), "dddd")
    assert list(trunks) == [(1,), (4,)]


def test_a_trunk_at_hand_counts_and_goes_with_all_others():
    trunks = store(3)
    trunks.put((1,), "aa")
    trunks.put((2,), "a")
    trunks.hold((3,), "a")
    assert list(trunks) == [(2,), (3,)]
    trunks.clear()
    assert list(trunks) == []


def test_what_a_kept_trunk_begins_with_is_kept_too():
    trunks = store(9)
    trunks.put((1, 2, 3), "a")
    trunks.hold((5, 6), "b")
    assert trunks.keeps((1, 2))
    assert not trunks.keeps((1, 3))
    assert not trunks.keeps((5,))


def test_only_so_many_are_kept_as_can_be_looked_through():
    trunks = store(999)
    for token in range(300):
        trunks.put((token,), "a")
    assert list(trunks) == [(token,) for token in range(172, 300)]
