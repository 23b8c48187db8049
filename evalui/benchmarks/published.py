"""Figures that others have published of well-known models, each with its source.

They were made with other prompts and settings than ours: they say what range to expect.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from evalui.benchmarks.index import find, is_name

_FIGURES = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """A figure in percent: of which model on which set, how it was made, and who states it."""

    benchmark: str
    model: str
    value: float
    setting: str
    source: str


def published_figures(name: str) -> tuple[PublishedFigure, ...]:
    """The figures of a set by any of its names, the highest first; () for a name of no set."""
    return figures_of(find(name).name if is_name(name) else name)


def figures_of(benchmark: str) -> tuple[PublishedFigure, ...]:
    """The figures of a set by its own name in the index, the highest first; () of others."""
    chosen = [each for each in _read() if each.benchmark == benchmark]
    return tuple(sorted(chosen, key=lambda each: -each.value))


@cache
def _read() -> tuple[PublishedFigure, ...]:
    figures: list[PublishedFigure] = []
    for source in tomllib.loads(_FIGURES.read_text(encoding="utf-8")).values():
        stated: str = source.pop("source")
        for benchmark, table in cast("dict[str, Any]", source).items():
            figures += (
                PublishedFigure(benchmark, model, value, table["setting"], stated)
                for model, value in cast("dict[str, float]", table["figures"]).items()
            )
    return tuple(figures)
