"""The line above every page of a server whose disk is nearly full."""

from pathlib import Path

from evalui.messages import Messages
from evalui.report.html import Html
from evalui.report.icons import status_icon
from evalui.runs.upkeep.disk import disk_use
from evalui.ui.components.templates import fill


def disk_notice(folder: Path, t: Messages) -> Html | None:
    """None while there is room; raises `StoreError` if the folder is gone."""
    use = disk_use(folder)
    if not use.is_nearly_full:
        return None
    text = t("upkeep.disk", percent=round(100 * use.share))
    return fill("note.html", kind="warn", icon=status_icon, text=text)
