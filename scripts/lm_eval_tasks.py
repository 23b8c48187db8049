"""Write the index of lm-eval's tasks that evalui ships: `python scripts/lm_eval_tasks.py`.

Run it where lm-eval is installed. A task is declarative if neither its file nor what it includes
names a function of Python or a class; the others are listed too, so that they can be refused by
name, and those of `SAFE` are allowed.
"""

import gzip
import importlib.metadata
import json
import re
from pathlib import Path

import lm_eval.tasks
from lm_eval.tasks import TaskManager

TARGET = Path(__file__).parent.parent / "evalui" / "benchmarks" / "lm_eval_tasks.json.gz"
_CODE = re.compile(r"!function|^class:|unsafe_code|HF_ALLOW_CODE_EVAL", re.MULTILINE)
_INCLUDE = re.compile(r"^include:\s*['\"]?([^'\"\s#]+)", re.MULTILINE)


def main() -> None:
    """Write name, kind, file, members and whether Python runs, of each task and group."""
    root = Path(lm_eval.tasks.__file__).parent
    entries = TaskManager()._index
    tasks = {
        name: {
            "kind": entry.kind.name.lower(),
            "file": entry.yaml_path.relative_to(root).as_posix() if entry.yaml_path else "",
            **({"members": sorted(entry.tags)} if entry.kind.name == "TAG" else {}),
            **({"python": True} if entry.yaml_path and has_code(entry.yaml_path) else {}),
        }
        for name, entry in sorted(entries.items())
    }
    whole = {"version": importlib.metadata.version("lm-eval"), "tasks": tasks}
    text = json.dumps(whole, separators=(",", ":"), ensure_ascii=False)
    TARGET.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def has_code(path: Path, depth: int = 0) -> bool:
    """Whether the file, or one that it includes, names code."""
    text = path.read_text(encoding="utf-8")
    if _CODE.search(text) or depth > 8:
        return True
    return any(has_code(path.parent / each, depth + 1) for each in _INCLUDE.findall(text))


if __name__ == "__main__":
    main()
