"""The figures of summary groups as objects of report.json and as a tidy table."""

from collections.abc import Iterable, Iterator

from evalui.report.export.metric_fields import public_figure
from evalui.report.export.tables import table_of
from evalui.report.frames.base import FrameParts
from evalui.report.write.json import JsonObject
from evalui.scoring.groups import GroupSummary


def group_objects(groups: Iterable[GroupSummary]) -> list[JsonObject]:
    """An object per group, model and mode with every metric that a member has a value of."""
    return [
        {
            **_names(group),
            "members": [*group.group.members],
            "weights": dict(group.group.weights),
            "missing": [*group.missing],
            "figures": {
                name: public_figure(each.metric, each.figure)
                | {"n": each.n, "missing": [*each.missing]}
                for name, each in group.figures.items()
            },
            "signatures": [*group.signatures],
        }
        for group in groups
    ]


def group_table(groups: Iterable[GroupSummary]) -> FrameParts:
    """A row per group, model, mode and metric."""
    return table_of(row for group in groups for row in _rows(group))


def _rows(group: GroupSummary) -> Iterator[JsonObject]:
    for name, each in group.figures.items():
        yield {
            **_names(group),
            "metric": name,
            **public_figure(each.metric, each.figure),
            "n": each.n,
            "missing": ", ".join(each.missing),
            "signature": "; ".join(group.signatures),
        }


def _names(group: GroupSummary) -> JsonObject:
    return {
        "group": group.group.name,
        "of": group.group.of,
        "dataset": group.dataset,
        "model": group.model,
        "mode": group.label,
        "mean": group.group.mean,
    }
