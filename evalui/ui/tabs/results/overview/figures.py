"""The front page of a run: what one must know first, five figures of each cell, every pair."""

from collections.abc import Collection, Mapping, Sequence

from evalui.messages import Messages
from evalui.report.analyses.overview.narrative import (
    accuracy_bounds,
    guessing_lines,
    names,
    only_as_written,
    overview_subtitle,
    overview_title,
    plausible_range,
    unreadable,
)
from evalui.report.analyses.overview.summary import Summary
from evalui.report.analyses.overview.warnings import BIASED, ReportNote, banner, notes
from evalui.report.analyses.position_bias.findings import (
    bias_level_details,
    bias_level_text,
    picks_text,
)
from evalui.report.analyses.statistics import (
    ComparisonSet,
    comparison_method,
    pair_sentence,
    rank_text,
    refusal_sentence,
)
from evalui.report.html import Html, div, el, join, span
from evalui.report.numbers import count, fixed, format_value
from evalui.scoring.cautions import HIDDEN_BELOW, BiasLevel
from evalui.scoring.position_bias.summary import StratumBias
from evalui.types import LETTERS, Cell, Interval
from evalui.ui.components.format import tile, unbroken_numbers
from evalui.ui.components.widgets import NOTE_KINDS, card, note, status
from evalui.ui.tabs.results.run_view import RunView

_KPIS = ("model", "accuracy", "robust", "sensitivity", "position", "readable")
BIAS_LEVEL_KINDS: Mapping[BiasLevel, str] = {
    "green": "ok",
    "amber": "warn",
    "red": "bad",
    "mass": "na",
    "few": "na",
    "na": "na",
}
_COUNT_TOLERANCE = 1e-6  # a count this near to a whole number is one
_GUESSING = ("chance", "below-chance")  # the notes on models no better than guessing
_MAX_NAMES = 3  # models named in the banner


def overview_top(t: Messages, view: RunView) -> Html:
    """What stands first, one banner, the figures of each cell; notes on baselines stay below."""
    answered = any(summary.accuracy for summary in view.with_question.values())
    first = _guessing_sentence(t, view)
    # What the first sentence states of all is not repeated for each.
    warned = _banner(t, view, unless=_GUESSING if first else ())
    return div(first, warned, _kpis(t, view) if answered else _nothing(t), cls="stack")


def pairs(t: Messages, view: RunView) -> Html:
    """One sentence per pair of models, how they were tested, and where to go next."""
    comparison_sets = view.pairs()
    parts = [part for each in comparison_sets for part in _comparison(t, view, each)]
    return div(
        *(parts or [_no_pairs(t)]),
        div(
            button_to(t("front.open_bias"), "bias", cls="pri"),
            button_to(t("front.export"), "report"),
            cls="links-left",
        ),
        cls="pairs",
    )


def button_to(word: str, view: str, *, cls: str = "") -> Html:
    """A button that opens another view of the same run."""
    return el("button", word, type="button", cls=f"btn {cls}".strip(), data_tab=f"tab-{view}")


def bias_level_status(t: Messages, bias: StratumBias) -> Html:
    """The light of the position bias: an icon and a word, never a colour alone."""
    light, word = bias_level_text(bias, t.language)
    return status(BIAS_LEVEL_KINDS[light], word)


def most_picked(t: Messages, bias: StratumBias) -> str:
    """What stands beside the light: the favoured position; of few questions, its count."""
    picks = bias.position.slot_counts
    best = max(picks)
    if (
        bias.level == "mass"
        or bias.n >= HIDDEN_BELOW
        or picks.count(best) > 1
        or best == sum(picks)
    ):
        return unbroken_numbers(picks_text(bias, t.language))
    letter = LETTERS[picks.index(best)]
    return t("front.picks_count", letter=letter, k=count(best), n=count(sum(picks)))


def chart_title(t: Messages, summaries: Sequence[Summary], baselines: Collection[str]) -> Html:
    """What the chart below shows, as a sentence, and how to read it."""
    return join(
        el("h2", overview_title(summaries, t.language, baselines=baselines)),
        el("p", overview_subtitle(summaries, t.language), cls="meta"),
    )


def all_notes(
    t: Messages, summaries: Sequence[Summary], *, only: Sequence[Summary] | None = None
) -> list[tuple[str, ReportNote]]:
    """Every note (on some cells `only`) with the name of its cell, most serious first."""
    cells = cell_names(t, summaries)
    chosen = summaries if only is None else only
    collected = [(cells[s.cell], one) for s in chosen for one in notes(s, t.language)]
    return sorted(collected, key=lambda pair: list(NOTE_KINDS).index(pair[1].level))


def note_line(cell: str, report_note: ReportNote) -> Html:
    """One note on the screen."""
    return note(NOTE_KINDS[report_note.level], el("b", cell), " ", report_note.text)


def cell_names(t: Messages, summaries: Sequence[Summary]) -> dict[Cell, str]:
    """Each cell by what distinguishes it from the others, on one line."""
    return {
        cell: " · ".join(part for part in parts if part)
        for cell, parts in names(summaries, t.language).items()
    }


def join_names_shortened(t: Messages, names: Sequence[str]) -> str:
    """The first names and how many more there are."""
    if len(names) > _MAX_NAMES + 1:
        left = t("front.more", n=count(len(names) - _MAX_NAMES))
        names = [*names[:_MAX_NAMES], left]
    head, last = t("list.comma").join(names[:-1]), names[-1]
    return t("list.and", names=head, last=last) if head else last


def _nothing(t: Messages) -> Html:
    return card(div(t("results.no_answers"), cls="empty"))


def _guessing_sentence(t: Messages, view: RunView) -> Html | None:
    """The sentence that stands before all else where no model beats guessing."""
    summaries = list(view.summaries.values())
    lines = guessing_lines(summaries, t.language, baselines=view.baselines)
    if not lines:
        return None
    verdict, *rest = lines
    return div(
        el("h2", verdict), *(el("p", unbroken_numbers(line)) for line in rest), cls="verdict"
    )


def _banner(t: Messages, view: RunView, *, unless: Collection[str]) -> Html | None:
    """The gravest note on real models, with the names of all that have it."""
    own = [summary for summary in view.summaries.values() if _is_real_model(summary, view)]
    message = banner(own, t.language, unless=unless)
    if message is None:
        return None
    kind = NOTE_KINDS[message.level]
    if message.rule == BIASED:
        models = list(dict.fromkeys(cell.model for cell in message.cells))
        biased = t.count("front.biased", len(models), names=join_names_shortened(t, models))
        return note(kind, el("b", biased), " ", t.count("front.biased_about", len(models)))
    called = names(list(view.summaries.values()), t.language)
    whose, gravest = _affected_cells(
        t, [called[cell] for cell in message.cells], called[message.most_severe]
    )
    worst = t("front.gravest", name=gravest) if len(message.cells) > 1 else ""
    return note(kind, el("b", whose), " ", worst, message.text)


def _affected_cells(
    t: Messages, cells: Sequence[tuple[str, str]], gravest: tuple[str, str]
) -> tuple[str, str]:
    """The cells of a banner and the gravest of them; what they have in common stands once."""
    shared = {rest for _, rest in cells}
    if len(shared) == 1:
        models = join_names_shortened(t, [model for model, _ in cells])
        return " · ".join(filter(None, (models, *shared))), gravest[0]
    return join_names_shortened(t, [" · ".join(filter(None, cell)) for cell in cells]), " · ".join(
        gravest
    )


def _is_real_model(summary: Summary, view: RunView) -> bool:
    return summary.cell.model not in view.baselines


def _no_pairs(t: Messages) -> Html:
    return join(el("h2", t("front.pairs")), el("p", t("front.pairs_none"), cls="dim gap-s"))


def _comparison(t: Messages, view: RunView, comparison: ComparisonSet) -> list[Html]:
    heading = " · ".join(filter(None, (t("front.pairs"), view.heading(comparison))))
    widest = sorted(comparison.pairs, key=lambda pair: -pair.paired.difference)
    sentences = [(pair_sentence(pair, t.language), pair.has_winner) for pair in widest]
    sentences += [
        (refusal_sentence(refused, t.language), False) for refused in comparison.incomparable
    ]
    return [
        div(el("h2", heading), span(t(f"measure.{comparison.measure}"), cls="meta"), cls="card-h"),
        *(div(el("b", line) if sure else line, cls="pair-line") for line, sure in sentences),
        el("p", comparison_method(comparison, t.language), cls="meta gap-s"),
    ]


def _kpis(t: Messages, view: RunView) -> Html:
    summaries = list(view.with_question.values())
    parts = names(summaries, t.language)
    ranks = {(comparison.dataset, comparison.label): comparison for comparison in view.pairs()}
    heads = div(*(div(t(f"kpi.{name}")) for name in _KPIS), cls="kpi h")
    rows: list[Html] = []
    for summary in summaries:
        if summary.state == "impossible":
            continue
        cell = summary.cell
        model, rest = parts[cell]
        who = div(
            view.model(cell.model, model),
            div(rest, cls="meta gap-s") if rest else None,
            _rank(t, view, summary, ranks.get((cell.dataset, cell.label))),
            div(span(t(f"state.{summary.state}"), cls="tag")) if summary.state != "done" else None,
        )
        rows.append(div(who, *_figures(t, summary), cls="kpi"))
    return card(heads, *rows, cls="kpis")


def _rank(t: Messages, view: RunView, s: Summary, comparison: ComparisonSet | None) -> Html | None:
    """The rank band of a cell, or why it has none."""
    if s.accuracy is None:
        return None
    guessing = "" if s.above_chance else t("kpi.guessing")
    if not _is_real_model(s, view) and (
        comparison is None or comparison.rank_of(s.cell.model) is None
    ):
        tag = div(span(t("front.baseline"), cls="tag"))
        return join(tag, div(guessing or t("front.baseline_about"), cls="meta gap-xs"))
    word, why = rank_text(comparison, s.cell, t.language) if comparison else ("", guessing)
    ranked = comparison is not None and comparison.rank_of(s.cell.model) is not None
    return join(
        div(span(word, cls="tag" if ranked else None)) if word else None,
        div(why, cls="meta gap-xs") if why else None,
    )


def _figures(t: Messages, s: Summary) -> list[Html]:
    """The five figures, each with its label for narrow screens."""
    if s.accuracy is None or s.readable is None:
        return [div(s.error or t("results.no_answers"), cls="meta wide")]
    bounds = accuracy_bounds(s, t.language) if s.unreadable_origin else ""
    cells = [
        _share(t, s.accuracy, t("kpi.n", n=count(s.n)) if s.n >= HIDDEN_BELOW else ""),
        _or_one_order(t, s, _share(t, s.robust) if s.robust else None),
        _or_one_order(
            t, s, _sensitivity(t, s, s.order_sensitivity) if s.order_sensitivity else None
        ),
        _bias_levels(t, s),
        tile(format_value(s.readable), "%", _unreadable(t, s), bounds),
    ]
    return [
        div(div(t(f"kpi.{key}"), cls="lab meta"), shown, cls="wide" if key == "position" else None)
        for key, shown in zip(_KPIS[1:], cells, strict=True)
    ]


def _bias_levels(t: Messages, s: Summary) -> Html:
    """A light with its sentence for each number of options."""
    strata = s.bias.strata if s.bias else ()
    several = len(strata) > 1
    return join(
        *(
            div(
                div(t("file.options", n=each.n_options), cls="meta") if several else None,
                bias_level_status(t, each),
                div(most_picked(t, each)),
                div(bias_level_details(each, t.language), cls="meta"),
                cls="light",
            )
            for each in strata
        )
    ) or span("–", cls="meta")


def _share(t: Messages, share: Interval, below: str = "") -> Html:
    """A share in per cent; of few questions the count, which claims no more than there is."""
    if share.n < HIDDEN_BELOW:
        of, right = t("front.of", n=count(share.n)), share.value * share.n
        parts = 0 if abs(right - round(right)) < _COUNT_TOLERANCE else 1  # a tie counts in part
        return tile(fixed(right, parts), of, plausible_range(share, t.language))
    return tile(format_value(share), "%", plausible_range(share, t.language), below)


def _sensitivity(t: Messages, s: Summary, share: Interval) -> Html:
    if share.n < HIDDEN_BELOW:
        of = t("front.of", n=count(share.n))
        return tile(count(s.only_as_written), of, t("front.only_as_written"))
    return tile(format_value(share), t("kpi.points"), only_as_written(s, t.language))


def _unreadable(t: Messages, s: Summary) -> str:
    if s.unreadable:
        return unreadable(s, t.language)
    return t("kpi.all_readable", n=f"{s.done:,}")


def _or_one_order(t: Messages, s: Summary, shown: Html | None) -> Html:
    """What needs several orders, or why it is missing."""
    key = "kpi.one_order" if s.cell.pattern == "origin" else "front.no_order_done"
    return shown or span(t(key), cls="meta")
