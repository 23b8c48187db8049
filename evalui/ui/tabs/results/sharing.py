"""Results, the panel of who else may see a run: links to a frozen page, and rights of teams."""

from evalui.app.sharing import run_address, share_run, withdraw
from evalui.report.html import Html, div, el
from evalui.ui.components.form import Form
from evalui.ui.components.fragment import Action
from evalui.ui.sharing.links import SharedPage, chosen_days, share_panel
from evalui.ui.sharing.rights import change_right, team_switches
from evalui.ui.tabs.results.run_view import RunView

_CHANGES = ("share", "withdraw", "grant", "ungrant")


def change(view: RunView, action: Action) -> RunView:
    """The run after what a button of the panel states.

    Raises:
        AccountError: there is no such link, team or right, or no such days.
        NotAllowed: the person may not change the run.
    """
    service, run_id = view.service, view.run.id
    if action.do not in _CHANGES:
        return view
    service.require("change", run_id)
    match action.do:
        case "share":
            share_run(service, run_id, chosen_days(action.form))
        case "withdraw":
            withdraw(service, action.value("link"), run_address(run_id))
        case _:
            change_right(service, "run", run_id, action)
    return RunView(service, view.t, run_id)


def shared_page(view: RunView) -> SharedPage:
    """The page of a run as it is shared."""
    run_id = view.run.id
    return SharedPage([view.run], run_address(run_id), view.address("overview"), f"../r/{run_id}")


def panel(view: RunView, form: Form) -> Html | None:
    """The panel if the address has it open, and the person may use it."""
    service, t = view.service, view.t
    switches = team_switches(service, t, "run", view.run.id)
    more = div(el("h3", t("teams.title"), cls="gap"), switches) if switches else None
    return share_panel(service, t, form, shared_page(view), more)
