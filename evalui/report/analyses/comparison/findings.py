"""What a comparison says in sentences: who is ahead by how much, or that nothing separates them."""

from evalui.messages import Messages
from evalui.report.analyses.comparison.figures import (
    FIGURES,
    Comparison,
    Contender,
    PairComparison,
    QuestionSplit,
)
from evalui.report.analyses.statistics import (
    format_least_difference,
    format_points,
    format_points_range,
)
from evalui.report.numbers import count, decimal_places, format_fraction, p_value, points_between
from evalui.report.words import join_names_shortened
from evalui.scoring.comparisons import CellComparison
from evalui.scoring.metrics import metric_named
from evalui.scoring.pairs import MetricPair


def verdict(t: Messages, compared: Comparison) -> str:
    """The one sentence that answers."""
    pairs = compared.pairs
    if not pairs:
        return t("compare.strangers")
    if len(pairs) == 1:
        return _of_two(t, compared, next(iter(pairs)))
    if not any(map(_won, pairs)):
        guessing = all(_finding(each) == "guessing" for each in pairs)
        key = "nobody" if guessing else "nothing"
        return t(f"compare.verdict.{key}", n=count(len(compared.contenders)))
    leaders = _unbeaten(compared)
    if len(leaders) > 1:
        names = join_names_shortened([each.name for each in leaders], t.language)
        return t("compare.verdict.level_top", names=names)
    return _of_leader(t, compared, leaders[0])


def measure_words(t: Messages, key: str, measure: str) -> str:
    """The words of a measure under its key in the catalogue; its label where there are none."""
    if key in t:
        return t(key)
    metric = metric_named(measure)
    label = measure
    if metric:
        label = t(f"head-{metric.key}") if metric.key else metric.own_label(t.language)
    common = key.removesuffix(measure) + "metric"
    return t(common, metric=label) if common in t else label


def support(t: Messages, compared: Comparison) -> str:
    """What the verdict rests on."""
    if len(compared.pairs) > 1:
        return t("compare.support.several", k=count(len(compared.pairs)))
    return _support_of_two(t, next(iter(compared.pairs))) if compared.pairs else ""


def marks_title(t: Messages, compared: Comparison) -> str:
    """What the marks show together, in a line."""
    won = [each for each in compared.rows if _won(each) and each.difference > 0]
    if len(compared.pairs) > 1 or not won or len(compared.rows) < 2:
        return t(f"compare.card.{'pairs' if len(compared.pairs) > 1 else 'measures'}")
    k, n = count(len(won)), count(len(compared.rows))
    key = "all" if len(won) == len(compared.rows) else "some"
    return t(f"compare.card.{key}", first=won[0].first.name, k=k, n=n)


def sureness(t: Messages, compared: Comparison) -> str:
    """How far the verdict can be trusted, in a line."""
    pairs = compared.pairs
    if len(pairs) > 1:
        return t("compare.sure.several", k=count(sum(map(_won, pairs))), n=count(len(pairs)))
    pair = next(iter(pairs))
    result = pair.result
    if isinstance(result, MetricPair):
        key = "tested" if result.is_significant else "not"
        return t(f"compare.sure.{key}", n=count(result.n))
    known = {"apart": "apart", "steady": "won", "level": "level"}
    key = known.get(result.finding, "not")
    if key == "level" and (result.paired.low > 0 or result.paired.high < 0):
        key = (
            "untold"  # by the range alone they are apart: the correction or the exact test decides
        )
    fields = {"least": _least(result), "range": range_text(pair), "p": p_value(result.adjusted)}
    return t(f"compare.sure.{key}", n=count(result.n), **fields)


def differing_questions(
    t: Messages, compared: Comparison, pair: PairComparison, split: QuestionSplit
) -> str:
    """On how many questions only one of a pair is right or better."""
    whole = compared.measure in ("robust", "accuracy")
    return t(
        "compare.parting" if whole else "compare.parting_higher",
        first=pair.first.name,
        second=pair.second.name,
        ahead=count(len(split.ahead)),
        behind=count(len(split.behind)),
        alike=count(len(split.alike)),
    )


def difference_text(pair: PairComparison) -> str:
    """How far the first is ahead, in points, or as a part of one for written answers."""
    if isinstance(pair.result, MetricPair):
        # That of the means as they are printed.
        one, other = (float(format_fraction(mean)) for mean in pair.means)
        return format_fraction(one - other).replace("-", "−")
    if figures := pair.result.figures:
        places = decimal_places(pair.result.paired)
        return points_between(pair.difference, *figures, places=places)
    return format_points(pair.result)


def range_text(pair: PairComparison) -> str:
    """The plausible range of the difference."""
    result = pair.result
    if isinstance(result, MetricPair):
        ends = (format_fraction(end).replace("-", "−") for end in (result.low, result.high))
        return "–".join(ends)
    return format_points_range(result.paired)


def _of_two(t: Messages, compared: Comparison, pair: PairComparison) -> str:
    result = pair.result
    fields = {
        "first": pair.first.name,
        "second": pair.second.name,
        "gap": difference_text(pair),
        "n": count(result.n),
    }
    if isinstance(result, MetricPair):
        if _won(pair) and compared.measure not in FIGURES:
            metric = measure_words(t, f"compare.measure_short.{compared.measure}", compared.measure)
            return t("compare.verdict.higher", metric=metric, **fields)
        return t(f"compare.verdict.{'closer' if _won(pair) else 'level'}", **fields)
    finding = result.finding
    if finding == "guessing":
        both = result.first_at_chance and result.second_at_chance
        finding = "guessing" if both else "guessing_first"
    return t(f"compare.verdict.{finding}", **fields)


def _support_of_two(t: Messages, pair: PairComparison) -> str:
    result = pair.result
    fields = {"n": count(result.n), "range": range_text(pair)}
    if isinstance(result, MetricPair):
        return t("compare.support.tested", p=p_value(result.p), **fields)
    match result.finding:
        case "apart":
            key = "guessing" if result.second_at_chance else "tested"
            names = {"second": pair.second.name, "p": p_value(result.adjusted)}
            return t(f"compare.support.{key}", **names, **fields)
        case "level":
            key = "same" if result.detectable is None else "level"
            return t(f"compare.support.{key}", least=_least(result), **fields)
        case _:
            return t("compare.support.same", n=count(result.n))


def _won(pair: PairComparison) -> bool:
    if isinstance(pair.result, CellComparison):
        return pair.result.has_winner
    return pair.result.is_significant


def _finding(pair: PairComparison) -> str:
    return pair.result.finding if isinstance(pair.result, CellComparison) else ""


def _unbeaten(compared: Comparison) -> list[Contender]:
    """Those of whom the tests do not say that another is better, the best first."""
    lost = {each.second for each in compared.pairs if _won(each)}
    ordered = dict.fromkeys([each.first for each in compared.pairs])
    return [each for each in dict.fromkeys((*ordered, *compared.contenders)) if each not in lost]


def _of_leader(t: Messages, compared: Comparison, best: Contender) -> str:
    beaten = [each for each in compared.pairs if each.first == best and _won(each)]
    others = len(compared.contenders) - 1
    if len(beaten) < others:
        k, n = count(len(beaten)), count(others)
        return t("compare.verdict.some", first=best.name, k=k, n=n)
    nearest = min(beaten, key=lambda each: each.difference)
    if compared.scored and compared.measure not in FIGURES:
        return t(
            "compare.verdict.all_higher",
            first=best.name,
            second=nearest.second.name,
            gap=difference_text(nearest),
            metric=measure_words(t, f"compare.measure_short.{compared.measure}", compared.measure),
        )
    return t(
        "compare.verdict.all_fraction" if compared.scored else "compare.verdict.all",
        first=best.name,
        second=nearest.second.name,
        gap=difference_text(nearest),
    )


def _least(pair: CellComparison) -> str:
    return format_least_difference(pair.detectable) if pair.detectable is not None else ""
