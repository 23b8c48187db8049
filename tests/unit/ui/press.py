"""What a visitor presses on a page, together with what its inputs hold then."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from evalui.ui.components.action import Action
from evalui.ui.components.form import Form, read_values


@dataclass(frozen=True, slots=True)
class Press(Action):
    """An action; `form` is what the inputs of the page hold when it is done."""

    form: Form = field(default_factory=dict[str, Any])

    @classmethod
    def read(cls, sent: Mapping[str, Any] | None) -> Self:
        """The press of these data."""
        action = Action.read(sent)
        return cls(action.do, action.data, read_values((sent or {}).get("form")))

    def value(self, name: str) -> str:
        """What is said under a name, else what an input of it holds."""
        held = self.form.get(name, "")
        return self.data.get(name, held if isinstance(held, str) else "")
