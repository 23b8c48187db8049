"""Tables of trials as frames, in which tests look things up."""

from collections.abc import Callable

import pandas as pd

from evalui.report.export.trial_cells import ExportTable


def as_frame(table: ExportTable) -> pd.DataFrame:
    """Every row of a table."""
    rows = [
        row
        for chunk in table.chunks()
        for row in zip(*(column.listed() for column in chunk), strict=True)
    ]
    return pd.DataFrame(rows, columns=list(table.kinds))


def framed(make: Callable[..., ExportTable]) -> Callable[..., pd.DataFrame]:
    """What makes a table, as what makes the frame of its rows."""
    return lambda *given, **named: as_frame(make(*given, **named))
