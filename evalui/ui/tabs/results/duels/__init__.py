"""Results, Duels: the duels of a judged run, and one of them in full."""

from evalui.app.open_run_view import OpenRunView
from evalui.app.run_view import RunView
from evalui.report.html import Html, div, el
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.fragment import Action
from evalui.ui.components.widgets import titled
from evalui.ui.tabs.results.duels.listing import changed_form, duels_page


def render(view: RunView, form: Form) -> Html:
    """The duels of the judge that the address names, or what they would need."""
    t = view.t
    shown = OpenRunView(view.service, t, view.run.id, field_value(form, "arena"), duels=True)
    if shown.offered:
        return duels_page(shown, form)
    about = el("p", t("arena.none_here_about"), cls="dim")
    return titled(t("arena.none_here"), div(about, cls="empty"))


def act(view: RunView, action: Action) -> Html | None:
    """The duels that another filter leaves."""
    return render(view, changed_form(action))
