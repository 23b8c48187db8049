"""What is read of each of some 500 inputs, as it was written down in tests/golden/readings.

    PYTHONPATH=.:tests .venv/bin/python tests/readings.py

compares, with a line for each difference and exit code 1 if there is any; EVALUI_RECORD=1 before it
writes down anew what is read: look through the diff.

An input is a file of tests/golden, a block of tests/golden/layouts, files that were written for
single tests (inputs.json), or made by `made_files`. Of these some are known to be read rightly or
asked about; only the former are written down. The digests (`sha256`) name results, so they stay.
"""

import base64
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from layouts import GOLDEN, cases
from made_files import Made, made

from evalui.datasets import Layout, Limits, LoadResult, load
from evalui.errors import EvaluiError
from evalui.types import Sample

FROZEN = GOLDEN / "readings"
LIMITS = Limits(bytes=2**22, unpacked=2**23)
WHOLE = 8  # samples of an input that are told; of more only a digest


def inputs() -> Iterator[Made]:
    """All inputs, each under a name of its own."""
    for folder in ("shapes", "shapes_2026_11_28"):
        expected = json.loads((GOLDEN / folder / "expected.json").read_text(encoding="utf-8"))
        for name, each in expected.items():
            if "rebuild" not in each:
                yield Made(f"{folder}/{name}", {name: (GOLDEN / folder / name).read_bytes()})
    for path in (*sorted((GOLDEN / "containers").iterdir()), *(GOLDEN / "csqa").iterdir()):
        yield Made(path.name, {path.name: path.read_bytes()})
    mmlu = {
        f"mmlu/{path.relative_to(GOLDEN / 'mmlu')}": path.read_bytes()
        for path in sorted((GOLDEN / "mmlu").rglob("*.csv"))
    }
    yield Made("mmlu", mmlu)
    for case in cases("layouts"):
        yield Made(f"layout {case.name}", {case.file: case.content})
    stored = json.loads((FROZEN / "inputs.json").read_text(encoding="utf-8"))
    for name, each in stored.items():
        files = {file: content_of(text) for file, text in each["files"].items()}
        yield Made(name, files, each.get("layout", {}))
    yield from made()


def content_of(text: str | Mapping[str, str]) -> bytes:
    """The bytes of a stored file, which are base64 where they are no text."""
    return text.encode() if isinstance(text, str) else base64.b64decode(text["base64"])


def read(each: Made, folder: Path) -> dict[str, Any]:
    """What is read of an input whose files are written into the folder."""
    for name, content in each.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    paths = [folder / name for name in dict.fromkeys(name.split("/")[0] for name in each.files)]
    layout = {k: tuple(v) if isinstance(v, list) else v for k, v in each.layout.items()}
    result = reading(paths, Layout(**layout))
    if not each.steady:
        result.pop("sha256", None)
    return result


def reading(paths: list[Path], layout: Layout, limits: Limits = LIMITS) -> dict[str, Any]:
    """What is read, without what is empty; or the rule of the refusal."""
    try:
        loaded = load(paths, layout=layout, limits=limits)
    except EvaluiError as error:
        return {"refused": error.sentence.key}
    return {key: value for key, value in described(loaded).items() if value not in ([], 0)}


def described(loaded: LoadResult) -> dict[str, Any]:
    data = loaded.dataset
    return {
        "kind": data.kind,
        "name": data.name,
        "sha256": data.sha256,
        "rows": loaded.n_rows,
        **_samples("samples", data.samples),
        **_samples("shots", data.shots),
        "faults": [[fault.rule, fault.line, fault.column] for fault in loaded.faults],
        "unlisted": loaded.unlisted,
        "unusable": loaded.n_unusable_rows,
        "skipped": loaded.skipped,
        "notes": [note.rule for note in loaded.notes],
        "files": list(loaded.files),
        "sheets": list(loaded.sheets),
        "kinds": list(loaded.kinds),
        "unused": list(loaded.unused_columns),
    }


def _samples(name: str, samples: tuple[Sample, ...]) -> dict[str, Any]:
    told = [_sample(sample) for sample in samples]
    if len(told) <= WHOLE:
        return {name: told}
    text = json.dumps(told, ensure_ascii=False, sort_keys=True)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return {name: told[:2], f"n_{name}": len(told), f"digest_{name}": digest}


def _sample(sample: Sample) -> dict[str, Any]:
    target = sample.target if isinstance(sample.target, int) else list(sample.target)
    told = {
        "id": sample.id,
        "question": sample.question,
        "choices": list(sample.choices),
        "target": target,
        "metadata": dict(sample.metadata),
        "history": [[turn.role, turn.content] for turn in sample.history],
        "follow_ups": list(sample.follow_ups),
        "cluster": sample.cluster,
    }
    return {key: value for key, value in told.items() if value not in ([], "", {})}


def right(told: Mapping[str, Any]) -> tuple[str | None, ...]:
    """The right options of a reading, or the first references."""

    def of(sample: Mapping[str, Any]) -> str | None:
        target = sample.get("target", [])
        return sample["choices"][target] if isinstance(target, int) else next(iter(target), None)

    return tuple(map(of, told.get("samples", [])))


def differences(name: str, before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    """A line for each part of a reading that is another one."""
    for key in dict.fromkeys((*before, *now)):
        old, new = before.get(key), now.get(key)
        if old == new:
            continue
        if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
            place = next(
                n for n, pair in enumerate(zip(old, new, strict=True)) if pair[0] != pair[1]
            )
            key, old, new = f"{key}[{place}]", old[place], new[place]
            if isinstance(old, dict) and isinstance(new, dict):
                parts = [part for part in (*old, *new) if old.get(part) != new.get(part)]
                key, old, new = f"{key}.{parts[0]}", old.get(parts[0]), new.get(parts[0])
        yield f"{name}: {key}: {_short(old)} -> {_short(new)}"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 160 else text[:159] + "…"


def frozen() -> dict[str, dict[str, Any]]:
    """The readings as they were written down, by the name of the input."""
    text = (FROZEN / "readings.json").read_text(encoding="utf-8")
    return json.loads(text)


def written(readings: Mapping[str, Any]) -> str:
    """The readings as a JSON text, a line for each."""
    lines = (
        f"{json.dumps(name, ensure_ascii=False)}: {_line(value)}"
        for name, value in readings.items()
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"


def compared(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """A line for each difference; what was not written down before is left out."""
    return [line for name in before for line in differences(name, before[name], now.get(name, {}))]


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def read_all(some: Iterable[Made]) -> dict[str, dict[str, Any]]:
    """What is read of each input today, by its name."""
    readings: dict[str, dict[str, Any]] = {}
    for each in some:
        if each.name in readings:
            raise ValueError(f"two inputs are called {each.name}")
        with tempfile.TemporaryDirectory() as folder:
            readings[each.name] = read(each, Path(folder))
    return readings


def main() -> int:
    now = read_all(inputs())
    if os.environ.get("EVALUI_RECORD"):
        # Which of the others are read and which asked about is not promised.
        known = {
            each.name for each in inputs() if each.right and each.right != right(now[each.name])
        }
        now = {name: each for name, each in now.items() if name not in known}
        (FROZEN / "readings.json").write_text(written(now), encoding="utf-8")
        return 0
    lines = compared(frozen(), now)
    lines.append(f"{len(lines)} differences in {len(now)} readings")
    sys.stdout.write("\n".join(lines) + "\n")
    return int(len(lines) > 1)


if __name__ == "__main__":
    sys.exit(main())
