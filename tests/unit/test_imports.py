"""Large libraries are imported without looking for garbage."""

import gc
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from evalui.imports import uncollected, uncollected_imports


@pytest.mark.parametrize("known", [True, False])
def test_what_is_imported_once_is_not_looked_at_for_garbage(
    known: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "imported_before", sys)
    gc.unfreeze()
    try:
        with uncollected_imports():
            assert not gc.isenabled()
            monkeypatch.setitem(sys.modules, "imported_before" if known else "new", sys)
        assert gc.isenabled()
        assert (gc.get_freeze_count() == 0) is known
    finally:
        gc.unfreeze()


def test_nothing_is_collected_within_and_all_is_after():
    with uncollected():
        assert not gc.isenabled()
    assert gc.isenabled()


@pytest.mark.parametrize("without", [uncollected, uncollected_imports])
def test_who_collects_nothing_goes_on_so(without: Callable[[], AbstractContextManager[None]]):
    gc.disable()
    try:
        with without():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_an_import_that_fails_leaves_the_collection_on():
    with pytest.raises(ImportError), uncollected_imports():
        raise ImportError
    assert gc.isenabled()
