"""What a person sees of a file before a run: its questions as asked, and every guess."""

from pathlib import Path

import pytest

from evalui.datasets.model import ColumnTable, Layout, LoadResult, with_columns
from evalui.datasets.preview import (
    FileReading,
    Preview,
    is_misread,
    layout_fields,
    pin,
    preview,
    preview_question,
    read_choices,
    with_detected_key,
)
from evalui.datasets.reader import load, read_columns
from evalui.types import Message, Sample

GOOD = "id,question,A,B,C,D,answer\n" + "".join(
    f"{n},Question {n}?,w{n},x{n},y{n},z{n},{'ABCD'[n % 4]}\n" for n in range(1, 9)
)
OWN = """Frage,erste,zweite,richtig,Notiz
Hauptstadt von Norwegen?,Oslo,Rom,1,leicht
Hauptstadt von Italien?,Oslo,Rom,2,schwer
"""
ROLES = {"question": "Frage", "A": "erste", "B": "zweite", "answer": "richtig"}


def written(folder: Path, text: str, name: str = "exam.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def shown(path: Path, layout: Layout | None = None, start: int = 0) -> Preview:
    chosen = layout or Layout()
    table = read_columns([path], layout=chosen)
    return preview(load([path], layout=chosen), table, chosen, start=start)


def reading(table: ColumnTable | None, layout: Layout | None = None) -> FileReading:
    choices = read_choices(table, layout or Layout())
    assert choices
    return choices


def test_questions_are_shown_three_at_a_time(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD)
    first, last = shown(path), shown(path, start=6)
    assert [question.line for question in first.questions] == [2, 3, 4]
    assert [question.line for question in last.questions] == [8, 9]
    assert (first.start, last.start, first.total, first.n_rows) == (0, 6, 8, 8)


@pytest.mark.parametrize(("start", "expected"), [(-4, 0), (4, 3), (8, 6), (10**9, 6)])
def test_any_place_leads_to_a_page(tmp_path: Path, start: int, expected: int) -> None:
    page = shown(written(tmp_path, GOOD), start=start)
    assert page.start == expected
    assert page.questions


def test_options_stand_under_their_letters_with_the_right_one_marked(tmp_path: Path) -> None:
    question = shown(written(tmp_path, GOOD)).questions[0]
    assert [(each.letter, each.text, each.right) for each in question.options] == [
        ("A", "w1", False),
        ("B", "x1", True),
        ("C", "y1", False),
        ("D", "z1", False),
    ]
    assert (question.text, question.file, question.subject) == ("Question 1?", "exam.csv", "exam")


def test_options_of_the_same_text_name_each_other() -> None:
    options = preview_question(Sample("1", "Q?", ("x", "y", "x"), 1)).options
    assert [option.equal for option in options] == ["C", "", "A"]


def test_a_conversation_is_shown_as_it_is_held() -> None:
    before = (Message("system", "Be short."), Message("user", "Hi"), Message("assistant", "Hello"))
    sample = Sample("1", "Who are you?", (), ("A bot.",), {}, False, before, ("And now?",))
    question = preview_question(sample)
    assert (question.turns, question.text, question.follow_ups) == (
        before,
        "Who are you?",
        ("And now?",),
    )
    assert (question.options, question.references, question.line) == ((), ("A bot.",), 0)


def test_every_choice_says_where_it_comes_from(tmp_path: Path) -> None:
    table = read_columns([written(tmp_path, GOOD)])
    choices = reading(table)
    assert [(each.header, each.role, each.origin) for each in choices.columns[:3]] == [
        ("id", "id", "name"),
        ("question", "question", "name"),
        ("A", "A", "name"),
    ]
    assert (choices.head_row.value, choices.head_row.origin) == (1, "name")
    assert (choices.answer_key.value, choices.answer_key.origin) == ("letter", "content")
    guessed = reading(read_columns([written(tmp_path, OWN, "own.csv")]))
    assert [each.origin for each in guessed.columns] == ["name", *["content"] * 3, ""]
    assert guessed.columns[1].values == ("Oslo", "Oslo")


def test_what_a_person_chose_otherwise_is_theirs(tmp_path: Path) -> None:
    path = written(tmp_path, OWN)
    chosen = with_columns(
        Layout(answer_key="text", kind="multiple_choice"), {**ROLES, "answer": "Notiz"}
    )
    choices = reading(read_columns([path], layout=chosen), chosen)
    assert [(each.role, each.origin) for each in choices.columns[2:]] == [
        ("B", "content"),
        ("", "person"),
        ("answer", "person"),
    ]
    assert choices.answer_key.origin == "person"
    placed = Layout(head_row=1, sheet="Questions")
    choices = reading(read_columns([path]), placed)
    assert (choices.head_row.origin, choices.sheet.origin) == ("person", "person")


def test_json_has_no_row_of_headers(tmp_path: Path) -> None:
    path = written(tmp_path, '{"query": "Who?", "response": "I."}\n', "qa.jsonl")
    assert reading(read_columns([path])).head_row.value == 0


def test_a_reading_is_pinned_and_makes_the_same_questions(tmp_path: Path) -> None:
    path = written(tmp_path, OWN)
    choices = reading(read_columns([path]))
    pinned = pin(choices)
    fields = layout_fields(pinned)
    assert (fields["columns"], fields["answer_key"]) == (ROLES, "index1")
    assert list(fields["columns"]) == ["question", "A", "B", "answer"]
    assert [sample.target for sample in load([path], layout=pinned).dataset.samples] == [0, 1]
    known = written(tmp_path, GOOD, "known.csv")
    again = load([known], layout=pin(reading(read_columns([known])))).dataset.samples
    assert again == load([known]).dataset.samples


def test_what_is_chosen_besides_columns_is_pinned_too(tmp_path: Path) -> None:
    choices = reading(read_columns([written(tmp_path, OWN)]))
    pinned = pin(choices, Layout(head_row=1, sheet="Two", duplicate_options="skip"))
    assert (pinned.head_row, pinned.sheet, pinned.duplicate_options) == (1, "Two", "skip")
    assert layout_fields(pinned)["head_row"] == 1


def test_a_head_row_that_is_chosen_counts_in_the_digest(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD)
    detected, chosen = load([path]), load([path], layout=Layout(head_row=1))
    assert detected.dataset.samples == chosen.dataset.samples
    assert detected.dataset.sha256 != chosen.dataset.sha256


def test_open_questions_are_pinned_without_an_answer_key(tmp_path: Path) -> None:
    path = written(tmp_path, "Frage,Antwort\nWer?,3\nWas?,4\n")
    table = read_columns([path])
    layout = with_columns(Layout(kind="general_qa"), {"question": "Frage", "answer": "Antwort"})
    pinned = pin(reading(table, layout), layout)
    assert (pinned.answer_key, pinned.kind) == ("letter", "general_qa")


def test_an_answer_key_left_open_follows_the_columns(tmp_path: Path) -> None:
    table = read_columns([written(tmp_path, OWN)])
    assert table
    open_key = with_columns(Layout(answer_key=""), ROLES)
    assert with_detected_key(open_key, table).answer_key == "index1"
    assert with_detected_key(with_columns(Layout(), ROLES), table).answer_key == "letter"


def test_what_cannot_be_read_says_why(tmp_path: Path) -> None:
    path = written(tmp_path, OWN)
    table = read_columns([path])
    nothing = preview("It is not clear.", table)
    assert (nothing.problem, nothing.total, nothing.n_rows) == ("It is not clear.", 0, 2)
    assert nothing.reading
    unread = shown(path, with_columns(Layout(answer_key="text"), ROLES))
    assert unread.fault
    assert (unread.fault.rule, unread.total) == ("answer-not-an-option", 0)
    assert preview("no table", None).reading is None


def test_unused_columns_are_named(tmp_path: Path) -> None:
    loaded = load([written(tmp_path, GOOD)])
    named = LoadResult(loaded.dataset, (), 8, loaded.files, unused_columns=("background",))
    assert preview(named, None).unused == ("background",)


def faulty(folder: Path, *answers: str) -> LoadResult:
    rows = (f"{n},Q{n}?,a,b,{answer}" for n, answer in enumerate(answers))
    return load([written(folder, "id,question,A,B,answer\n" + "\n".join(rows) + "\n")])


def test_one_fault_in_most_rows_is_a_wrong_reading(tmp_path: Path) -> None:
    assert is_misread(faulty(tmp_path, "E", "F", "E", "A"))
    assert is_misread(faulty(tmp_path, "E", "F"))
    assert is_misread(load([written(tmp_path, "question,A,B\nQ?,a,b\n", "bare.csv")]))
    assert not is_misread(faulty(tmp_path, "A", "B", "E", "A"))
    assert not is_misread(faulty(tmp_path, "A", "B"))


def test_various_faults_are_those_of_rows() -> None:
    samples = Path(__file__).parents[3] / "assets" / "samples"
    assert not is_misread(load([samples / "faulty.csv"]))  # 9 of 12 rows
