"""Everything a user can act on. Whatever is not in this tree is a bug and keeps its traceback.

EvaluiError
├── DataError          an uploaded file cannot be used, as it is or at all
│   └── FaultyRows     rows are wrong and nobody said to leave them out
├── UnknownName        a name is not registered; the message lists the known ones
├── ModelError         a model cannot be loaded or cannot answer
│   ├── MissingAbility a mode asks for what the model cannot give
│   ├── Unreachable    nobody answers now; the same request may succeed later
│   └── RequestRejected  single requests were turned down for good; the others are answered
├── SpecError          a run specification contradicts itself or its data
│   └── RequestKeyUsed two different requests have one key
├── StoreError         the store cannot be read or written (a full disk, say)
│   ├── UnknownRun     no such run, or it belongs to somebody else
│   └── RunLeaseLost   the run was given to another worker, or deleted
├── NotAllowed         who requests it may not do it
├── AccountError       people, tokens and passwords cannot be as requested
│   └── TooManyTries   wrong passwords, one after another
└── Cancelled          the run was stopped by its owner
"""

import re
from collections.abc import Mapping

from evalui.messages import Sentence, Value, sentence

_KEY = re.compile(r"[a-z0-9_.-]+")
_MAX_REASONS = 4  # distinct ones that are told, the most frequent first


class EvaluiError(Exception):
    """A full sentence that states where, what, and what was expected.

    `message` is a key under `error.` of the catalogue, whose fields `values` fill, or a sentence
    made elsewhere, by another package for instance, which is passed on as it is.

    Raises:
        KeyError: the catalogue lacks the key, or a field has no value.
    """

    def __init__(self, message: str, /, **values: Value) -> None:
        if isinstance(message, Sentence):
            self.sentence = message
        elif _KEY.fullmatch(message):
            self.sentence = sentence(f"error.{message}", **values)
        else:  # no key has blanks or capitals
            self.sentence = Sentence(message)
        super().__init__(self.sentence)


class DataError(EvaluiError):
    """An uploaded file cannot be used."""


class FaultyRows(DataError):
    """Rows are wrong and nobody said to leave them out."""


class UnknownName(EvaluiError):
    """A name is not registered."""


class ModelError(EvaluiError):
    """A model cannot be loaded or cannot answer."""


class MissingAbility(ModelError):
    """A mode asks for what the model cannot give."""


class Unreachable(ModelError):
    """Nobody answers now; the same request may succeed after `retry_after_s` seconds."""

    retry_after_s: float = 0.0


class RequestRejected(ModelError):
    """Single requests were turned down for good; all others are answered."""


class SpecError(EvaluiError):
    """A run specification contradicts itself or its data."""


class RequestKeyUsed(SpecError):
    """Two different requests have one key."""


class StoreError(EvaluiError):
    """The store cannot be read or written."""


class UnknownRun(StoreError):
    """No such run, or it belongs to somebody else."""


class RunLeaseLost(StoreError):
    """The run was given to another worker, or deleted."""


class NotAllowed(EvaluiError):
    """Who requests it may not do it."""


class AccountError(EvaluiError):
    """People, tokens and passwords cannot be as requested."""


class TooManyTries(AccountError):
    """Too many wrong passwords, one after another; the same request may succeed later."""


class Cancelled(EvaluiError):
    """The run was stopped by its owner."""


def joined_reasons(reasons: Mapping[str, int]) -> str:
    """Why requests failed, in one part of a sentence: each distinct reason with its count, the most
    frequent first; of many only the first few.
    """
    ranked = sorted(reasons.items(), key=lambda each: -each[1])
    if len(ranked) == 1:
        return ranked[0][0]
    parts = [sentence("error.reason-times", n=n, reason=why) for why, n in ranked[:_MAX_REASONS]]
    if rest := sum(n for _, n in ranked[_MAX_REASONS:]):
        parts.append(sentence("error.reason-others", n=rest))
    joined = parts[0]
    for each in parts[1:]:
        joined = sentence("error.reason-and", left=joined, right=each)
    return joined
