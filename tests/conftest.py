"""How thoroughly `make check` tries: fewer examples of each property, and not the slow files."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[1]

settings.register_profile("thorough", deadline=None)
settings.register_profile("quick", deadline=None, max_examples=25)
settings.load_profile("thorough")

# Nothing is measured on a busy machine and kept in somebody's own folder; tests of that say so.
os.environ["EVALUI_FP32"] = "blas"

# Files that take a second or more, most of them because each test has a run or pictures of its own.
SLOW = {
    "test_bias_golden.py",
    "test_cli.py",
    "test_data_bundle.py",
    "test_data_chinese_words.py",
    "test_data_english_words.py",
    "test_data_words.py",
    "test_data_workbook.py",
    "test_models_network.py",
    "test_models_openai.py",
    "test_models_openai_transformers.py",
    "test_models_transformers.py",
    "test_modes_injection.py",
    "test_modes_ratings.py",
    "test_report_arena.py",
    "test_report_arena_charts.py",
    "test_report_choice_document.py",
    "test_report_choice_figures.py",
    "test_report_document.py",
    "test_report_export.py",
    "test_report_figures.py",
    "test_report_html.py",
    "test_report_open_document.py",
    "test_report_pairs.py",
    "test_report_panel_charts.py",
    "test_report_people_document.py",
    "test_report_position_charts.py",
    "test_report_votes.py",
    "test_runs_engine.py",
    "test_runs_worker.py",
    "test_scoring_circular.py",
    "test_scoring_elo.py",
    "test_scoring_subjective.py",
    "test_scoring_verdict.py",
    "test_ui_annotate.py",
    "test_ui_annotate_result.py",
    "test_ui_arena.py",
    "test_ui_bias.py",
    "test_ui_calibration_view.py",
    "test_ui_compare.py",
    "test_ui_compare_answers.py",
    "test_ui_events.py",
    "test_ui_health_view.py",
    "test_ui_open_evaluate.py",
    "test_ui_open_results.py",
    "test_ui_rendered.py",
    "test_ui_results.py",
    "test_ui_routes.py",
    "test_ui_server.py",
    "test_ui_standings.py",
    "test_ui_statistics.py",
    "test_ui_store_page.py",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.name in SLOW:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the example package is installed, for the path of another process."""
    folder = tmp_path_factory.mktemp("plugin")
    source = shutil.copytree(ROOT / "examples" / "plugin", folder / "source")
    # Without an index: what builds it, hatchling, is here already.
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target"]
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", *options]
    done = subprocess.run(
        [*command, str(folder / "site"), str(source)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder / "site"
