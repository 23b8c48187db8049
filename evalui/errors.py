"""Everything a user can act on. Whatever is not in this tree is a bug and keeps its traceback.

EvaluiError
├── DataError          an uploaded file cannot be used, as it is or at all
│   └── FaultyRows     rows are wrong and nobody said to leave them out
├── UnknownName        a name is not registered; the message lists the known ones
├── ModelError         a model cannot be loaded or cannot answer
│   ├── MissingAbility a mode asks for what the model cannot give
│   ├── Unreachable    nobody answers now; the same request may succeed later
│   └── Refused        single requests were turned down for good; the others are answered
├── SpecError          a run specification contradicts itself or its data
├── StoreError         the store cannot be read or written (a full disk, say)
│   ├── UnknownRun     no such run, or it belongs to somebody else
│   └── LostRun        the run was given to another worker, or deleted
└── Cancelled          the run was stopped by its owner
"""

from collections.abc import Mapping
from types import MappingProxyType

Value = str | int | float

_NOTHING: Mapping[str, Value] = MappingProxyType({})


class Sentence(str):
    """An English sentence that remembers how to say it in another language.

    `key` is that of its translation ("" if it has none), `values` fill the {fields} of the
    translation; a value may be a sentence itself. To whoever asks for less it is a plain text.
    """

    key: str
    values: Mapping[str, Value]

    def __new__(cls, text: str, key: str = "", values: Mapping[str, Value] = _NOTHING):
        """The finished English text."""
        said = super().__new__(cls, text)
        said.key = key
        said.values = values
        return said


def sentence(template: str, rule: str, /, **values: Value) -> Sentence:
    """The English template filled in; `error.<rule>` is the key of its translations."""
    return Sentence(template.format_map(values), f"error.{rule}", values)


class EvaluiError(Exception):
    """A full sentence that says where, what, and what was expected.

    With a `rule` the text is a template, see `sentence`; without, it is taken as it is.
    """

    def __init__(self, text: str, rule: str = "", /, **values: Value) -> None:
        self.sentence = sentence(text, rule, **values) if rule else text
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


class Refused(ModelError):
    """Single requests were turned down for good; all others are answered."""


class SpecError(EvaluiError):
    """A run specification contradicts itself or its data."""


class StoreError(EvaluiError):
    """The store cannot be read or written."""


class UnknownRun(StoreError):
    """No such run, or it belongs to somebody else."""


class LostRun(StoreError):
    """The run was given to another worker, or deleted."""


class Cancelled(EvaluiError):
    """The run was stopped by its owner."""
