"""The page on formats is true: its code runs, and its tables are complete."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from evalui.datasets import ANSWER_KEYS, FAULT_RULES

PAGE = Path(__file__).parents[3] / "docs" / "add-a-format.md"


def test_the_example_runs(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    code = "\n".join(block for block in blocks if not block.startswith("@dataclass"))
    assert "load([" in code
    # A process of its own: the example registers a format that other tests must not meet.
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(PAGE.parents[1]), "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", [*FAULT_RULES, *ANSWER_KEYS])
def test_every_rule_and_answer_key_is_explained(name: str) -> None:
    assert f"| `{name}` |" in PAGE.read_text(encoding="utf-8")
