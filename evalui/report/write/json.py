"""report.json: the specification of a run, and every frame of its figures as records.

    {"evalui": version, "name": …, "spec": …, "overview": [{…}, {…}], …, "changes", "analyses"}

A frame without rows is left out, what is missing in a row is null. Beside its files the
specification runs again.
"""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

from evalui.report.analyses.base import Report
from evalui.report.compile import added_blocks
from evalui.report.frames.base import frame, records
from evalui.report.frames.run import KINDS, ROW_BY_ROW
from evalui.report.render.json import as_json
from evalui.report.write.json_text import JsonObject, json_text, utf8
from evalui.types import Language
from evalui.version import __version__

if TYPE_CHECKING:
    import pandas as pd


def write_json(report: Report, language: Language) -> bytes:
    """Everything but single trials and verdicts, a record in a line.

    The names are technical in every language; what other packages say is in `language`.
    """
    spec = portable_spec(report.spec) if report.spec else None
    parts = {
        "evalui": json_text(__version__),
        "name": json_text(report.name),
        "spec": _indented(spec),
    }
    for name in KINDS:
        if name not in ROW_BY_ROW and len(report.frames[name]):
            lines = ",\n".join(f"    {json_text(row)}" for row in records(report.frames[name]))
            parts[name] = f"[\n{lines}\n  ]"
    if report.changes:
        parts["changes"] = _indented(list(report.changes))
    if added := added_blocks(report, language):
        parts["analyses"] = _indented({name: as_json(own) for name, own in added.items()})
    whole = ",\n".join(f"  {json_text(name)}: {text}" for name, text in parts.items())
    return utf8(f"{{\n{whole}\n}}\n")


def read_frame(whole: JsonObject, name: str) -> "pd.DataFrame":
    """A frame of what report.json holds, as the report has it."""
    kind = KINDS[name]
    return frame(whole.get(name, ()), kind.columns, more=kind.more)


def portable_spec(spec: str) -> dict[str, Any]:
    """The specification with bare file names: folders of this server do not leave it.

    Only files that are called alike keep the folders that tell them apart.
    """
    whole: dict[str, Any] = json.loads(spec)
    datasets, answers = whole["datasets"], whole.get("answers", ())
    files = {Path(path) for source in (*datasets, *answers) for path in _paths(source)}
    keys: dict[str, str] = {}
    for source in (*datasets, *answers):
        short = [_shortest_unique_name(Path(path), files) for path in _paths(source)]
        # Answers name a dataset without a name by its files.
        keys[", ".join(_paths(source))] = ", ".join(short)
        if short:
            source["path"] = short[0] if isinstance(source["path"], str) else short
    for source in answers:
        if named := source.get("dataset"):
            source["dataset"] = keys.get(named, named)
    return whole


def _paths(source: Mapping[str, Any]) -> list[str]:
    paths: str | list[str] = source.get("path") or []
    return [paths] if isinstance(paths, str) else paths


def _shortest_unique_name(path: Path, files: Collection[Path]) -> str:
    """The name of a file, after as many of its folders as no other of the files has before it."""
    others = [other.parts for other in files if other != path]
    parts = path.relative_to(path.anchor).parts
    ends = (parts[-n:] for n in range(1, len(parts) + 1))
    apart = (end for end in ends if not any(other[-len(end) :] == end for other in others))
    return "/".join(next(apart, parts))


def _indented(value: Any) -> str:
    return indent(json_text(value, indented=True), "  ").lstrip()
