"""What can be known of a GPU without one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # a program of its own imports transformers


def test_nothing_stays_on_the_cpu_and_no_step_waits_for_the_device():
    """Scores by rows and trees, and texts. The second caps its scores, the third has sinks."""
    program = [sys.executable, "-m", "tests.unit.models.far_device"]
    ran = subprocess.run(
        [*program, "Qwen2", "Gemma 2", "gpt-oss"],
        cwd=Path(__file__).parents[4],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
