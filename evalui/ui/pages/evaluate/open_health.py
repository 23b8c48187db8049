"""The health of open questions, as far as it can be known without any model."""

from collections.abc import Mapping

from evalui.app.files.views import UploadHealth
from evalui.datasets.health import OpenHealth
from evalui.messages import Messages
from evalui.report.html import Child, Html, div, el, span
from evalui.ui.components.format import length_range
from evalui.ui.components.widgets import bar, definitions, status

_SHOWN_CAPABILITIES = 8


def fault_count(number: int) -> Html:
    """A number that had better be 0."""
    return status("warn" if number else "ok", f"{number:,}")


def open_health_part(t: Messages, counts: UploadHealth, health: OpenHealth) -> Html:
    """What can be known of open questions without any model."""
    rows: list[tuple[Child, Child]] = [
        (t("health.usable"), status("ok" if health.n else "bad", f"{health.n:,}")),
        (t("health.without_reference"), fault_count(health.without_reference)),
        (t("health.duplicates"), fault_count(counts.n_duplicates)),
        (t("health.conversations"), f"{health.conversations:,}"),
        (t("health.guidance"), f"{health.with_guidance:,}"),
        (t("health.question_length"), length_range(health.question_length)),
    ]
    if health.reference_length:
        rows.append((t("health.reference_length"), length_range(health.reference_length)))
    languages = {t(f"language.{name}"): count for name, count in health.languages.items()}
    capabilities = {
        name or t("health.no_capability"): count for name, count in health.capabilities.items()
    }
    return div(
        definitions(rows),
        _counts(t, "languages", languages, len(languages)),
        _counts(t, "capabilities", capabilities, counts.n_groups + ("" in health.capabilities)),
        _unreferenced(t, health),
    )


def _counts(t: Messages, name: str, counts: Mapping[str, int], n: int) -> Html | None:
    """A bar per value of `n`, the most frequent first; nothing if there is only one."""
    if len(counts) < 2:
        return None
    most = max(counts.values())
    ordered = sorted(counts.items(), key=lambda pair: -pair[1])
    rows = [
        div(span(name, title=name), bar(count / most), span(f"{count:,}", cls="dim r"))
        for name, count in ordered[:_SHOWN_CAPABILITIES]
    ]
    rest = n - len(rows)
    return div(
        div(t(f"health.{name}"), cls="meta gap-s"),
        div(*rows, cls="counts"),
        div(t.count(f"health.more_{name}", rest), cls="meta gap-s") if rest else None,
    )


def _unreferenced(t: Messages, health: OpenHealth) -> Html | None:
    if not health.without_reference:
        return None
    key = "health.no_reference_about" if health.without_reference < health.n else "health.bare"
    return el("p", t(key, n=f"{health.without_reference:,}"), cls="meta gap-s")
