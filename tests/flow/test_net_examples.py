"""The records pass over what a further metric brings, and nothing else."""

import json
from pathlib import Path

import net_examples as net
import pytest

_RECORDED = ["Right by model", "| model | right |", "|---|---:|", "| late | 58 % |", "End"]


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(net, "NET", tmp_path)
    (tmp_path / "figures").mkdir()
    return tmp_path / "figures" / "one.json"


def test_a_further_key_is_passed_over(record: Path):
    record.write_text(json.dumps({"cells": [{"n": 2, "acc": 50.0}]}))
    net.check_figures("one", {"cells": [{"n": 2, "mass": 0.5, "acc": 50.0}]})


@pytest.mark.parametrize(
    "found",
    [
        {"cells": [{"n": 2, "acc": 51.0}]},
        {"cells": [{"n": 2}]},
        {"cells": [{"acc": 50.0, "n": 2}]},
        {"cells": []},
    ],
    ids=["another figure", "a key less", "another order", "a cell less"],
)
def test_a_change_of_what_is_recorded_is_found(record: Path, found: object):
    record.write_text(json.dumps({"cells": [{"n": 2, "acc": 50.0}]}))
    with pytest.raises(AssertionError, match="differ"):
        net.check_figures("one", found)


def test_a_further_column_of_a_table_is_passed_over():
    found = [*_RECORDED]
    found[1:4] = ["| model | mass | right |", "|---|---:|---:|", "| late | 0.9 | 58 % |"]
    assert net.without_further_columns(_RECORDED, found) == _RECORDED


@pytest.mark.parametrize("cells", ["| late | 0.9 | 57 % |", "| early | 0.9 | 58 % |"])
def test_another_cell_of_a_recorded_column_is_found(cells: str):
    found = [*_RECORDED]
    found[1:4] = ["| model | mass | right |", "|---|---:|---:|", cells]
    assert net.without_further_columns(_RECORDED, found) != _RECORDED
