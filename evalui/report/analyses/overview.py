"""The overview of a run's multiple-choice cells as blocks, for the screen and for files alike."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from evalui.messages import Messages, add_messages, localized, messages
from evalui.modes import MODES
from evalui.report.analyses.base import Analysis
from evalui.report.analyses.calibration import (
    CalibratedCell,
    act_cells,
    act_finding,
    calibrated_cells,
    met,
)
from evalui.report.analyses.groups import by_subject
from evalui.report.analyses.left_out import left_out_sentences
from evalui.report.analyses.metrics import bias_cell, every_figure, signatures
from evalui.report.analyses.readings import every_rule
from evalui.report.analyses.verdict import (
    MOST_MODES,
    DatasetStanding,
    comparison_method,
    format_points,
    format_points_range,
    headline,
    standings,
    sureness,
    verdict,
    winner,
)
from evalui.report.analyses.warnings import GUESSING, what_to_know
from evalui.report.axes import Axis
from evalui.report.blocks import (
    NONE,
    Block,
    Card,
    Column,
    Details,
    Heading,
    Link,
    Links,
    NoteLine,
    Notes,
    Paragraph,
    Places,
    PlotCell,
    PlotMark,
    Table,
    TableCell,
    TextCell,
    ValueCell,
)
from evalui.report.numbers import (
    count,
    decimal_places,
    fixed,
    format_range,
    format_value,
    p_column,
    percent,
)
from evalui.report.words import band_text, join_sentences, mode_name, mode_word
from evalui.scoring.cautions import HIDDEN_BELOW
from evalui.scoring.cell_summary import Measure, Summary, is_decided
from evalui.scoring.comparisons import MEASURES, CellComparison
from evalui.types import Interval, Language, LeftOut, is_unfinished, signature_parts

add_messages(Path(__file__).with_suffix(".toml"))

_MOST_ROWS = 8  # of a page, before one wants to see all
_AXIS = Axis(0.0, 1.0, (0.0, 0.2, 0.4, 0.6, 0.8, 1.0), ("0", "20", "40", "60", "80", "100 %"))
_WIDTHS = {"rank": 56, "model": 176, "lead": 168, "figure": 112, "bias": 176}  # pixels
_COUNT_TOLERANCE = 1e-6  # a count this near to a whole number is one
_SMALL_LOSS = 1 / 20
_CHINESE_TENTHS = "零一两三四五六七八九"
_Part = Callable[[DatasetStanding, Language], tuple[str, list[Block]] | None]


def overview_blocks(
    summaries: Sequence[Summary],
    language: Language,
    *,
    baselines: Collection[str] = (),
    left_out: Sequence[LeftOut] = (),
    changes: Sequence[str] = (),
    places: Places | None = None,
    mode: str = "",
    all_models: bool = False,
    sort: str = "",
) -> tuple[Block, ...]:
    """Headline, one lead table per dataset, what folds below it, and the signature.

    While answers are to come nothing is concluded, and nothing folds below the tables. `places`
    gives the blocks their links; without it they are those of a file, with every model. `mode` is
    the label of the mode that ranks, `sort` the column of "Every figure".
    """
    most = (len(summaries) if all_models else _MOST_ROWS) if places else 0
    datasets = standings(summaries, baselines=baselines, mode=mode, most=most)
    shown = [s for s in summaries if s.state != "impossible"] or list(summaries)
    ended = not any(map(is_unfinished, summaries))
    sections = (summaries, datasets, language, baselines, left_out, changes, places, sort)
    return (
        headline(datasets, language),
        *_switch(datasets, language, places),
        *_tables(datasets, language, places),
        *(_acting(datasets, language, places) if ended else ()),
        *(_sections(*sections) if ended else ()),
        *([signatures(shown)] if places else []),
    )


def _switch(
    datasets: Sequence[DatasetStanding], language: Language, places: Places | None
) -> Iterator[Block]:
    """The modes as links, where there are too many to stand beside each other."""
    most = max(datasets, key=lambda standing: len(standing.modes), default=None)
    if places is None or most is None or len(most.modes) <= MOST_MODES:
        return
    kinds = {label: summary.cell for (label, _), summary in most.cells.items()}
    yield Links(
        tuple(
            Link(
                mode_word(kinds[label], language),
                places.view("overview", mode=label),
                current=label == most.lead,
            )
            for label in most.modes
        )
    )


def _tables(
    datasets: Sequence[DatasetStanding],
    language: Language,
    places: Places | None,
) -> Iterator[Block]:
    answered = [s for s in datasets if any(cell.accuracy or cell.done for cell in s.leading)]
    for number, standing in enumerate(answered, start=1):
        named = standing.dataset if len(datasets) > 1 else ""
        file = "accuracy.png" if number == 1 else f"accuracy-{number}.png"
        yield lead_card(standing, language, named=named, file=file)
        yield from _way_to_all(standing, language, places)


def _acting(
    datasets: Sequence[DatasetStanding], language: Language, places: Places | None
) -> Iterator[Block]:
    """From which probability on one can act on each model: of decisions a card, of letters a
    section that folds, where there is a threshold.
    """
    for standing in datasets:
        by_model = {each.model: each for each in calibrated_cells(standing.leading)}
        cells = [by_model[model] for model in standing.shown if model in by_model]
        decided = any(is_decided(each.summary.cell) for each in cells)
        known = [each for each in cells if each.act]
        if not (cells if decided else known):
            continue
        t = messages(language)
        finding = act_finding((known or cells)[0], t, named=len(cells) > 1)
        blocks: list[Block] = [_act_table(cells, standing, t)] if known else []
        if places:
            blocks.append(Links((Link(t("calibration.all"), places.view("calibration")),)))
        caption = t("calibration.act-caption") if known else ""
        if decided:
            yield Card(tuple(blocks), title=finding, caption=caption)
        else:
            said = t("sentence", said=finding)
            blocks.insert(1, Paragraph(caption, small=True))
            yield Details("acting", t("calibration.act-title"), said, tuple(blocks))


def _act_table(cells: Sequence[CalibratedCell], standing: DatasetStanding, t: Messages) -> Table:
    """The threshold of each model, and what it gives on the questions that did not choose it."""
    columns = (
        Column(t("overview.lead.model"), width=_WIDTHS["model"]),
        Column(t("calibration.act-right"), axis=_AXIS),
        Column(t("calibration.threshold"), lead=True, width=_WIDTHS["figure"]),
        Column(t("calibration.act-right"), width=_WIDTHS["lead"]),
        Column(t("calibration.act-coverage"), width=_WIDTHS["figure"]),
        Column(t("calibration.met"), width=_WIDTHS["bias"]),
    )
    rows: list[tuple[TableCell, ...]] = []
    for each in cells:
        right, model = each.act.right if each.act else None, standing.model_cell(each.model)
        mark = [PlotMark(right.value, right.low, right.high)] if right else []
        told = f"{format_value(right)} % ({format_range(right)})" if right else ""
        rows.append(
            (
                model,
                model.marked(*mark, text=told),
                *act_cells(each.act, t, "lead"),
                met(each.act, t),
            )
        )
    return Table(columns, tuple(rows), lead=True)


def _way_to_all(
    standing: DatasetStanding, language: Language, places: Places | None, section: str = ""
) -> Iterator[Block]:
    """A link to the same with every model, opened at a section, where some are left out."""
    if places and len(standing.shown) < len(standing.models):
        word = localized("overview.lead.show-all", language, n=count(len(standing.models)))
        address = places.view("overview", mode=standing.lead, all="1")
        yield Links((Link(word, f"{address}#{section}" if section else address),))


def _sections(
    summaries: Sequence[Summary],
    datasets: Sequence[DatasetStanding],
    language: Language,
    baselines: Collection[str],
    left_out: Sequence[LeftOut],
    changes: Sequence[str],
    places: Places | None,
    sort: str,
) -> Iterator[Details]:
    guessing = bool(datasets) and all(standing.guessing for standing in datasets)
    if guessing:
        yield why_guessing(datasets[0], language, places)
    for name, kind, part in (
        ("how-sure", "overview.sure", how_sure),
        ("by-subject", "groups.subjects", by_subject),
        ("every-rule", "readings", every_rule),
    ):
        more = partial(_way_to_all, language=language, places=places, section=name)
        if made := section(name, part, datasets, language, kind=kind, more=more):
            yield made
    # That a model could not run is said by its cells, where there are any.
    noted = any(summary.state == "impossible" for summary in summaries)
    beside = [each for each in left_out if not (noted and each.rule == "model")]
    known = what_to_know(
        summaries,
        language,
        baselines=baselines,
        left_out=left_out_sentences(beside, language),
        changes=changes,
        unless=GUESSING if guessing else (),
        places=places,
    )
    if known:
        yield known
    if any(summary.done for summary in summaries):
        yield every_figure(summaries, datasets, language, places=places, sort=sort)


def section(
    name: str,
    part: _Part,
    standings: Sequence[DatasetStanding],
    language: Language,
    *,
    kind: str,
    more: Callable[[DatasetStanding], Iterable[Block]] = lambda _: (),
) -> Details | None:
    """A section of all datasets that have something to say, each followed by `more` of it.

    None if none has. The keys of its words begin with `kind`.
    """
    made = [
        (standing.dataset, parts[0], (*parts[1], *more(standing)))
        for standing in standings
        if (parts := part(standing, language))
    ]
    if not made:
        return None
    if len(standings) == 1:
        _, finding, blocks = made[0]
        return Details(name, localized(f"{kind}.name", language), finding, tuple(blocks))
    won = sum(winner(standing) is not None for standing in standings)
    t, several = messages(language), f"{kind}.several"
    key = f"{several}-none" if not won and f"{several}-none" in t else several
    finding = t(key, k=won, of=len(standings))
    every = [block for dataset, _, own in made for block in (Heading(3, dataset), *own)]
    return Details(name, localized(f"{kind}.name", language), finding, tuple(every))


# ---------------------------------------------------------------- the table that leads


def lead_card(
    standing: DatasetStanding,
    language: Language,
    *,
    named: str = "",
    file: str = "",
) -> Card:
    """The table under its finding.

    Of several datasets each is `named`, with its own verdict.
    """
    table = lead_table(standing, language, file=file)
    verdict_block: list[Block] = (
        [Paragraph(verdict(standing, language).text, strong=True)] if named else []
    )
    return Card(
        (*verdict_block, table),
        title=named or _title(standing, language),
        caption=_caption(standing, language),
    )


def lead_table(standing: DatasetStanding, language: Language, *, file: str = "") -> Table:
    """The table itself; `file` names the picture of its marks."""
    ranked = standing.comparison is not None
    columns = _columns(standing, language)
    rows = [_row(standing, model, language)[0 if ranked else 1 :] for model in standing.shown]
    return Table(
        tuple(columns if ranked else columns[1:]),
        tuple(map(tuple, rows)),
        lead=True,
        file=file,
    )


def other_modes(standing: DatasetStanding) -> tuple[str, ...]:
    """The modes that stand beside the one that ranks; of more than three none does."""
    others = tuple(label for label in standing.modes if label != standing.lead)
    return others if len(standing.modes) <= MOST_MODES else ()


# ---------------------------------------------------------------- words around it


def _title(standing: DatasetStanding, language: Language) -> str:
    """What the marks show: how much is lost with the order, else the neutral fact."""
    answered = [s for s in standing.leading if s.accuracy]
    own = [s for s in answered if s.cell.model not in standing.baselines]
    if standing.guessing and not any(s.above_chance for s in answered):
        return localized("overview.lead.guessing", language)
    known = bool(own) and not standing.unfinished and not standing.guessing
    lost = order_loss_title(own, language) if known else ""
    return lost or localized("overview.lead.neutral", language)


def _caption(standing: DatasetStanding, language: Language) -> str:
    sizes = [s.n for s in standing.leading if s.accuracy]
    if not sizes:
        return ""
    low, high = min(sizes), max(sizes)
    n = (
        localized("overview.lead.n-same", language, n=count(low))
        if low == high
        else localized("overview.lead.n-range", language, low=count(low), high=count(high))
    )
    caption = localized(f"overview.lead.caption-{_measures(standing)[0]}", language, n=n)
    in_one_order = all(s.cell.pattern == "origin" and s.main_bias for s in standing.leading)
    return join_sentences(
        caption, localized("overview.lead.caption-blind", language) if in_one_order else ""
    )


def order_loss_title(summaries: Sequence[Summary], language: Language) -> str:
    """How much of what models know they lose with the order of options; "" if that is unknown."""
    if any(s.sampled for s in summaries):
        return _sampled_loss_title(summaries, language)
    moved = [s for s in summaries if _order_loss(s) is not None]
    knowing = [s for s in moved if s.above_chance]  # a guesser has nothing to lose
    if not knowing:
        return ""
    if len(moved) > 1 and all((_order_loss(s) or 0) <= _SMALL_LOSS for s in moved):
        return localized("overview.loses-few", language)
    most = max(knowing, key=lambda s: _order_loss(s) or 0)
    return _loss_sentence(_order_loss(most) or 0, most.cell.model, language)


def _sampled_loss_title(summaries: Sequence[Summary], language: Language) -> str:
    """What moving options costs beyond what asking again does; "" where nobody was asked again."""
    known = [
        (s, loss) for s in summaries if isinstance(loss := s.figures.get("order_loss"), Interval)
    ]
    if not known:
        return ""
    most, loss = max(known, key=lambda each: each[1].value)
    if loss.low <= 0:
        return localized("overview.order-loss-none", language)
    points = fixed(100 * loss.value, decimal_places(loss))
    return localized("overview.order-loss", language, model=most.cell.model, points=points)


def _order_loss(summary: Summary) -> float | None:
    return summary.lost_with_order if summary.order_sensitivity else None


def _loss_sentence(share: float, model: str, language: Language) -> str:
    if share <= _SMALL_LOSS:
        return localized("overview.keeps", language, model=model)
    tenths = round(10 * share)
    if share == 1:
        return localized("overview.loses-all", language, model=model)
    if tenths == 10:
        return localized("overview.loses-nearly-all", language, model=model)
    tenths = max(tenths, 1)
    return localized(
        "overview.loses", language, model=model, tenths=tenths, chengs=_CHINESE_TENTHS[tenths]
    )


# ---------------------------------------------------------------- columns


def _columns(standing: DatasetStanding, language: Language) -> list[Column]:
    def word(key: str) -> str:
        return localized(f"overview.lead.{key}", language)

    group = _group(standing, language)
    moved = any(s.robust for s in standing.leading)
    first, second = _measures(standing)
    heads = {measure: localized(f"verdict.column.{measure}", language) for measure in MEASURES}
    if moved:
        heads["accuracy"] = localized("verdict.column.origin", language)
    columns = [
        Column(localized("metrics.rank", language), rank=True, width=_WIDTHS["rank"]),
        Column(word("model"), width=_WIDTHS["model"]),
        Column(word("plot"), axis=_AXIS, rule=_rule(standing, language)),
        Column(heads[first], group, lead=True, width=_WIDTHS["lead"]),
    ]
    if second:
        columns.append(Column(heads[second], group, width=_WIDTHS["figure"]))
    if _has_bias(standing):
        columns.append(Column(localized("metrics.bias", language), group, width=_WIDTHS["bias"]))
    for label in other_modes(standing):
        head = localized(f"verdict.column.{_measure_of(standing, label)}", language)
        columns.append(Column(head, _mode(standing, label, language), width=_WIDTHS["figure"]))
    return columns


def _measures(standing: DatasetStanding) -> tuple[Measure, Measure | None]:
    """What stands in the first column of figures, and in the second (None if there is none)."""
    if not any(s.robust for s in standing.leading):
        return "accuracy", None
    if standing.measure != "accuracy" and not standing.guessing:
        return standing.measure, "accuracy"
    drawn = any(s.sampled for s in standing.leading)
    return "accuracy", "mean_over_orders" if drawn else "robust"


def _measure_of(standing: DatasetStanding, label: str) -> Measure:
    compared = standing.compared.get(label)
    return compared.measure if compared else "accuracy"


def _has_bias(standing: DatasetStanding) -> bool:
    return any(s.main_bias for s in standing.leading)


def _mode(standing: DatasetStanding, label: str, language: Language) -> str:
    cell = next(s.cell for (each, _), s in standing.cells.items() if each == label)
    name = mode_name(cell, language)
    return name[:1].upper() + name[1:]


def _group(standing: DatasetStanding, language: Language) -> str:
    """The mode that ranks, with its orders if there are several."""
    mode = _mode(standing, standing.lead, language)
    biases = [s.main_bias for s in standing.leading if s.main_bias]
    orders = next((b.consistency.n_orders for b in biases if b.consistency), 0)
    return localized("overview.lead.orders", language, mode=mode, n=orders) if orders > 1 else mode


def _rule(standing: DatasetStanding, language: Language) -> tuple[float, str] | None:
    """The line of guessing, where all models have the same."""
    answered = [s for s in standing.leading if s.accuracy]
    chances = {s.chance for s in answered if s.chance is not None}
    if len(chances) != 1:
        return None
    chance = chances.pop()
    value = percent(chance)
    robust = next((s.chance_robust for s in answered if s.chance_robust is not None), None)
    if robust is None or _measures(standing)[0] != "robust":
        return chance, localized("overview.lead.rule", language, value=value)
    return chance, localized(
        "overview.lead.rule-both", language, value=value, robust=percent(robust)
    )


# ---------------------------------------------------------------- rows


def _row(standing: DatasetStanding, model: str, language: Language) -> list[TableCell]:
    summary = standing.cell(model)
    place, baseline = standing.places.get(model, 0), model in standing.baselines
    rank = standing.rank(model)
    first, second = _measures(standing)
    row: list[TableCell] = [
        band_text(rank.low, rank.high) if rank else NONE,
        standing.model_cell(model, _below(standing, summary, language)),
        _plot(standing, summary, language, place=place, baseline=baseline),
        _figure(summary, first, language, lead=True, several=standing),
    ]
    if second:
        row.append(_figure(summary, second, language))
    if _has_bias(standing):
        row.append(bias_cell(summary, language))
    for label in other_modes(standing):
        measure = _measure_of(standing, label)
        other = standing.cells.get((label, model))
        # Why the mode that ranks has none stands below the name.
        missing = _missing(other, language)
        row.append(_figure(other, measure, language, missing=missing))
    return row


def _below(standing: DatasetStanding, summary: Summary | None, language: Language) -> str:
    """Why a model has no rank, or how far it is."""
    if summary is None or summary.state == "impossible":
        return localized("overview.lead.not-run", language)
    if is_unfinished(summary):
        done, total = count(summary.done), count(summary.total)
        return localized("overview.lead.progress", language, done=done, total=total)
    if summary.accuracy is None:
        return localized(
            "overview.lead.failed" if summary.state == "failed" else "overview.lead.no-answers",
            language,
        )
    why = standing.comparison.unranked.get(summary.cell) if standing.comparison else None
    if why == "baseline" and not summary.above_chance:
        why = "guessing"
    if standing.guessing and why == "guessing":
        return ""  # the headline says so of all
    return localized(f"verdict.unranked-{why}", language) if why else ""


def _plot(
    standing: DatasetStanding,
    summary: Summary | None,
    language: Language,
    *,
    place: int,
    baseline: bool,
) -> TableCell:
    if summary is None or summary.accuracy is None:
        return PlotCell((), place, baseline)
    measure = _measures(standing)[0]
    origin, share = summary.accuracy, summary.share(measure)
    moved = any(s.robust for s in standing.leading)
    written = PlotMark(origin.value, origin.low, origin.high, hollow=moved)
    fields = {"value": format_value(origin), "span": format_range(origin)}
    if share is None or measure == "accuracy":
        return PlotCell(
            (written,), place, baseline, localized("overview.lead.told", language, **fields)
        )
    marks = (PlotMark(share.value, share.low, share.high), written)
    text = localized(
        f"overview.lead.told-{measure}",
        language,
        value=format_value(share),
        span=format_range(share),
        origin=fields["value"],
        origin_span=fields["span"],
    )
    return PlotCell(marks, place, baseline, text)


def _figure(
    summary: Summary | None,
    measure: Measure,
    language: Language,
    *,
    lead: bool = False,
    several: DatasetStanding | None = None,
    missing: str = "",
) -> TableCell:
    """A share with its range; of few questions the count, which claims no more than there is.

    `missing` is why there is none.
    """
    share = summary.share(measure) if summary else None
    if share is None:
        return TextCell(NONE, missing)
    size = "lead" if lead else "large"
    if share.n < HIDDEN_BELOW:
        of = localized("overview.lead.of", language, n=count(share.n))
        return ValueCell(_right(share), of, format_range(share) + " %", size=size)
    below = ""
    if several and len({s.n for s in several.leading if s.accuracy}) > 1:
        below = localized("overview.lead.n", language, n=count(share.n))
    return ValueCell(format_value(share), "%", format_range(share), below, size)


def _right(share: Interval) -> str:
    right = share.value * share.n
    places = 0 if abs(right - round(right)) < _COUNT_TOLERANCE else 1  # a tie counts in part
    return fixed(right, places)


def _missing(summary: Summary | None, language: Language) -> str:
    if summary is None or summary.state == "impossible":
        return localized("overview.lead.not-run", language)
    return "" if summary.accuracy else localized("overview.lead.no-answers", language)


# ---------------------------------------------------------------- why no model may beat guessing


def why_guessing(standing: DatasetStanding, language: Language, places: Places | None) -> Details:
    """The usual reasons, each with its next step where it can be taken."""
    shots = _shots(standing.leading[0])
    kind = f"examples-{'some' if shots else 'none'}"
    written = [s.cell for s in (*standing.leading, *standing.cells.values()) if _has_replies(s)]
    texts = {"examples": localized(f"overview.why.{kind}", language, n=shots)}
    if written:
        texts["replies"] = localized("overview.why.replies-text", language)
    texts["difficulty"] = localized("overview.why.difficulty-text", language)
    rows: list[tuple[TableCell, ...]] = []
    for key, text in texts.items():
        row = TextCell(localized(f"overview.why.{key}", language), strong=True), text
        if places is None:
            rows.append(row)
            continue
        step = localized(f"overview.why.{kind if key == 'examples' else key}-do", language)
        href = {
            "examples": places.repeat if shots else places.examples,
            "replies": places.samples(written[0], outcome="wrong") if written else "",
            "difficulty": places.sample,
        }[key]
        rows.append((*row, TextCell(step, href=href) if href else NONE))
    columns = tuple(Column("", width=width) for width in (200, 0, 0)[: len(rows[0])])
    return Details(
        "why",
        localized("overview.why.name", language),
        localized("overview.why.finding", language),
        (Table(columns, tuple(rows)),),
        open=True,
    )


def _has_replies(summary: Summary) -> bool:
    mode = summary.cell.mode
    return bool(summary.done) and mode in MODES and MODES[mode].abilities_needed == "generate"


def _shots(summary: Summary) -> int:
    """The worked examples before each question, as its signature has them."""
    shots = signature_parts(summary.cell.signature).get("shots", "")
    return int(shots) if shots.isdigit() else 0


# ---------------------------------------------------------------- how sure is this?


def how_sure(standing: DatasetStanding, language: Language) -> tuple[str, list[Block]] | None:
    """How sure the verdict is, and every pair of the mode that ranks."""
    finding = sureness(standing, language)
    if not finding:
        return None
    comparison = standing.comparison
    if comparison is None or not comparison.pairs:
        return finding, []
    pairs = standing.shown_pairs
    blocks: list[Block] = [pairs_table(pairs, language)]
    if len(pairs) < len(comparison.pairs):
        n, total = count(len(pairs)), count(len(comparison.pairs))
        more = localized("verdict.first-pairs", language, n=n, total=total)
        blocks.append(Notes((NoteLine("na", more),)))
    return finding, [*blocks, _pairs_caption(standing, language)]


def pairs_table(pairs: Sequence[CellComparison], language: Language) -> Table:
    """Every pair, the widest difference first, with its range and its corrected p-value."""
    keys = ("pair", "difference", "range", "p", "words")
    heads = [localized(f"overview.sure.{key}", language) for key in keys]
    widest = sorted(pairs, key=lambda pair: -pair.paired.difference)
    columns = tuple(Column(head, right=place in (1, 2, 3)) for place, head in enumerate(heads))
    return Table(columns, tuple(_pair(pair, language) for pair in widest))


def _pair(pair: CellComparison, language: Language) -> tuple[TableCell, ...]:
    tested = pair.finding in ("apart", "level")
    gap = format_points(pair)
    sign = "+" if pair.paired.difference > 0 else ""
    return (
        localized("overview.sure.over", language, first=pair.first.model, second=pair.second.model),
        ValueCell(f"{sign}{gap}", localized("overview.sure.points", language)),
        format_points_range(pair.paired),
        p_column(pair.adjusted) if tested else NONE,
        localized(f"overview.sure.word-{pair.finding}", language),
    )


def _pairs_caption(standing: DatasetStanding, language: Language) -> Paragraph:
    comparison = standing.comparison
    assert comparison is not None, "there are pairs"
    measure = localized(f"verdict.measure-{comparison.measure}", language)
    text = localized(
        "overview.sure.caption",
        language,
        measure=measure[:1].upper() + measure[1:],
        n=count(comparison.n),
        k=count(len(comparison.pairs)),
    )
    if not comparison_method(comparison, language):
        return Paragraph("", small=True)
    return Paragraph(
        join_sentences(text, localized("overview.sure.all-tests", language)), small=True
    )


OVERVIEW = Analysis(
    lambda report: report.has_choices,
    lambda report, language: overview_blocks(
        report.summaries,
        language,
        baselines=report.baselines,
        left_out=report.left_out,
        changes=report.changes,
    ),
)
