from evalui.models.local.forward import PrefixCache


def store(limit: int) -> PrefixCache[str]:
    return PrefixCache(limit, size=len)


def test_the_trunk_that_shares_most_is_found_with_how_much():
    trunks = store(99)
    trunks.insert((1, 2, 3), "a")
    trunks.insert((1, 5, 6), "b")
    assert trunks.longest_match((1, 5, 7, 8)) == (2, "b")
    assert trunks.longest_match((9,)) == (0, None)


def test_a_longer_trunk_takes_the_place_of_its_beginning():
    trunks = store(99)
    trunks.insert((1, 2), "a")
    trunks.insert((1, 2, 3), "b")
    assert list(trunks) == [(1, 2, 3)]


def test_the_one_used_longest_ago_goes_first():
    trunks = store(4)
    trunks.insert((1,), "aa")
    trunks.insert((2,), "bb")
    trunks.longest_match((1, 9))
    trunks.insert((3,), "cc")
    assert list(trunks) == [(1,), (3,)]


def test_the_newest_is_kept_even_if_it_is_over_the_limit():
    trunks = store(1)
    trunks.insert((1,), "a")
    trunks.insert((2,), "too much")
    assert list(trunks) == [(2,)]


def test_all_can_be_given_up():
    trunks = store(9)
    trunks.insert((1,), "a")
    trunks.clear()
    assert trunks.longest_match((1,)) == (0, None)


def test_a_trunk_at_hand_gives_way_to_the_next_and_to_one_that_is_kept():
    trunks = store(99)
    trunks.pin((1, 2, 3), "b")
    assert trunks.longest_match((1, 2, 4)) == (2, "b")
    trunks.insert((1, 2), "a")
    trunks.pin((1, 2, 3), "b")
    trunks.pin((1, 2, 4), "c")
    assert list(trunks) == [(1, 2), (1, 2, 4)]
    assert trunks.longest_match((1, 2, 3)) == (2, "a")
    assert trunks.longest_match((1, 2, 4, 5)) == (3, "c")
    trunks.insert((7,), "d")
    assert list(trunks) == [(1, 2), (7,)]


def test_a_trunk_stays_in_use_by_what_stands_on_it():
    trunks = store(6)
    trunks.insert((1,), "aa")
    trunks.insert((2,), "bb")
    trunks.pin((1, 3), "cc")
    trunks.longest_match((1, 3))
    trunks.insert((4,), "dddd")
    assert list(trunks) == [(1,), (4,)]


def test_a_trunk_at_hand_counts_and_goes_with_all_others():
    trunks = store(3)
    trunks.insert((1,), "aa")
    trunks.insert((2,), "a")
    trunks.pin((3,), "a")
    assert list(trunks) == [(2,), (3,)]
    trunks.clear()
    assert list(trunks) == []


def test_what_a_kept_trunk_begins_with_is_kept_too():
    trunks = store(9)
    trunks.insert((1, 2, 3), "a")
    trunks.pin((5, 6), "b")
    assert trunks.has_prefix((1, 2))
    assert not trunks.has_prefix((1, 3))
    assert not trunks.has_prefix((5,))


def test_only_so_many_are_kept_as_can_be_looked_through():
    trunks = store(999)
    for token in range(300):
        trunks.insert((token,), "a")
    assert list(trunks) == [(token,) for token in range(172, 300)]
