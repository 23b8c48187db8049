"""The encoder on its own, and the table of public names against the dataclasses."""

import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pytest

from evalui.report.export.choice_names import CHOICE_NAMES
from evalui.report.export.encoder import (
    Encoder,
    Entries,
    Fields,
    Property,
    Source,
    ends,
    interval,
    length,
    letter,
    optional,
    percent,
    percent_range,
    pick,
    same,
    winner,
    within,
)
from evalui.report.export.open_names import OPEN_NAMES
from evalui.types import Interval


@dataclass(frozen=True)
class Slot:
    index: int | None
    share: Interval | None = None


@dataclass(frozen=True)
class Grid:
    slots: tuple[Slot, ...]
    names: Mapping[tuple[str, str], Slot]
    first: Slot | None = None


_SHARE = Interval(0.5, 0.25, 0.75, 8)
_SLOT: Fields = {
    "slot": letter("index"),
    "share": percent("share"),
    "range": percent_range("share"),
    "n": Property("share.n", absent=0),
    "known": optional(percent("share")),
}
_ENCODER = Encoder({Slot: _SLOT, Grid: {"rows": "slots", "number": length("slots")}})


def test_properties_have_their_public_names_and_units():
    assert _ENCODER.encode(Slot(2, _SHARE)) == {
        "slot": "C",
        "share": 50,
        "range": [25, 75],
        "n": 8,
        "known": 50,
    }


def test_what_is_unknown_is_null_or_its_stated_value_or_left_out():
    assert _ENCODER.encode(Slot(None)) == {"slot": None, "share": None, "range": None, "n": 0}


def test_objects_within_an_object_are_encoded_too():
    told = _ENCODER.encode(Grid((Slot(0), Slot(1)), {}))
    assert [row["slot"] for row in told["rows"]] == ["A", "B"]
    assert told["number"] == 2


def test_the_fields_of_an_inner_object_can_stand_in_its_owner():
    fields = within("first", {**pick(_SLOT, "slot"), "ends": ends("share"), "pair": ("index",)})
    assert _ENCODER.fields(Grid((), {}, Slot(3, _SHARE)), fields) == {
        "slot": "D",
        "ends": [0.25, 0.75],
        "pair": [3],
    }
    assert _ENCODER.fields(Grid((), {}), fields) == {"slot": None, "ends": None, "pair": [None]}


def test_a_mapping_is_a_list_of_its_entries_with_named_keys():
    source = Entries(Property("names"), ("row", "column"), pick(_SLOT, "slot"))
    told = _ENCODER.fields(Grid((), {("x", "y"): Slot(1)}), {"each": source})
    assert told == {"each": [{"row": "x", "column": "y", "slot": "B"}]}


def test_a_range_is_three_columns_in_per_cent_or_on_its_own_scale():
    row = _ENCODER.fields(Slot(0, _SHARE), interval("share", "share"))
    assert row == {"share": 50, "share_low": 25, "share_high": 75}
    assert _ENCODER.fields(_SHARE, interval("k", "", Property)) == {
        "k": 0.5,
        "k_low": 0.25,
        "k_high": 0.75,
    }
    assert _ENCODER.fields(None, interval("k", "")) == dict.fromkeys(("k", "k_low", "k_high"))


def test_outcomes_are_named_as_in_battles():
    assert Property("", None).of("a") == "a"
    assert winner("").of({"ann": "a", "bob": "neither"}) == {"ann": "model_a", "bob": "neither"}


def test_a_dataclass_without_public_names_does_not_leave():
    with pytest.raises(TypeError, match="Interval has no public names"):
        _ENCODER.encode({"share": [_SHARE]})


@pytest.mark.parametrize("kind", [*CHOICE_NAMES, *OPEN_NAMES], ids=lambda kind: kind.__name__)
def test_every_public_name_leads_to_a_property(kind: type):
    names = {**CHOICE_NAMES, **OPEN_NAMES}
    wrong = [path for path in _paths(names[kind]) if not _leads_somewhere(kind, path)]
    assert not wrong


def test_a_path_that_leads_nowhere_is_noticed():
    assert _leads_somewhere(Grid, "first.share.low")
    assert not _leads_somewhere(Grid, "first.shares")
    assert list(_paths(same("x") | {"y": {"z": ("u", percent("v"))}})) == ["x", "u", "v"]


def _paths(fields: Fields) -> Iterator[str]:
    for source in fields.values():
        yield from _paths_of(source)


def _paths_of(source: Source) -> Iterator[str]:
    match source:
        case str():
            yield source
        case Property():
            yield source.path
        case Entries():
            yield source.source.path
        case tuple():
            yield from (path for each in source for path in _paths_of(each))
        case _:
            yield from _paths(source)


def _leads_somewhere(kind: type, path: str) -> bool:
    for name in path.split(".") if path else ():
        found = _type_of(kind, name)
        if found is None:
            return False
        kind = found
    return True


def _type_of(kind: typing.Any, name: str) -> typing.Any:
    """The type of a property without None; None if there is no such property."""
    owner = getattr(kind, name, None)
    hints = typing.get_type_hints(owner.fget if isinstance(owner, property) else kind)
    found = hints.get("return" if isinstance(owner, property) else name)
    if isinstance(found, types.UnionType):
        (found,) = (each for each in typing.get_args(found) if each is not type(None))
    return found
