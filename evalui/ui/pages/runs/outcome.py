"""What came of a finished run in few words, for its row in the list."""

from collections.abc import Collection, Sequence

from evalui.messages import Messages
from evalui.report.numbers import fixed
from evalui.store.runs import CellRow

_NAMED = 3  # models


def outcome(t: Messages, cells: Sequence[CellRow], baselines: Collection[str]) -> str:
    """The accuracies of the first dataset and mode, as its options are written; else how many
    verdicts or answers there are. "" if no model has answered.
    """
    choice = [cell for cell in cells if cell.accuracy is not None and cell.cell.gives == "choices"]
    if choice:
        return _accuracies(t, choice, baselines)
    for gives, key in (("verdicts", "runs.verdicts"), ("answers", "runs.written")):
        if done := sum(cell.done for cell in cells if cell.cell.gives == gives):
            return t.count(key, done)
    return ""


def _accuracies(t: Messages, cells: Sequence[CellRow], baselines: Collection[str]) -> str:
    column = (cells[0].cell.dataset, cells[0].cell.label)
    same = [cell for cell in cells if (cell.cell.dataset, cell.cell.label) == column]
    own = [cell for cell in same if cell.cell.model not in baselines] or same
    best = sorted(own, key=lambda cell: -(cell.accuracy or 0.0))[:_NAMED]
    figures = t("list.comma").join(
        f"{cell.cell.model} {fixed(100 * (cell.accuracy or 0.0), 0)} %" for cell in best
    )
    left = len(own) - len(best)
    figures = t("setting.more", names=figures, n=left) if left else figures
    return figures if cells[0].cell.pattern == "origin" else t("runs.as_written", figures=figures)
