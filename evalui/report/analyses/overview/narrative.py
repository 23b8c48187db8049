"""Sentences that say what the figures say, and no more.

Nothing here rests on a test: a sentence describes this run on these questions. Whether one model
beats another is for `statistics`, whether a position is preferred for `position_bias`.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from evalui.messages import localized, messages
from evalui.modes import traits_of
from evalui.report.numbers import count, decimal_places, fixed, format_value, percent
from evalui.report.words import join_sentences
from evalui.scoring.bias.counts import PositionTable
from evalui.scoring.cell_summary import SubjectGroup, Summary
from evalui.types import LETTERS, Cell, Interval, Language

_T = TypeVar("_T")
_SMALL_LOSS = 1 / 20
_CHINESE_TENTHS = "零一两三四五六七八九"


def mode_name(cell: Cell, language: Language) -> str:
    """The mode of a cell in words, with what distinguishes it from others of its kind."""
    key = f"mode-{cell.mode}"
    known = messages(language)
    name = known(key) if key in known else cell.mode
    return name + cell.label.removeprefix(cell.mode)


def group_name(group: SubjectGroup, language: Language) -> str:
    """What to call a subject, a category or a mean over several."""
    key = f"category-{group.name}" if group.kind == "category" else f"group-{group.kind}"
    known = messages(language)
    if key in known:
        return known(key)
    return (group.name_zh if language == "zh" else "") or group.name or "–"


def of_real_models(
    things: Sequence[_T],
    is_script: Callable[[_T], bool],
    say: Callable[[Sequence[_T]], str],
    language: Language,
) -> str:
    """What is said of real models, of scripts where there is nothing else; that scripts are not
    counted is said where they would change it.
    """
    own = [each for each in things if not is_script(each)] or list(things)
    said = say(own)
    if len(own) == len(things) or say(things) == said:
        return said
    return join_sentences(said, localized("scripts-not-counted", language))


def names(summaries: Sequence[Summary], language: Language) -> dict[Cell, tuple[str, str]]:
    """What to call each cell: its model, and what distinguishes it further ("" if nothing)."""
    cells = [summary.cell for summary in summaries]
    many_datasets = len({cell.dataset for cell in cells}) > 1
    many_modes = len({cell.label for cell in cells}) > 1
    return {
        cell: (
            cell.model,
            " · ".join([cell.dataset] * many_datasets + [mode_name(cell, language)] * many_modes),
        )
        for cell in cells
    }


def order_loss_title(summaries: Sequence[Summary], language: Language) -> str:
    """How much of what models know they lose with the order of options; "" if that is unknown."""
    if any(s.sampled for s in summaries):
        return _sampled_loss_title(summaries, language)
    moved = [s for s in summaries if _order_loss(s) is not None]
    knowing = [s for s in moved if s.above_chance]  # a guesser has nothing to lose
    if not knowing:
        return ""
    if len(moved) > 1 and all((_order_loss(s) or 0) <= _SMALL_LOSS for s in moved):
        return localized("loses-few", language)
    most = max(knowing, key=lambda s: _order_loss(s) or 0)
    return _loss_sentence(_order_loss(most) or 0, most.cell.model, language)


def best_case_accuracy(summary: Summary, accuracy: Interval) -> str:
    """The accuracy, in per cent, if every unreadable answer in the order as written were right."""
    best = accuracy.value + summary.unreadable_origin / (summary.n * summary.n_repeats)
    return fixed(100 * best, decimal_places(accuracy))


def answers_at(table: PositionTable, gold: int) -> int:
    """How many answers had their right option in slot `gold`, readable or not."""
    return sum(table.counts[gold]) + table.unreadable[gold] + table.tied[gold]


def picks_title(table: PositionTable, language: Language) -> str:
    """Which position the model picks most, beside what would be fair."""
    total = sum(table.slot_counts)
    if total == 0:
        return localized("picks-none", language)
    best = max(table.slot_counts)
    if table.slot_counts.count(best) > 1:
        return localized("picks-tied", language)
    slot = table.slot_counts.index(best)
    share = table.shares[slot]
    assert share is not None, "what was picked has a share"
    if best == total:
        return localized("picks-only", language, letter=LETTERS[slot], n=count(total))
    fields = {"letter": LETTERS[slot], "value": format_value(share)}
    golds = [answers_at(table, gold) for gold in range(table.n_options)]
    if len(set(golds)) == 1:
        return localized("picks", language, **fields, fair=percent(table.chance))
    # In one order alone the right answers are not spread evenly: a knowing model picks unevenly.
    return localized("picks-uneven", language, **fields, gold=percent(golds[slot] / sum(golds)))


def picks_subtitle(table: PositionTable, language: Language) -> str:
    """How to read the heat map."""
    rows = {answers_at(table, gold) for gold in range(table.n_options)}
    fair = percent(table.chance)
    if len(rows) == 1:
        return localized("confusion-about", language, n=count(rows.pop()), fair=fair)
    return localized("confusion-about-uneven", language, fair=fair)


def recall_title(table: PositionTable, language: Language) -> str:
    """In which positions recall is highest and lowest."""
    fields = recall_extremes(table, language)
    if fields is None:
        return localized("recall-none", language)
    values = [recall.value for recall in table.recalls if recall]
    if max(values) == min(values):
        return localized("recall-equal", language, value=fields["high"])
    return localized("recall", language, **fields)


def recall_extremes(table: PositionTable, language: Language) -> dict[str, str] | None:
    """Letters of the `best` and the `worst` recall, and these as `high` and `low`, in per cent."""
    recalls = [(recall, slot) for slot, recall in enumerate(table.recalls) if recall]
    if not recalls:
        return None
    high = max((recall for recall, _ in recalls), key=lambda recall: recall.value)
    low = min((recall for recall, _ in recalls), key=lambda recall: recall.value)
    return {
        "best": _letters(recalls, high.value, language),
        "high": format_value(high),
        "worst": _letters(recalls, low.value, language),
        "low": format_value(low),
    }


def _sampled_loss_title(summaries: Sequence[Summary], language: Language) -> str:
    """What moving options costs beyond what asking again does; "" where nobody was asked again."""
    known = [
        (s, loss) for s in summaries if isinstance(loss := s.figures.get("order_loss"), Interval)
    ]
    if not known:
        return ""
    most, loss = max(known, key=lambda each: each[1].value)
    if loss.low <= 0:
        return localized("order-loss-none", language)
    points = fixed(100 * loss.value, decimal_places(loss))
    return localized("order-loss", language, model=most.cell.model, points=points)


def _order_loss(summary: Summary) -> float | None:
    return summary.lost_with_order if summary.order_sensitivity else None


def _loss_sentence(share: float, model: str, language: Language) -> str:
    if share <= _SMALL_LOSS:
        return localized("keeps", language, model=model)
    tenths = round(10 * share)
    if share == 1:
        return localized("loses-all", language, model=model)
    if tenths == 10:
        return localized("loses-nearly-all", language, model=model)
    tenths = max(tenths, 1)
    return localized("loses", language, model=model, tenths=tenths, chengs=_CHINESE_TENTHS[tenths])


def _letters(recalls: Sequence[tuple[Interval, int]], value: float, language: Language) -> str:
    letters = [LETTERS[slot] for recall, slot in recalls if recall.value == value]
    if language == "zh":
        return "、".join(letters)
    return " and ".join(filter(None, [", ".join(letters[:-1]), letters[-1]]))


# ---------------------------------------------------------------- no model beats guessing


def with_question(summaries: Sequence[Summary]) -> list[Summary]:
    """The cells that show their question; all if none does."""
    shown = [each for each in summaries if "question" not in traits_of(each.cell.mode).omits]
    return shown or list(summaries)


def above_chance(summary: Summary) -> float:
    """How far the accuracy lies above guessing, in 0..1; 0 without answers."""
    return summary.accuracy.value - (summary.chance or 0.0) if summary.accuracy else 0.0
