"""What the blocks of one run of written answers have in common."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from evalui.report.blocks import Link, Markers, ModelCell
from evalui.types import Language

DuelAddress = Callable[..., str]


@dataclass(frozen=True, slots=True)
class OpenContext:
    """Language, the models in the order of the run, and which names are scripts.

    `models` decide marker and colour of a model in every table and chart; `baselines` take no
    place. `rules` are judges that follow a rule. `duels` gives the address of the list of duels
    for filters; files have none. `pictures`: charts become files.
    """

    language: Language
    models: Sequence[str] = ()
    baselines: Collection[str] = ()
    rules: frozenset[str] = frozenset()
    duels: DuelAddress | None = None
    pictures: bool = True

    def place(self, name: str) -> int:
        """The place of a model, see `Markers`."""
        return Markers(self.models, self.baselines).place(name)

    def model(self, name: str) -> ModelCell:
        """A model as it stands in a table."""
        return Markers(self.models, self.baselines).cell(name)

    def duel_link(self, text: str, **filters: str) -> Link | None:
        """A link to the duels that pass the filters; None in a file."""
        return Link(text, self.duels(**filters)) if self.duels else None

    def without_pictures(self) -> "OpenContext":
        """The same where no picture can be drawn."""
        return replace(self, pictures=False)

    def file(self, name: str) -> str:
        """The name of a chart's picture; "" where none can be drawn."""
        return name if self.pictures else ""
