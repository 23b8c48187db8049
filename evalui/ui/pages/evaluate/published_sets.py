"""Published sets by name, each with a button that makes it a dataset."""

from collections.abc import Sequence

from evalui.app.benchmarks import OfferedBenchmark
from evalui.messages import Messages
from evalui.report.html import Html, div, el, join, span
from evalui.ui.components.widgets import link_button

MOST = 8  # sets that are shown


def published_sets(t: Messages, words: str, offered: Sequence[OfferedBenchmark]) -> Html:
    """The sets that fit the `words`, a button each that makes one a dataset."""
    listed = [_row(t, each) for each in offered]
    none = el("p", t("published.none"), cls="dim gap-s") if words and not listed else None
    return join(*listed, none)


def _row(t: Messages, offered: OfferedBenchmark) -> Html:
    benchmark = offered.benchmark
    questions = f"{benchmark.questions:,}"
    facts = (
        benchmark.title,
        t("published.questions", n=questions) if benchmark.questions else "",
        t("list.comma").join(benchmark.languages),
        benchmark.licence,
    )
    hindrance = offered.hindrance
    return div(
        div(
            el("b", benchmark.name),
            span(" · ".join(fact for fact in facts if fact), cls="meta"),
            span(
                link_button(t("published.use"), "published", data_name=benchmark.name),
                cls="acts",
            )
            if hindrance is None
            else None,
            cls="l1",
        ),
        div(t.translate(hindrance), cls="meta") if hindrance is not None else None,
        cls="set gap-s",
    )
