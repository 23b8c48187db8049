from evalui.models.local.forward import PrefixCache


def store(limit: int) -> PrefixCache[str]:
    return PrefixCache(limit, size=len)


def test_the_prefix_that_shares_most_is_found_with_how_much():
    cache = store(99)
    cache.insert((1, 2, 3), "a")
    cache.insert((1, 5, 6), "b")
    assert cache.longest_match((1, 5, 7, 8)) == (2, "b")
    assert cache.longest_match((9,)) == (0, None)


def test_a_longer_prefix_takes_the_place_of_its_beginning():
    cache = store(99)
    cache.insert((1, 2), "a")
    cache.insert((1, 2, 3), "b")
    assert list(cache) == [(1, 2, 3)]


def test_the_one_used_longest_ago_goes_first():
    cache = store(4)
    cache.insert((1,), "aa")
    cache.insert((2,), "bb")
    cache.longest_match((1, 9))
    cache.insert((3,), "cc")
    assert list(cache) == [(1,), (3,)]


def test_the_newest_is_kept_even_if_it_is_over_the_limit():
    cache = store(1)
    cache.insert((1,), "a")
    cache.insert((2,), "too much")
    assert list(cache) == [(2,)]


def test_all_can_be_given_up():
    cache = store(9)
    cache.insert((1,), "a")
    cache.clear()
    assert cache.longest_match((1,)) == (0, None)


def test_a_pinned_prefix_gives_way_to_the_next_and_to_one_that_is_kept():
    cache = store(99)
    cache.pin((1, 2, 3), "b")
    assert cache.longest_match((1, 2, 4)) == (2, "b")
    cache.insert((1, 2), "a")
    cache.pin((1, 2, 3), "b")
    cache.pin((1, 2, 4), "c")
    assert list(cache) == [(1, 2), (1, 2, 4)]
    assert cache.longest_match((1, 2, 3)) == (2, "a")
    assert cache.longest_match((1, 2, 4, 5)) == (3, "c")
    cache.insert((7,), "d")
    assert list(cache) == [(1, 2), (7,)]


def test_a_prefix_stays_in_use_by_what_extends_it():
    cache = store(6)
    cache.insert((1,), "aa")
    cache.insert((2,), "bb")
    cache.pin((1, 3), "cc")
    cache.longest_match((1, 3))
    cache.insert((4,), "dddd")
    assert list(cache) == [(1,), (4,)]


def test_a_pinned_prefix_counts_and_goes_with_all_others():
    cache = store(3)
    cache.insert((1,), "aa")
    cache.insert((2,), "a")
    cache.pin((3,), "a")
    assert list(cache) == [(2,), (3,)]
    cache.clear()
    assert list(cache) == []


def test_what_a_kept_prefix_begins_with_is_kept_too():
    cache = store(9)
    cache.insert((1, 2, 3), "a")
    cache.pin((5, 6), "b")
    assert cache.has_prefix((1, 2))
    assert not cache.has_prefix((1, 3))
    assert not cache.has_prefix((5,))


def test_only_so_many_are_kept_as_can_be_looked_through():
    cache = store(999)
    for token in range(300):
        cache.insert((token,), "a")
    assert list(cache) == [(token,) for token in range(172, 300)]
