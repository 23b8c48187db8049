"""Sentences on standings and written answers that say what the figures say, and no more."""

from collections.abc import Collection, Mapping, Sequence

from evalui.messages import localized, messages
from evalui.report.analyses.overview.warnings import ReportNote, cluster_notes, state_notes
from evalui.report.numbers import count, fixed, signed
from evalui.report.words import join_names, join_names_shortened, join_sentences
from evalui.scoring.answer_summary import AnswerSummary, ranking_metric
from evalui.scoring.arena.bradley_terry import Connectivity
from evalui.scoring.arena.figures import PEOPLE, POOLED, Arena
from evalui.scoring.arena.question_groups import Grouping, QuestionGroup
from evalui.scoring.arena.verdicts import PANEL_NAME
from evalui.scoring.pairs import AnswerPair, MetricPair
from evalui.scoring.texts.metrics import MAIN, RECALL
from evalui.types import Interval, Language, is_unfinished

_LEVEL = 0.05  # of the test of a pair of written answers, corrected for the number of pairs
_FEW_QUESTIONS = 10  # below, resampling them gives ranges that are too short
_HALF = 0.5
_NO_RULES: frozenset[str] = frozenset()


# ---------------------------------------------------------------- standings


def standings_title(arena: Arena, language: Language) -> str:
    """Who leads by how much, or why that is unknown."""
    if not arena.standings or not arena.battles:
        nothing = 0 < len(arena.verdicts) == arena.reliability.unreferenced
        return localized("arena-unreferenced" if nothing else "arena-empty", language)
    if arena.questions < _FEW_QUESTIONS:
        return localized("arena-few", language, n=arena.questions)
    if arena.connection is None or not arena.connection.has_finite_ratings:
        return _no_rating(arena.connection, language)
    level = [standing.model for standing in arena.standings if standing.with_leader]
    n = count(arena.questions)
    if len(level) > 1:
        return localized("arena-level", language, names=join_names_shortened(level, language), n=n)
    first, second = (standing.model for standing in arena.standings[:2])
    if arena.lead is None:
        return localized("arena-endless", language, first=first, second=second, n=n)
    gap, low, high = (fixed(points, 0) for points in arena.lead)
    return localized(
        "arena-leads", language, first=first, second=second, gap=gap, span=f"{low}–{high}"
    )


def is_ranked(arena: Arena) -> bool:
    """Whether the standings are more than a list: enough questions, and finite ratings."""
    finite = arena.connection is not None and arena.connection.has_finite_ratings
    return bool(arena.standings) and arena.questions >= _FEW_QUESTIONS and finite


def order_note(arena: Arena, language: Language) -> str:
    """By what the standings are ordered, and a sentence more if score or ELO order otherwise."""
    if not arena.standings:
        return ""
    sentences = [localized(f"ordered-{arena.headline}", language)]
    columns: dict[str, list[float]] = {
        "score": [standing.tally.score for standing in arena.standings],
        "elo": [round(standing.elo) for standing in arena.standings],
    }
    if arena.headline == "elo":
        del columns["elo"]
    # The models that each column puts first, of the columns that do not fall from row to row.
    firsts = {
        key: arena.standings[values.index(max(values))].model
        for key, values in columns.items()
        if values != sorted(values, reverse=True)
    }
    what = localized("otherwise-both", language)
    if len(firsts) == 1:
        (key,) = firsts
        what = localized(f"otherwise-{key}", language)
    if len(set(firsts.values())) == 1 and arena.standings[0].model not in firsts.values():
        (first,) = set(firsts.values())
        sentences.append(localized("otherwise-first", language, what=what, model=first))
    elif firsts:
        sentences.append(localized("otherwise", language, what=what))
    return join_sentences(*sentences)


def battles_by(arena: Arena, language: Language, *, rule_based: frozenset[str] = _NO_RULES) -> str:
    """How many battles, and who judged them."""
    judge = judged_by(arena, language, rule_based=rule_based)
    return localized("battles-by", language, battles=count(len(arena.battles)), judge=judge)


def judged_by(arena: Arena, language: Language, *, rule_based: frozenset[str] = _NO_RULES) -> str:
    """The judge, the panel or the people; a rule is called one."""
    if arena.by == PEOPLE:
        return localized("by-people", language)
    if arena.by == PANEL_NAME:
        named = [judge_name(judge, language, rule_based=rule_based) for judge in arena.judges]
        return localized("by-panel", language, k=len(named), names=join_names(named, language))
    if arena.by == POOLED:
        named = [
            localized("part-people", language)
            if judge == PEOPLE
            else judge_name(judge, language, rule_based=rule_based)
            for judge in arena.judges
        ]
        return localized("by-pooled", language, names=join_names(named, language))
    name = judge_name(arena.by, language, rule_based=rule_based)
    return localized("by-judge", language, name=name)


def judge_name(name: str, language: Language, *, rule_based: frozenset[str] = _NO_RULES) -> str:
    """A judge's name, with a word if it is a rule and no model."""
    return localized("rule-based", language, name=name) if name in rule_based else name


def matrix_title(arena: Arena, language: Language) -> str:
    """Who beats whom, if one model beats all."""
    models = [standing.model for standing in arena.standings]
    missing = sum(
        (first, second) not in arena.shares and (second, first) not in arena.shares
        for place, first in enumerate(models)
        for second in models[place + 1 :]
    )
    if missing:
        pairs = len(models) * (len(models) - 1) // 2
        return localized("matrix-gap", language, k=count(missing), n=count(pairs))
    for model in models:
        against = [arena.shares[(model, other)] for other in models if other != model]
        if len(against) > 1 and all(share.low > _HALF for share in against):
            return localized("matrix-most", language, first=model)
    return localized("matrix", language)


def matrix_subtitle(
    arena: Arena, language: Language, *, rule_based: frozenset[str] = _NO_RULES
) -> str:
    """How to read the win matrix, and who judged."""
    about = localized("matrix-about", language, n=count(arena.questions))
    return join_sentences(about, battles_by(arena, language, rule_based=rule_based))


# ---------------------------------------------------------------- groups of questions


def groups_title(
    all_groups: Sequence[QuestionGroup], grouping: Grouping, language: Language
) -> str:
    """Which model is first in most groups, small groups left out; "" for one group alone."""
    if len(all_groups) < 2:
        return ""
    group, groups = (localized(f"group-{name}", language) for name in _GROUPING_KEYS[grouping])
    leaders = [
        _significant_leader(panel.shares) for panel in all_groups if not panel.too_few_questions
    ]
    if not leaders:
        return localized("panels-few", language, group=group)
    firsts = {model: leaders.count(model) for model in leaders if model}
    most = max(firsts.values(), default=0)
    first = [model for model, times in firsts.items() if times == most]
    if not most:
        return localized("panels-none", language, group=group)
    fields = {"k": count(most), "n": count(len(leaders)), "groups": groups}
    if len(first) > 1:
        return localized(
            "panels-split", language, names=join_names_shortened(first, language), **fields
        )
    return localized("panels-most", language, model=first[0], **fields)


def dimension_name(name: str, language: Language) -> str:
    """A capability as the file has it, a language and the whole in words."""
    key = f"dimension-{name}"
    known = messages(language)
    return known(key) if key in known else name


# ---------------------------------------------------------------- written answers


def text_title(
    summaries: Sequence[AnswerSummary],
    language: Language,
    *,
    pairs: Sequence[AnswerPair] = (),
    rule_based: Collection[str] = (),
) -> str:
    """Whose answers are closest to the references, if all were compared on the same questions.

    `pairs` compare the models of the dataset in the figure that leads: who is not behind the best
    by its test is named beside it. Scripted models are named only where there is nothing else.
    """
    figure = ranking_metric(summaries).figure
    own = [s for s in summaries if s.cell.model not in rule_based] or summaries
    measured = [(s.means[figure], s) for s in own if figure in s.means]
    if not measured:
        return localized("closest-none", language)
    if len({summary.question_ids for _, summary in measured}) > 1:
        return localized("closest-apart", language)
    own_score = "" if is_of_references(figure) else "-own"
    mean, summary = max(measured, key=lambda one: one[0].value)
    best, model = mean.value, summary.cell.model
    metric = {"metric": metric_name(figure, language)} if own_score else {}
    fields = {"metric": metric_name(figure, language), "value": format_fraction(best)}
    if len(measured) == 1:
        n, ends = count(summary.compared), format_interval(mean)
        return localized("reaches", language, model=model, n=n, span=ends, **fields)
    equal = {s.cell.model: m.value for m, s in measured if m.value == best}
    level = {s.cell.model: m.value for m, s in measured} if pairs else {}
    level = {
        name: level[name]
        for name in level
        if name not in _significantly_worse(model, figure, pairs)
    }
    if len(equal) > 1 and len(level) <= len(equal):
        names = join_names_shortened(list(equal), language)
        return localized(f"closest-equal{own_score}", language, names=names, **fields)
    if len(level) > 1:
        names = join_names_shortened(sorted(level, key=lambda name: -level[name]), language)
        return localized(f"closest-level{own_score}", language, names=names, **metric)
    key = "closest-recall" if figure == RECALL else f"closest{own_score}"
    return localized(key, language, model=model, span=format_interval(mean), **fields)


def metric_name(figure: str, language: Language) -> str:
    """A figure that leads, as people read it; tables keep the name under which SWIFT prints it."""
    return localized(f"metric-{figure}", language) if is_of_references(figure) else figure


def is_of_references(figure: str) -> bool:
    """Whether a figure that leads compares with references; else it is a mode's own score."""
    return figure in (MAIN, RECALL)


def is_significant(pair: MetricPair) -> bool:
    """Whether the test of a pair says that one is ahead; the one place that decides it."""
    return pair.p < _LEVEL


def answer_pair_sentence(pair: AnswerPair, language: Language) -> str:
    """Who is ahead and by how much, if the test shows it; else that no difference is shown."""
    if not is_significant(pair):
        fields = {"first": pair.first, "second": pair.second, "n": count(pair.n)}
        return localized("answers-level", language, **fields)
    first, second = (pair.first, pair.second) if pair.value > 0 else (pair.second, pair.first)
    low, high = (pair.low, pair.high) if pair.value > 0 else (-pair.high, -pair.low)
    return localized(
        "answers-beat",
        language,
        first=first,
        second=second,
        points=format_fraction(abs(pair.value)),
        figure=metric_name(pair.metric, language),
        span=f"{signed(low, 2)}–{signed(high, 2)}",
    )


def _significantly_worse(best: str, figure: str, pairs: Sequence[AnswerPair]) -> frozenset[str]:
    """The models that the test says are behind the best."""
    assert all(pair.metric == figure for pair in pairs), "pairs compare the figure that leads"
    return frozenset(
        pair.second if pair.first == best else pair.first
        for pair in pairs
        if best in (pair.first, pair.second) and is_significant(pair)
    )


def answer_notes(
    summary: AnswerSummary, language: Language, *, rule_based: frozenset[str] = _NO_RULES
) -> tuple[ReportNote, ...]:
    """What a reader must know before believing the text figures, most serious first."""
    s = summary
    if is_unfinished(s):
        done, total = s.replies, s.questions * s.n_repeats
    else:
        done, total = s.n, s.questions
    made = state_notes(s.state, s.error, done, total, language, partial="answers-partial")
    if s.state == "impossible":
        return tuple(made[:1])
    made += cluster_notes(s.clusters, s.cell, s.questions, language)
    missing = summary.n - summary.compared
    counts = {
        "empty": (summary.empty, summary.replies),
        "cut": (summary.truncated, summary.replies),
        "bare": (missing, summary.n),
    }
    for rule, (k, n) in counts.items():
        if k:
            text = localized(f"answers-{rule}", language, k=count(k), n=count(n))
            made.append(ReportNote("info" if rule == "bare" else "warn", rule, text))
    for rated in summary.ratings:
        judge = judge_name(rated.judge, language, rule_based=rule_based)
        if rated.unreferenced:
            k = count(rated.unreferenced)
            fields = {"k": k, "n": count(rated.n + rated.unscored + rated.unreferenced)}
            text = localized("answers-unreferenced", language, judge=judge, **fields)
            made.append(ReportNote("info", "unreferenced", text))
        if rated.unscored:
            fields = {"k": count(rated.unscored), "n": count(rated.n + rated.unscored)}
            text = localized("answers-unscored", language, judge=judge, **fields)
            made.append(ReportNote("warn", "unscored", text))
    return tuple(made)


def format_fraction(value: float) -> str:
    """A text figure as a part of one, two decimals: the third is noise for hundreds of answers."""
    return fixed(value, 2)


def format_interval(mean: Interval) -> str:
    """The range of a text figure: "0.35–0.47"."""
    return f"{format_fraction(mean.low)}–{format_fraction(mean.high)}"


_GROUPING_KEYS: Mapping[Grouping, tuple[str, str]] = {
    "capability": ("capability", "capabilities"),
    "language": ("language", "languages"),
}


def _no_rating(connection: Connectivity | None, language: Language) -> str:
    if connection is None:
        return localized("arena-empty", language)
    if len(connection.disconnected_groups) > 1:
        return localized("arena-islands", language, k=len(connection.disconnected_groups))
    if connection.unbeaten:
        return localized(
            "arena-unbeaten", language, names=join_names_shortened(connection.unbeaten, language)
        )
    if connection.winless:
        return localized(
            "arena-winless", language, names=join_names_shortened(connection.winless, language)
        )
    return localized("arena-apart", language)


def _significant_leader(shares: Mapping[str, Interval]) -> str | None:
    """The model whose range lies above all the others'; None if there is none, or no other."""
    first = max(shares, key=lambda model: shares[model].value)
    others = [share.high for model, share in shares.items() if model != first]
    return first if others and shares[first].low > max(others) else None
