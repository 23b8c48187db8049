"""What the Evaluate page says before there is a file: what is read, and what comes of it."""

from evalui.datasets.files import readable_suffixes
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.ui.components.templates import fill

# The formats as the page lists them, each with the example file to download.
_FORMATS = {
    "choice": "choice.csv",
    "arc": "options.jsonl",
    "pair": "dev-and-val.zip",
    "qa": "question-answer.jsonl",
    "subjective": "open-questions.xlsx",
    "config": "ms-swift.zip",
}
_STEPS = ("check", "choose", "read")


def drop_words(t: Messages, limit_mb: int) -> list[str]:
    """What may be dropped."""
    kinds = t("list.comma").join(suffix.lstrip(".").upper() for suffix in readable_suffixes())
    return [t("drop.kinds", kinds=kinds, mb=limit_mb), t("drop.log")]


def formats(t: Messages) -> Html:
    """The formats with an example of each."""
    rows = [
        (t(f"intro.{name}"), t(f"intro.{name}_columns"), file) for name, file in _FORMATS.items()
    ]
    title, example = t("intro.files"), t("intro.example")
    return fill("evaluate/formats.html", title=title, example=example, rows=rows)


def steps(t: Messages) -> Html:
    """What happens with a file, in three steps."""
    told = [(t(f"intro.{step}"), t(f"intro.{step}_about")) for step in _STEPS]
    return fill("evaluate/steps.html", steps=told)
