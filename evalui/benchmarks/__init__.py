"""Published sets by name: an index, their data on this machine, and a harness's official figures.

The speed of evalui itself is measured elsewhere, in the folder benchmarks/ of the project's root.
"""

from evalui.benchmarks.index import Benchmark, find, read_index, search
from evalui.benchmarks.preparing import PreparedBenchmark, is_benchmark, resolve, task_data

__all__ = [
    "Benchmark",
    "PreparedBenchmark",
    "find",
    "is_benchmark",
    "read_index",
    "resolve",
    "search",
    "task_data",
]
