from evalui.datasets.model import Layout
from evalui.datasets.tables.records import HeaderColumns, find_columns


def find(*header: str, layout: Layout | None = None):
    return find_columns(header, layout or Layout(), file="x.csv", line=1)


def test_positions_are_those_of_the_header() -> None:
    columns = find("", "Answer", "B", "A", "question", "note", "ID")
    assert isinstance(columns, HeaderColumns)
    assert (columns.id, columns.question, columns.answer, columns.explanation) == (6, 4, 1, -1)
    assert columns.options == (("A", 3), ("B", 2))
    assert columns.others == (("note", 5),)
    assert columns.last_needed == 4


def test_unnamed_columns_mean_nothing() -> None:
    columns = find("", "question", "A", "B", "answer", "", " ")
    assert isinstance(columns, HeaderColumns)
    assert columns.others == ()


def test_a_long_header_is_shortened_in_the_fault() -> None:
    (fault, *_) = find(*(f"column {n}" for n in range(99)))  # type: ignore[misc]
    assert len(fault.actual) < 150


def test_no_header_is_told_as_such() -> None:
    faults = find()
    assert not isinstance(faults, HeaderColumns)
    assert faults[0].actual == "no header"
