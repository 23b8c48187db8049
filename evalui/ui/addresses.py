"""Which page an address of a language alone leads to: the first one, or that of an older link."""

from evalui.app.evaluations import count_live_runs
from evalui.app.service import AppService
from evalui.errors import EvaluiError
from evalui.store.runs import LIVE_STATES
from evalui.ui.components.form import Form, field_value
from evalui.ui.top_bar import PAGES


def page_of(service: AppService, form: Form) -> str:
    """The page of the parameters of an address, as links had them before pages had names.

    Raises:
        StoreError: no page can be shown.
    """
    count_live_runs(service)  # reads the store: its fault is said before a page is opened
    requested, run = field_value(form, "tab"), field_value(form, "run")
    if requested == "arena" and run:
        return "results"  # where one judged run is read
    if requested in PAGES:
        return requested
    if not run:
        return "evaluate"
    try:
        live = service.run(run).state in LIVE_STATES
    except EvaluiError:
        live = False
    return "runs" if live and "sub" not in form else "results"
