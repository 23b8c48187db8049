"""Results, Report: the run as files to keep, and on demand what report.html shows."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import gradio as gr

from evalui.app.exports import ExportProgress
from evalui.app.run_view import RunView
from evalui.messages import Messages
from evalui.report.blocks import Details
from evalui.report.compile import blocks
from evalui.report.html import Html
from evalui.report.write.formats import ON_PAGE, is_installed
from evalui.store.runs import LIVE_STATES, RunRow
from evalui.ui.blocks import show
from evalui.ui.components.fold import fold
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.format import size
from evalui.ui.components.listing import markup
from evalui.ui.components.templates import fill

FIRST = ("html", "xlsx")  # what most people open
OTHERS = tuple(each for each in ON_PAGE if each not in FIRST)
_NONE_SENT: Mapping[str, ExportProgress] = MappingProxyType({})


class Downloads:
    """A plain link per format: it works without scripts, and on the first click.

    Those that most people open stand first, the others are folded.
    """

    def __init__(self, t: Messages) -> None:
        self.t = t
        with gr.Column(visible=False, elem_classes="report-files") as self.box:
            self.note = markup(fill("results/unfinished.html", t=t), elem_classes="ev")
            with gr.Column(elem_classes="card"):
                markup(fill("results/files_head.html", t=t), elem_classes="ev")
                self.first = markup(elem_classes="ev")
            with gr.Column(elem_classes="folds"):
                names = t("list.comma").join(t(f"report.{each}") for each in OTHERS)
                with fold(Details("other-files", t("report.others"), names, ()), "other-files"):
                    self.others = markup(elem_classes="ev")

    @property
    def outputs(self) -> list[Any]:
        """Every component that changes."""
        return [self.box, self.note, self.first, self.others]

    def hidden(self) -> dict[Any, Any]:
        """No files."""
        return {self.box: gr.update(visible=False)}

    def shown(self, view: RunView, sizes: Mapping[str, int] | None = None) -> dict[Any, Any]:
        """The links; `sizes` are about the bytes of each file, if they have been worked out."""
        run, progress = view.run, view.service.exports.progress(view.run.id)
        return {
            self.box: gr.update(visible=True),
            self.note: gr.update(visible=run.state in LIVE_STATES),
            self.first: downloads(self.t, run, FIRST, sizes or {}, progress),
            self.others: downloads(self.t, run, OTHERS, sizes or {}, progress),
        }


def downloads(
    t: Messages,
    run: RunRow,
    extensions: Iterable[str],
    sizes: Mapping[str, int],
    progress: Mapping[str, ExportProgress] = _NONE_SENT,
) -> Html:
    """A link per format.

    `sizes` are about the bytes of each file, as far as they are known; `progress` is of those that
    are being sent.
    """
    files = [
        {
            "name": t(f"report.{each}"),
            "about": t(f"report.{each}_about"),
            "href": f"../export/{run.id}.{each}?lang={t.language}" if is_installed(each) else "",
            "word": t("report.download", name=each.rpartition(".")[2].upper())
            if is_installed(each)
            else t("error.no-pyarrow"),
            "sent": _sent(t, sizes.get(each), progress.get(each)),
            "primary": each == FIRST[0],
        }
        for each in extensions
    ]
    return fill("results/files.html", files=files)


def draw(view: RunView, form: Form) -> None:
    """The report on the page, or the way to it."""
    opened = bool(field_value(form, "preview"))
    href = view.address("report") if opened else view.address("report", preview="1")
    word = view.t("report.preview_close" if opened else "report.preview")
    markup(fill("results/preview.html", href=href, word=word), elem_classes="ev")
    if opened:
        show(view.t, blocks(view.report, view.language), scope="preview", titled=True)


def _sent(t: Messages, size_of_file: int | None, progress: ExportProgress | None) -> str:
    """About how large a file is, or how much of it was sent."""
    about = "" if size_of_file is None else t("report.size", size=size(size_of_file))
    if progress is None:
        return about
    if progress.sent is None:
        return t("report.waiting")
    if not progress.sent:
        return t("report.preparing")
    return t("report.sent", sent=size(progress.sent), whole=about)
