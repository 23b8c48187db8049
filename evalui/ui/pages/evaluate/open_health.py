"""The health of open questions, as far as it can be known without any model."""

from collections.abc import Mapping
from typing import Any

from evalui.app.files.views import UploadHealth
from evalui.datasets.health import OpenHealth
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.ui.components.format import length_range
from evalui.ui.components.templates import fill

_SHOWN_CAPABILITIES = 8
Figure = tuple[str, str, str]  # a word, its figure, and the kind of its icon or ""


def usable_figure(t: Messages, n: int) -> Figure:
    """How many questions can be used."""
    return t("health.usable"), f"{n:,}", "ok" if n else "bad"


def fault_figure(word: str, number: int) -> Figure:
    """A number that had better be 0."""
    return word, f"{number:,}", "warn" if number else "ok"


def open_health_part(t: Messages, counts: UploadHealth, health: OpenHealth) -> Html:
    """What can be known of open questions without any model."""
    bare = health.without_reference
    rows: list[Figure] = [
        usable_figure(t, health.n),
        fault_figure(t("health.without_reference"), bare),
        fault_figure(t("health.duplicates"), counts.n_duplicates),
        (t("health.conversations"), f"{health.conversations:,}", ""),
        (t("health.guidance"), f"{health.with_guidance:,}", ""),
        (t("health.question_length"), length_range(health.question_length), ""),
    ]
    if health.reference_length:
        rows.append((t("health.reference_length"), length_range(health.reference_length), ""))
    languages = {t(f"language.{name}"): count for name, count in health.languages.items()}
    capabilities = {
        name or t("health.no_capability"): count for name, count in health.capabilities.items()
    }
    n_capabilities = counts.n_groups + ("" in health.capabilities)
    about = "health.no_reference_about" if bare < health.n else "health.bare"
    return fill(
        "evaluate/open_health.html",
        rows=rows,
        counts=[
            _counts(t, name, counted, n)
            for name, counted, n in (
                ("languages", languages, len(languages)),
                ("capabilities", capabilities, n_capabilities),
            )
            if len(counted) > 1
        ],
        bare=t(about, n=f"{bare:,}") if bare else "",
    )


def _counts(t: Messages, name: str, counts: Mapping[str, int], n: int) -> dict[str, Any]:
    """A bar per value of `n`, the most frequent first."""
    most = max(counts.values())
    ordered = sorted(counts.items(), key=lambda pair: -pair[1])[:_SHOWN_CAPABILITIES]
    rest = n - len(ordered)
    return {
        "title": t(f"health.{name}"),
        "rows": [(value, count / most, count) for value, count in ordered],
        "more": t.count(f"health.more_{name}", rest) if rest else "",
    }
