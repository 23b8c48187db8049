"""The Evaluate page's view of open questions: how many, in which language, what comes with them."""

from collections.abc import Mapping, Sequence

from evalui.datasets.health import OpenHealth
from evalui.messages import Messages
from evalui.types import Sample
from evalui.ui.components.format import length_range
from evalui.ui.components.html import Child, Html, div, el, join
from evalui.ui.components.html import span as inline
from evalui.ui.components.widgets import bar, definitions, status, table, titled

_SHOWN_CAPABILITIES = 8
_MAX_TEXT_LENGTH = 160  # characters of a text in a preview


def open_facts(t: Messages, health: OpenHealth) -> list[str]:
    """What one line says of a file of open questions."""
    references = health.n - health.without_reference
    capabilities = len([name for name in health.capabilities if name])
    return [
        t("file.ready", n=f"{health.n:,}"),
        t("file.references", n=f"{references:,}") if references else t("file.no_references"),
        t("list.comma").join(t(f"language.{name}") for name in health.languages),
        t.count("file.capabilities", capabilities) if capabilities else "",
        t.count("file.conversations", health.conversations) if health.conversations else "",
    ]


def open_health_card(t: Messages, health: OpenHealth) -> Html:
    """What can be said of open questions without any model."""
    doubled = sum(len(group) - 1 for group in health.duplicates)
    missing = f"{health.without_reference:,}"
    rows: list[tuple[Child, Child]] = [
        (t("health.usable"), status("ok" if health.n else "bad", f"{health.n:,}")),
        (
            t("health.without_reference"),
            status("warn", missing) if health.without_reference else status("ok", missing),
        ),
        (t("health.duplicates"), status("warn" if doubled else "ok", f"{doubled:,}")),
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
    return titled(
        t("health.title"),
        definitions(rows),
        _counts(t, "languages", languages),
        _counts(t, "capabilities", capabilities),
        _unreferenced(t, health),
        aside=t("health.aside"),
    )


def open_preview(t: Messages, samples: Sequence[Sample]) -> Html:
    """The first questions with their references, capabilities and languages."""
    capable = any(sample.metadata.get("capability") for sample in samples)
    heads = ["id", "question", "reference", *(["capability"] if capable else []), "language"]
    return table(
        [t(f"preview.{name}") for name in heads],
        [_row(t, sample, capable) for sample in samples],
    )


def _row(t: Messages, sample: Sample, capable: bool) -> list[Child]:
    language = sample.metadata.get("language", "")
    turns = len(sample.history) + len(sample.follow_ups)
    told = join(
        _shorten(sample.question),
        div(t.count("preview.turns", turns), cls="meta") if turns else None,
    )
    first = next(iter(sample.references), "")
    more = len(sample.references) - 1
    reference = join(
        _shorten(first) if first else inline("–", cls="meta"),
        div(t("preview.more", n=more), cls="meta") if more > 0 else None,
    )
    return [
        inline(sample.id, cls="mono"),
        told,
        reference,
        *([sample.metadata.get("capability", "")] if capable else []),
        inline(t(f"language.{language}") if f"language.{language}" in t else language, cls="nw"),
    ]


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_TEXT_LENGTH else text[:_MAX_TEXT_LENGTH].rstrip() + " …"


def _counts(t: Messages, name: str, counts: Mapping[str, int]) -> Html | None:
    """A bar per value, the most frequent first; nothing if there is only one."""
    if len(counts) < 2:
        return None
    most = max(counts.values())
    ordered = sorted(counts.items(), key=lambda pair: -pair[1])
    rows = [
        div(inline(name, title=name), bar(count / most), inline(f"{count:,}", cls="dim r"))
        for name, count in ordered[:_SHOWN_CAPABILITIES]
    ]
    rest = len(ordered) - len(rows)
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
