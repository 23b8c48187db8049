"""Where the small parts of published sets lie, and what a hub says of files."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

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
