"""Requests that a model turned down for good: how many, why, and when to stop asking."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from evalui.errors import ModelError, Refused
from evalui.messages import Sentence
from evalui.types import Request

TRIED = 20  # of so many requests, a model that can be used refuses the smaller part


@dataclass(slots=True)
class Refusals:
    """Of the requests the model was asked, those it turned down for good, and its first reason."""

    asked: int = 0
    refused: int = 0
    why: str = ""
    requests: set[Request] = field(default_factory=set[Request])  # would be turned down again

    def note(self, error: Refused, requests: Sequence[Request]) -> None:
        """Keep what was refused just now."""
        self.asked += len(requests)
        self.refused += len(requests)
        self.requests.update(requests)
        self.why = self.why or _reason(error)

    @property
    def hopeless(self) -> bool:
        """Whether to go on would only cost more."""
        return self.asked >= TRIED and 2 * self.refused > self.asked

    def check(self, model: str) -> None:
        """Raise `ModelError` with the count and the first reason, if anything was refused."""
        if self.refused:
            raise ModelError(
                "refused",
                model=model,
                n=self.refused,
                total=self.asked,
                why=self.why,
            )


def _reason(error: Refused) -> str:
    """Why, without the model's own count, which is of one call."""
    told = error.sentence
    reason = told.values.get("reason") if isinstance(told, Sentence) else None
    return reason if isinstance(reason, str) else told.rstrip(".")
