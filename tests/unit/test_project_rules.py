"""Rules of the project that no linter knows."""

import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from source_trees import tree_of

from evalui.datasets.answers import ANSWER_KEYS
from evalui.datasets.model import DATASET_FORMATS
from evalui.harnesses import HARNESSES
from evalui.models import BACKENDS
from evalui.modes import MODES
from evalui.modes.prompts.templates import TEMPLATES
from evalui.types import Pattern

ROOT = Path(__file__).parents[2]
PRODUCT = sorted([*(ROOT / "evalui").rglob("*.py"), ROOT / "app.py"])
TREES = {path: tree_of(path) for path in PRODUCT}


def test_every_slow_file_exists():
    # A file that was renamed would run in `make check`, unnoticed but for its time.
    (slow,) = (
        ast.literal_eval(node.value)
        for node in ast.parse((ROOT / "tests/conftest.py").read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "SLOW"
    )
    assert slow - {path.name for path in (ROOT / "tests").rglob("test_*.py")} == set()


def test_no_two_public_classes_share_a_name():
    places: dict[str, list[str]] = defaultdict(list)
    for path, tree in TREES.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(ROOT)))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_unit_tests_stand_where_the_product_does():
    folders = {
        path.parent.relative_to(ROOT / "evalui") for path in PRODUCT if path.name != "app.py"
    }
    tests = (ROOT / "tests" / "unit").rglob("test_*.py")
    places = {path.parent.relative_to(ROOT / "tests" / "unit") for path in tests}
    assert sorted(map(str, places - folders)) == []


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("formats.md", [*DATASET_FORMATS, *ANSWER_KEYS]),
        ("models.md", list(BACKENDS)),
        ("modes.md", [*MODES, *TEMPLATES, *get_args(Pattern)]),
        ("import.md", list(HARNESSES)),
    ],
)
def test_every_registered_name_is_documented(page: str, names: list[str]):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert names
    assert [name for name in names if f"`{name}`" not in text] == []


def test_every_reading_of_every_mode_is_documented():
    text = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    readings = {reading for name in MODES for reading in MODES[name].readings}
    assert sorted(reading for reading in readings if f"`{reading}`" not in text) == []


def test_links_between_documents_lead_somewhere():
    top = (
        ROOT / f"{name}.md"
        for name in ("README", "README.zh", "CHANGELOG", "CONTRIBUTING", "SECURITY")
    )
    pages = [*top, *(ROOT / "docs").rglob("*.md")]
    dead = [
        f"{page.name}: {target}"
        for page in pages
        for target, anchor in re.findall(
            r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)", page.read_text(encoding="utf-8")
        )
        if not _leads_somewhere(page.parent / target if target else page, anchor)
    ]
    assert dead == []


def _leads_somewhere(place: Path, anchor: str) -> bool:
    if not anchor or place.suffix != ".md":
        return place.exists()
    text = re.sub(r"```.*?```", "", place.read_text(encoding="utf-8"), flags=re.DOTALL)
    heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return anchor in {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_what_the_page_on_extensions_names_exists():
    page = (ROOT / "docs" / "extend.md").read_text(encoding="utf-8")
    prose = re.sub(r"```.*?```", "", page, flags=re.DOTALL)
    named = set(re.findall(r"`([^`\n]+)`", prose))
    paths = {name for name in named if name.startswith(("evalui/", "examples/"))}
    assert paths
    assert sorted(path for path in paths if not (ROOT / path).exists()) == []
    code = [*PRODUCT, *(ROOT / "examples").rglob("*.py"), *(ROOT / "examples").rglob("*.toml")]
    words = set(re.findall(r"\w+", "\n".join(path.read_text(encoding="utf-8") for path in code)))
    # `name`, `module.name`, `name()`, `name="value"`: all the words of what is named.
    names = {
        word
        for name in named - paths
        if re.fullmatch(r"[\w.]+(\(.*\))?", name) and not name.endswith((".toml", ".txt"))
        for word in re.findall(r"[A-Za-z_]\w+", name)
    }
    assert {"compute", "Metric", "_choice_metrics"} <= names
    assert sorted(names - words) == []


# Plotly has a few elements of its own in texts of charts; a workbook is XML.
_OTHER_MARKUP = ("report/figures/", "report/write/")
_ELEMENT = re.compile(r"(?<!\?P)</?[a-z][a-z0-9-]*(?:\s[^<>]*)?/?>|<!doctype", re.IGNORECASE)


def _texts(tree: ast.Module) -> Iterator[ast.Constant]:
    """The texts of a module but for its docstrings."""
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node


def test_markup_is_made_by_templates_alone():
    # What shows pages holds no element in a text, so that only templates, which escape, make any.
    found = [
        f"{path.relative_to(ROOT)}:{text.lineno}"
        for path, tree in TREES.items()
        if path.is_relative_to(ROOT / "evalui")
        and path.relative_to(ROOT / "evalui").parts[0] in ("ui", "api", "web", "report")
        and not str(path.relative_to(ROOT / "evalui")).startswith(_OTHER_MARKUP)
        for text in _texts(tree)
        if _ELEMENT.search(str(text.value))
    ]
    assert found == []


def test_only_what_templates_or_markdown_made_is_trusted():
    made = {
        str(path.relative_to(ROOT))
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("Html", "Markup")
        and [ast.unparse(given) for given in node.args] != ["''"]
    }
    assert made == {"evalui/report/markup.py", "evalui/ui/components/texts.py"}
    templates = (ROOT / "evalui").rglob("templates/**/*.html")
    unescaped = {path.name for path in templates if "|safe" in path.read_text(encoding="utf-8")}
    assert unescaped == {"page.html"}  # our own scripts and style sheets


# What each process would pay for and few need: a function that does imports it itself.
HEAVY = (
    "aiohttp asyncio decimal difflib email fastapi fractions gradio html http.client httpcore "
    "httpx importlib.metadata jieba logging matplotlib multiprocessing nltk openpyxl pandas "
    "pydantic ray sacrebleu scipy sqlite3 ssl statistics torch transformers unittest "
    "urllib.request vllm zoneinfo"
)


def test_the_core_imports_nothing_heavy():
    code = (
        "import sys, evalui.modes, evalui.datasets, evalui.models, evalui.scoring.choice.circular\n"
        f"print(sorted(set({HEAVY!r}.split()) & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
