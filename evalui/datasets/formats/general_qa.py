"""Questions with reference answers, as SWIFT and EvalScope name their columns.

`query` or `question`, and `response` or `answer`: a text, in JSON also a list of texts. Optional
are `history`, `system`, `messages` and an `id`. A file without references is fine.
"""

from evalui.datasets.base import READERS, Layout, Part, Reader, Source
from evalui.datasets.formats import subjective
from evalui.datasets.questions.open import Names, column_names, read_open

NAMES = Names(
    question=("query", "question"),
    reference=("response", "answer"),
    id=("id", "index", "question_id"),
)


def recognises(source: Source, layout: Layout) -> bool:
    """Whether there is a column of questions, and none that only files for judges have."""
    if subjective.recognises(source, layout):
        return False
    names = NAMES.under(layout)
    return not column_names(source, names).isdisjoint((*names.question, "messages"))


def read(source: Source, layout: Layout) -> Part:
    """The samples and faults of one file."""
    return read_open(source, layout, NAMES)


READERS.register("general_qa")(Reader("general_qa", recognises, read))
