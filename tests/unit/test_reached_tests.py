"""`make check` runs the tests that a change reaches."""

import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "reached_tests.py"


@pytest.fixture(scope="module")
def reached() -> Any:
    spec = spec_from_file_location("reached_tests", SCRIPT)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("changed", "test"),
    [
        ("evalui/datasets/samples.py", "datasets/test_datasets_reader_duplicates.py"),
        ("evalui/report/analyses/health.py", "ui/pages/results/test_ui_pages_results_health.py"),
        ("evalui/store/queue.py", "store/test_store_queue.py"),
        ("evalui/messages/en/arena.toml", "test_project_rules.py"),
        ("evalui/report/analyses/cost.toml", "messages/test_messages.py"),
        ("tests/unit/ui/ui_arena_examples.py", "ui/pages/test_ui_pages_arena.py"),
        ("tests/unit/test_access.py", "test_access.py"),
    ],
    ids=[
        "a format",
        "an analysis",
        "the queue",
        "sentences",
        "sentences beside",
        "a helper",
        "a test",
    ],
)
def test_a_change_reaches_the_tests_of_its_users(reached: Any, changed: str, test: str):
    found, _ = reached.reached_tests([changed])
    assert f"tests/unit/{test}" in found
    assert len(found) <= reached.MOST + len(reached.SMOKE)


def test_what_reaches_nearly_everything_leaves_some_to_the_whole_suite(reached: Any):
    found, left = reached.reached_tests(["evalui/types.py"])
    assert "tests/unit/test_access.py" in found
    assert left > 100


def test_a_change_that_reaches_nothing_has_the_small_set(reached: Any):
    found, left = reached.reached_tests([])
    assert (found, left) == (sorted(f"tests/unit/{name}" for name in reached.SMOKE), 0)


def test_the_command_names_files_that_are_there():
    said = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, check=True)
    assert all((SCRIPT.parents[1] / line).exists() for line in said.stdout.splitlines())
