"""What `evalui probe` prints: how fast this machine multiplies, and which library is used."""

from collections.abc import Iterator

from evalui.models.local.fp32 import (
    FILE,
    TITLES,
    Library,
    LibraryChoice,
    Measure,
    measure,
    remeasure,
)
from evalui.settings import Settings


def probe_lines(settings: Settings, *, measured: Measure = measure) -> Iterator[str]:
    """Measure, replace the choice that was kept, and say both.

    Raises:
        StoreError: the choice cannot be written.
    """
    before, now = remeasure(settings.data_dir, measured=measured)
    yield f"Processor: {now.machine_name}"
    yield from _figures(now)
    yield f"Chosen: {_library_label(now.library)}. {_previous_choice(before)}"
    yield f"Kept in {settings.data_dir / FILE}"
    if settings.fp32 != "measured":
        yield f"EVALUI_FP32 is set: models use {_library_label(settings.fp32)} all the same."


def _figures(choice: LibraryChoice) -> Iterator[str]:
    if not choice.rates:
        yield "oneDNN is not offered on this processor; nothing was measured."
        return
    yield "GFLOP/s of one core in float32"
    yield f"{'rows x inputs x outputs':>24}{TITLES['onednn']:>10}{TITLES['blas']:>14}"
    for rate in choice.rates:
        shape = f"{rate.rows} x {rate.inner} x {rate.columns}"
        yield f"{shape:>24}{rate.onednn:>10.1f}{rate.blas:>14.1f}"


def _previous_choice(before: LibraryChoice | None) -> str:
    if before is None:
        return "Nothing was measured before."
    return f"Before: {_library_label(before.library)}."


def _library_label(library: Library) -> str:
    return f"{TITLES[library]} (fp32:{library})"
