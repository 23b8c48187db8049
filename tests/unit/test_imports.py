"""Large libraries are imported without looking for garbage."""

import gc
import sys

import pytest

from evalui.imports import uncollected_imports


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


def test_who_collects_nothing_goes_on_so():
    gc.disable()
    try:
        with uncollected_imports():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_an_import_that_fails_leaves_the_collection_on():
    with pytest.raises(ImportError), uncollected_imports():
        raise ImportError
    assert gc.isenabled()
