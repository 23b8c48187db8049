"""Values as JSON and back, by the types that a function declares: of what comes nothing is run.

Whoever reads names the type, and what does not fit it is refused. A long tuple in a dataclass
travels in portions.
"""

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

import orjson

from evalui.messages import Sentence

Decoder = Callable[[Any], Any]
Place = tuple[str, ...]  # the fields that lead from a value to a tuple in it

_LONG = 1000  # elements of a tuple that stays in its place
_PORTION_BYTES = 2**20
_TEXTS = frozenset((str,))
_OF_JSON = (NoneType, str, bool, int, float, dict, list)


class Misfit(ValueError):
    """What came does not have the type that was declared; others raise its parent."""


def encode(value: object) -> bytes:
    """A value as JSON without a line break."""
    try:
        return orjson.dumps(value, default=_plain, option=orjson.OPT_PASSTHROUGH_SUBCLASS)
    except orjson.JSONEncodeError:  # halves of characters, very large numbers, numbers as keys
        return json.dumps(_plain_within(value)).encode()


def decode(content: bytes, hint: Any) -> Any:
    """The value of a type that `encode` wrote; raises `Misfit`."""
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError:
        try:
            value = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise Misfit("no JSON") from error
    return decoder_of(hint)(value)


def portions(value: Any) -> Generator[tuple[Place, bytes], None, Any]:
    """The elements of each long tuple in a dataclass, as JSON of some of them; then the rest of the
    value, which lacks them.
    """
    if not is_dataclass(value):
        return value
    lacking: dict[str, Any] = {}
    for each in fields(value):
        held = getattr(value, each.name)
        if _is_long(held):
            for portion in _in_portions(map(encode, held)):
                yield (each.name,), portion
            lacking[each.name] = ()
        elif is_dataclass(held):
            rest: Any = yield from _under(each.name, portions(held))
            if rest is not held:
                lacking[each.name] = rest
    return replace(cast("Any", value), **lacking) if lacking else value


def with_portions(value: Any, parts: Mapping[Place, Sequence[Any]]) -> Any:
    """The value with the elements of its long tuples."""
    for place, elements in parts.items():
        value = _with(value, place, tuple(elements))
    return value


def element_at(hint: Any, place: Place) -> Any:
    """The type of the elements of a long tuple in a value of the type `hint`; raises `Misfit`."""
    for name in place:
        kinds = [each for each in (hint, *get_args(hint)) if is_dataclass(each)]
        hint = get_type_hints(kinds[0]).get(name) if kinds else None
    if get_origin(hint) is not tuple or get_args(hint)[1:] != (...,):
        raise Misfit(f"no tuple at {place}")
    return get_args(hint)[0]


@cache
def decoder_of(hint: Any) -> Decoder:
    """What makes a value of a type of what JSON holds, and raises `Misfit` where it does not fit.

    Raises:
        TypeError: no value of this type can be sent.
    """
    origin: Any = get_origin(hint) or hint
    arguments = get_args(hint)
    if origin is Any:
        return _anything
    if origin in _SCALARS:
        return _SCALARS[origin]
    if origin is Literal:
        return _literal(arguments)
    if origin in (Union, UnionType):
        return _union(tuple(map(decoder_of, arguments)))
    if origin in (dict, Mapping):
        key: Decoder = int if arguments[0] is int else decoder_of(arguments[0])
        return _mapping(key, decoder_of(arguments[1]))
    if is_dataclass(origin):
        return _dataclass(cast("type", origin))
    if hasattr(origin, "model_validate"):  # of pydantic, which not every process imports
        return origin.model_validate
    if origin in (list, tuple):
        is_even = arguments[1:] == (...,) or origin in (list,)
        kinds = tuple(map(decoder_of, arguments[:1] if is_even else arguments))
        return _sequence(origin, kinds[0]) if is_even else _tuple(kinds)
    raise TypeError(f"no value of {hint} can be sent")


def _plain(value: Any) -> Any:
    """What JSON has for a value that is not of one of its types."""
    if isinstance(value, Sentence):
        return {"sentence": str(value), "key": value.key, "values": dict(value.values)}
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Any]", value))
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    raise TypeError(f"a {type(value).__name__} cannot be sent")


def _plain_within(value: Any) -> Any:
    if is_dataclass(value):
        value = {each.name: getattr(value, each.name) for each in fields(value)}
    elif type(value) is tuple:
        value = list(cast("tuple[Any, ...]", value))
    elif type(value) not in _OF_JSON:
        value = _plain(value)
    if type(value) is dict:
        pairs = cast("dict[str, Any]", value).items()
        return {name: _plain_within(each) for name, each in pairs}
    if type(value) is list:
        return list(map(_plain_within, cast("list[Any]", value)))
    return value


def _is_long(value: Any) -> bool:
    return type(value) is tuple and len(cast("tuple[Any, ...]", value)) > _LONG


def _in_portions(elements: Iterator[bytes]) -> Iterator[bytes]:
    gathered: list[bytes] = []
    size = 0
    for element in elements:
        gathered.append(element)
        size += len(element)
        if size > _PORTION_BYTES:
            yield b"[%s]" % b",".join(gathered)
            gathered, size = [], 0
    if gathered:
        yield b"[%s]" % b",".join(gathered)


def _under(
    name: str, parts: Generator[tuple[Place, bytes], None, Any]
) -> Generator[tuple[Place, bytes], None, Any]:
    """The same portions, in a field of a value."""
    while True:
        try:
            place, portion = next(parts)
        except StopIteration as end:
            return end.value
        yield (name, *place), portion


def _with(value: Any, place: Place, elements: tuple[Any, ...]) -> Any:
    name, *within = place
    held = _with(getattr(value, name), tuple(within), elements) if within else elements
    return replace(value, **{name: held})


def _anything(value: Any) -> Any:
    return value


def _text(value: Any) -> str:
    if type(value) is str:
        return value
    if type(value) is not dict:
        raise Misfit("no text")
    written = cast("dict[str, Any]", value)
    if written.keys() != {"sentence", "key", "values"}:
        raise Misfit("no text that can be translated")
    values = decoder_of(dict[str, str | bool | int | float])(written["values"])
    return Sentence(_text(written["sentence"]), _text(written["key"]), values)


def _scalar(*kinds: type) -> Decoder:
    def read(value: Any) -> Any:
        if type(value) not in kinds:
            raise Misfit(f"no {kinds[-1].__name__}")
        return value

    return read


def _literal(known: tuple[Any, ...]) -> Decoder:
    kinds = {(type(cast("object", each)), each) for each in known}

    def read(value: Any) -> Any:
        if type(value) not in (str, int, bool) or (type(value), value) not in kinds:
            raise Misfit("none of the known values")
        return value

    return read


def _union(kinds: tuple[Decoder, ...]) -> Decoder:
    def read(value: Any) -> Any:
        for kind in kinds:
            try:
                return kind(value)
            except ValueError:  # as `Misfit` and pydantic's are
                continue
        raise Misfit("none of the declared types")

    return read


def _sequence(collection: Callable[[Iterable[Any]], Any], element: Decoder) -> Decoder:
    def read(value: Any) -> Any:
        if type(value) is not list:
            raise Misfit("no list")
        elements = cast("list[Any]", value)
        if element is _text and _TEXTS.issuperset(map(type, elements)):
            return collection(elements)
        return collection(list(map(element, elements)))

    return read


def _tuple(kinds: tuple[Decoder, ...]) -> Decoder:
    def read(value: Any) -> tuple[Any, ...]:
        if type(value) is not list or len(cast("list[Any]", value)) != len(kinds):
            raise Misfit("not so many values")
        return tuple(kind(each) for kind, each in zip(kinds, cast("list[Any]", value), strict=True))

    return read


def _mapping(key: Decoder, element: Decoder) -> Decoder:
    # Rows that follow one another have the same file and subject: they share one text.
    last: dict[str, Any] = {}

    def read(value: Any) -> dict[Any, Any]:
        nonlocal last
        if type(value) is not dict:
            raise Misfit("no object")
        pairs = cast("dict[str, Any]", value)
        if (
            key is not _text
            or element is not _text
            or not _TEXTS.issuperset(map(type, pairs.values()))
        ):
            return {key(name): element(each) for name, each in pairs.items()}
        for name, text in pairs.items():
            if last.get(name) == text:
                pairs[name] = last[name]
        last = pairs
        return pairs

    return read


def _dataclass(kind: type) -> Decoder:
    names = frozenset(each.name for each in fields(kind))
    within: list[tuple[str, Decoder]] = []  # made at first use: a type may hold itself

    def read(value: Any) -> Any:
        if not within:
            hints = get_type_hints(kind)
            # At once, for another thread may be here.
            within[:] = [(name, decoder_of(hints[name])) for name in names]
        if type(value) is not dict:
            raise Misfit(f"no {kind.__name__}")
        held = cast("dict[str, Any]", value)
        if held.keys() != names:
            raise Misfit(f"no {kind.__name__}")
        for name, element in within:
            if element is not _text or type(held[name]) is not str:
                held[name] = element(held[name])
        return kind(**held)

    return read


_SCALARS: Mapping[object, Decoder] = {
    str: _text,
    bool: _scalar(bool),
    int: _scalar(int),
    float: _scalar(int, float),
    NoneType: _scalar(NoneType),
}
