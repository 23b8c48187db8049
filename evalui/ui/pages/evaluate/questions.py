"""The first questions of a dataset as a model is asked them, three at a time."""

from evalui.app.service import AppService
from evalui.datasets.preview import PAGE, Preview, QuestionPreview
from evalui.messages import Messages
from evalui.pictures import cut
from evalui.report.html import Html
from evalui.ui.components.form import Form, field_value, parse_whole_number
from evalui.ui.components.pictures import Pictures
from evalui.ui.components.templates import fill

_MAX_CHARS = 2000  # of a text; what is longer is cut, and how much is stated
_SCROLLED_CHARS = 400  # from which on a text may be higher than its box


def first_question(form: Form, upload: str) -> int:
    """The place of the first question that is shown of an upload, from 0."""
    return parse_whole_number(field_value(form, f"from_{upload}")) or 0


def questions_part(service: AppService, t: Messages, upload: str, preview: Preview) -> Html | None:
    """Questions in the order of the file, with the way to those before and after them."""
    if not preview.questions:
        return None
    several = len({question.file for question in preview.questions}) > 1
    first, last = preview.start + 1, preview.start + len(preview.questions)
    total = f"{preview.total:,}"
    return fill(
        "evaluate/questions.html",
        t=t,
        upload=upload,
        preview=preview,
        questions=[
            (
                each,
                _place(t, each, with_file=several),
                _own_subject(each),
                Pictures.of_upload(t, service, upload, each.id),
            )
            for each in preview.questions
        ],
        shown=t("list.shown", first=f"{first:,}", last=f"{last:,}", total=total)
        if preview.total > PAGE
        else "",
        steps={"previous": preview.start - PAGE, "next": preview.start + PAGE},
        cut=cut,
        longest=_MAX_CHARS,
        scrolled=_SCROLLED_CHARS,
    )


def _place(t: Messages, question: QuestionPreview, *, with_file: bool) -> str:
    line = t("preview.line", n=f"{question.line:,}") if question.line else ""
    return " ".join(filter(None, (question.file if with_file else "", line)))


def _own_subject(question: QuestionPreview) -> str:
    """The subject without the name of the file, which stands for it where no column does."""
    if question.file.startswith(question.subject):
        return ""
    sheet = question.file.partition("/")[2]
    return sheet if sheet and question.subject.endswith(f" {sheet}") else question.subject
