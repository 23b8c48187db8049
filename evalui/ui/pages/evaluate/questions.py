"""The first questions of a dataset as a model is asked them, three at a time."""

from evalui.datasets.preview import PAGE, OptionPreview, Preview, QuestionPreview
from evalui.messages import Messages
from evalui.report.html import Html, div, el, join, span
from evalui.ui.components.form import Form, field_value, parse_whole_number
from evalui.ui.components.widgets import button, status_icon

_MAX_CHARS = 2000  # of a text; what is longer is cut, and how much is stated
_SCROLLED_CHARS = 400  # from which on a text may be higher than its box


def first_question(form: Form, upload: str) -> int:
    """The place of the first question that is shown of an upload, from 0."""
    return parse_whole_number(field_value(form, f"from_{upload}")) or 0


def questions_part(t: Messages, upload: str, preview: Preview) -> Html | None:
    """Questions in the order of the file, with the way to those before and after them."""
    if not preview.questions:
        return None
    several = len({question.file for question in preview.questions}) > 1
    items = (_question(t, question, with_file=several) for question in preview.questions)
    return div(
        div(el("h3", t("preview.title")), _pager(t, upload, preview), cls="asked-h"),
        el("ol", *items, start=preview.start + 1),
        cls="asked",
    )


def _pager(t: Messages, upload: str, preview: Preview) -> Html | None:
    if preview.total <= PAGE:
        return None
    first, last = preview.start + 1, preview.start + len(preview.questions)
    shown = t("list.shown", first=f"{first:,}", last=f"{last:,}", total=f"{preview.total:,}")
    steps = {"previous": preview.start - PAGE, "next": preview.start + PAGE}
    return div(
        span(shown, cls="meta"),
        *(
            button(
                t(f"preview.{word}"),
                "questions",
                cls="small",
                data_upload=upload,
                data_start=start,
                disabled=not 0 <= start < preview.total,
            )
            for word, start in steps.items()
        ),
        cls="steps",
    )


def _question(t: Messages, question: QuestionPreview, *, with_file: bool) -> Html:
    line = t("preview.line", n=f"{question.line:,}") if question.line else ""
    place = " ".join(filter(None, (question.file if with_file else "", line)))
    subject = _own_subject(question)
    turns = (
        el("p", span(t(f"role.{turn.role}"), cls="meta"), " ", _text(t, turn.content))
        for turn in question.turns
    )
    follow_ups = (
        el("p", span(t("preview.then"), cls="meta"), " ", _text(t, text))
        for text in question.follow_ups
    )
    return el(
        "li",
        div(el("b", place), div(subject)) if place or subject else None,
        div(
            *turns,
            _long_text(t, question.text),
            el("p", *(_option(t, option) for option in question.options), cls="options")
            if question.options
            else _references(t, question),
            *follow_ups,
        ),
    )


def _own_subject(question: QuestionPreview) -> str:
    """The subject without the name of the file, which stands for it where no column does."""
    if question.file.startswith(question.subject):
        return ""
    sheet = question.file.partition("/")[2]
    return sheet if sheet and question.subject.endswith(f" {sheet}") else question.subject


def _option(t: Messages, option: OptionPreview) -> Html:
    equal = span("".join(f" = {letter}" for letter in option.equal), cls="warn")
    return span(
        status_icon("ok") if option.right else None,
        span(t("preview.right"), cls="hidden") if option.right else None,
        f"{option.letter}. ",
        _text(t, option.text),
        equal if option.equal else None,
        cls="ok" if option.right else None,
    )


def _references(t: Messages, question: QuestionPreview) -> Html:
    if not question.references:
        return el("p", t("preview.no_reference"), cls="meta")
    texts = join(*(_text(t, text) for text in question.references), separator=" · ")
    return el(
        "p", status_icon("ok"), span(t("preview.reference"), cls="meta"), " ", texts, cls="ok"
    )


def _long_text(t: Messages, text: str) -> Html:
    """A text that scrolls where it is high, by the keyboard too."""
    scrolls = len(text) > _SCROLLED_CHARS
    return el("p", _text(t, text), cls="q", tabindex=0 if scrolls else None)


def _text(t: Messages, text: str) -> Html:
    if len(text) <= _MAX_CHARS:
        return join(text)
    more = t("preview.cut", n=f"{len(text) - _MAX_CHARS:,}")
    return join(text[:_MAX_CHARS], span(more, cls="meta"))
