"""Every two models of one dataset and mode: the paired tests, what could be seen, the ranks."""

from collections.abc import Mapping

import plotly.graph_objects as go

from evalui.messages import Messages
from evalui.report.analyses.statistics.narrative import (
    comparison_about,
    least,
    p_column,
    p_value,
    pair_sentence,
    points,
    points_span,
    rank_words,
    refusal_sentence,
)
from evalui.report.analyses.statistics.pairs import Comparison, Pair, PairFinding
from evalui.report.charts.calibration import difference_chart, difference_subtitle, needed_chart
from evalui.report.charts.common import marks
from evalui.report.numbers import count, percent
from evalui.scoring.statistics.paired_tests import Place, detectable, questions_needed
from evalui.types import Language
from evalui.ui.components.html import Child, Html, div, el, join, span
from evalui.ui.components.widgets import field, note, table, titled
from evalui.ui.tabs.evaluate.run_form import whole
from evalui.ui.tabs.results.overview.figures import model_places
from evalui.ui.tabs.results.run_view import Shown
from evalui.ui.tabs.runs.progress_table import model_name

# What the slider offers: even steps would spend most of its way on sizes that tell no more.
SIZES = (20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000, 1500, 2000, 3000, 5000, 10_000)
# What the tables call a finding by the name of another.
_FINDINGS: Mapping[PairFinding, str] = {"steady": "apart"}
_WANTED = (0.05, 0.02)  # differences for which the questions are told, as shares


def pairs_title(t: Messages, shown: Shown, found: Comparison) -> Html:
    """The widest difference between real models, a win before others, and what the grey is."""
    scripted = shown.baselines
    real = [p for p in found.pairs if not {p.first.model, p.second.model} & scripted]
    widest = max(real or found.pairs, key=lambda pair: (pair.won, pair.found.difference))
    first = pair_sentence(widest, t.language)
    about = difference_subtitle(found.pairs, t.language)
    return join(el("h2", first), el("p", about, cls="meta") if about else None)


def pairs_chart(shown: Shown, found: Comparison) -> go.Figure:
    """The differences of all pairs in the colour of the better model."""
    drawn = marks([s.cell.model for s in shown.asked.values()], shown.baselines)
    names = [f"{pair.first.model} − {pair.second.model}" for pair in found.pairs]
    colours = [drawn[pair.first.model].colour for pair in found.pairs]
    return difference_chart(found.pairs, names, shown.language, colours=colours)


def pairs_table(t: Messages, found: Comparison) -> Html:
    """The paired table: differences with their ranges, McNemar's test, Holm's p-values."""
    keys = ("pair", "difference", "n", "only", "mcnemar", "holm", "finding")
    rows = [_pair(t, pair) for pair in found.pairs]
    return titled(
        t("statistics.pairs"),
        table([t(f"statistics.{key}") for key in keys], rows, right=range(1, 6), cls="middling"),
        *(
            div(note("na", refusal_sentence(refused, t.language)), cls="gap-s")
            for refused in found.refused
        ),
        el("p", comparison_about(found, t.language), cls="meta gap-s"),
        aside=t.count("statistics.pairs_about", len(found.pairs)),
    )


def power_table(t: Messages, found: Comparison, wish: str) -> Html:
    """What difference may have been missed, now and with another number of questions.

    A pair that was told apart missed nothing.
    """
    size = SIZES[_place(wish, found)]
    slider = el(
        "input",
        type="range",
        name="size",
        min=0,
        max=len(SIZES) - 1,
        step=1,
        value=_place(wish, found),
        aria_valuetext=t("statistics.chosen", n=count(size)),
    )
    heads = [
        t("statistics.pair"),
        t("statistics.now", n=count(found.n)),
        t("statistics.then", n=count(size)),
        *(t("statistics.needed", points=percent(wanted)) for wanted in _WANTED),
    ]
    rows: list[list[Child]] = [
        [
            _names(t, pair),
            _least(t, pair.missed),
            el("b", _least(t, pair.missed and detectable(pair.found.omega, size))),
            *(count(questions_needed(pair.found.omega, wanted)) for wanted in _WANTED),
        ]
        for pair in found.pairs
        if pair.detectable is not None and pair.finding != "guessing"
    ]
    words = join(t("statistics.size"), " ", el("b", t("statistics.chosen", n=count(size))))
    return join(
        el("h2", t("statistics.power")),
        el("p", t("statistics.power_about"), cls="meta"),
        div(field(words, slider), cls="gap-s slider"),
        table(heads, rows, right=range(1, len(heads)), cls="middling")
        if rows
        else el("p", t("statistics.no_power"), cls="dim"),
    )


def power_chart(found: Comparison, wish: str, language: Language) -> go.Figure:
    """The smallest difference by number of questions, marked where the slider stands."""
    able = [pair for pair in found.pairs if pair.missed is not None]
    closest = min(able, key=lambda pair: pair.found.omega, default=None)
    omega = closest.found.omega if closest else None
    return needed_chart(SIZES[_place(wish, found)], language, omega=omega)


def bands_card(t: Messages, shown: Shown, found: Comparison | None) -> Html:
    """Models in bands, with the ranks that each may have, and those that have none."""
    head = el("h2", t("statistics.bands"))
    if found is None or not (found.places or set(found.unranked.values()) - {"baseline"}):
        return join(head, el("p", t("statistics.no_rank"), cls="dim gap-s"))
    places = model_places(list(shown.asked.values()), shown.baselines)

    def name(model: str) -> Html:
        return model_name(model, places[model], model in shown.baselines)

    rows: list[list[Child]] = [
        [str(each.band), name(each.name), f"{percent(each.value)} %", _ranks(each)]
        for each in found.places
    ]
    for cell in found.unranked:
        rows.append(["–", name(cell.model), "–", rank_words(found, cell, t.language)[1]])
    heads = [
        t("statistics.band"),
        t("column.model"),
        t("statistics.figure"),
        t("statistics.ranks"),
    ]
    return join(
        head,
        el("p", t("statistics.bands_about"), cls="meta"),
        table(heads, rows, right=(2,), cls="slim"),
    )


def _pair(t: Messages, pair: Pair) -> list[Child]:
    found = pair.found
    difference = join(
        el("b", points(found)),
        " ",
        span("" if found.identical else points_span(found), cls="meta nw"),
    )
    return [
        _names(t, pair),
        difference,
        count(pair.n),
        _alone(t, pair),
        "–" if pair.few else _mcnemar(t, pair),
        p_column(pair.adjusted) if pair.finding in ("apart", "level") else "–",
        t(f"statistics.{_FINDINGS.get(pair.finding, pair.finding)}"),
    ]


def _alone(t: Messages, pair: Pair) -> Child:
    if pair.table is None:
        return "–"
    first, second = count(pair.table.first_only), count(pair.table.second_only)
    return t("statistics.only_of", first=first, second=second)


def _mcnemar(t: Messages, pair: Pair) -> Child:
    if pair.table is None or pair.table.mid is None or pair.table.exact is None:
        return "–"
    exact = t("statistics.exact", p=p_value(pair.table.exact))
    return span(p_value(pair.table.mid).removeprefix("= "), title=exact)


def _names(t: Messages, pair: Pair) -> Html:
    words = t("statistics.minus", first=pair.first.model, second=pair.second.model)
    return el("b", words)


def _least(t: Messages, difference: float | None) -> str:
    if difference is None:
        return "–"
    return t("statistics.points", value=least(difference))


def _ranks(place: Place) -> str:
    return str(place.low) if place.low == place.high else f"{place.low}–{place.high}"


def _place(wish: str, found: Comparison) -> int:
    """Where the slider stands; at first, at about twice the questions there are."""
    place = whole(wish)
    if place is not None and place < len(SIZES):
        return place
    return min(range(len(SIZES)), key=lambda place: abs(SIZES[place] - 2 * found.n))
