"""How thoroughly `make check` tries: fewer examples of each property, and not the slow files."""

import atexit
import gc
import os
import shutil
import subprocess
import sys
import tempfile
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from recorded_runs import RecordedRuns

ROOT = Path(__file__).parents[1]

settings.register_profile("thorough", deadline=None)
settings.register_profile("quick", deadline=None, max_examples=25)
settings.load_profile("quick" if os.environ.get("CI") else "thorough")

# Nothing is measured on a busy machine and kept in somebody's own folder; tests of that say so.
os.environ["EVALUI_FP32"] = "blas"
os.environ["EVALUI_SELF_CHECKS"] = "repeated"

# No run starts a browser for its pictures: one test does.
os.environ["BROWSER_PATH"] = "none"

# Runs use no replies of other runs, and leave none behind: each test has its own data folder.
_DATA_FOLDERS = tempfile.mkdtemp(prefix="evalui-tests-")
atexit.register(shutil.rmtree, _DATA_FOLDERS, ignore_errors=True)
_numbers = count()
os.environ["EVALUI_DATA_DIR"] = f"{_DATA_FOLDERS}/first"

# Files that take a second or more, most of them because each test has a run or pictures of its own.
SLOW = {
    "test_scoring_bias_golden.py",
    "test_cli_main.py",
    "test_datasets_reader.py",
    "test_datasets_fuzz.py",
    "test_scoring_texts_tokenizers_chinese.py",
    "test_scoring_texts_tokenizers_english.py",
    "test_datasets_files_unpacking.py",
    "test_scoring_texts_tokenizers.py",
    "test_datasets_containers_workbook.py",
    "test_modes_bubblewrap.py",
    "test_models_local_forward.py",
    "test_models_endpoint_backend.py",
    "test_models_endpoint_backend_transformers.py",
    "test_models_local.py",
    "test_models_local_scorer.py",
    "test_replies_injections.py",
    "test_replies_marks.py",
    "test_scoring_arena_figures.py",
    "test_report_figures_arena.py",
    "test_report_analyses_verdict.py",
    "test_report_word_budgets.py",
    "test_report_figures_paper.py",
    "test_report_compile.py",
    "test_report_write_files.py",
    "test_report_render_page.py",
    "test_report_analyses_arena_document.py",
    "test_report_analyses_statistics.py",
    "test_report_analyses_people.py",
    "test_report_figures_bias_answers.py",
    "test_scoring_arena_people.py",
    "test_runs_worker_cell.py",
    "test_runs_worker_main.py",
    "test_runs_worker_model_keeper.py",
    "test_scoring_choice_circular.py",
    "test_scoring_arena_elo.py",
    "test_scoring_arena_categories.py",
    "test_replies_verdicts.py",
    "test_ui_pages_annotate.py",
    "test_ui_pages_annotate_result.py",
    "test_ui_pages_results_arena.py",
    "test_ui_pages_results_bias.py",
    "test_ui_pages_results_calibration.py",
    "test_app_gallery.py",
    "test_ui_pages_compare.py",
    "test_ui_pages_compare_answers.py",
    "test_ui_doors.py",
    "test_ui_pages_results_health.py",
    "test_ui_pages_evaluate_open_questions.py",
    "test_ui_pages_results_open.py",
    "test_ui_components_texts.py",
    "test_ui_web_routes.py",
    "test_server.py",
    "test_server_store.py",
    "test_api_application.py",
    "test_api_datasets.py",
    "test_api_events.py",
    "test_api_models.py",
    "test_api_runs.py",
    "test_accounts_guests.py",
    "test_accounts_passwords.py",
    "test_accounts_sign_in.py",
    "test_accounts_shares.py",
    "test_cli_doctor.py",
    "test_cli_people.py",
    "test_cli_share.py",
    "test_cli_votes.py",
    "test_client.py",
    "test_deploy.py",
    "test_library_evaluation.py",
    "test_library_places.py",
    "test_library_run.py",
    "test_library_scores.py",
    "test_store_voting_plans_assignment.py",
    "test_store_voting_plans.py",
    "test_runs_fair_queue_turns.py",
    "test_runs_upkeep_backup.py",
    "test_app_files_runners.py",
    "test_app_receiving.py",
    "test_app_models_access.py",
    "test_ui_sharing_links.py",
    "test_ui_pages_admin.py",
    "test_ui_pages_annotate_voters.py",
    "test_ui_pages_evaluate_queue.py",
    "test_ui_web_account.py",
    "test_ui_web_doors_entrance.py",
    "test_ui_web_doors_guests.py",
    "test_ui_web_doors_password.py",
    "test_ui_web_doors_proxy.py",
    "test_ui_web_fuzz.py",
    "test_ui_web_guest_pages.py",
    "test_ui_web_monitoring.py",
    "test_ui_pages_arena.py",
    "test_ui_pages_evaluate.py",
    "test_ui_pages_evaluate_columns_card.py",
    "test_ui_pages_evaluate_empty_state.py",
    "test_ui_pages_evaluate_log_card.py",
    "test_ui_pages_evaluate_model_list.py",
    "test_ui_pages_evaluate_published_sets.py",
    "test_ui_pages_evaluate_start_plan.py",
    "test_ui_pages_evaluate_words.py",
    "test_ui_pages_models.py",
    "test_ui_pages_results.py",
    "test_ui_pages_results_imported.py",
    "test_ui_pages_results_judged_run.py",
    "test_ui_pages_results_overview_metrics.py",
    "test_ui_pages_results_plugin_modes.py",
    "test_ui_pages_results_report.py",
    "test_ui_pages_results_statistics.py",
    "test_ui_pages_runs.py",
    "test_ui_pages_runs_outcome.py",
    "test_ui_pages_runs_place_text.py",
    "test_api_deeds.py",
}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files with slow tests only are not even imported where those are left out."""
    if config.option.markexpr != "not slow" or collection_path.suffix != ".py":
        return None
    whole = collection_path.name in SLOW or any(
        line.startswith("pytestmark = pytest.mark.slow")
        for line in collection_path.read_text(encoding="utf-8").splitlines()
    )
    return True if whole else None


def pytest_collection(session: pytest.Session) -> None:  # noqa: ARG001
    """What is imported stays: to look through it again and again for garbage takes seconds."""
    gc.disable()


def pytest_collection_finish(session: pytest.Session) -> None:  # noqa: ARG001
    gc.freeze()
    gc.enable()


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


@pytest.fixture(autouse=True)
def _data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALUI_DATA_DIR", f"{_DATA_FOLDERS}/{next(_numbers)}")


@pytest.fixture(scope="session")
def recorded_runs(tmp_path_factory: pytest.TempPathFactory) -> "RecordedRuns":
    """Ten finished runs in one store, for reading alone; see tests/recorded_runs.py."""
    from recorded_runs import shared_by_processes

    return shared_by_processes(tmp_path_factory)
