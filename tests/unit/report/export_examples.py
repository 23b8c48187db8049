"""Tables as whole frames, in which tests look things up."""

from collections.abc import Callable

import pandas as pd

from evalui.report.frames.base import FrameParts


def as_frame(table: FrameParts) -> pd.DataFrame:
    """Every row of a table, its cells as objects."""
    parts = [part.astype("object") for part in table.parts()]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=table.columns)


def framed(make: Callable[..., FrameParts]) -> Callable[..., pd.DataFrame]:
    """What makes a table, as what makes the frame of its rows."""
    return lambda *given, **named: as_frame(make(*given, **named))
