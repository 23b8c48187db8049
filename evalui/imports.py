"""Work that makes much and leaves no garbage: imports of large libraries, the reading of files."""

import gc
import sys
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Generator[None]:
    """Collect no garbage within: going over a million new objects again and again finds none."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


@contextmanager
def uncollected_imports() -> Generator[None]:
    """Collect no garbage within, and never look for any in what was imported.

    Modules make little, and going over a million objects again and again takes a fifth of the time
    of an import, and its part of every computation after it.
    """
    known = len(sys.modules)
    with uncollected():
        yield
    if len(sys.modules) > known:
        gc.freeze()
