"""What each action of a tab requires; one that is not listed is refused.

What a use case requires it declares itself, see `evalui.app.permissions`.
"""

from collections.abc import Mapping
from typing import NamedTuple

from evalui.access import Deed
from evalui.errors import SpecError
from evalui.ui.components.fragment import Action


class RequiredDeed(NamedTuple):
    """What an action requires, and which of its values names the run it is done to, "" if none."""

    deed: Deed
    run: str = ""


_SEE = RequiredDeed("see")
# Of every tab: another form, a look at what changes by itself, a question before a change.
_OF_ALL: Mapping[str, RequiredDeed] = {"": _SEE, "set": _SEE, "poll": _SEE, "ask": _SEE}
DEEDS: Mapping[str, Mapping[str, RequiredDeed]] = {
    # Links to a comparison: of all its runs, which the use cases check themselves.
    "compare": dict.fromkeys(("share", "withdraw"), RequiredDeed("start")),
}


def required_deed(tab: str, action: Action) -> RequiredDeed:
    """What an action of a tab requires.

    Raises:
        SpecError: no page has such an action.
    """
    required = DEEDS[tab].get(action.do) or _OF_ALL.get(action.do)
    if required is None:
        raise SpecError("no-action")
    return required
