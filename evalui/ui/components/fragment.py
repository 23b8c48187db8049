"""What a user does with a tab, and the way from an action to another address.

assets/js/wire.js sends an `Action` for each pressed button and changed field; the tab answers with
its HTML, of which the browser touches only what changed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from evalui.report.html import Html, el
from evalui.ui.components.form import Form, read_values


@dataclass(frozen=True, slots=True)
class Action:
    """What a user did: the button's `do` with its other `data`, and the form of the tab.

    `form` holds the parameters of the page's address and every named field of the tab, which win.
    """

    do: str
    data: Mapping[str, str]
    form: Form

    @classmethod
    def read(cls, sent: Mapping[str, Any] | None) -> Self:
        """The action of an event; what is not text, or in `form` a list of texts, is left out."""
        sent = sent or {}
        form = sent.get("form")
        return cls(
            do=str(sent.get("do", "")),
            data={key: value for key, value in sent.items() if isinstance(value, str)},
            form=read_values(form),
        )

    def value(self, name: str) -> str:
        """The value of a single field or of the button's own data, "" if there is none."""
        value = self.data.get(name, self.form.get(name, ""))
        return value if isinstance(value, str) else ""


def go(address: str) -> Html:
    """An answer that leads to another address, such as "?run=k3f&tab=results"."""
    return el("a", href=address, data_go=True)
