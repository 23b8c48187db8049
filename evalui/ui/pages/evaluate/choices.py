"""A list to choose several of, in groups: what cannot be chosen says why."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from evalui.report.html import Html
from evalui.ui.components.templates import fill


@dataclass(frozen=True, slots=True)
class Choice:
    """One row: `about` is what it is or why it is `off`, `aside` what it can do, `beside` a line
    below it.
    """

    value: str
    label: str
    about: str = ""
    aside: str = ""
    off: bool = False
    title: str = ""
    beside: str = ""


@dataclass(frozen=True, slots=True)
class ChoiceGroup:
    """Rows below a title; `folded` away below it, unless `opened` at first."""

    choices: Sequence[Choice]
    name: str = ""
    title: str = ""
    about: str = ""
    folded: bool = False
    opened: bool = False


def choice_list(
    name: str,
    groups: Sequence[ChoiceGroup],
    chosen: Collection[str],
    *,
    title: str = "",
    count: str = "",
    find: str = "",
    note: Html | str = "",
) -> Html:
    """The markup of a list whose choices are the field `name`.

    `find` are the words of its field of search, `note` a sentence below the rows.
    """
    return fill(
        "evaluate/choice_list.html",
        name=name,
        groups=groups,
        chosen=chosen,
        title=title,
        count=count,
        find=find,
        note=note,
    )
