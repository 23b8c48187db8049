from evalui.datasets.base import Layout, Source
from evalui.datasets.questions.choice import ParsedQuestion, validate
from evalui.types import Fault

SOURCE = Source("x_val.csv", "", "x", "val")


def question(**changes: object) -> ParsedQuestion:
    values: dict[str, object] = {
        "line": 2,
        "id": "1",
        "text": "Q?",
        "options": ("one", "two"),
        "answer": "B",
        "subject": "",
    }
    return ParsedQuestion(**(values | changes))  # type: ignore[arg-type]


def test_rows_that_could_not_be_read_are_counted() -> None:
    broken = Fault("x_val.csv", 3, "", "shifted-row", "9 cells", "8 cells")
    part = validate([question(), broken], SOURCE, Layout())
    assert (len(part.samples), part.faults, part.n_rows) == (1, (broken,), 2)


def test_a_file_without_any_answer_is_told_from_one_with_gaps() -> None:
    assert validate([question(answer=""), question(answer=" ")], SOURCE, Layout()).unanswered
    assert not validate([question(answer=""), question()], SOURCE, Layout()).unanswered
    assert not validate([], SOURCE, Layout()).unanswered


def test_an_answer_may_repeat_the_name_of_an_option() -> None:
    labelled = question(names=("1", "2"), answer="2", answers_with_label=True)
    assert validate([labelled], SOURCE, Layout()).samples[0].target == 1
    wrong = question(names=("1", "2"), answer="B", answers_with_label=True)
    assert validate([wrong], SOURCE, Layout()).faults[0].expected == "one of 1, 2"


def test_the_rows_own_subject_begins_its_id() -> None:
    (sample,) = validate([question(subject="law")], SOURCE, Layout()).samples
    assert (sample.id, sample.metadata["subject_zh"]) == ("law/1", "法学")


def test_long_cells_are_shortened_in_faults() -> None:
    (fault,) = validate([question(answer="x" * 500)], SOURCE, Layout()).faults
    assert len(fault.actual) < 50


def test_what_is_expected_of_an_answer_follows_the_answer_key() -> None:
    expected = {
        key: validate([question(answer="9")], SOURCE, Layout(answer_key=key)).faults[0].expected
        for key in ("letter", "index0", "index1", "text")
    }
    assert expected == {
        "letter": "one of A, B",
        "index0": "a number from 0 to 1",
        "index1": "a number from 1 to 2",
        "text": "the text of one of the options",
    }


def test_an_answer_by_a_text_that_two_options_have_names_none_of_them() -> None:
    same = ("one", "two", "two")
    by_text = Layout(answer_key="text")
    (fault,) = validate([question(options=same, answer="two")], SOURCE, by_text).faults
    assert (fault.rule, fault.actual) == (
        "answer-not-an-option",
        "“two” (the text of option B and C)",
    )
    assert fault.expected == "the text of one option only"
    assert validate([question(options=same, answer="one")], SOURCE, by_text).samples[0].target == 0
