"""Open questions for judges: question, index, reference_answer, evaluating_guidance, capability.

The columns of OpenCompass's subjective workbooks, of which only the question is required, and
MT-bench's questions of several `turns`.
"""

from evalui.datasets.model import DATASET_FORMATS, DatasetFormat, Layout, ParsedRows, Source
from evalui.datasets.questions.open import OpenColumnNames, column_names, read_open

COLUMNS = OpenColumnNames(
    question=("question", "query"),
    reference=("reference_answer", "reference", "answer", "response"),
    id=("index", "question_id", "id"),
    # MT-bench's word for it
    capability=("capability", "category"),
)
_JUDGE_COLUMNS = ("capability", "evaluating_guidance", "reference_answer", "turns")


def recognises(source: Source, layout: Layout) -> bool:
    """Whether there is a column that only files for judges have."""
    return not column_names(source, COLUMNS.with_layout(layout)).isdisjoint(_JUDGE_COLUMNS)


def read(source: Source, layout: Layout) -> ParsedRows:
    """The samples and faults of one file."""
    return read_open(source, layout, COLUMNS)


DATASET_FORMATS.register("subjective")(DatasetFormat("subjective", recognises, read))
