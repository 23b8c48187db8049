"""Files of questions with what is to come of each, in blocks of a text: `tests/golden/layouts`.

A block begins with `=== name | file | expectation` and holds the file. The text of a workbook is
that of its rows, separated by commas.
"""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from made_files import sheet

from evalui.types import Sample

GOLDEN = Path(__file__).parent / "golden"


@dataclass(frozen=True)
class Case:
    """A file by its name and text, and what is to come of it."""

    name: str
    file: str
    text: str
    expected: dict[str, Any]

    @property
    def content(self) -> bytes:
        """The bytes of the file."""
        if not self.file.endswith(".xlsx"):
            return self.text.encode(self.expected.get("encoding", "utf-8"))
        rows = [[cell or None for cell in row] for row in csv.reader(io.StringIO(self.text))]

        def merge(first: Any) -> None:
            for cells in self.expected.get("merge", []):
                first.merge_cells(cells)

        return sheet(rows, edit=merge)

    def written(self, folder: Path) -> Path:
        """The file in a folder."""
        path = folder / self.file
        path.write_bytes(self.content)
        return path


def cases(folder: str) -> Iterator[Case]:
    """All blocks of the texts in a folder of tests/golden."""
    for path in sorted((GOLDEN / folder).glob("*.txt")):
        for block in path.read_text(encoding="utf-8").split("=== ")[1:]:
            head, text = block.split("\n", 1)
            name, file, wanted = head.split(" | ", 2)
            yield Case(name, file, text, json.loads(wanted))


def right(sample: Sample) -> str | None:
    """The right option, several with " + " between them, or the first reference."""
    if isinstance(sample.target, int):
        return sample.choices[sample.target]
    texts: list[str | None] = [
        sample.choices[at] if isinstance(at, int) else at for at in sample.target
    ]
    if sample.choices and len(texts) > 1:
        return " + ".join(map(str, texts))
    return next(iter(texts), None)
