"""What a visitor has pressed in markup of ours, as a component's event tells it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self, cast


@dataclass(frozen=True, slots=True)
class Action:
    """The `do` of a button, and what else its element says."""

    do: str
    data: Mapping[str, str]

    @classmethod
    def read(cls, sent: object) -> Self:
        """The action of an event; what is no text is left out."""
        fields = cast("dict[str, object]", sent if isinstance(sent, dict) else {})
        data = {key: value for key, value in fields.items() if isinstance(value, str)}
        return cls(data.get("do", ""), data)

    def value(self, name: str) -> str:
        """What its element says under a name, "" if nothing."""
        return self.data.get(name, "")
