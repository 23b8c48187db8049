"""Results, Duels: the duels of a judged run, with filters over them, and one of them in full.

The address holds each filter, the page of the list and the open duel.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from urllib.parse import urlencode

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
from evalui.app.run_view import RunView
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.scoring.arena.figures import PEOPLE
from evalui.scoring.arena.verdicts import PANEL_NAME
from evalui.ui.components.duel import duel, duel_in_full
from evalui.ui.components.filters import MAX_FIND
from evalui.ui.components.form import Form, field_value, parse_whole_number
from evalui.ui.components.format import short_id
from evalui.ui.components.list_and_reader import ListAndReader, ListContent
from evalui.ui.components.pickers import Words
from evalui.ui.components.question_list import Steps
from evalui.ui.components.templates import fill

PAGE_SIZE = 50
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
    question: str
    pair: str
    result: str
    is_injected: bool


def make_view(t: Messages) -> ListAndReader:
    """The components of the view."""
    labels = {
        parameter: t(f"arena.duel.{name}")
        for name, parameter in _PARAMETERS.items()
        if name != "find"
    }
    find = t("arena.duel.find")
    return ListAndReader("duels", labels, find=find, hint=find, reader=duel)


def content(view: RunView, form: Form) -> ListContent:
    """The duels of the judge that the address names, or what they would need."""
    shown = OpenRunView(view.service, view.t, view.run.id, field_value(form, "arena"), duels=True)
    return _Duels(shown, form).content()


def changed(view: RunView, form: Form, fields: Form) -> str:
    """The query of the address after one of the `fields` beside the list was changed.

    Another filter begins again at the first page and duel. What the fields have by the address
    itself is no change: "".
    """
    before, wanted = read_duel_filter(form), read_duel_filter({**form, **fields})
    if wanted == before:
        return ""
    named = {"run": view.run.id, "sub": "duels", "arena": field_value(form, "arena")}
    given = named | _parameters(wanted)
    return urlencode({name: value for name, value in given.items() if value})


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
        self.page = parse_whole_number(field_value(form, "page")) or 0
        self.listed = filtered_pairs(view.arena, self.wanted)
        first = self.page * PAGE_SIZE
        self.rows = self.listed[first : first + PAGE_SIZE]
        requested = field_value(form, "duel")
        named = (one for one in judged_pairs(view.arena) if one.key == requested)
        self.named = next(named, None) if requested else None
        self.opened = self.named or next(iter(self.rows), None)

    def content(self) -> ListContent:
        t, opened = self.t, self.opened
        at = self.listed.index(opened) if opened in self.listed else None
        previous = self._step(None if at is None else at - 1)
        following = self._step(None if at is None else at + 1)
        clear = self.view.address("duels")
        return ListContent(
            lines=self._lines(),
            reader=self._opened(opened, previous, following) if opened else self._nothing(),
            steps=Steps(
                opened.key if opened else "",
                {"previous": previous, "following": following},
                is_alone=self.named is not None,
            ),
            offered=self._filters(),
            find=self.wanted.find,
            clear=(t("samples.clear"), "" if self.wanted == DuelFilter() else clear),
            head=self._head(),
        )

    def _address(self, *, key: str = "", page: int | None = None) -> str:
        """A duel under the same filters, or another page of the list."""
        shown = self.page if page is None else page
        more = _parameters(self.wanted) | {"page": str(shown) if shown else "", "duel": key}
        return self.view.address("duels", place=None, **more)

    def _step(self, place: int | None) -> str:
        """A link to the duel at a place of those that are listed, "" if there is none."""
        if place is None or not 0 <= place < len(self.listed):
            return ""
        return self._address(key=self.listed[place].key, page=place // PAGE_SIZE)

    def _lines(self) -> Html:
        t, total, page = self.t, len(self.listed), self.page
        first, last = page * PAGE_SIZE, min((page + 1) * PAGE_SIZE, total)
        pages = [
            (t(f"list.{word}"), self._address(page=place))
            for word, place in (("earlier", page - 1), ("later", page + 1))
            if 0 <= place * PAGE_SIZE < total
        ]
        return fill(
            "duels/list.html",
            t=t,
            total=total,
            rows=[self._line(meeting) for meeting in self.rows],
            shown=t("list.shown", first=f"{first + 1:,}", last=f"{last:,}", total=f"{total:,}"),
            pages=pages if total > PAGE_SIZE else [],
        )

    def _line(self, meeting: JudgedPair) -> _Line:
        sample = self.view.arena.samples.get(meeting.sample_id)
        return _Line(
            key=meeting.key,
            href=self._address(key=meeting.key),
            id=short_id(meeting.sample_id),
            question=sample.question if sample else "",
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
        return fill("questions/reader.html", read=opened.key, content=shown, steps=steps)

    def _nothing(self) -> Html:
        sentence = self.t("arena.duel.nothing")
        return fill("questions/nothing.html", sentence=sentence, word="", href="")

    def _head(self) -> Html:
        t, wanted = self.t, self.wanted
        n = sum(bool(getattr(wanted, each.name)) for each in fields(wanted))
        links: Sequence[tuple[str, str, bool]] = self.view.links("duels")
        return fill(
            "duels/head.html",
            label=t("arena.judge"),
            links=links,
            back=self._address(),
            word=t("arena.duel.back", n=f"{len(self.listed):,}"),
            filters=t("samples.filter_n", n=n) if n else t("samples.filter"),
        )

    def _filters(self) -> dict[str, Words]:
        """The lists that can tell duels apart."""
        t, arena, wanted = self.t, self.view.arena, self.wanted
        any_ = {"": t("arena.duel.any")}
        pairs = any_ | {
            f"{left}|{right}": t("arena.duel.versus", left=left, right=right)
            for left, right in model_pairs(arena)
        }
        outcomes = any_ | {name: self._outcome(name) for name in OUTCOMES}
        known = any_ | {name: name for name in all_capabilities(arena)}
        pickers = (
            ("duel_pair", pairs, wanted.pair, len(pairs) > 2),
            ("duel_outcome", outcomes, wanted.outcome, True),
            ("duel_capability", known, wanted.capability, len(known) > 2),
        )
        return {
            # An address may name one that no duel has.
            name: Words(words | ({} if chosen in words else {chosen: chosen}), chosen)
            for name, words, chosen, is_offered in pickers
            if is_offered
        }

    def _outcome(self, name: str) -> str:
        """A filter's word; with one pair chosen it names the winner."""
        t, by, pair = self.t, self.view.arena.by, self.wanted.pair
        if name == "changed" and by == PEOPLE:
            return t("arena.duel.disagreed")
        if name == "unreadable" and by == PANEL_NAME:
            return t("arena.duel.undecided")
        if name in ("left", "right") and pair:
            left, _, right = pair.partition("|")
            return t("arena.duel.left_of", model=left if name == "left" else right)
        return t(f"arena.duel.{name}")
