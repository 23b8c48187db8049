"""Texts to type, one for each of things whose number a file decides, for `controls`."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from evalui.report.html import Html
from evalui.ui.components.templates import fill

_MAX_LENGTH = 120  # characters, as of the name of a run


@dataclass(frozen=True, slots=True)
class NamedText:
    """A field under its label, with a hint and more below it.

    `remove` is the word of a button beside it, whose event carries `data`.
    """

    name: str
    label: str
    hint: str = ""
    below: Html | None = None
    remove: str = ""
    data: Mapping[str, str] = field(default_factory=dict[str, str])


def named_texts(texts: Iterable[NamedText]) -> Html:
    """The markup of these fields, which is empty without any."""
    return fill("evaluate/named_texts.html", texts=[*texts], longest=_MAX_LENGTH)
