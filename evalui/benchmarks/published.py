"""Figures that others have published, by any name of a set."""

from evalui.benchmarks.index import find, is_name
from evalui.published_figures import PublishedFigure, figures_of


def published_figures(name: str) -> tuple[PublishedFigure, ...]:
    """The figures of a set by any of its names, the highest first; () for a name of no set."""
    return figures_of(find(name).name if is_name(name) else name)
