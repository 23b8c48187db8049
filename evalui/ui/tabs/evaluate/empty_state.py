"""The Evaluate page before there is a file: where to drop one, the samples, and what is read."""

from evalui.datasets.files.archive import readable_suffixes
from evalui.messages import Messages
from evalui.report.html import Html, div, el, join
from evalui.ui.components.widgets import UPLOAD, button, card, page_head, titled

# The formats as the page lists them, each with the example file to download.
_FORMATS = {
    "choice": "choice.csv",
    "arc": "options.jsonl",
    "pair": "dev-and-val.zip",
    "qa": "question-answer.jsonl",
    "subjective": "open-questions.xlsx",
    "config": "ms-swift.zip",
}


def empty_state(
    t: Messages,
    *,
    limit_mb: int,
    questions: int,
    open_questions: int,
    problem: str,
    published: Html | None,
    chosen: Html,
    address: str,
) -> Html:
    """The whole empty page; the counts of questions are 0 if no such sample was shipped.

    `problem` is why the last upload could not be read, `published` the field for sets by name,
    `chosen` which models an address chose;
    `address` is that of the page, which keeps them for the file that comes.
    """
    steps = [
        card(el("h3", t(f"intro.{step}")), el("p", t(f"intro.{step}_about"), cls="dim"))
        for step in ("check", "choose", "read")
    ]
    return el(
        "section",
        page_head(t("evaluate.title"), join(t("evaluate.promise"), chosen)),
        div(
            div(_drop(t, limit_mb, questions, open_questions, problem), cls="f2"),
            _formats(t),
            cls="row",
        ),
        published,
        div(*steps, cls="row"),
        cls="stack evaluate",
        data_address=address,
    )


def add_dataset_button(t: Messages, *, replaces: bool) -> Html:
    """The button that adds another dataset to the run, or comes in place of the only one."""
    word = t("drop.replace" if replaces else "drop.add")
    state = div(cls="bad meta", role="alert", data_status=True)
    return div(
        _file_chooser(word),
        state,
        cls="drop add",
        data_act="replaced" if replaces else None,
        **_messages(t),
    )


def _file_chooser(word: str) -> Html:
    return join(
        el("input", type="file", id="files", multiple=True, aria_label=word),
        el("label", word, for_="files", cls="btn"),
    )


def _messages(t: Messages) -> dict[str, str]:
    return {f"data_{name}": t(f"drop.{name}") for name in ("sending", "reading", "cancel", "lost")}


def _drop(t: Messages, limit_mb: int, questions: int, open_questions: int, problem: str) -> Html:
    sample = button(t("drop.sample"), "sample", cls="pri", data_once=True) if questions else None
    open_ = (
        button(t("drop.open_sample"), "open_sample", cls="quiet", data_once=True)
        if open_questions
        else None
    )
    return div(
        UPLOAD,
        el("h2", t("drop.title")),
        el("p", t("drop.kinds", kinds=_kinds(t), mb=limit_mb), cls="dim"),
        el("p", t("drop.log"), cls="dim"),
        div(_file_chooser(t("drop.choose")), sample, open_, cls="acts"),
        el("p", t("drop.sample_note", n=questions), cls="meta") if questions else None,
        div(problem, cls="bad gap-s", role="alert", data_status=True),
        cls="drop",
        **_messages(t),
    )


def _kinds(t: Messages) -> str:
    """The kinds of files that are read, by their endings."""
    return t("list.comma").join(suffix.lstrip(".").upper() for suffix in readable_suffixes())


def _formats(t: Messages) -> Html:
    rows = [
        el(
            "tr",
            el("td", el("b", t(f"intro.{name}")), div(t(f"intro.{name}_columns"), cls="mono dim")),
            el(
                "td",
                el("a", t("intro.example"), href=f"../examples/{file}", download=True),
                cls="r nw",
            ),
        )
        for name, file in _FORMATS.items()
    ]
    return titled(t("intro.files"), el("table", el("tbody", *rows)))
