from evalui.models.tree_trunks import Trunks


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
