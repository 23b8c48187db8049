"""docs/python.md states the declared columns and its code runs; so does the notebook.

The notebook's cells are run in one namespace, as plain Python, and what a notebook would show of
the last line of each is made. nbclient would bring a Jupyter kernel with two dozen packages and
sockets, to run the same statements: the cells have no magic and no top-level await, which
`ast.parse` would refuse.
"""

import ast
import json
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

import evalui
from evalui.library import scores
from evalui.library.places import RUN_COLUMNS
from evalui.report.figures import CHARTS
from evalui.report.frames.base import Columns
from evalui.report.frames.run import KINDS
from evalui.report.frames.trials import QUESTION_COLUMNS, TRIAL_COLUMNS

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
FRAMES_PAGE = (ROOT / "docs" / "frames.md").read_text(encoding="utf-8")
FRAMES = {
    "trials": TRIAL_COLUMNS,
    "questions": QUESTION_COLUMNS,
    "list_runs": RUN_COLUMNS,
    "agreement": scores.AGREEMENT_COLUMNS,
}


def _table(columns: Columns) -> str:
    rows = [f"| `{n}` | {c.dtype} | {c.meaning} |" for n, c in columns.items()]
    return "\n".join(["| column | dtype | meaning |", "|---|---|---|", *rows, ""])


@pytest.mark.parametrize("name", FRAMES)
def test_the_page_states_each_column_with_its_dtype_and_meaning(name: str):
    table = _table(FRAMES[name])
    assert table in PAGE, f"the table of {name} should be:\n{table}"


@pytest.mark.parametrize("name", KINDS)
def test_each_frame_has_its_section_with_its_columns(name: str):
    section = FRAMES_PAGE.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    table = _table(KINDS[name].columns)
    assert section.rstrip().endswith(table.rstrip()), f"the table of {name} should be:\n{table}"


def test_the_page_lists_every_chart():
    section = PAGE.partition("## Charts and pages")[2].partition("\n## ")[0]
    assert sorted(name for name in CHARTS if f"`{name}`" not in section) == []


def test_the_page_names_every_public_call():
    calls = {name for name in evalui.__all__ if name != "__version__"} - {"Run"}
    methods = {name for name in vars(evalui.Run) if not name.startswith("_")} - {"spec"}
    code = " ".join(re.findall(r"`([^`\n]+)`", PAGE)) + " ".join(
        re.findall(r"```.*?```", PAGE, re.S)
    )
    assert sorted(name for name in calls | methods if not re.search(rf"\b{name}\b", code)) == []


def _run(source: str, names: dict[str, Any], place: str) -> None:
    """Run statements; of a last expression make what a notebook would show."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, place, "exec"), names)
    if isinstance(last, ast.Expr):
        shown = eval(compile(ast.Expression(last.value), place, "eval"), names)
        html = getattr(shown, "_repr_html_", None)
        assert html is None or html()
        repr(shown)


@pytest.mark.slow
def test_the_code_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    head, answers = "id,question,A,B,C,D,answer\n", "ABCD"
    for name in ("law_val", "exam"):
        rows = (
            f"{n},Is {n} one of {name}?,a{n},b{n},c{n},d{n},{answers[n % 4]}\n" for n in range(24)
        )
        (tmp_path / f"{name}.csv").write_text(head + "".join(rows))
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", evalui.RunWarning)
        for number, block in enumerate(re.findall(r"```python\n(.*?)```", PAGE, re.S)):
            _run(block, names, f"block {number}")
    names["run"].close()
    assert (tmp_path / "report.html").exists()
    assert (tmp_path / "law-run/report.json").exists()


@pytest.mark.slow
def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "examples").mkdir()
    (tmp_path / "assets").symlink_to(ROOT / "assets")
    monkeypatch.chdir(tmp_path / "examples")
    book = json.loads((ROOT / "examples/notebook.ipynb").read_text(encoding="utf-8"))
    cells = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] for cell in cells)  # a reader's own run fills them
    names: dict[str, Any] = {}
    for number, cell in enumerate(cells):
        _run("".join(cell["source"]), names, f"cell {number}")
    assert names["macro"].tolist() == pytest.approx(names["reported"]["value"].tolist())
