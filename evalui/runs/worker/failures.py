"""What may be wrong with the answers of a cell, and how a user is told."""

import logging
import traceback
from collections import Counter
from dataclasses import dataclass, field
from itertools import islice

from evalui.errors import EvaluiError, ModelError, joined_reasons
from evalui.messages import sentence
from evalui.models.base import is_out_of_memory
from evalui.replies import begins_with_mark
from evalui.scoring.cautions import MIN_LABEL_MASS
from evalui.types import LabelProbs, Request, Sample

MIN_REQUESTS = 20  # of so many requests, a usable model rejects the smaller part
_MAX_LISTED = 10  # questions that an error lists; the log has them all

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class RejectedRequests:
    """The requests that the model rejected permanently, and for how many it gave each reason."""

    requested: int = 0
    rejected: int = 0
    reasons: Counter[str] = field(default_factory=Counter[str])
    requests: set[Request] = field(default_factory=set[Request])  # would be rejected again

    def record(self, reason: str, request: Request) -> None:
        """Record a request that was rejected just now, and why."""
        self.requested += 1
        self.rejected += 1
        self.requests.add(request)
        self.reasons[reason] += 1

    def record_cut(self, request: Request) -> None:
        """Record a request, counted already, whose reply was cut off within thoughts."""
        self.rejected += 1
        self.requests.add(request)
        self.reasons[sentence("error.endpoint-only-thoughts")] += 1

    def should_abort(self, in_flight: int = 0) -> bool:
        """Whether to go on would only cost more, even if all that is in flight is answered."""
        requested = self.requested + in_flight
        return self.requested >= MIN_REQUESTS and 2 * self.rejected > requested

    def check(self, model: str) -> None:
        """Raise `ModelError` with the count and all reasons, if anything was refused."""
        if self.rejected:
            raise ModelError(
                "refused",
                model=model,
                n=self.rejected,
                total=self.requested,
                why=joined_reasons(self.reasons),
            )


@dataclass(slots=True)
class UngradedTrials:
    """The trials whose responses evalui failed to read, and why: they are in no figure."""

    reasons: Counter[str] = field(default_factory=Counter[str])
    questions: dict[str, None] = field(default_factory=dict[str, None])  # ids, each once
    first: Exception | None = None

    def record(self, sample: Sample, error: Exception) -> None:
        """Record a trial of a question that could not be graded just now, and log the traceback."""
        _log.error("A reply to %s could not be graded", sample.id, exc_info=error)
        self.reasons[_reported(error)] += 1
        self.questions[sample.id] = None
        self.first = self.first or error

    def check(self, model: str, total: int) -> None:
        """Raise an error with the count, the questions and all reasons, if there are any."""
        if self.first:
            raise EvaluiError(
                "ungraded",
                model=model,
                n=self.reasons.total(),
                total=total,
                questions=", ".join(islice(self.questions, _MAX_LISTED)),
                n_questions=len(self.questions),
                more=", …" if len(self.questions) > _MAX_LISTED else "",
                why=joined_reasons(self.reasons),
            ) from self.first


@dataclass(slots=True)
class LabelMassCheck:
    """What the labels of the first answers hold of the probability, and what stands first instead.

    A model whose labels hold next to nothing was not answering with one, so no answer is kept
    before that is known. `only_thoughts`: that stops a cell only where a thought stands first.
    """

    only_thoughts: bool = False
    answers: int = 0
    total: float = 0.0
    top_tokens: Counter[str] = field(default_factory=Counter[str])
    is_open: bool = True

    @property
    def holds_back(self) -> bool:
        """Whether answers wait until it is known what they are worth."""
        return self.is_open and self.answers > 0

    def add(self, response: LabelProbs, model: str) -> None:
        """Count an answer; raises as `close` when there are enough of them."""
        if not self.is_open:
            return
        self.answers += 1
        self.total += response.mass
        self.top_tokens[response.top_token] += 1
        if self.answers >= MIN_REQUESTS:
            self.close(model)

    def close(self, model: str) -> None:
        """Decide by the answers so far; raises `ModelError` if the labels hold too little."""
        if self.is_open and self.answers and self.total / self.answers < MIN_LABEL_MASS:
            ((token, _),) = self.top_tokens.most_common(1)
            if begins_with_mark(token) or not self.only_thoughts:
                value = f"{100 * self.total / self.answers:.3g}"
                raise ModelError("labels-hold-little", model=model, value=value, token=repr(token))
        self.is_open = False


def error_text(error: Exception) -> str:
    """What a user is told of an error, whatever it is."""
    if isinstance(error, EvaluiError):
        return error.sentence
    if is_out_of_memory(error):
        return sentence("error.too-little-memory", reason=str(error).partition("\n")[0])
    return sentence("error.unexpected", reason=_reported(error))


def _reported(error: Exception) -> str:
    """An error as a part of a sentence."""
    if isinstance(error, EvaluiError):
        return error.sentence.rstrip(".")
    return traceback.format_exception_only(error)[-1].strip()
