"""Where the links of an overview lead: pages of the run, which files of a report do not have."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from evalui.types import Cell, Language


@dataclass(frozen=True, slots=True)
class Places:
    """The pages of one run; `cells` are the ids of its cells in an address.

    `repeat` is the form that starts the run again, `examples` the same with worked examples, and
    `sample` where the shipped sample starts; "" where the reader, or the files, cannot.
    """

    run: str
    cells: Mapping[Cell, int] = field(default_factory=dict[Cell, int])
    repeat: str = ""
    examples: str = ""
    sample: str = ""

    def view(self, sub: str, **more: str) -> str:
        """The address of a view of the run, with what decides what it shows."""
        return "results?" + urlencode({"run": self.run, "sub": sub} | more)

    def samples(self, cell: Cell, **filters: str) -> str:
        """The address of the questions of a cell."""
        return self.view("samples", cell=str(self.cells.get(cell, "")), **filters)

    def file(self, extension: str, language: Language) -> str:
        """The address of the run as a file."""
        return f"../export/{self.run}.{extension}?lang={language}"
