"""Results, Duels: the duels of a judged run, and one of them in full."""

from evalui.report.html import Html, div, el
from evalui.ui.components.form import Form
from evalui.ui.components.fragment import Action
from evalui.ui.components.widgets import titled
from evalui.ui.tabs.arena.arena_view import OpenRunView
from evalui.ui.tabs.arena.duels import changed_form, duels_page
from evalui.ui.tabs.results.run_view import RunView


def render(view: RunView, form: Form) -> Html:
    """The duels of the judge that the address names, or what they would need."""
    t = view.t
    shown = OpenRunView(view.service, t, view.run.id, form, duels=True)
    if shown.offered:
        return duels_page(shown, form)
    about = el("p", t("arena.none_here_about"), cls="dim")
    return titled(t("arena.none_here"), div(about, cls="empty"))


def act(view: RunView, action: Action) -> Html | None:
    """The duels that another filter leaves."""
    return render(view, changed_form(action))
