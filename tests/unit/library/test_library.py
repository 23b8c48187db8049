"""The names of `import evalui`: cheap until they are used, and the same for type checkers."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import evalui
from evalui import library

HEAVY = {"torch", "gradio", "fastapi", "pandas", "plotly", "scipy", "transformers", "numpy"}

ROOT = Path(__file__).parents[3]


def _imported(code: str) -> set[str]:
    """The modules that a process has imported after some code."""
    shown = f"import sys\n{code}\nprint(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    return set(out.stdout.split())


def test_importing_it_imports_nothing_that_takes_time():
    modules = _imported("import evalui; dir(evalui); evalui.__all__")
    ours = {name for name in modules if name.partition(".")[0] == "evalui"}
    assert ours == {"evalui", "evalui.version"}
    assert modules.isdisjoint(HEAVY)


@pytest.mark.slow
def test_opening_a_run_needs_neither_models_nor_screen(choice_folder: Path):
    code = f"import evalui; evalui.open({str(choice_folder)!r}).trials(['choice'])"
    heavy = {"torch", "gradio", "fastapi", "plotly", "transformers", "evalui.ui", "evalui.api"}
    assert _imported(code) & heavy == set()


def test_every_public_name_is_there_and_kept():
    for name in evalui.__all__:
        assert getattr(evalui, name) is getattr(evalui, name)
    assert set(evalui.__all__) - {"__version__"} == set(library.__all__)
    assert set(evalui.__all__) <= set(dir(evalui))


def test_type_checkers_see_the_same_names():
    tree = ast.parse((ROOT / "evalui/__init__.py").read_text(encoding="utf-8"))
    checked = next(node for node in tree.body if isinstance(node, ast.If))
    (names,) = (node.names for node in checked.body if isinstance(node, ast.ImportFrom))
    assert [alias.name for alias in names] == library.__all__


def test_another_name_is_none():
    with pytest.raises(AttributeError, match="no attribute 'evaluation'"):
        _ = evalui.evaluation  # pyright: ignore


def test_it_is_typed_for_those_who_install_it():
    # The wheel has the package as it stands, see pyproject.toml.
    assert (ROOT / "evalui" / "py.typed").exists()
