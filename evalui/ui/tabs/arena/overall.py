"""Arena, Overall: standings, the judge's reliability, ratings, and who beats whom."""

from collections.abc import Sequence
from typing import Any

import gradio as gr

from evalui.messages import Messages
from evalui.report.analyses.arena.figures import PEOPLE, Arena
from evalui.report.analyses.arena.narrative import (
    matrix_subtitle,
    matrix_title,
    standings_subtitle,
    standings_title,
)
from evalui.report.analyses.judge import consistency_level, judge_notes, order_consistency
from evalui.report.analyses.overview.warnings import Level, ReportNote
from evalui.report.charts.arena import elo_chart, win_matrix
from evalui.report.html import Child, Html, div, el, join, span
from evalui.report.icons import icon
from evalui.report.numbers import format_range as spread
from evalui.report.numbers import format_value
from evalui.scoring.arena.agreement import RaterAgreement
from evalui.scoring.arena.verdicts import PANEL_NAME
from evalui.types import Interval
from evalui.ui.components.component_tabs import html_fragment, skip_all
from evalui.ui.components.form import Form
from evalui.ui.components.widgets import NOTE_KINDS, card, definitions, note, status, titled
from evalui.ui.tabs.arena.arena_view import ArenaView, chart_head, signature_footer, waiting_key
from evalui.ui.tabs.arena.standings import pairs, ratings, standings

_ICONS: dict[Level, str] = {"bad": "bad", "warn": "warn", "info": "none"}
# The filter of the list of duels that shows what a note is about.
_DUEL_FILTERS = {
    "fair": "changed",
    "swayed": "unreadable",
    "unsteady": "changed",
    "judge-unreadable": "unreadable",
    "no-majority": "unreadable",
    "no-reference": "unreferenced",
    "injected": "injected",
}
_MAX_AT_TOP = 2  # notes above the standings; the others follow below
_KINDS = {"steady": "ok", "fair": "warn", "unsteady": "warn"}
# The notes that warn of a preference, by its line.
_WARNING_RULES = {
    "first": {"prefers-first", "prefers-second"},
    "longer": {"prefers-longer"},
    "lists": {"prefers-lists"},
}


class ArenaOverallView:
    """The view in one language."""

    def __init__(self, t: Messages) -> None:
        self.t = t
        self.outputs: list[Any] = []

    def build(self, state: gr.Textbox) -> None:
        """Lay out the tables, the two charts, and what follows them."""
        del state  # nothing here is an act
        top = html_fragment("arena-top")
        with gr.Row(visible=False, equal_height=True, elem_classes="charts") as charts:
            with gr.Column(elem_classes="chart-card", scale=3, min_width=320):
                elo_title = html_fragment("arena-elo-title")
                elo = gr.Plot(show_label=False, container=False)
                elo_table = html_fragment("arena-elo-table")
            with gr.Column(elem_classes=["chart-card", "crossed"], scale=2, min_width=320):
                matrix_head = html_fragment("arena-matrix-title")
                matrix = gr.Plot(show_label=False, container=False)
                matrix_table = html_fragment("arena-matrix-table")
        last = html_fragment("arena-below")
        self.outputs = [
            top,
            charts,
            elo_title,
            elo,
            elo_table,
            matrix_head,
            matrix,
            matrix_table,
            last,
        ]

    def show(self, view: ArenaView, form: Form) -> tuple[Any, ...]:
        """Everything the view shows of an arena."""
        del form  # there is nothing to choose
        arena, language = view.arena, self.t.language
        if not arena.standings:
            return (
                _waiting(view),
                gr.Row(visible=False),
                *skip_all(self.outputs[2:-1]),
                signature_footer(view, "overall"),
            )
        about = standings_subtitle(arena, language, rule_based=view.rule_based)
        return (
            _top(view),
            gr.Row(visible=True),
            chart_head(standings_title(arena, language), about),
            elo_chart(arena, language, baselines=view.baselines),
            ratings(view),
            chart_head(matrix_title(arena, language), matrix_subtitle(arena, language)),
            win_matrix(arena, language),
            pairs(view),
            signature_footer(view, "overall"),
        )


def _top(view: ArenaView) -> Html:
    return div(
        *warnings(view),
        div(
            div(standings(view), further_warnings(view), cls="f2"),
            judge_reliability_card(view),
            cls="row arena-row",
        ),
        cls="stack",
    )


def _waiting(view: ArenaView) -> Html:
    t = view.t
    verdicts = view.arena.verdicts
    unjudged = bool(verdicts) and all(verdict.unreferenced for verdict in verdicts)
    key = "arena.unread" if verdicts else waiting_key(view)
    key = "arena.unreferenced" if unjudged else key
    words = div(el("h2", t(key)), el("p", t(f"{key}_about"), cls="dim"), cls="empty")
    return div(*warnings(view), card(words), cls="stack")


def judge_reliability_card(view: ArenaView) -> Html:
    """The card; a figure that cannot be known is left out or has its reason beside it."""
    t, arena = view.t, view.arena
    steady = order_consistency(arena, t.language)
    people = arena.by == PEOPLE
    word = status(_KINDS[steady.level], steady.word) if steady and not people else None
    return titled(
        t("arena.trust.people" if people else "arena.trust.title"),
        definitions(_lines(view)),
        el("p", t("arena.trust.about"), cls="meta gap-s"),
        aside=word,
    )


def _lines(view: ArenaView) -> Sequence[tuple[Child, Child]]:
    t, arena = view.t, view.arena
    reliability = arena.reliability
    shares = (
        ("first", reliability.first_wins),
        ("longer", reliability.longer_wins),
        ("lists", reliability.more_items_wins),
    )
    warned = {
        report_note.rule
        for report_note in judge_notes(arena, t.language)
        if report_note.level != "info"
    }
    missing = "no_majority" if arena.by == PANEL_NAME else "unreadable"
    lines: list[tuple[Child, Child] | None] = [
        *_order_effect(t, arena),
        *(
            (t(f"arena.trust.{name}"), _share(share, warn=bool(warned & _WARNING_RULES[name])))
            for name, share in shares
            if share
        ),
        _people(view),
        _inter_rater(view),
        (
            t(f"arena.trust.{missing}"),
            _unreadable(t, arena, warn=bool(warned & {"judge-unreadable", "no-majority"})),
        ),
        _unreferenced(t, arena),
        (t("arena.trust.injected"), _injected(t, arena)),
    ]
    return [line for line in lines if line]


def _order_effect(t: Messages, arena: Arena) -> Sequence[tuple[Child, Child]]:
    """How often the order decided: a line for the judge, or one for each judge of a panel."""
    if arena.by == PEOPLE:
        return ()
    if not arena.judge_flip_rates:
        return ((t("arena.trust.flips"), _flips(t, arena)),)
    return [
        (t("arena.trust.flips_of", judge=judge), _changed(t, flips))
        for judge, flips in arena.judge_flip_rates.items()
    ]


def _people(view: ArenaView) -> tuple[Child, Child] | None:
    """How often the judge agrees with people."""
    t, agreement = view.t, view.people_agreement
    if view.arena.by == PEOPLE:
        return None
    if agreement is None:
        return t("arena.trust.agrees_none"), span(t("arena.trust.no_votes"), cls="meta")
    return t("arena.trust.agrees", n=f"{agreement.n:,}"), _agreement(t, agreement)


def _inter_rater(view: ArenaView) -> tuple[Child, Child] | None:
    """How often the judges of a panel, or people, agree on one duel."""
    t, agreement = view.t, view.arena.agreement
    if agreement is None:
        return None
    key = "among_people" if view.arena.by == PEOPLE else "panel"
    return t(f"arena.trust.{key}", n=f"{agreement.n:,}"), _agreement(t, agreement)


def _agreement(t: Messages, agreement: RaterAgreement) -> Html:
    small = [spread(agreement.raw)]
    if agreement.kappa:
        small.append(t("arena.trust.kappa", kappa=f"{agreement.kappa.value:.2f}"))
    return join(f"{format_value(agreement.raw)} %", _small_text(" · ".join(small)))


def _flips(t: Messages, arena: Arena) -> Child:
    flips = arena.reliability.flip_rate
    if flips is None or arena.by == PANEL_NAME:
        return span(
            t("arena.trust.flips_none" if arena.orders != "double" else "arena.trust.unknown"),
            cls="meta",
        )
    return _changed(t, flips)


def _changed(t: Messages, flips: Interval) -> Html:
    word = t("arena.trust.of", k=f"{numerator(flips):,}", n=f"{flips.n:,}")
    return join(status(_KINDS[consistency_level(flips)], word), _small_text(f"{spread(flips)} %"))


def _share(share: Interval, *, warn: bool) -> Html:
    value = f"{format_value(share)} %"
    return join(
        status("warn", value) if warn else value, _small_text(f"{spread(share)} · n {share.n:,}")
    )


def _unreadable(t: Messages, arena: Arena, *, warn: bool) -> Child:
    unreadable = arena.reliability.unreadable
    if unreadable is None:
        return span(t("arena.trust.unknown"), cls="meta")
    k = numerator(unreadable)
    words = t("arena.trust.of", k=f"{k:,}", n=f"{unreadable.n:,}")
    return status("warn" if warn else "ok", words) if warn or not k else words


def _unreferenced(t: Messages, arena: Arena) -> tuple[Child, Child] | None:
    k = arena.reliability.unreferenced
    words = t("arena.trust.of", k=f"{k:,}", n=f"{arena.reliability.n:,}")
    return (t("arena.trust.unreferenced"), words) if k else None


def _injected(t: Messages, arena: Arena) -> Html:
    k = arena.reliability.injected
    if not k:
        return status("ok", t("arena.trust.none"))
    return status("warn", t("arena.trust.of", k=f"{k:,}", n=f"{arena.reliability.n:,}"))


def numerator(share: Interval) -> int:
    """The count that a share came from."""
    return round(share.value * share.n)


def _small_text(text: str) -> Html:
    return span(text, cls="meta ends")


def warnings(view: ArenaView) -> list[Html]:
    """The most serious things to know; the judge's steadiness if there is nothing else."""
    steady = order_consistency(view.arena, view.t.language)
    banners = [_note_banner(view, report_note) for report_note in _notes(view)[:_MAX_AT_TOP]]
    if not banners and steady:
        banners.append(note("ok", el("b", steady.headline), " ", steady.explanation))
    return banners


def further_warnings(view: ArenaView) -> Html | None:
    """What else there is to know, as a card; None if that is nothing."""
    rest = _notes(view)[_MAX_AT_TOP:]
    lines = [
        div(
            icon(_ICONS[report_note.level]),
            div(*_note_text(view, report_note)),
            cls=f"note-line {report_note.level}",
        )
        for report_note in rest
    ]
    return titled(view.t("arena.further"), *lines) if lines else None


def _notes(view: ArenaView) -> Sequence[ReportNote]:
    notes = judge_notes(view.arena, view.t.language, rule_based=view.rule_based)
    # Without a verdict the empty page states it.
    return notes if view.arena.verdicts else [one for one in notes if one.rule != "partial"]


def _note_banner(view: ArenaView, report_note: ReportNote) -> Html:
    return note(NOTE_KINDS[report_note.level], *_note_text(view, report_note))


def _note_text(view: ArenaView, report_note: ReportNote) -> list[Child]:
    """The sentence of a note, and a link to the duels it is about."""
    steady = order_consistency(view.arena, view.t.language)
    words: list[Child] = [report_note.text]
    if steady and report_note.rule == steady.level:
        words = [el("b", steady.headline), " ", steady.explanation]
    if report_note.rule in _DUEL_FILTERS:
        address = view.address("duels", duel_outcome=_DUEL_FILTERS[report_note.rule])
        words += [" ", el("a", view.t("arena.see"), href=address)]
    return words
