"""Results, Duels: the duels of a judged run, with filters over them, and one of them in full.

The address holds each filter, the page of the list and the open duel.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from evalui.app.duels import (
    OUTCOMES,
    DuelFilter,
    JudgedPair,
    all_capabilities,
    filtered_pairs,
    judged_pairs,
    model_pairs,
)
from evalui.app.open_run_view import OpenRunView
from evalui.app.questions import PAGE_ROWS
from evalui.app.run_view import RunView
from evalui.report.html import Html
from evalui.report.words import shorten_name
from evalui.scoring.arena.figures import PEOPLE
from evalui.scoring.arena.verdicts import PANEL_NAME
from evalui.ui.components.duel import duel_in_full
from evalui.ui.components.form import MAX_FIND, Form, field_value, parse_whole_number
from evalui.ui.components.format import short_id
from evalui.ui.components.pictures import list_line, run_address
from evalui.ui.components.templates import fill
from evalui.ui.pages.results.list_and_reader import Filter, ListAndReader, pager
from evalui.ui.screen import Screen

# The parameters of the address, by the field of the filter.
_PARAMETERS: Mapping[str, str] = {
    "pair": "duel_pair",
    "outcome": "duel_outcome",
    "capability": "duel_capability",
    "find": "find",
}


@dataclass(frozen=True, slots=True)
class _Line:
    """One duel of the list."""

    key: str
    href: str
    id: str
    question: Html
    pair: str
    result: str
    is_injected: bool


def draw(screen: Screen, view: RunView) -> None:
    """The duels of the judge that the address names, or what they would need."""
    wanted = screen.value("arena")
    shown = OpenRunView(screen.service, screen.t, view.run.id, wanted, duels=True)
    _Duels(shown, screen.form).shown().show(screen)


def read_duel_filter(form: Form) -> DuelFilter:
    """The filters of a form or an address; what cannot be understood filters nothing."""
    outcome = field_value(form, "duel_outcome")
    return DuelFilter(
        pair=field_value(form, "duel_pair"),
        outcome=outcome if outcome in OUTCOMES else "",
        capability=field_value(form, "duel_capability"),
        find=field_value(form, "find").strip()[:MAX_FIND],
    )


def _parameters(wanted: DuelFilter) -> dict[str, str]:
    return {_PARAMETERS[each.name]: getattr(wanted, each.name) for each in fields(wanted)}


class _Duels:
    """The duels of one address."""

    def __init__(self, view: OpenRunView, form: Form) -> None:
        self.view = view
        self.t = view.t
        self.wanted = read_duel_filter(form)
        self.listed = filtered_pairs(view.arena, self.wanted)
        requested = field_value(form, "duel")
        named = (one for one in judged_pairs(view.arena) if one.key == requested)
        self.named = next(named, None) if requested else None
        self.at = self.listed.index(self.named) if self.named in self.listed else None
        page = parse_whole_number(field_value(form, "page"))
        last = max(len(self.listed) - 1, 0) // PAGE_ROWS
        self.page = min((self.at or 0) // PAGE_ROWS if page is None else page, last)
        self.rows = self.listed[self.page * PAGE_ROWS : (self.page + 1) * PAGE_ROWS]
        if not self.named and self.rows:
            self.at = self.page * PAGE_ROWS
        self.opened = self.named or next(iter(self.rows), None)

    def shown(self) -> ListAndReader:
        opened = self.opened
        previous, following = self._step(-1), self._step(1)
        return ListAndReader(
            head=self._head(),
            filters=self._filters(),
            drops=("page", "duel"),
            find=self.t("arena.duel.find"),
            clear="" if self.wanted == DuelFilter() else self.view.address("duels"),
            lines=self._lines(previous, following),
            reader=self._opened(opened, previous, following) if opened else self._nothing(),
        )

    def _address(self, *, key: str = "", page: str = "") -> str:
        """A duel under the same filters, or another page of the list."""
        more = _parameters(self.wanted) | {"page": page, "duel": key}
        return self.view.address("duels", place=None, **more)

    def _step(self, by: int) -> str:
        """A link to a duel before or after the open one, "" if there is none."""
        if self.at is None or not 0 <= self.at + by < len(self.listed):
            return ""
        return self._address(key=self.listed[self.at + by].key)

    def _lines(self, previous: str, following: str) -> Html:
        total = len(self.listed)
        key = self.named.key if self.named else ""  # stays open beside another page
        return fill(
            "duels/list.html",
            t=self.t,
            total=total,
            previous=previous,
            following=following,
            opened=self.opened.key if self.opened else "",
            rows=[self._line(meeting) for meeting in self.rows],
            pager=pager(
                self.t, self.page, total, lambda page: self._address(key=key, page=str(page))
            ),
        )

    def _line(self, meeting: JudgedPair) -> _Line:
        sample = self.view.arena.samples.get(meeting.sample_id)
        return _Line(
            key=meeting.key,
            href=self._address(key=meeting.key),
            id=short_id(meeting.sample_id),
            question=list_line(
                self.t, run_address(self.view.run.id), sample.question if sample else ""
            ),
            pair=self.t("arena.duel.versus", left=meeting.left, right=meeting.right),
            result=self._result(meeting),
            is_injected=meeting.injected,
        )

    def _result(self, meeting: JudgedPair) -> str:
        t, by = self.t, self.view.arena.by
        if meeting.changed:
            return t("arena.duel.disagreed" if by == PEOPLE else "arena.duel.changed")
        side = next((side for side in meeting.sides if side), None)
        if side is None and meeting.unreferenced and not meeting.unreadable:
            return t("arena.duel.unreferenced")
        if side is None:
            return t("arena.duel.undecided" if by == PANEL_NAME else "arena.duel.unreadable")
        winners = {"left": meeting.left, "right": meeting.right}
        if side in winners:
            return t("arena.duel.left_of", model=winners[side])
        return t(f"arena.duel.{side}")

    def _opened(self, opened: JudgedPair, previous: str, following: str) -> Html:
        address = self._address(key=opened.key)
        steps = [
            (self.t("arena.duel.previous"), previous),
            (self.t("arena.duel.next"), following),
        ]
        shown = duel_in_full(self.view, opened, address)
        return fill(
            "questions/reader.html",
            alone=self.named is not None,
            read=opened.key,
            content=shown,
            steps=steps,
        )

    def _nothing(self) -> Html:
        sentence = self.t("arena.duel.nothing")
        return fill("questions/nothing.html", alone=False, sentence=sentence, word="", href="")

    def _head(self) -> Html:
        t, wanted = self.t, self.wanted
        n = sum(bool(getattr(wanted, each.name)) for each in fields(wanted))
        links: Sequence[tuple[str, str, bool]] = self.view.links("duels")
        return fill(
            "duels/head.html",
            label=t("arena.judge"),
            links=links,
            back=self._address() if self.named else "",
            word=t("arena.duel.back", n=f"{len(self.listed):,}"),
            filters=t("samples.filter_n", n=n) if n else t("samples.filter"),
        )

    def _filters(self) -> dict[str, Filter]:
        """The lists that can tell duels apart."""
        t, arena = self.t, self.view.arena
        any_ = {"": t("arena.duel.any")}
        pairs = any_ | {
            f"{left}|{right}": t(
                "arena.duel.versus", left=shorten_name(left), right=shorten_name(right)
            )
            for left, right in model_pairs(arena)
        }
        outcomes = any_ | {name: self._outcome(name) for name in OUTCOMES}
        known = any_ | {name: name for name in all_capabilities(arena)}
        filters = (
            ("pair", pairs, len(pairs) > 2),
            ("outcome", outcomes, True),
            ("capability", known, len(known) > 2),
        )
        return {
            _PARAMETERS[name]: self._filter(name, words)
            for name, words, is_told in filters
            if is_told
        }

    def _filter(self, name: str, words: Mapping[str, str]) -> Filter:
        chosen: str = getattr(self.wanted, name)  # by an address; no duel may have it
        named = {} if chosen in words else {chosen: chosen}
        return Filter(self.t(f"arena.duel.{name}"), {**words, **named}, chosen)

    def _outcome(self, name: str) -> str:
        """A filter's word; with one pair chosen it names the winner."""
        t, by, pair = self.t, self.view.arena.by, self.wanted.pair
        if name == "changed" and by == PEOPLE:
            return t("arena.duel.disagreed")
        if name == "unreadable" and by == PANEL_NAME:
            return t("arena.duel.undecided")
        if name in ("left", "right") and pair:
            left, _, right = pair.partition("|")
            return t("arena.duel.left_of", model=shorten_name(left if name == "left" else right))
        return t(f"arena.duel.{name}")
