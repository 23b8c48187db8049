"""Results: the runs that a person may see, and the trials of one, page by page."""

from collections.abc import Sequence

from evalui.app.permissions import requires
from evalui.app.service import AppService
from evalui.runs.database.records import RunRow
from evalui.runs.database.runs import read_runs
from evalui.runs.trial_pages import TrialCursor, TrialPage, read_trial_page


@requires("see")
def list_runs(service: AppService) -> Sequence[RunRow]:
    """The runs of the person, everyone's, and those to vote on, the newest first."""
    return read_runs(service.database, service.person)


@requires("see", "run_id")
def trial_page(service: AppService, run_id: str, cursor: TrialCursor, limit: int) -> TrialPage:
    """So many trials of a run from a place on, and the place of the next ones."""
    return read_trial_page(service.database, run_id, cursor, limit)
