"""Several logs of one model that hold the same questions, each with the options in another order.

They become one part. Questions are matched by their texts, never by their ids or places alone: the
text of the question and the texts of its options, in whatever order.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from evalui.datasets.model import shorten
from evalui.harnesses.base import Evidence, FlawedAnswer, LoggedAnswer, LogPart
from evalui.harnesses.options import before_options

# Only there a prompt has an order of options.
_SHOWN: tuple[Evidence, ...] = ("letters", "reply", "decision")
_ONE_ORDER = "one-order"  # what a single log lacks


def join_orders(parts: Sequence[LogPart]) -> tuple[LogPart, ...]:
    """The parts, those that are orders of the same questions made one.

    Logs of one dataset join if any question is in both and one of them shows its options in
    another order; logs under other names only if every question of the later one is in the first.
    Harness, model, kind of evidence and number of worked examples must be the same.
    """
    alike: dict[tuple[object, ...], list[LogPart]] = {}
    for part in parts:
        if part.logs > 1:
            continue  # it has been joined
        key = (part.harness, part.model, part.evidence, part.shots)
        alike.setdefault(key, []).append(part)
    joined: dict[int, LogPart] = {}  # by the place of their first part
    absorbed: set[int] = set()
    places = {id(part): place for place, part in enumerate(parts)}
    for group in alike.values():
        if len(group) < 2 or group[0].evidence not in _SHOWN:
            continue
        for members in _members(group):
            first, *others = (places[id(member.part)] for member in members)
            joined[first] = _joined(members)
            absorbed.update(others)
    return tuple(
        joined.get(place, part) for place, part in enumerate(parts) if place not in absorbed
    )


def name_in_log(name: str, log: int) -> str:
    """What a figure is called that is of the second log, or a later one, of a part."""
    return name if log == 1 else f"{name} ({log})"


@dataclass(frozen=True, slots=True)
class _Shown:
    """The questions of a part: by their texts, the ids they have, each with its order."""

    part: LogPart
    questions: Mapping[bytes, dict[str, bytes]] = field(
        default_factory=dict[bytes, dict[str, bytes]]
    )

    @classmethod
    def of(cls, part: LogPart) -> "_Shown":
        questions: dict[bytes, dict[str, bytes]] = {}
        for answer in part.read():
            if isinstance(answer, LoggedAnswer) and answer.options:
                shown = questions.setdefault(_text_key(answer), {})
                shown.setdefault(answer.id, _digest(answer.options))
        return cls(part, questions)

    def is_order_of(self, first: "_Shown") -> bool:
        common = self.questions.keys() & first.questions.keys()
        if not common or (
            self.part.dataset != first.part.dataset and len(common) < len(self.questions)
        ):
            return False
        return any(
            set(self.questions[key].values()) != set(first.questions[key].values())
            for key in common
        )

    def id_of(self, answer: LoggedAnswer) -> str | None:
        """The id of the same question here; None if there is none, or if it could be several."""
        ids = self.questions.get(_text_key(answer), {})
        if answer.id in ids:
            return answer.id
        return next(iter(ids)) if len(ids) == 1 else None


def _members(group: Sequence[LogPart]) -> list[list[_Shown]]:
    """The parts that are orders of the same questions, where there are several."""
    sets: list[list[_Shown]] = []
    for part in group:
        shown = _Shown.of(part)
        own = next((members for members in sets if shown.is_order_of(members[0])), None)
        if own is None:
            sets.append([shown])
        else:
            own.append(_Shown(part))  # its questions are matched with those of the first
    return [members for members in sets if len(members) > 1]


def _joined(members: Sequence[_Shown]) -> LogPart:
    parts = [member.part for member in members]
    first = parts[0]
    return replace(
        first,
        files=tuple(dict.fromkeys(name for part in parts for name in part.files)),
        read=lambda: _answers(members[0], parts),
        figures=tuple(
            replace(figure, name=name_in_log(figure.name, log))
            for log, part in enumerate(parts, start=1)
            for figure in part.figures
        ),
        readings={
            name_in_log(name, log): reading
            for log, part in enumerate(parts, start=1)
            for name, reading in part.readings.items()
        },
        repeats=True,
        blocks=None,
        logs=len(parts),
        missing=tuple(each for each in first.missing if each != _ONE_ORDER),
        left_out=tuple(each for part in parts for each in part.left_out),
    )


def _answers(first: _Shown, parts: Sequence[LogPart]) -> Iterator[LoggedAnswer | FlawedAnswer]:
    yield from first.part.read()
    for log, part in enumerate(parts[1:], start=2):
        for answer in part.read():
            if isinstance(answer, FlawedAnswer) or not answer.options:
                yield answer if isinstance(answer, FlawedAnswer) else replace(answer, log=log)
            elif (id_ := first.id_of(answer)) is not None:
                yield replace(answer, id=id_, log=log)
            else:
                place = f"{part.files[0]}, {answer.id} ({shorten(answer.question)})"
                yield FlawedAnswer(place, "unmatched")


def _text_key(answer: LoggedAnswer) -> bytes:
    return _digest((before_options(answer.question).strip(), *sorted(answer.options)))


def _digest(texts: Sequence[str]) -> bytes:
    """Sixteen bytes for texts: logs may hold a million questions."""
    joined = "\x1f".join(texts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(joined, digest_size=16).digest()
