"""Results, Report: the run as files to keep, and on demand what report.html shows."""

from collections.abc import Mapping

from evalui.messages import Messages
from evalui.report.compile import blocks
from evalui.report.export.formats import FORMATS
from evalui.report.html import Html, div, el, span
from evalui.report.render.page import render_blocks
from evalui.runs.database.records import RunRow
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.format import size
from evalui.ui.components.fragment import Action
from evalui.ui.components.widgets import card, note, titled
from evalui.ui.services.run_labels import LIVE_STATES
from evalui.ui.tabs.results.run_view import RunView

_UNWEIGHED = "zip"  # made of all others and of pictures, which takes longer than a look at a page
_AT_ONCE = 100  # milliseconds until the sizes are requested
_MOST_WEIGHED = 10_000  # trials of a run whose files are made to know their sizes


def render(view: RunView, form: Form) -> Html:
    """A link per format; the sizes of the files come after the page.

    `preview` of the form opens the report below, which works out every analysis of the run.
    """
    return _page(view, form, {})


def act(view: RunView, action: Action) -> Html | None:
    """The same with the size of each file."""
    sizes = {
        extension: view.service.export_size(view.run.id, extension, view.language)
        for extension in FORMATS
        if extension != _UNWEIGHED
    }
    return _page(view, action.form, sizes)


def downloads(t: Messages, run: RunRow, sizes: Mapping[str, int]) -> Html:
    """A plain link per format: it works without scripts, and on the first click.

    `sizes` are in bytes, as far as they are known.
    """
    cards = [
        card(
            el("h3", t(f"report.{extension}")),
            el("p", t(f"report.{extension}_about"), cls="dim"),
            el(
                "a",
                t("report.download", name=extension.upper()),
                href=f"../export/{run.id}.{extension}?lang={t.language}",
                cls="btn pri" if extension == _UNWEIGHED else "btn",
                download=True,
            ),
            span(size(sizes[extension]), cls="meta") if extension in sizes else None,
        )
        for extension in FORMATS
    ]
    live = run.state in LIVE_STATES
    return div(
        note("warn", t("report.unfinished")) if live else None,
        titled(t("report.files"), div(*cards, cls="downloads"), aside=t("report.files_about")),
        cls="stack",
    )


def _page(view: RunView, form: Form, sizes: Mapping[str, int]) -> Html:
    # The files of a run that is not finished change with each answer.
    settled = not sizes and not view.is_live and view.run.done <= _MOST_WEIGHED
    weigh = {"data_poll": _AT_ONCE, "data_sizes": "1"} if settled else {}
    opened = bool(field_value(form, "preview"))
    return div(downloads(view.t, view.run, sizes), _preview(view, opened=opened), **weigh)


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
