import gc
import weakref

from evalui.modes.prompts.templates import cached_by_identity


class Thing:
    """Equal to every other, and without a hash."""

    __hash__ = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Thing)


@cached_by_identity(2)
def listed(first: Thing, second: Thing) -> list[Thing]:
    return [first, second]


def test_a_result_is_computed_once_for_the_same_objects():
    first, second = Thing(), Thing()
    before = listed.computed
    assert listed(first, second) is listed(first, second)
    assert listed.computed == before + 1


def test_equal_objects_are_not_the_same():
    first, second = Thing(), Thing()
    assert listed(first, second)[0] is first
    assert listed(second, first)[0] is second


def test_an_object_lives_as_long_as_its_result_is_kept():
    first, second = Thing(), Thing()
    gone = weakref.ref(first)
    listed(first, second)
    del first
    gc.collect()
    assert gone() is not None
    for _ in range(2):
        listed(second, Thing())
    gc.collect()
    assert gone() is None


def test_its_name_and_docstring_are_those_of_the_function():
    assert listed.__name__ == "listed"
