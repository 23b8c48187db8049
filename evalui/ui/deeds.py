"""What each action of a tab requires: the one table between the events of pages and `access.may`.

An action that is not listed is refused, so that a new one cannot be forgotten.
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
_START = RequiredDeed("start")
_MODELS = RequiredDeed("add_models")
_CHANGE = RequiredDeed("change", "target")
_ADMINISTER = RequiredDeed("administer")
_ACCOUNTS = RequiredDeed("manage_accounts")
_VOTE = RequiredDeed("annotate", "run")
_LEAD = RequiredDeed("change", "run")
# Of every tab: another form, a look at what changes by itself, a question before a change.
_OF_ALL: Mapping[str, RequiredDeed] = {"": _SEE, "set": _SEE, "poll": _SEE, "ask": _SEE}
DEEDS: Mapping[str, Mapping[str, RequiredDeed]] = {
    "evaluate": {
        **dict.fromkeys(("sample", "open_sample", "start"), _START),
        **dict.fromkeys(("uploaded", "replaced", "answered", "columns"), _START),
        **dict.fromkeys(("take", "grant", "ungrant"), _START),  # of teams; the tab checks whose
        **dict.fromkeys(("remove", "open", "questions", "preset", "forget"), _SEE),
    },
    "runs": {"stop": _CHANGE, "resume": _CHANGE, "delete": _CHANGE},
    "results": {
        "watch": _SEE,
        **dict.fromkeys(("share", "withdraw", "grant", "ungrant"), RequiredDeed("change", "run")),
    },
    "arena": {},
    "annotate": {
        # Guests may do nothing but this, and see no more than it shows.
        **dict.fromkeys(("", "open", "ask", "vote", "undo", "finish"), _VOTE),
        **dict.fromkeys(("uploaded", "assign", "link", "revoke", "free", "close", "decide"), _LEAD),
        **dict.fromkeys(("rename",), _SEE),
    },
    # Links to a comparison: of all its runs, which the tab reads from the address.
    "compare": {"share": _START, "withdraw": _START},
    "models": {
        **dict.fromkeys(("save", "remove"), _MODELS),
        **dict.fromkeys(("test", "again"), _START),
    },
    "admin": {
        **dict.fromkeys(_OF_ALL, _ADMINISTER),
        **dict.fromkeys(("invite", "link", "withdraw", "role"), _ACCOUNTS),
        **dict.fromkeys(("disable", "enable", "remove", "sign_out"), _ACCOUNTS),
        **dict.fromkeys(("add_team", "remove_team", "join", "leave"), _ACCOUNTS),
        **dict.fromkeys(("limits", "stop", "priority", "queue", "revoke_link"), _ADMINISTER),
    },
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
