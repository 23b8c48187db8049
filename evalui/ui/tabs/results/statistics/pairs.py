"""Every two models of one dataset and mode: the paired tests, what could be seen, the ranks."""

from collections.abc import Mapping

import plotly.graph_objects as go

from evalui.messages import Messages
from evalui.report.analyses.statistics import (
    CellComparison,
    ComparisonSet,
    PairFinding,
    comparison_method,
    format_least_difference,
    format_points,
    format_points_range,
    pair_sentence,
    rank_text,
    refusal_sentence,
)
from evalui.report.charts.calibration import (
    difference_chart,
    difference_subtitle,
    sample_size_chart,
)
from evalui.report.charts.theme import series_styles
from evalui.report.numbers import count, p_column, p_value, percent
from evalui.scoring.statistics.paired_tests import (
    RankBand,
    minimum_detectable_difference,
    questions_needed,
)
from evalui.types import Language
from evalui.ui.components.form import parse_whole_number
from evalui.ui.components.html import Child, Html, div, el, join, span
from evalui.ui.components.widgets import field, model_name, note, table, titled
from evalui.ui.tabs.results.overview.figures import model_places
from evalui.ui.tabs.results.run_view import RunView

# What the slider offers: even steps would spend most of its way on sizes that tell no more.
SIZES = (20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000, 1500, 2000, 3000, 5000, 10_000)
# What the tables call a finding by the name of another.
_FINDINGS: Mapping[PairFinding, str] = {"steady": "apart"}
_TARGET_DIFFERENCES = (0.05, 0.02)  # differences for which the questions are told, as shares


def pairs_title(t: Messages, view: RunView, comparison: ComparisonSet) -> Html:
    """The widest difference between real models, a win before others, and what the grey is."""
    scripted = view.baselines
    real = [p for p in comparison.pairs if not {p.first.model, p.second.model} & scripted]
    widest = max(
        real or comparison.pairs, key=lambda pair: (pair.has_winner, pair.paired.difference)
    )
    first = pair_sentence(widest, t.language)
    about = difference_subtitle(comparison.pairs, t.language)
    return join(el("h2", first), el("p", about, cls="meta") if about else None)


def pairs_chart(view: RunView, comparison: ComparisonSet) -> go.Figure:
    """The differences of all pairs in the colour of the better model."""
    drawn = series_styles([s.cell.model for s in view.with_question.values()], view.baselines)
    names = [f"{pair.first.model} − {pair.second.model}" for pair in comparison.pairs]
    colours = [drawn[pair.first.model].colour for pair in comparison.pairs]
    return difference_chart(comparison.pairs, names, view.language, colours=colours)


def pairs_table(t: Messages, comparison: ComparisonSet) -> Html:
    """The paired table: differences with their ranges, McNemar's test, Holm's p-values."""
    keys = ("pair", "difference", "n", "only", "mcnemar", "holm", "finding")
    rows = [_pair(t, pair) for pair in comparison.pairs]
    return titled(
        t("statistics.pairs"),
        table([t(f"statistics.{key}") for key in keys], rows, right=range(1, 6), cls="middling"),
        *(
            div(note("na", refusal_sentence(refused, t.language)), cls="gap-s")
            for refused in comparison.incomparable
        ),
        el("p", comparison_method(comparison, t.language), cls="meta gap-s"),
        aside=t.count("statistics.pairs_about", len(comparison.pairs)),
    )


def power_table(t: Messages, comparison: ComparisonSet, requested_size: str) -> Html:
    """What difference may have been missed, now and with another number of questions.

    A pair that was told apart missed nothing.
    """
    size = SIZES[_place(requested_size, comparison)]
    slider = el(
        "input",
        type="range",
        name="size",
        min=0,
        max=len(SIZES) - 1,
        step=1,
        value=_place(requested_size, comparison),
        aria_valuetext=t("statistics.chosen", n=count(size)),
    )
    heads = [
        t("statistics.pair"),
        t("statistics.now", n=count(comparison.n)),
        t("statistics.then", n=count(size)),
        *(t("statistics.needed", points=percent(wanted)) for wanted in _TARGET_DIFFERENCES),
    ]
    rows: list[list[Child]] = [
        [
            _names(t, pair),
            _format_least_difference(t, pair.undetected_difference),
            el(
                "b",
                _format_least_difference(
                    t,
                    pair.undetected_difference
                    and minimum_detectable_difference(pair.paired.omega, size),
                ),
            ),
            *(count(questions_needed(pair.paired.omega, wanted)) for wanted in _TARGET_DIFFERENCES),
        ]
        for pair in comparison.pairs
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


def power_chart(comparison: ComparisonSet, requested_size: str, language: Language) -> go.Figure:
    """The smallest difference by number of questions, marked where the slider stands."""
    able = [pair for pair in comparison.pairs if pair.undetected_difference is not None]
    closest = min(able, key=lambda pair: pair.paired.omega, default=None)
    omega = closest.paired.omega if closest else None
    return sample_size_chart(SIZES[_place(requested_size, comparison)], language, omega=omega)


def rank_bands_card(t: Messages, view: RunView, comparison: ComparisonSet | None) -> Html:
    """Models in bands, with the ranks that each may have, and those that have none."""
    head = el("h2", t("statistics.bands"))
    if comparison is None or not (
        comparison.ranks or set(comparison.unranked.values()) - {"baseline"}
    ):
        return join(head, el("p", t("statistics.no_rank"), cls="dim gap-s"))
    places = model_places(list(view.with_question.values()), view.baselines)

    def name(model: str) -> Html:
        return model_name(model, places[model], model in view.baselines)

    rows: list[list[Child]] = [
        [str(each.band), name(each.name), f"{percent(each.value)} %", _ranks(each)]
        for each in comparison.ranks
    ]
    for cell in comparison.unranked:
        rows.append(["–", name(cell.model), "–", rank_text(comparison, cell, t.language)[1]])
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


def _pair(t: Messages, pair: CellComparison) -> list[Child]:
    found = pair.paired
    difference = join(
        el("b", format_points(found)),
        " ",
        span("" if found.all_equal else format_points_range(found), cls="meta nw"),
    )
    return [
        _names(t, pair),
        difference,
        count(pair.n),
        _discordant_counts(t, pair),
        "–" if pair.too_few_questions else _mcnemar(t, pair),
        p_column(pair.adjusted) if pair.finding in ("apart", "level") else "–",
        t(f"statistics.{_FINDINGS.get(pair.finding, pair.finding)}"),
    ]


def _discordant_counts(t: Messages, pair: CellComparison) -> Child:
    if pair.mcnemar is None:
        return "–"
    first, second = count(pair.mcnemar.first_only), count(pair.mcnemar.second_only)
    return t("statistics.only_of", first=first, second=second)


def _mcnemar(t: Messages, pair: CellComparison) -> Child:
    if pair.mcnemar is None or pair.mcnemar.mid is None or pair.mcnemar.exact is None:
        return "–"
    exact = t("statistics.exact", p=p_value(pair.mcnemar.exact))
    return span(p_value(pair.mcnemar.mid).removeprefix("= "), title=exact)


def _names(t: Messages, pair: CellComparison) -> Html:
    words = t("statistics.minus", first=pair.first.model, second=pair.second.model)
    return el("b", words)


def _format_least_difference(t: Messages, difference: float | None) -> str:
    if difference is None:
        return "–"
    return t("statistics.points", value=format_least_difference(difference))


def _ranks(place: RankBand) -> str:
    return str(place.low) if place.low == place.high else f"{place.low}–{place.high}"


def _place(wish: str, found: ComparisonSet) -> int:
    """Where the slider stands; at first, at about twice the questions there are."""
    place = parse_whole_number(wish)
    if place is not None and place < len(SIZES):
        return place
    return min(range(len(SIZES)), key=lambda place: abs(SIZES[place] - 2 * found.n))
