"""Whether the tests notice what hurts: ten mistakes, each made in a copy of the tree.

    python scripts/mutations.py [NAME ...]

The table, tests/mutations/mutations.toml, names the file, the text, what replaces it, and the tests
that have to fail. The working tree itself is never changed. Exit code 1 if a mistake survives.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "tests" / "mutations" / "mutations.toml"
_FAILED = 1  # pytest's exit code where tests ran and some failed


def read_mutations() -> Mapping[str, Mapping[str, Any]]:
    """The table, by the names of the mistakes."""
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


def main(names: Sequence[str]) -> int:
    """Make each mistake in turn, and state what became of it."""
    table = read_mutations()
    survived: list[str] = []
    with _copied_tree() as copy:
        for name in names or list(table):
            mutation = table[name]
            path = copy / mutation["file"]
            whole = path.read_text(encoding="utf-8")
            assert whole.count(mutation["old"]) == 1, f"{name}: its text stands once in its file"
            path.write_text(whole.replace(mutation["old"], mutation["new"]), encoding="utf-8")
            code = _code(copy, mutation["tests"])
            path.write_text(whole, encoding="utf-8")
            if code != _FAILED:
                survived.append(name)
            said = "killed" if code == _FAILED else f"survived (pytest's exit code {code})"
            sys.stdout.write(f"{name}: {said}\n")
            sys.stdout.flush()
    return 1 if survived else 0


@contextmanager
def _copied_tree() -> Generator[Path]:
    """A copy of what git has or would take, with the same environment."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    with tempfile.TemporaryDirectory(prefix="evalui-mutations-") as folder:
        for name in listed.stdout.decode().split("\0"):
            source = ROOT / name
            if name and source.is_file():
                target = Path(folder) / name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target)
        yield Path(folder)


def _code(tree: Path, tests: Sequence[str]) -> int:
    """The exit code of these tests in a tree, whose package comes before the installed one."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, check=False)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
