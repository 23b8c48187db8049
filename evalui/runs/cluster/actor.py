"""What runs inside an actor of a cluster, and what it says: plain values that travel.

Errors do not travel as they are, since their sentences hold what cannot be sent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalui.errors import EvaluiError, ModelError, Refused, Unreachable
from evalui.models import Model, ModelEntry, open_model
from evalui.models.base import Noted
from evalui.runs.database.codec import decode_sentence, encode_sentence
from evalui.types import Ability, Request, Response

_KINDS: Mapping[str, type[EvaluiError]] = {
    kind.__name__: kind for kind in (ModelError, Refused, Unreachable)
}


@dataclass(frozen=True, slots=True)
class Failure:
    """An error, told at the other end: its kind by name, its encoded sentence, and when to ask
    again.
    """

    kind: str
    sentence: str
    retry_after_s: float = 0.0

    def error(self) -> EvaluiError:
        """The error as it was raised over there."""
        error = _KINDS.get(self.kind, ModelError)(decode_sentence(self.sentence))
        if isinstance(error, Unreachable):
            error.retry_after_s = self.retry_after_s
        return error


@dataclass(frozen=True, slots=True)
class About:
    """What an actor says of the model it holds. `notes` are encoded sentences."""

    fingerprint: str
    abilities: frozenset[Ability]
    notes: tuple[str, ...] = ()
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """What became of a portion: (place in the portion, response), and why it broke off."""

    responses: tuple[tuple[int, Response], ...]
    failure: Failure | None = None


class Holder:
    """What runs inside an actor: it holds the model."""

    def __init__(self, entry: ModelEntry) -> None:
        self._model: Model | None = None
        self._failure: Failure | None = None
        try:
            self._model = open_model(entry)
        except EvaluiError as error:
            self._failure = _told(error)

    def about(self) -> About:
        """Which model it holds, or why it holds none."""
        if self._model is None:
            return About("", frozenset(), failure=self._failure)
        notes = self._model.notes if isinstance(self._model, Noted) else ()
        return About(
            self._model.fingerprint, self._model.abilities, tuple(map(encode_sentence, notes))
        )

    def answer(self, requests: Sequence[Request]) -> Answered:
        """The responses to a portion of requests."""
        assert self._model is not None, "only an actor that holds a model is given work"
        responses: list[tuple[int, Response]] = []
        try:
            responses.extend(self._model.answer(requests))
        except EvaluiError as error:
            return Answered(tuple(responses), _told(error))
        return Answered(tuple(responses))


def _told(error: EvaluiError) -> Failure:
    return Failure(
        type(error).__name__,
        encode_sentence(error.sentence),
        getattr(error, "retry_after_s", 0.0),
    )
