"""Evaluate, what teams share: which of them may use a dataset, and the datasets of others."""

from evalui.accounts.teams import dataset_of
from evalui.app.datasets import list_team_datasets, take_team_dataset
from evalui.app.service import AppService
from evalui.app.uploads import upload_of
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.ui.components.action import Action
from evalui.ui.components.format import size
from evalui.ui.components.templates import fill
from evalui.ui.sharing.rights import change_right, team_switches

TAKE = "take"  # the action that takes a dataset of a team
RIGHTS = ("grant", "ungrant")


def dataset_rights(service: AppService, t: Messages, upload: str) -> Html | None:
    """Which teams may use an upload of the person, folded; None where nobody has an account."""
    thing = dataset_of(service.owner, upload_of(upload))
    switches = team_switches(service, t, "dataset", thing)
    if switches is None:
        return None
    return fill("sharing/dataset_rights.html", t=t, switches=switches)


def team_datasets(service: AppService, t: Messages) -> Html | None:
    """What others let the person's teams use, a line each; None if that is nothing."""
    datasets = list_team_datasets(service)
    if not datasets:
        return None
    return fill("sharing/team_datasets.html", t=t, size=size, datasets=datasets)


def change_dataset(service: AppService, action: Action) -> None:
    """Take a dataset of a team, or change what a team may do with one's own.

    Raises:
        DataError: the person may not use it, or it is not theirs.
        SpecError: the person would store more than they may.
        AccountError: as `change_right` does.
    """
    if action.do == TAKE:
        take_team_dataset(service, action.value("upload"))
    else:
        upload = action.value("thing").rpartition("/")[2]
        service.uploads.paths(service.owner, upload)  # raises if it is not theirs
        change_right(service, "dataset", dataset_of(service.owner, upload), action)
