"""Questions with reference answers, as SWIFT and EvalScope name their columns.

`query` or `question`, and `response` or `answer`: a text, in JSON also a list of texts. Optional
are `history`, `system`, `messages` and an `id`. A file without references is fine.
"""

from evalui.datasets.formats import subjective
from evalui.datasets.model import DATASET_FORMATS, DatasetFormat, Layout, ParsedRows, Source
from evalui.datasets.questions.open import OpenColumnNames, column_names, read_open

COLUMNS = OpenColumnNames(
    question=("query", "question"),
    reference=("response", "answer"),
    id=("id", "index", "question_id"),
)


def recognises(source: Source, layout: Layout) -> bool:
    """Whether there is a column of questions, and none that only files for judges have."""
    if subjective.recognises(source, layout):
        return False
    names = COLUMNS.with_layout(layout)
    return not column_names(source, names).isdisjoint((*names.question, "messages"))


def read(source: Source, layout: Layout) -> ParsedRows:
    """The samples and faults of one file."""
    return read_open(source, layout, COLUMNS)


DATASET_FORMATS.register("general_qa")(DatasetFormat("general_qa", recognises, read))
