"""Requests that a model turned down for good: how many, why, and when to stop asking."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from evalui.errors import ModelError, RequestRejected
from evalui.types import Request

MIN_REQUESTS = 20  # of so many requests, a model that can be used refuses the smaller part


@dataclass(slots=True)
class RejectedRequests:
    """Of the requests the model was asked, those it turned down for good, and its first reason."""

    requested: int = 0
    rejected: int = 0
    reason: str = ""
    requests: set[Request] = field(default_factory=set[Request])  # would be turned down again

    def record(self, error: RequestRejected, requests: Sequence[Request]) -> None:
        """Keep what was refused just now."""
        self.requested += len(requests)
        self.rejected += len(requests)
        self.requests.update(requests)
        self.reason = self.reason or _reason(error)

    @property
    def should_abort(self) -> bool:
        """Whether to go on would only cost more."""
        return self.requested >= MIN_REQUESTS and 2 * self.rejected > self.requested

    def check(self, model: str) -> None:
        """Raise `ModelError` with the count and the first reason, if anything was refused."""
        if self.rejected:
            raise ModelError(
                "refused",
                model=model,
                n=self.rejected,
                total=self.requested,
                why=self.reason,
            )


def _reason(error: RequestRejected) -> str:
    """Why, without the model's own count, which is of one call."""
    reason = error.sentence.values.get("reason")
    return reason if isinstance(reason, str) else error.sentence.rstrip(".")
