"""Results, Report: the run as files to keep."""

from evalui.messages import Messages
from evalui.report.export.formats import FORMATS
from evalui.report.html import Html, div, el
from evalui.runs.database.records import RunRow
from evalui.ui.components.form import Form
from evalui.ui.components.fragment import Action
from evalui.ui.components.widgets import card, note, titled
from evalui.ui.services.run_labels import LIVE_STATES
from evalui.ui.tabs.results.run_view import RunView


def render(view: RunView, form: Form) -> Html:
    """A link per format."""
    del form
    return downloads(view.t, view.run)


def act(view: RunView, action: Action) -> Html | None:
    """Nothing here is an action."""
    del view, action


def downloads(t: Messages, run: RunRow) -> Html:
    """A plain link per format: it works without scripts, and on the first click."""
    cards = [
        card(
            el("h3", t(f"report.{extension}")),
            el("p", t(f"report.{extension}_about"), cls="dim"),
            el(
                "a",
                t("report.download", name=extension.upper()),
                href=f"../export/{run.id}.{extension}?lang={t.language}",
                cls="btn pri" if extension == "zip" else "btn",
                download=True,
            ),
        )
        for extension in FORMATS
    ]
    live = run.state in LIVE_STATES
    return div(
        note("warn", t("report.unfinished")) if live else None,
        titled(t("report.files"), div(*cards, cls="downloads"), aside=t("report.files_about")),
        cls="stack",
    )
