"""Published sets by name: an index, their data on this machine, and a harness's official figures.

What is below is public, see docs/python.md, and is imported when it is first used. The speed of
evalui itself is measured elsewhere, in the folder benchmarks/ of the project's root.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalui.benchmarks.harness import OfficialFigure, OfficialResult, official_figures
    from evalui.benchmarks.hub import FetchedBenchmark, download_sizes, fetch
    from evalui.benchmarks.index import Benchmark, find, read_index, search
    from evalui.benchmarks.places import TaskData
    from evalui.benchmarks.preparing import (
        Availability,
        PreparedBenchmark,
        availability,
        is_benchmark,
        missing,
        resolve,
        task_data,
    )
    from evalui.benchmarks.published import PublishedFigure, published_figures

_MODULES = {
    "harness": ("OfficialFigure", "OfficialResult", "official_figures"),
    "hub": ("FetchedBenchmark", "download_sizes", "fetch"),
    "index": ("Benchmark", "find", "read_index", "search"),
    "places": ("TaskData",),
    "preparing": (
        "Availability",
        "PreparedBenchmark",
        "availability",
        "is_benchmark",
        "missing",
        "resolve",
        "task_data",
    ),
    "published": ("PublishedFigure", "published_figures"),
}
_MODULE_OF = {name: f"{__name__}.{module}" for module, own in _MODULES.items() for name in own}

__all__ = [
    "Availability",
    "Benchmark",
    "FetchedBenchmark",
    "OfficialFigure",
    "OfficialResult",
    "PreparedBenchmark",
    "PublishedFigure",
    "TaskData",
    "availability",
    "download_sizes",
    "fetch",
    "find",
    "is_benchmark",
    "missing",
    "official_figures",
    "published_figures",
    "read_index",
    "resolve",
    "search",
    "task_data",
]


def __getattr__(name: str) -> Any:
    """A public name, imported when it is used first; kept, so that this is called once for each."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
