from itertools import product
from typing import get_args

import pytest

from evalui.access import (
    ANONYMOUS,
    DEEDS_WITH_A_THING,
    LOCAL_PERSON,
    Deed,
    Owned,
    Person,
    may,
    require,
)
from evalui.errors import NotAllowed

OWNER = Person("ann", "annotator")
THING = Owned("ann", run="r1", users=frozenset({"uma"}), voters=frozenset({"vic"}))
DEEDS: tuple[Deed, ...] = get_args(Deed)

PEOPLE = {
    "nobody": (ANONYMOUS, set()),
    "reader": (Person("eve", "reader"), set()),
    "annotator": (Person("eve", "annotator"), set()),
    "operator": (Person("eve", "operator"), set()),
    "owner": (OWNER, set(DEEDS_WITH_A_THING)),
    "owner who may only look now": (Person("ann", "reader"), {"see"}),
    "owner by a token that reads": (Person("ann", "admin", scope="read"), {"see"}),
    "administrator": (Person("adm", "admin"), set(DEEDS_WITH_A_THING)),
    "administrator by a token that reads": (Person("adm", "admin", scope="read"), {"see"}),
    "alone": (LOCAL_PERSON, set(DEEDS_WITH_A_THING)),
    "user": (Person("uma", "annotator"), {"see"}),
    "reader who is named a user": (Person("uma", "reader"), {"see"}),
    "voter": (Person("vic", "annotator"), {"see", "annotate"}),
    "operator who is named a voter": (Person("vic", "operator"), {"see", "annotate"}),
    "reader who is named a voter": (Person("vic", "reader"), {"see"}),
    "voter by a token that reads": (Person("vic", "annotator", scope="read"), {"see"}),
    "guest of the run": (Person("bo", guest_of="r1"), {"annotate"}),
    "guest of another run": (Person("bo", guest_of="r2"), set()),
    "guest of the owner's name": (Person("ann", "admin", guest_of="r2"), set()),
    "guest of a voter's name": (Person("vic", "annotator", guest_of="r2"), set()),
}


@pytest.mark.parametrize(("who", "deed"), list(product(PEOPLE, DEEDS_WITH_A_THING)))
def test_who_may_do_what_with_a_thing(who: str, deed: Deed):
    person, allowed = PEOPLE[who]
    assert may(person, deed, THING) is (deed in allowed)


def test_without_a_thing_the_role_decides_and_guests_may_nothing():
    assert may(Person("eve", "annotator"), "start")
    assert not may(Person("eve", "reader"), "start")
    assert not may(Person("eve", "annotator"), "add_models")
    assert not may(Person("eve", "operator"), "administer")
    assert not any(may(Person("bo", guest_of="r1"), deed) for deed in DEEDS)


def test_what_is_everyones_is_used_by_all_and_changed_by_its_owner():
    model = Owned("ann", everyone=True)
    eve = Person("eve", "annotator")
    assert may(eve, "see", model)
    assert not may(eve, "annotate", model)
    assert not may(eve, "change", model)


@pytest.mark.parametrize("deed", DEEDS)
def test_a_refusal_is_a_sentence(deed: Deed):
    with pytest.raises(NotAllowed) as refused:
        require(ANONYMOUS, deed)
    assert str(refused.value).endswith(".")
