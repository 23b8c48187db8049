"""The Evaluate page before there is a file: where to drop one, and what can be read."""

from evalui.messages import Messages
from evalui.report.html import Html, div, el, join
from evalui.ui.components.widgets import UPLOAD, button, card, page_head, titled

_FORMATS = ("choice", "arc", "pair", "qa", "subjective", "config")


def empty_state(
    t: Messages, *, limit_mb: int, sample_questions: int, open_questions: int = 0, problem: str = ""
) -> Html:
    """The whole empty page; the counts of questions are 0 if no such sample was shipped.

    `problem` is why the last upload could not be read.
    """
    steps = [
        card(el("h3", t(f"intro.{step}")), el("p", t(f"intro.{step}_about"), cls="dim"))
        for step in ("check", "choose", "read")
    ]
    return div(
        page_head(t("evaluate.title"), t("evaluate.promise")),
        div(
            div(_drop(t, limit_mb, sample_questions, open_questions, problem), cls="f2"),
            _formats(t),
            cls="row",
        ),
        div(*steps, cls="row"),
        cls="stack",
    )


def add_dataset_button(t: Messages) -> Html:
    """The button that adds another dataset to the run."""
    status = div(cls="bad meta", role="alert", data_status=True)
    return div(_file_chooser(t("drop.add")), status, cls="drop add", **_messages(t))


def _file_chooser(word: str) -> Html:
    return join(
        el("input", type="file", id="files", multiple=True, aria_label=word),
        el("label", word, for_="files", cls="btn"),
    )


def _messages(t: Messages) -> dict[str, str]:
    return {"data_sending": t("drop.sending"), "data_lost": t("drop.lost")}


def _drop(
    t: Messages, limit_mb: int, sample_questions: int, open_questions: int, problem: str
) -> Html:
    sample = button(t("drop.sample"), "sample", cls="pri") if sample_questions else None
    open_ = button(t("drop.open_sample"), "open_sample", cls="quiet") if open_questions else None
    about = t("drop.sample_note", n=sample_questions) if sample_questions else ""
    open_about = t("drop.open_note", n=open_questions) if open_questions else ""
    return div(
        UPLOAD,
        el("h2", t("drop.title")),
        el("p", t("drop.kinds", mb=limit_mb), cls="dim"),
        div(_file_chooser(t("drop.choose")), sample, open_, cls="acts"),
        el("p", about, cls="meta") if about else None,
        el("p", open_about, cls="meta") if open_about else None,
        div(problem, cls="bad gap-s", role="alert", data_status=True),
        cls="drop",
        **_messages(t),
    )


def _formats(t: Messages) -> Html:
    rows = [
        el(
            "tr",
            el(
                "td",
                el("b", t(f"intro.{name}")),
                div(t(f"intro.{name}_columns"), cls="mono dim"),
            ),
        )
        for name in _FORMATS
    ]
    return titled(t("intro.files"), el("table", el("tbody", *rows)))
