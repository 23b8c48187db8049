"""The Annotate page in one browser: what it shows, changed by its buttons and keys."""

import re
from typing import Any

from drawn_page import DrawnPage

from evalui.app.service import AppService
from evalui.types import Language


class Booth:
    """The page of a run under a name, which whoever has an account does not state."""

    def __init__(
        self,
        service: AppService,
        run_id: str,
        voter: str = "",
        language: Language = "en",
        **form: str,
    ) -> None:
        named = {"run": run_id, "voter": voter, **form}
        self.form = {name: value for name, value in named.items() if value}
        self.service = service
        self.language: Language = language
        self.open()

    def open(self) -> str:
        """Load the page; what it shows."""
        self.page = DrawnPage("annotate", self.service, self.form, self.language)
        self.text = self.page.text
        return self.text

    def press(self, key: str, comment: str = "") -> str:
        """Press the button of a key of the ballot; what the page shows then."""
        (button,) = re.findall(rf'<button [^>]*data-key="{key}"[^>]*>', self.text)
        sent = dict(re.findall(r'data-([a-z]+)="([^"]*)"', button))
        return self.send(sent.pop("do"), comment=comment, **sent)

    def vote(self, pair: str, choice: str, **sent: str) -> str:
        """Send a vote, whatever the page shows."""
        return self.send("vote", pair=pair, choice=choice, **sent)

    def finish(self) -> str:
        """End the voting."""
        return self.send("finish")

    def send(self, do: str, **data: str) -> str:
        """Send an event of the ballot; what the page shows then."""
        ballot: Any = next(
            each for each in self.page.layout.blocks.values() if "ballot stack" in _value(each)
        )
        changed, address = self.page.act(do, within=ballot, **({"sequence": "1"} | data))
        if isinstance(address, str):
            return self.open()
        self.text = self.page.text.replace(_value(ballot), changed)
        return self.text


def _value(component: Any) -> str:
    return str(getattr(component, "value", ""))


def pair_in_view(text: str) -> str:
    """The token of the pair in view."""
    found = re.search(r'class="pair now" data-pair="(\w+)"', text)
    assert found, "no pair is shown"
    return found[1]
