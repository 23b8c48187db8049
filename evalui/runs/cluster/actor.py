"""What runs inside an actor of a Ray cluster, what it sends, and the connection to the cluster.

Plain values travel. Errors do not travel as they are, since their classes take a key, no sentence.
"""

import os
import signal
import socket
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from evalui.errors import EvaluiError, ModelError, RequestRejected, Unreachable
from evalui.models import Model, ModelEntry, open_model
from evalui.models.base import load_notes
from evalui.store.codec import decode_sentence, encode_sentence
from evalui.types import Ability, Request, Response

_KINDS: Mapping[str, type[EvaluiError]] = {
    kind.__name__: kind for kind in (ModelError, RequestRejected, Unreachable)
}
_CONNECT_TIMEOUT_S = 5.0
_RETRIES_VARIABLE = "RAY_NUM_REDIS_GET_RETRIES"


@dataclass(frozen=True, slots=True)
class RemoteFailure:
    """An error at the other end: its kind by name, its encoded sentence, and when to try again."""

    kind: str
    sentence: str
    retry_after_s: float = 0.0

    def error(self) -> EvaluiError:
        """The error as it was raised there."""
        error = _KINDS.get(self.kind, ModelError)(decode_sentence(self.sentence))
        if isinstance(error, Unreachable):
            error.retry_after_s = self.retry_after_s
        return error


@dataclass(frozen=True, slots=True)
class ActorInfo:
    """The model that an actor holds. `notes` are encoded sentences."""

    fingerprint: str
    abilities: frozenset[Ability]
    notes: tuple[str, ...] = ()
    failure: RemoteFailure | None = None


@dataclass(frozen=True, slots=True)
class ShardResult:
    """What became of a shard: (place in the shard, response), and why it broke off."""

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
        """The responses to a shard of requests."""
        assert self._model is not None, "only an actor that holds a model is given work"
        responses: list[tuple[int, Response]] = []
        try:
            responses.extend(self._model.answer(requests))
        except EvaluiError as error:
            return ShardResult(tuple(responses), _remote_failure(error))
        return ShardResult(tuple(responses))


def _remote_failure(error: EvaluiError) -> RemoteFailure:
    return RemoteFailure(
        type(error).__name__, encode_sentence(error.sentence), getattr(error, "retry_after_s", 0.0)
    )


def connect(address: str) -> Any:
    """The ray module, connected to the cluster at `address`; "" starts one on this machine.

    Raises:
        ModelError: ray is not installed, or the address is none.
        Unreachable: nothing answers at the address, or no longer.
    """
    ray = _import_ray()
    if ray.is_initialized():
        _disconnect_if_gone(ray)
        return ray
    if address:
        _check_reachable(address)
    before = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(
            # Left out, Ray would join whatever cluster a world-writable folder names.
            address=address or "local",
            **({} if address else {"include_dashboard": False}),
            log_to_driver=False,
            logging_level="error",
        )
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise _unreachable_error(address or "127.0.0.1", error) from error
    finally:
        # Ray puts its own in place, which ends the process before the run is given back.
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)
    return ray


def _import_ray() -> Any:
    # Read on import only. By itself it tries a head that turns it away, because of its token, for
    # several minutes, and cannot be stopped.
    tries = os.environ.get(_RETRIES_VARIABLE)
    os.environ[_RETRIES_VARIABLE] = tries or "1"
    try:
        import ray
    except ImportError as error:
        raise ModelError("no-ray") from error
    finally:
        if not tries:
            del os.environ[_RETRIES_VARIABLE]  # actors read it, too
    return cast(Any, ray)  # typed only in part


def _disconnect_if_gone(ray: Any) -> None:
    """Ray would wait for a head that is gone, and end this process after a minute."""
    try:
        _check_reachable(ray.get_runtime_context().gcs_address)
    except Unreachable:
        ray.shutdown()
        raise


def _check_reachable(address: str) -> None:
    """Ray itself would try for ten minutes, and could not be stopped."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise ModelError("ray-address", address=address)
    try:
        socket.create_connection((host, int(port)), timeout=_CONNECT_TIMEOUT_S).close()
    except (OSError, OverflowError) as error:
        raise _unreachable_error(address, error) from error


def _unreachable_error(address: str, error: Exception) -> Unreachable:
    return Unreachable(
        "no-cluster", address=address, reason=str(error).partition("\n")[0].rstrip(".")
    )
