"""Which column of a file is what: a list of roles for each column, for `controls`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalui.report.html import Html
from evalui.ui.components.templates import fill


@dataclass(frozen=True, slots=True)
class MappedList:
    """A drop-down list of value -> word; `is_guess`: nobody has confirmed what it holds."""

    name: str
    label: str
    words: Mapping[str, str]
    about: str = ""
    is_guess: bool = False


@dataclass(frozen=True, slots=True)
class MappedColumn:
    """A column of the file, its first values, and the list of its roles."""

    header: str
    values: Sequence[str]
    role: MappedList


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """Everything that the card shows; its sentences are those of the page's language.

    `verdict` is a kind and how many rows will be readable, `reason` why none is.
    """

    upload: str
    title: str
    about: str
    state: str
    places: Sequence[MappedList]
    heads: Sequence[str]
    columns: Sequence[MappedColumn]
    key: MappedList | None
    unused: str
    questions: Html | None
    use: str
    is_usable: bool
    cancel: str
    verdict: tuple[str, str]
    reason: str
    remember: str
    hidden: Mapping[str, str]


def column_mapping(mapping: ColumnMapping) -> Html:
    """The markup; its buttons are the events `columns` and `leave`."""
    return fill("evaluate/column_mapping.html", mapping=mapping)
