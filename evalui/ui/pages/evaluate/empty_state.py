"""What the Evaluate page shows before there is a file: where to drop one, and what is read."""

from collections.abc import Sequence

from evalui.app.datasets import OfferedBenchmark, find_benchmarks
from evalui.app.samples import open_sample_size, sample_size
from evalui.app.service import AppService
from evalui.benchmarks.index import Benchmark
from evalui.datasets.files import readable_suffixes
from evalui.errors import EvaluiError
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.ui.components.form import Form, field_value, field_values
from evalui.ui.components.templates import fill

MOST = 8  # published sets that are shown
# The formats as the page lists them, each with the example file to download.
_FORMATS = {
    "choice": "choice.csv",
    "arc": "options.jsonl",
    "pair": "dev-and-val.zip",
    "qa": "question-answer.jsonl",
    "subjective": "open-questions.xlsx",
    "config": "ms-swift.zip",
}


def empty_state(service: AppService, t: Messages, form: Form) -> Html:
    """The place to drop files on, the samples, the formats, and published sets by name."""
    words = field_value(form, "find").strip()
    return fill(
        "evaluate/empty.html",
        t=t,
        about=_drop_words(t, service.settings.max_upload_mb),
        sample=sample_size(),
        open_sample=open_sample_size(),
        formats=[
            (t(f"intro.{name}"), t(f"intro.{name}_columns"), file)
            for name, file in _FORMATS.items()
        ],
        words=words,
        offered=_offered(t, find_benchmarks(service, words, most=MOST) if words else ()),
    )


def promise(service: AppService, t: Messages, form: Form) -> Html:
    """What becomes of a file and which models an address chose, or why nothing can start."""
    why = ""
    if not service.may_start:
        why = "error.read-only" if service.settings.read_only else "error.not-allowed-start"
    models = _in_catalog(service, field_values(form, "models"))
    return fill("evaluate/promise.html", t=t, why=why, models=models)


def _drop_words(t: Messages, limit_mb: int) -> list[str]:
    """What may be dropped."""
    kinds = t("list.comma").join(suffix.lstrip(".").upper() for suffix in readable_suffixes())
    return [t("drop.kinds", kinds=kinds, mb=limit_mb), t("drop.log")]


def _offered(
    t: Messages, offered: Sequence[OfferedBenchmark]
) -> list[tuple[OfferedBenchmark, str]]:
    return [(each, _facts(t, each.benchmark)) for each in offered]


def _facts(t: Messages, benchmark: Benchmark) -> str:
    questions = f"{benchmark.questions:,}"
    facts = (
        benchmark.title,
        t("published.questions", n=questions) if benchmark.questions else "",
        t("list.comma").join(benchmark.languages),
        benchmark.licence,
    )
    return " · ".join(fact for fact in facts if fact)


def _in_catalog(service: AppService, models: Sequence[str]) -> list[str]:
    try:
        catalog = service.models.catalog() if models else {}
    except EvaluiError:
        return []  # the Models page states what is wrong with it
    return [name for name in models if name in catalog]
