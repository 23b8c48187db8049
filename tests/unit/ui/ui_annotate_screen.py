"""The Annotate page as a visitor has it: what its components show, changed by its events."""

# pyright: reportPrivateUsage=false # events reach the methods by Gradio alone

from html import escape
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import urlencode

import gradio as gr
from ui_layout import laid_out, request_of

from evalui.access import Person
from evalui.app import ballots
from evalui.app.service import AppService
from evalui.errors import EvaluiError
from evalui.messages import messages
from evalui.report.html import Html
from evalui.report.render.page import render_blocks
from evalui.types import Language
from evalui.ui.components.form import Form
from evalui.ui.pages.annotate import AnnotatePage
from evalui.ui.pages.annotate.result import result_blocks
from evalui.ui.pages.context import PageContext

Pressed = dict[str, Any]


class Screen:
    """One page in one browser of a person, None for whoever the server is of."""

    def __init__(
        self, service: AppService, language: Language = "en", person: Person | None = None
    ) -> None:
        self.service = service
        self.person = person
        self.page, _ = laid_out(lambda: AnnotatePage(PageContext(service, messages(language))))
        self.shown: dict[Any, dict[str, Any]] = {}
        self.kept = ""  # the name that the browser keeps
        self.query = ""

    def render(self, form: Form, kept: str = "") -> Html:
        """What an address shows; the browser keeps a name if it is stated."""
        self.query = urlencode(form, doseq=True)
        self.kept = kept or self.kept
        event = self._event({"query": self.query})
        return self._answered(self.page._open(event, self._request(), self.kept))

    def begin(self, name: str) -> Html:
        """State a name."""
        return self._answered(self.page._begin(self._request(), self.query, name))

    def vote(self, **sent: Any) -> Html:
        """Press a button of the ballot, with the note that stands beside it."""
        comment = sent.pop("comment", "")
        page, event = self.page, self._event({"sequence": 1, **sent})
        return self._answered(page._vote(event, self._request(), self.query, self.voter, comment))

    def undo(self) -> Html:
        """Take the last vote back."""
        event = self._event({"sequence": 1})
        return self._answered(self.page._undo(event, self._request(), self.query, self.voter))

    def press(self, do: str) -> Html:
        """Press one of Gradio's buttons: ask, stay, finish or close."""
        listener = getattr(self.page, f"_{do}")
        return self._answered(listener(self._request(), self.query, self.voter))

    def upload(self, upload: str) -> Html:
        """Send a file of votes, which is stored already."""
        event = self._event({"upload": upload})
        return self._answered(self.page._import(event, self._request(), self.query, self.voter))

    def assign(self, people: list[str], others: str = "", overlap: Any = 2) -> Html:
        """Assign pairs to people who are chosen, and to others."""
        page, here = self.page, (self._request(), self.query, self.voter)
        return self._answered(page._assign(*here, people, others, overlap))

    def make_link(self, days: str = "14") -> Html:
        """Make a link for guests."""
        return self._answered(self.page._make_link(self._request(), self.query, self.voter, days))

    def change_link(self, do: str, link: str) -> Html:
        """Withdraw a link, or free its seats."""
        event = self._event({"do": do, "link": link})
        return self._answered(
            self.page._change_link(event, self._request(), self.query, self.voter)
        )

    def decide(self, outcome: str, pair: str, reason: str = "") -> Html:
        """Decide a pair."""
        decide = self.page._decide(outcome)
        return self._answered(decide(self._request(), self.query, self.voter, reason, pair))

    @property
    def voter(self) -> str:
        """The name in the hidden field of the page."""
        return str(self.shown.get(self.page.voter, {}).get("value", ""))

    def sees(self, block: Any) -> bool:
        """Whether a component is visible."""
        return bool(self.shown.get(block, {}).get("visible", block.visible))

    def value(self, block: Any) -> Any:
        """What a component holds."""
        return self.shown.get(block, {}).get("value", "")

    def html(self) -> Html:
        """Everything that is visible."""
        page = self.page
        parts = [f'<p data-address="{escape(self.query)}">']
        plain = (page.bar, page.head, page.notice, page.guest_link, page.runs, page.ballot)
        parts += [self._value(each) for each in plain]
        if self.sees(page.name_form):
            parts.append(f'<input name="voter" value="{escape(self.value(page.name))}">')
        if self.sees(page.voting):
            parts += self._buttons(page.ask, page.others)
            if self.sees(page.confirm):
                parts += self._buttons(page.finish, page.stay)
        voters = page.voters
        if self.sees(voters.column):
            parts += [self._value(each) for each in (voters.progress, voters.links, voters.decided)]
            parts += [escape(", ".join(self.value(voters.people))), self._value(voters.ways)]
            parts += self._buttons(voters.assign, voters.link, voters.close)
        if self.sees(voters.decision):
            parts += [self._value(each) for each in (voters.votes_cast, voters.back)]
        if self.sees(page.result.row):
            parts += [self._value(each) for each in (page.result.line, page.result.ways)]
            parts.append(self._value(page.result.headline))
            parts += ['<input type="file">'] * self.sees(page.result.votes)
            parts.append(self._drawn())
        return Html("".join(parts))

    def _drawn(self) -> str:
        """The result, whose components are made by an event of their own."""
        page, sent = self.page, (self.query, self.voter)
        visit = page._visit(self._request(), *sent)
        run = visit.service.run(visit.run_id, "annotate")
        state = ballots.voter_state(visit.service, run.id, visit.voter.name)
        blocks = result_blocks(page.context.t, visit, run, state)
        later = page.context.t("annotate.others_later") if state.is_open else ""
        return render_blocks(blocks) + later * (not visit.voter.guest)

    def _buttons(self, *buttons: Any) -> list[str]:
        return [
            self._value(each) if isinstance(each, gr.HTML) else self._button(each)
            for each in buttons
            if self.sees(each)
        ]

    def _button(self, button: Any) -> str:
        variant = self.shown.get(button, {}).get("variant", button.variant)
        return f'<button class="btn{" pri" * (variant == "primary")}">{button.value}</button>'

    def _value(self, block: Any) -> str:
        return str(self.value(block) or "") if self.sees(block) else ""

    def _event(self, sent: Pressed) -> gr.EventData:
        return cast("gr.EventData", SimpleNamespace(_data=sent))

    def _request(self) -> gr.Request:
        return request_of(self.person or self.service.person)

    def _answered(self, updates: dict[Any, Any]) -> Html:
        for component, update in updates.items():
            if component is self.page.address:
                self.query = update.partition("?")[2]
                continue
            is_update = isinstance(update, dict) and "__type__" in update
            change: dict[str, Any] = update if is_update else {"value": update}
            self.shown.setdefault(component, {}).update(change)
        self.kept = self.voter or self.kept
        return self.html()


def problem_of(do: Any) -> str:
    """What a visitor is shown by an event; of one that is refused as a whole, the error."""
    try:
        return do()
    except EvaluiError as error:
        return f'<div class="note bad">{escape(str(error))}</div>'
