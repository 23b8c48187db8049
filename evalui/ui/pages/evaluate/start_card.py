"""Before the start: what the run will send and cost, where it goes, and the button."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalui.messages import Messages
from evalui.proportions import smallest_visible_gap
from evalui.report.html import Html
from evalui.report.numbers import dollars
from evalui.runs.estimate import Estimate
from evalui.runs.fair_queue.turns import QueueAhead
from evalui.ui.components.format import format_large_count
from evalui.ui.components.templates import fill, macro

_NOTHING = "–"
_LARGE_SAMPLE = 10_000  # questions from which on the smallest visible gap is no news


@dataclass(frozen=True, slots=True)
class StartNotes:
    """What is to be known before the start: `away` names where questions go, `hindrance` is why
    it cannot start, "" if it can.
    """

    away: Sequence[str] = ()
    warnings: Sequence[str] = ()
    hindrance: str = ""


def cost_rows(
    t: Messages, cost: Estimate, ahead: QueueAhead, priced: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """What the run will send and cost, in words and figures."""
    judged = ((t("cost.judged"), f"{cost.judged:,}"),) if cost.judged else ()
    cached = ((t("cost.cached"), f"{cost.cached:,}"),) if cost.cached else ()
    price = t("cost.about_dollars", n=dollars(cost.dollars)) if cost.dollars is not None else ""
    names = priced[0] if len(priced) == 1 else t("cost.models", n=len(priced))
    return (
        (t("cost.requests"), f"{cost.requests:,}"),
        *judged,
        *cached,
        (t("cost.tokens"), format_large_count(cost.tokens)),
        (t("cost.queue"), t.count("cost.runs", ahead.runs) if ahead.runs else t("cost.none")),
        *(((t("cost.dollars", names=names), price),) if price else ()),
    )


def gap_words(t: Messages, questions: int) -> str:
    """How large a difference must be to be seen with so many questions, "" where no news."""
    if not questions or questions > _LARGE_SAMPLE:
        return ""
    points = f"{100 * smallest_visible_gap(questions):.0f}"
    return t("cost.gap", n=f"{questions:,}", points=points)


@dataclass(frozen=True, slots=True)
class StartCard:
    """What stands above and below the name of the run, and why it cannot start, "" if it can.

    `kept` are words and values of the replies that are kept of models at other addresses.
    """

    cost: Html
    remarks: Html
    hindrance: str = ""
    kept: Sequence[tuple[str, str]] = ()


def start_card(
    t: Messages,
    notes: StartNotes,
    *,
    rows: Sequence[tuple[str, str]] = (),
    gap: str = "",
    kept: Sequence[tuple[str, str]] = (),
) -> StartCard:
    """The card at the right; `rows` are those of `cost_rows`, () while the cost is not known."""
    unknown = [(t(f"cost.{name}"), _NOTHING) for name in ("requests", "tokens")]
    remarks = [("na", gap)] if gap else []
    remarks += [("warn", text) for text in (*notes.warnings, *notes.away)]
    if not notes.away:
        remarks.append(("ok", t("away.stays")))
    return StartCard(
        macro("widgets.html", "definitions", rows or unknown),
        fill("evaluate/remarks.html", remarks=remarks),
        notes.hindrance,
        kept,
    )
