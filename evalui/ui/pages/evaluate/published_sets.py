"""Published sets by name, each with a button that makes it a dataset."""

from collections.abc import Sequence

from evalui.app.datasets import OfferedBenchmark
from evalui.benchmarks.index import Benchmark
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.ui.components.templates import fill

MOST = 8  # sets that are shown


def published_sets(t: Messages, words: str, offered: Sequence[OfferedBenchmark]) -> Html:
    """The sets that fit the `words`, a button each that makes one a dataset."""
    rows = [(each, _facts(t, each.benchmark)) for each in offered]
    return fill("evaluate/published.html", t=t, words=words, offered=rows)


def _facts(t: Messages, benchmark: Benchmark) -> str:
    questions = f"{benchmark.questions:,}"
    facts = (
        benchmark.title,
        t("published.questions", n=questions) if benchmark.questions else "",
        t("list.comma").join(benchmark.languages),
        benchmark.licence,
    )
    return " · ".join(fact for fact in facts if fact)
