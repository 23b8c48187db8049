"""Where the small parts of published sets lie, and what a hub says of files."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import parquet

from evalui.settings import Settings

# What the authors of sets publish, where this machine has it: it may not be part of the project.
REALDATA = Path(os.environ.get("EVALUI_REALDATA", Path(__file__).parents[4] / "shared/realdata"))
GOLDEN = Path(__file__).parents[2] / "golden" / "benchmarks"
HUB = GOLDEN / "hub"


@dataclass
class FakeHub:
    """What a hub has by revision, and what it was asked; `served` replaces contents."""

    files: dict[str, dict[str, bytes]] = field(default_factory=dict[str, dict[str, bytes]])
    served: dict[str, bytes] = field(default_factory=dict[str, bytes])
    asked: list[str] = field(default_factory=list[str])
    large: frozenset[str] = frozenset()

    def commit(self, revision: str) -> str:
        names = "".join(sorted(self.files[revision]))
        return hashlib.sha1(f"{revision}{names}".encode()).hexdigest()

    def listing(self, revision: str) -> dict[str, object]:
        siblings: list[dict[str, object]] = []
        for name, data in self.files[revision].items():
            blob = hashlib.sha1(f"blob {len(data)}\0".encode() + data).hexdigest()
            entry: dict[str, object] = {"rfilename": name, "size": len(data), "blobId": blob}
            if name in self.large:
                digest = hashlib.sha256(data).hexdigest()
                entry["lfs"] = {"sha256": digest, "size": len(data), "pointerSize": 100}
            siblings.append(entry)
        return {"id": "x/y", "sha": self.commit(revision), "siblings": siblings}

    def content(self, commit: str, name: str) -> bytes | None:
        for revision, files in self.files.items():
            if self.commit(revision) == commit and name in files:
                return self.served.get(name, files[name])
        return None


def lay_out(settings: Settings, place: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows where files that were fetched lie."""
    path = settings.data_dir / "benchmarks/hub" / place
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path)


def published_arc() -> list[dict[str, Any]]:
    """The dev questions of ARC-Challenge as the hub has them."""
    return [_as_on_the_hub(row) for row in _lines("arc/ARC-Challenge-Dev.jsonl")]


def published_csqa() -> list[dict[str, Any]]:
    """The validation questions of CommonsenseQA as the hub has them."""
    return [
        _as_on_the_hub(row) | {"question_concept": row["question"]["question_concept"]}
        for row in _lines("csqa/dev_rand_split.jsonl")
    ]


def _lines(file: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (REALDATA / file).read_text("utf-8").splitlines()]


def _as_on_the_hub(row: Mapping[str, Any]) -> dict[str, Any]:
    question = row["question"]
    return {
        "id": row["id"],
        "question": question["stem"],
        "choices": {
            name: [option[name] for option in question["choices"]] for name in ("text", "label")
        },
        "answerKey": row["answerKey"],
    }
