"""The records pass over what a further metric brings, and nothing else."""

import json
from pathlib import Path

import net_examples as net
import net_pages as pages
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


_TABLE = {
    "rows": 3,
    "columns": {"metric": ["acc", "f1", "acc"], "value": [1.0, 0.5, None], "unit": ["%"] * 3},
}


@pytest.mark.usefixtures("record")
def test_a_row_of_a_further_metric_is_passed_over(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(net, "RECORDING", True)
    net.check_figures("one", _TABLE)
    monkeypatch.setattr(net, "RECORDING", False)
    columns = {"metric": ["acc", "new", "f1", "acc"], "value": [1.0, 9.0, 0.5, None]}
    columns["unit"] = ["%"] * 4
    more = {"rows": 4, "columns": columns}
    net.check_figures("one", more)
    columns["value"][2] = 0.6
    with pytest.raises(AssertionError, match=r"one: 1 differ\n\.columns\.value\[1\]: 0\.5 is 0\.6"):
        net.check_figures("one", more)


def test_what_comes_again_is_recorded_by_its_place(record: Path, monkeypatch: pytest.MonkeyPatch):
    long = [f"a text of the row {row}" for row in range(3)]
    found = {"csv": {"rows": 3, "columns": {"text": long}}, "rest": [{"rows": long}, {"n": 1}]}
    found["again"] = found["csv"]
    monkeypatch.setattr(net, "RECORDING", True)
    net.check_figures("one", found)
    monkeypatch.setattr(net, "RECORDING", False)
    assert record.read_text().count("a text of the row 1") == 1
    net.check_figures("one", found)
    changed = found | {"rest": [{"rows": [*long[:2], "another"]}, {"n": 1}]}
    with pytest.raises(AssertionError, match=r"\.rest\[0\]\.rows\[2\]: 'a text of the row 2' is"):
        net.check_figures("one", changed)


@pytest.mark.parametrize(
    ("found", "is_same"),
    [("p = 0.124, 7 of 9", True), ("p = 0.126, 7 of 9", False), ("p = 0.123, 8 of 9", False)],
)
def test_figures_in_words_may_differ_by_their_last_digit(found: str, is_same: bool, record: Path):
    (record.parent.parent / "texts").mkdir()
    (record.parent.parent / "texts" / "one.txt").write_text("== part\np = 0.123, 7 of 9\n")
    if is_same:
        net.check_text("one.txt", f"== part\n{found}\n", tolerance=1e-4)
    with pytest.raises(AssertionError, match=r"== part \(2\):\n  was p = 0.123, 7 of 9\n  now"):
        net.check_text("one.txt", f"== part\n{found}\n", tolerance=1e-9)


def test_a_page_is_read_with_its_links_tables_and_charts():
    figure = '{"data": [{"type": "bar", "x": [1], "y": [0.5], "marker": {}}], "layout": {}}'
    page = f"""<h2>Right <a href="r?run=k3f">by model</a></h2><script>no()</script>
    <table><tr><th>model</th><th>right</th></tr>
    <tr><td><div>late</div></td><td>58 %</td></tr></table>
    <ev-plot aria-label="Bars" data-figure='{figure}'></ev-plot><p title="more">End</p>"""
    shown = pages.read(page, {"k3f": "<run>"})
    assert shown.lines == [
        "Right [by model](r?run=<run>)",
        "|model | right |",
        "| late | 58 % |",
        "(chart) Bars",
        "{more}End",
    ]
    assert shown.links == ["r?run=<run>"]
    assert shown.figures == ["58 %"]
    assert shown.charts[0]["traces"] == [{"type": "bar", "x": [1], "y": [0.5]}]
