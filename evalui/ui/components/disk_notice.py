"""The line above every page of a server whose disk is nearly full."""

from pathlib import Path

from evalui.messages import Messages
from evalui.report.html import Html
from evalui.runs.upkeep.monitor import disk_use
from evalui.ui.components.widgets import note


def disk_notice(folder: Path, t: Messages) -> Html | None:
    """None while there is room; raises `StoreError` if the folder is gone."""
    use = disk_use(folder)
    if not use.is_nearly_full:
        return None
    return note("warn", t("upkeep.disk", percent=round(100 * use.share)))
