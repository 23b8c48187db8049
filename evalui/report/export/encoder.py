"""Objects and rows made from dataclasses by a table of public names.

The table says for each public name where its value stands and in which unit it is published.
This module knows no dataclass but `Interval`; names stand in `choice_names` and `open_names`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, TypeAlias, cast

from evalui.report.write.json import JsonObject
from evalui.types import LETTERS, WINNERS, Interval

_PLAIN = frozenset({type(None), bool, int, float, str})  # what JSON has as it is
_SINGLE = _PLAIN | {Interval}  # what is converted as a whole


@dataclass(frozen=True, slots=True)
class Property:
    """The value at a dotted path from an object, as `convert` publishes it.

    The path "" leads to the object itself. Where the path meets None, `absent` is published, or
    nothing at all if the property is `optional`.
    """

    path: str
    convert: Callable[[Any], Any] | None = None
    absent: Any = None
    optional: bool = False

    def of(self, value: Any) -> Any:
        """The value of an object, not yet encoded."""
        value = value_at(self.path, value)
        if value is None:
            return self.absent
        return self.convert(value) if self.convert else value


@dataclass(frozen=True, slots=True)
class Entries:
    """A list with an object for each entry of a mapping: its key, then what `fields` publish.

    `keys` name the key, or each part of a key that is a tuple.
    """

    source: Property
    keys: tuple[str, ...]
    fields: "Fields"


# A text is the path of a property published as it is; a mapping is an object with more of the
# same object's properties, a tuple a list of them.
Source: TypeAlias = "str | Property | Entries | Fields | tuple[str | Property, ...]"
Fields: TypeAlias = "Mapping[str, Source]"
Reader: TypeAlias = Callable[[Any], JsonObject]  # of any kind


@dataclass(frozen=True, slots=True)
class Encoder:
    """Publishes objects by `names`, the fields of each dataclass that may leave."""

    names: Mapping[type, Fields]
    _encoders: dict[type, Callable[[Any], Any]] = field(
        default_factory=dict[type, Callable[[Any], Any]], init=False, repr=False, compare=False
    )

    def encode(self, value: Any) -> Any:
        """The value as JSON knows it.

        Raises:
            TypeError: it holds a dataclass that has no public names.
        """
        kind = cast(type[object], type(value))  # of any kind
        if kind in _PLAIN:
            return value
        if kind not in self._encoders:
            self._encoders[kind] = self._encoder_of(kind)
        return self._encoders[kind](value)

    def fields(self, value: Any, fields: Fields) -> JsonObject:
        """The named properties of an object, in the order of their names."""
        return self.reader(fields)(value)

    def reader(self, fields: Fields) -> Reader:
        """`fields` for many objects, of which there may be a million: paths are resolved once."""
        encode, encoders = self.encode, self._encoders
        at_paths: dict[str, Property] = {}
        of_whole: dict[str, Callable[[Any], Any]] = {}
        for name, source in fields.items():
            one = Property(source) if isinstance(source, str) else source
            if isinstance(one, Property) and one.path:
                at_paths[name] = one
            else:
                of_whole[name] = self._publisher(one)
        values = _values_at([one.path for one in at_paths.values()])
        converted = [
            (name, one.convert or _unchanged, one.absent)
            for name, one in at_paths.items()
            if one.convert or one.absent is not None
        ]
        whole = list(of_whole.items())
        optional = [
            name for name, one in fields.items() if isinstance(one, Property) and one.optional
        ]
        in_order = dict[str, Any].fromkeys(fields)

        def read(value: Any) -> JsonObject:
            published = in_order.copy()
            published.update(zip(at_paths, values(value), strict=False))
            for name, convert, absent in converted:
                one = published[name]
                published[name] = absent if one is None else convert(one)
            for name, kind in zip(published, map(type, published.values()), strict=True):
                if kind not in _PLAIN:  # few are not
                    published[name] = encoders.get(kind, encode)(published[name])
            for name, publish in whole:
                published[name] = publish(value)
            for name in optional:
                if published[name] is None:
                    del published[name]
            return published

        return read

    def _encoder_of(self, kind: type) -> Callable[[Any], Any]:
        """How values of a kind are encoded."""
        encode = self.encode
        if issubclass(kind, str | int | float):
            return _unchanged
        if kind in self.names:
            return self.reader(self.names[kind])
        if issubclass(kind, tuple | list):
            return lambda several: (
                list(several) if _PLAIN.issuperset(map(type, several)) else [*map(encode, several)]
            )
        if issubclass(kind, Mapping):
            return lambda entries: {name: encode(each) for name, each in entries.items()}
        raise TypeError(f"{kind.__name__} has no public names")

    def _publisher(self, source: Source) -> Callable[[Any], Any]:
        """How a source is published for an object."""
        match source:
            case str():
                return self._publisher(Property(source))
            case Property():
                return lambda value: self.encode(source.of(value))
            case tuple():
                each_published = [self._publisher(each) for each in source]
                return lambda value: [publish(value) for publish in each_published]
            case Entries():
                keys, entries, read = source.keys, source.source, self.reader(source.fields)
                return lambda value: [
                    _key(keys, key) | read(each) for key, each in entries.of(value).items()
                ]
            case _:
                return self.reader(source)


def _unchanged(value: Any) -> Any:
    return value


def _key(names: Sequence[str], key: str | tuple[str, ...]) -> JsonObject:
    return dict(zip(names, (key,) if isinstance(key, str) else key, strict=True))


def _values_at(paths: Sequence[str]) -> Callable[[Any], Sequence[Any]]:
    """What reads the values at all the paths, none of which is ""; None where a path meets None."""
    if len(paths) < 2:  # of one path, `attrgetter` makes no tuple
        return lambda value: [value_at(path, value) for path in paths]
    getter: Callable[[Any], tuple[Any, ...]] = attrgetter(*paths)

    def values(value: Any) -> Sequence[Any]:
        try:
            return getter(value)
        except AttributeError:
            # A None on the way is rare; looking for it at each step of each trial takes longer.
            return [value_at(path, value) for path in paths]

    return values


def value_at(path: str, value: Any) -> Any:
    """What a path leads to; None where it meets None."""
    for name in path.split(".") if path else ():
        if value is None:
            return None
        value = getattr(value, name)
    return value


def same(*names: str) -> dict[str, Source]:
    """Properties published under their own names."""
    return {name: name for name in names}


def within(path: str, fields: Fields) -> dict[str, Source]:
    """The fields of the object at a path as fields of its owner."""
    return {name: _deeper(path, source) for name, source in fields.items()}


def pick(fields: Fields, *names: str) -> dict[str, Source]:
    """Some of the fields, in the order of `names`."""
    return {name: fields[name] for name in names}


def percent(path: str) -> Property:
    """A share, or the value of an `Interval`, in per cent; of each if there are several."""
    return Property(path, _PERCENT)


def percent_range(path: str) -> Property:
    """Both ends of an `Interval` in per cent; of each if there are several."""
    return Property(path, _PERCENT_RANGE)


def ends(path: str) -> Property:
    """The low and the high end of a range on its own scale."""
    return Property(path, lambda interval: [interval.low, interval.high])


def length(path: str) -> Property:
    """How many there are."""
    return Property(path, len)


def letter(path: str) -> Property:
    """A slot as its letter; of each if there are several."""
    return Property(path, _LETTER)


def winner(path: str) -> Property:
    """An outcome as battles name it; of each if there are several."""
    return Property(path, _WINNER)


def optional(source: Property) -> Property:
    """The property, left out where it has no value."""
    return replace(source, optional=True)


def interval(name: str, path: str, unit: Callable[[str], Property] = percent) -> dict[str, Source]:
    """The columns of a value with its range: `name`, `name_low`, `name_high`."""
    return {name: unit(_joined(path, "value")), **bounds(name, path, unit)}


def bounds(name: str, path: str, unit: Callable[[str], Property] = percent) -> dict[str, Source]:
    """The columns of a range: `name_low`, `name_high`."""
    return {f"{name}_{end}": unit(_joined(path, end)) for end in ("low", "high")}


def _deeper(path: str, source: Source) -> Source:
    match source:
        case str():
            return _joined(path, source)
        case Property():
            return _property(path, source)
        case tuple():
            return tuple(_property(path, each) for each in source)
        case Entries():
            return replace(source, source=_property(path, source.source))
        case _:
            return within(path, source)


def _property(path: str, source: str | Property) -> Property:
    inner = Property(source) if isinstance(source, str) else source
    return replace(inner, path=_joined(path, inner.path))


def _joined(*paths: str) -> str:
    return ".".join(path for path in paths if path)


def _each(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`convert` for one value, or for every one in a tuple or a mapping; None stays None."""

    def converted(value: Any) -> Any:
        if type(value) in _SINGLE:
            return None if value is None else convert(value)
        if isinstance(value, tuple):
            return [converted(each) for each in cast(tuple[Any, ...], value)]  # of any kind
        if isinstance(value, Mapping):
            entries = cast(Mapping[Any, Any], value)  # of any kind
            return {name: converted(each) for name, each in entries.items()}
        return convert(value)

    return converted


_PERCENT = _each(lambda share: 100 * (share.value if isinstance(share, Interval) else share))
_PERCENT_RANGE = _each(lambda share: [100 * share.low, 100 * share.high])
_LETTER = _each(LETTERS.__getitem__)
_WINNER = _each(WINNERS.__getitem__)
