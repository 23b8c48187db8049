"""The front page of a run: what one must know first, five figures of each cell, every pair."""

from collections.abc import Collection, Mapping, Sequence

from evalui.report.banner import BIASED, banner
from evalui.report.bias_narrative import light_small, light_words, picks_words
from evalui.report.guessing import guessing_lines
from evalui.report.narrative import (
    accuracy_bounds,
    names,
    only_as_written,
    overview_subtitle,
    overview_title,
    plausible,
    unreadable,
)
from evalui.report.notes import Note, notes
from evalui.report.numbers import count, figure, fixed
from evalui.report.pair_narrative import (
    comparison_about,
    pair_sentence,
    rank_words,
    refusal_sentence,
)
from evalui.report.pairs import Comparison
from evalui.report.summary import Summary
from evalui.scoring.bias import Bias
from evalui.scoring.lights import HIDDEN_BELOW, Light
from evalui.types import LETTERS, Cell, Interval
from evalui.ui.figures import glued, tile
from evalui.ui.html import Html, div, el, join, span
from evalui.ui.matrix import model_name
from evalui.ui.text import Text
from evalui.ui.view import Shown
from evalui.ui.widgets import card, note, status

_KPIS = ("model", "accuracy", "robust", "sensitivity", "position", "readable")
LIGHTS: Mapping[Light, str] = {
    "green": "ok",
    "amber": "warn",
    "red": "bad",
    "mass": "na",
    "few": "na",
    "na": "na",
}
_WHOLE = 1e-6  # a count this near to a whole number is one
_GUESSING = ("chance", "below-chance")  # the notes on models no better than guessing
_NAMED = 3  # models named in the banner
_KINDS = {"bad": "bad", "warn": "warn", "info": "na"}


def top(t: Text, shown: Shown) -> Html:
    """What stands first, one banner, the figures of each cell; notes on baselines stay below."""
    answered = any(summary.accuracy for summary in shown.asked.values())
    first = _first(t, shown)
    # What the first sentence says of all is not said again of each.
    warned = _banner(t, shown, unless=_GUESSING if first else ())
    return div(first, warned, _kpis(t, shown) if answered else _nothing(t), cls="stack")


def pairs(t: Text, shown: Shown) -> Html:
    """One sentence per pair of models, how they were tested, and where to go next."""
    found = shown.pairs()
    parts = [part for each in found for part in _comparison(t, shown, each)]
    return div(
        *(parts or [_alone(t)]),
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


def light_status(t: Text, found: Bias) -> Html:
    """The light of the position bias: an icon and a word, never a colour alone."""
    light, word = light_words(found, t.language)
    return status(LIGHTS[light], word)


def picked_most(t: Text, found: Bias) -> str:
    """What stands beside the light: the favoured position; of few questions, its count."""
    picks = found.position.slot_counts
    best = max(picks)
    if (
        found.light == "mass"
        or found.n >= HIDDEN_BELOW
        or picks.count(best) > 1
        or best == sum(picks)
    ):
        return glued(picks_words(found, t.language))
    letter = LETTERS[picks.index(best)]
    return t("front.picks_count", letter=letter, k=count(best), n=count(sum(picks)))


def chart_title(t: Text, summaries: Sequence[Summary], baselines: Collection[str]) -> Html:
    """What the chart below shows, as a sentence, and how to read it."""
    return join(
        el("h2", overview_title(summaries, t.language, baselines=baselines)),
        el("p", overview_subtitle(summaries, t.language), cls="meta"),
    )


def all_notes(
    t: Text, summaries: Sequence[Summary], *, only: Sequence[Summary] | None = None
) -> list[tuple[str, Note]]:
    """Every note (on some cells `only`) with the name of its cell, most serious first."""
    cells = cell_names(t, summaries)
    chosen = summaries if only is None else only
    found = [(cells[s.cell], one) for s in chosen for one in notes(s, t.language)]
    return sorted(found, key=lambda pair: list(_KINDS).index(pair[1].level))


def note_line(cell: str, found: Note) -> Html:
    """One note on the screen."""
    return note(_KINDS[found.level], el("b", cell), " ", found.text)


def cell_names(t: Text, summaries: Sequence[Summary]) -> dict[Cell, str]:
    """Each cell by what tells it from the others, on one line."""
    return {
        cell: " · ".join(part for part in parts if part)
        for cell, parts in names(summaries, t.language).items()
    }


def listed(t: Text, names: Sequence[str]) -> str:
    """The first names and how many more there are."""
    if len(names) > _NAMED + 1:
        left = t("front.more", n=count(len(names) - _NAMED))
        names = [*names[:_NAMED], left]
    head, last = t("list.comma").join(names[:-1]), names[-1]
    return t("list.and", names=head, last=last) if head else last


def model_places(summaries: Sequence[Summary], baselines: Collection[str]) -> dict[str, int]:
    """The place of each model in the run, which decides its marker; baselines take none."""
    models = dict.fromkeys(s.cell.model for s in summaries if s.cell.model not in baselines)
    return {model: place for place, model in enumerate(models)} | dict.fromkeys(baselines, 0)


def _nothing(t: Text) -> Html:
    return card(div(t("results.no_answers"), cls="empty"))


def _first(t: Text, shown: Shown) -> Html | None:
    """The sentence that stands before all else where no model beats guessing."""
    summaries = list(shown.summaries.values())
    lines = guessing_lines(summaries, t.language, baselines=shown.baselines)
    if not lines:
        return None
    verdict, *rest = lines
    return div(el("h2", verdict), *(el("p", glued(line)) for line in rest), cls="verdict")


def _banner(t: Text, shown: Shown, *, unless: Collection[str]) -> Html | None:
    """The gravest note on real models, with the names of all that have it."""
    own = [summary for summary in shown.summaries.values() if _is_own(summary, shown)]
    found = banner(own, t.language, unless=unless)
    if found is None:
        return None
    kind = _KINDS[found.level]
    if found.rule == BIASED:
        models = list(dict.fromkeys(cell.model for cell in found.cells))
        said = t.count("front.biased", len(models), names=listed(t, models))
        return note(kind, el("b", said), " ", t.count("front.biased_about", len(models)))
    called = names(list(shown.summaries.values()), t.language)
    whose, gravest = _whose(t, [called[cell] for cell in found.cells], called[found.gravest])
    worst = t("front.gravest", name=gravest) if len(found.cells) > 1 else ""
    return note(kind, el("b", whose), " ", worst, found.text)


def _whose(t: Text, cells: Sequence[tuple[str, str]], gravest: tuple[str, str]) -> tuple[str, str]:
    """The cells of a banner and the gravest of them; what they have in common is said once."""
    shared = {rest for _, rest in cells}
    if len(shared) == 1:
        models = listed(t, [model for model, _ in cells])
        return " · ".join(filter(None, (models, *shared))), gravest[0]
    return listed(t, [" · ".join(filter(None, cell)) for cell in cells]), " · ".join(gravest)


def _is_own(summary: Summary, shown: Shown) -> bool:
    return summary.cell.model not in shown.baselines


def _alone(t: Text) -> Html:
    return join(el("h2", t("front.pairs")), el("p", t("front.pairs_none"), cls="dim gap-s"))


def _comparison(t: Text, shown: Shown, found: Comparison) -> list[Html]:
    heading = " · ".join(filter(None, (t("front.pairs"), shown.heading(found))))
    widest = sorted(found.pairs, key=lambda pair: -pair.found.difference)
    said = [(pair_sentence(pair, t.language), pair.won) for pair in widest]
    said += [(refusal_sentence(refused, t.language), False) for refused in found.refused]
    return [
        div(el("h2", heading), span(t(f"measure.{found.measure}"), cls="meta"), cls="card-h"),
        *(div(el("b", line) if sure else line, cls="pair-line") for line, sure in said),
        el("p", comparison_about(found, t.language), cls="meta gap-s"),
    ]


def _kpis(t: Text, shown: Shown) -> Html:
    summaries = list(shown.asked.values())
    places = model_places(summaries, shown.baselines)
    parts = names(summaries, t.language)
    ranks = {(found.dataset, found.label): found for found in shown.pairs()}
    heads = div(*(div(t(f"kpi.{name}")) for name in _KPIS), cls="kpi h")
    rows: list[Html] = []
    for summary in summaries:
        if summary.state == "impossible":
            continue
        cell, own = summary.cell, _is_own(summary, shown)
        model, rest = parts[cell]
        who = div(
            model_name(model, places[cell.model], not own),
            div(rest, cls="meta gap-s") if rest else None,
            _rank(t, shown, summary, ranks.get((cell.dataset, cell.label))),
            div(span(t(f"state.{summary.state}"), cls="tag")) if summary.state != "done" else None,
        )
        rows.append(div(who, *_figures(t, summary), cls="kpi"))
    return card(heads, *rows, cls="kpis")


def _rank(t: Text, shown: Shown, s: Summary, found: Comparison | None) -> Html | None:
    """The rank band of a cell, or why it has none."""
    if s.accuracy is None:
        return None
    guessing = "" if s.above_chance else t("kpi.guessing")
    if not _is_own(s, shown) and (found is None or found.place(s.cell.model) is None):
        tag = div(span(t("front.baseline"), cls="tag"))
        return join(tag, div(guessing or t("front.baseline_about"), cls="meta gap-xs"))
    word, why = rank_words(found, s.cell, t.language) if found else ("", guessing)
    ranked = found is not None and found.place(s.cell.model) is not None
    return join(
        div(span(word, cls="tag" if ranked else None)) if word else None,
        div(why, cls="meta gap-xs") if why else None,
    )


def _figures(t: Text, s: Summary) -> list[Html]:
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
        _lights(t, s),
        tile(figure(s.readable), "%", _unreadable(t, s), bounds),
    ]
    return [
        div(div(t(f"kpi.{key}"), cls="lab meta"), shown, cls="wide" if key == "position" else None)
        for key, shown in zip(_KPIS[1:], cells, strict=True)
    ]


def _lights(t: Text, s: Summary) -> Html:
    """A light with its sentence for each number of options."""
    found = s.bias.strata if s.bias else ()
    several = len(found) > 1
    return join(
        *(
            div(
                div(t("file.options", n=each.n_options), cls="meta") if several else None,
                light_status(t, each),
                div(picked_most(t, each)),
                div(light_small(each, t.language), cls="meta"),
                cls="light",
            )
            for each in found
        )
    ) or span("–", cls="meta")


def _share(t: Text, share: Interval, below: str = "") -> Html:
    """A share in per cent; of few questions the count, which claims no more than there is."""
    if share.n < HIDDEN_BELOW:
        of, right = t("front.of", n=count(share.n)), share.value * share.n
        parts = 0 if abs(right - round(right)) < _WHOLE else 1  # a tie counts in part
        return tile(fixed(right, parts), of, plausible(share, t.language))
    return tile(figure(share), "%", plausible(share, t.language), below)


def _sensitivity(t: Text, s: Summary, share: Interval) -> Html:
    if share.n < HIDDEN_BELOW:
        of = t("front.of", n=count(share.n))
        return tile(count(s.only_as_written), of, t("front.only_as_written"))
    return tile(figure(share), t("kpi.points"), only_as_written(s, t.language))


def _unreadable(t: Text, s: Summary) -> str:
    if s.unreadable:
        return unreadable(s, t.language)
    return t("kpi.all_readable", n=f"{s.done:,}")


def _or_one_order(t: Text, s: Summary, shown: Html | None) -> Html:
    """What needs several orders, or why it is missing."""
    key = "kpi.one_order" if s.cell.pattern == "origin" else "front.no_order_done"
    return shown or span(t(key), cls="meta")
