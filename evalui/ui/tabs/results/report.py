"""Results, Report: the run as files to keep, and on demand what report.html shows."""

from collections.abc import Mapping
from types import MappingProxyType

from evalui.app.exports import ExportProgress
from evalui.app.run_labels import LIVE_STATES
from evalui.messages import Messages
from evalui.report.compile import blocks
from evalui.report.export.formats import ON_PAGE, is_installed
from evalui.report.html import Html, div, el, span
from evalui.report.render.page import render_blocks
from evalui.runs.database.records import RunRow
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.format import size
from evalui.ui.components.fragment import Action
from evalui.ui.components.widgets import card, note, titled
from evalui.ui.tabs.results.run_view import RunView

_FIRST = "zip"  # the one that most want
_AT_ONCE = 100  # milliseconds until the sizes are requested
_NONE_SENT: Mapping[str, ExportProgress] = MappingProxyType({})
_WATCH = 1000  # milliseconds between looks at a file that is being sent


def render(view: RunView, form: Form) -> Html:
    """A link per format; about the sizes of the files come after the page.

    `preview` of the form opens the report below, which works out every analysis of the run.
    """
    # The files of a run that is not finished change with each answer.
    return _page(view, form, {}, poll=None if view.is_live else _AT_ONCE)


def act(view: RunView, action: Action) -> Html | None:
    """The same with about the size of each file, and how much of it was sent to somebody."""
    service = view.service
    sizes = service.export_sizes(view.run.id, view.language)
    # A link that was just followed is known here a moment later.
    watched = action.do == "watch" or service.exports.progress(view.run.id)
    return _page(view, action.form, sizes, poll=_WATCH if watched else None)


def downloads(
    t: Messages,
    run: RunRow,
    sizes: Mapping[str, int],
    progress: Mapping[str, ExportProgress] = _NONE_SENT,
) -> Html:
    """A plain link per format: it works without scripts, and on the first click.

    `sizes` are about the bytes of each file, as far as they are known; `progress` is of those that
    are being sent.
    """
    cards = [
        card(
            el("h3", t(f"report.{extension}")),
            el("p", t(f"report.{extension}_about"), cls="dim"),
            _link(t, run, extension),
            span(_sent(t, sizes.get(extension), progress.get(extension)), cls="meta"),
        )
        for extension in ON_PAGE
    ]
    live = run.state in LIVE_STATES
    return div(
        note("warn", t("report.unfinished")) if live else None,
        titled(t("report.files"), div(*cards, cls="downloads"), aside=t("report.files_about")),
        cls="stack",
    )


def _link(t: Messages, run: RunRow, extension: str) -> Html:
    if not is_installed(extension):
        return span(t("error.no-pyarrow"), cls="meta")
    return el(
        "a",
        t("report.download", name=extension.rpartition(".")[2].upper()),
        href=f"../export/{run.id}.{extension}?lang={t.language}",
        cls="btn pri" if extension == _FIRST else "btn",
        download=True,
        data_do="watch",
    )


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


def _page(view: RunView, form: Form, sizes: Mapping[str, int], poll: int | None) -> Html:
    weigh = {"data_poll": poll, "data_sizes": "1"} if poll else {}
    opened = bool(field_value(form, "preview"))
    progress = view.service.exports.progress(view.run.id)
    return div(downloads(view.t, view.run, sizes, progress), _preview(view, opened=opened), **weigh)


def _preview(view: RunView, *, opened: bool) -> Html:
    """The report on the page, or the way to it."""
    t = view.t
    href = view.address("report") if opened else view.address("report", preview="1")
    way = el("a", t("report.preview_close" if opened else "report.preview"), href=href, cls="btn")
    head = div(el("h2", "report.html"), way, cls="card-h")
    if not opened:
        return el("section", head, cls="card gap")
    shown = render_blocks(blocks(view.report, view.language), filed=True)
    return el("section", head, shown, cls="card filed gap")
