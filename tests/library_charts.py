"""Every chart of a run as the library gives it, of the first cell or judge where it shows one."""

import json
from typing import Any

import evalui
from evalui.report.figures import CHARTS


def charts_of(run: evalui.Run) -> dict[str, Any]:
    """The traces of each chart that has anything to draw, by its name."""
    found: dict[str, Any] = {}
    for name in CHARTS:
        rows = CHARTS[name].frame(run.frame)
        if not rows.empty:
            which = {column: rows[column].iloc[0] for column in CHARTS[name].one}
            found[name] = json.loads(run.chart(name, **which).to_json())["data"]
    return found
