"""Open questions for judges: question, index, reference_answer, evaluating_guidance, capability.

The columns of OpenCompass's subjective workbooks, of which only the question is required, and
MT-bench's questions of several `turns`.
"""

from evalui.datasets.base import READERS, Layout, Part, Reader, Source
from evalui.datasets.questions.open import Names, column_names, read_open

NAMES = Names(
    question=("question", "query"),
    reference=("reference_answer", "reference", "answer", "response"),
    id=("index", "question_id", "id"),
    # MT-bench's word for it
    capability=("capability", "category"),
)
_MARKS = ("capability", "evaluating_guidance", "reference_answer", "turns")


def recognises(source: Source, layout: Layout) -> bool:
    """Whether there is a column that only files for judges have."""
    return not column_names(source, NAMES.under(layout)).isdisjoint(_MARKS)


def read(source: Source, layout: Layout) -> Part:
    """The samples and faults of one file."""
    return read_open(source, layout, NAMES)


READERS.register("subjective")(Reader("subjective", recognises, read))
