"""What a run took: requests, tokens and dollars by model, and whose replies it rests on.

Of tokens only models are listed of which somebody counts them, as endpoints do; nobody else is a
row of zeros.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from evalui.messages import Messages, add_messages, localized, messages
from evalui.models.base import ModelUsage, ReplyCount
from evalui.report.analyses.base import Analysis, Report
from evalui.report.blocks import (
    NONE,
    Block,
    Bullets,
    Card,
    Heading,
    NoteLine,
    Notes,
    Paragraph,
    Table,
    text_table,
)
from evalui.report.numbers import count, dollars, local_time
from evalui.report.words import join_sentences
from evalui.types import Language

add_messages(Path(__file__).with_suffix(".toml"))


def cost_blocks(expenses: Sequence[ModelUsage], language: Language) -> list[Card]:
    """A card of what was counted, and of who is waited for; nothing if there is neither."""
    counted = [each for each in expenses if _is_counted(each)]
    waits = tuple(_wait_text(each, language) for each in expenses if each.why)
    parts: list[Block] = []
    if counted:
        about = Paragraph(localized("expenses.about", language), small=True)
        parts += [_table(counted, language), about]
    if waits:
        parts.append(Bullets(waits))
    return [Card(tuple(parts), title=localized("expenses.title", language))] if parts else []


def replies_blocks(report: Report, language: Language) -> list[Card]:
    """A card of how many replies the run requested, and of each model how many are kept from which
    run; nothing of a run that states none.
    """
    if not report.replies:
        return []
    t = messages(language)
    own = sum(each.replies for each in report.replies if each.run == "")
    kept = [each for each in report.replies if each.run != ""]
    total = t.count("expenses.replies-kept", sum(each.replies for each in kept)) if kept else ""
    parts: list[Block] = [Paragraph(join_sentences(t.count("expenses.replies-made", own), total))]
    moved = json.loads(report.spec or "{}").get("replies_of", {})
    lines = [_kept_text(each, t) for each in kept]
    lines += [t("expenses.replies-moved", model=model, addresses=moved[model]) for model in moved]
    if lines:
        parts.append(Bullets(tuple(lines)))
    if report.changes and not report.has_choices:  # else the overview states them
        parts.append(Notes(tuple(NoteLine("warn", each) for each in report.changes)))
    return [Card(tuple(parts), t("expenses.replies"))]


def _kept_text(kept: ReplyCount, t: Messages) -> str:
    if kept.run is None:
        return t.count("expenses.replies-kept-unknown", kept.replies, model=kept.model)
    made = local_time(kept.made)
    return t.count(
        "expenses.replies-kept-of", kept.replies, model=kept.model, run=kept.run, made=made
    )


def _is_counted(expense: ModelUsage) -> bool:
    return bool(expense.read or expense.written)


def _table(counted: Sequence[ModelUsage], language: Language) -> Table:
    keys = ("model", "requests", "read", "written", "prices", "dollars")
    rows: list[tuple[str, ...]] = [
        (
            each.model,
            count(each.requests),
            count(each.read),
            count(each.written),
            _prices(each, language),
            _dollars(each.dollars),
        )
        for each in counted
    ]
    if len(rows) > 1:
        rows.append(_total_row(counted, language))
    return text_table(
        tuple(localized(f"expenses.column-{key}", language) for key in keys), tuple(rows)
    )


def _total_row(counted: Sequence[ModelUsage], language: Language) -> tuple[str, ...]:
    known = [each.dollars for each in counted if each.dollars is not None]
    return (
        localized("expenses.together", language),
        count(sum(each.requests for each in counted)),
        count(sum(each.read for each in counted)),
        count(sum(each.written for each in counted)),
        localized("expenses.partly-priced", language) if 0 < len(known) < len(counted) else NONE,
        _dollars(sum(known) if known else None),
    )


def _prices(expense: ModelUsage, language: Language) -> str:
    if expense.prices is None:
        return localized("expenses.no-price", language)
    read, written = expense.prices
    return f"US$ {dollars(read)} / {dollars(written)}"


def _dollars(amount: float | None) -> str:
    return NONE if amount is None else f"US$ {dollars(amount)}"


def _wait_text(expense: ModelUsage, language: Language) -> str:
    since = local_time(expense.since)
    return localized("expenses.waits", language, model=expense.model, since=since, why=expense.why)


def _in_report(cards: Iterable[Card]) -> Iterator[Block]:
    for card in cards:
        yield Heading(2, card.title)
        yield from card.blocks


COST = Analysis(
    lambda report: bool(report.expenses),
    lambda report, language: _in_report(cost_blocks(report.expenses, language)),
)
REPLIES = Analysis(
    lambda report: bool(report.replies),
    lambda report, language: _in_report(replies_blocks(report, language)),
)
