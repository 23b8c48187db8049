"""What runs inside an actor of a cluster, and what it says: plain values that travel.

Errors do not travel as they are, since their sentences hold what cannot be sent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalui.errors import EvaluiError, ModelError, RequestRejected, Unreachable
from evalui.models import Model, ModelEntry, open_model
from evalui.models.base import load_notes
from evalui.runs.database.codec import decode_sentence, encode_sentence
from evalui.types import Ability, Request, Response

_KINDS: Mapping[str, type[EvaluiError]] = {
    kind.__name__: kind for kind in (ModelError, RequestRejected, Unreachable)
}


@dataclass(frozen=True, slots=True)
class RemoteFailure:
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
class ActorInfo:
    """What an actor says of the model it holds. `notes` are encoded sentences."""

    fingerprint: str
    abilities: frozenset[Ability]
    notes: tuple[str, ...] = ()
    failure: RemoteFailure | None = None


@dataclass(frozen=True, slots=True)
class ShardResult:
    """What became of a portion: (place in the portion, response), and why it broke off."""

    responses: tuple[tuple[int, Response], ...]
    failure: RemoteFailure | None = None


class ModelActor:
    """What runs inside an actor: it holds the model."""

    def __init__(self, entry: ModelEntry) -> None:
        self._model: Model | None = None
        self._failure: RemoteFailure | None = None
        try:
            self._model = open_model(entry)
        except EvaluiError as error:
            self._failure = _remote_failure(error)

    def about(self) -> ActorInfo:
        """Which model it holds, or why it holds none."""
        if self._model is None:
            return ActorInfo("", frozenset(), failure=self._failure)
        notes = load_notes(self._model)
        return ActorInfo(
            self._model.fingerprint, self._model.abilities, tuple(map(encode_sentence, notes))
        )

    def answer(self, requests: Sequence[Request]) -> ShardResult:
        """The responses to a portion of requests."""
        assert self._model is not None, "only an actor that holds a model is given work"
        responses: list[tuple[int, Response]] = []
        try:
            responses.extend(self._model.answer(requests))
        except EvaluiError as error:
            return ShardResult(tuple(responses), _remote_failure(error))
        return ShardResult(tuple(responses))


def _remote_failure(error: EvaluiError) -> RemoteFailure:
    return RemoteFailure(
        type(error).__name__,
        encode_sentence(error.sentence),
        getattr(error, "retry_after_s", 0.0),
    )
