"""What reads a file: its format, the guess of its columns, or nothing before they are confirmed."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from evalui.datasets import Layout, LoadResult, UploadNote, load, read_columns
from evalui.datasets.guess import guess_roles
from evalui.datasets.model import ColumnTable, Doubt, with_columns
from evalui.errors import DataError
from evalui.messages import messages

OPTIONS = "question,option_a,option_b,answer\nWhich is a fruit?,plum,leek,A\nA tree?,rose,oak,B\n"
UNCLEAR = "c1,c2,c3,c4\nWhich is a fruit?,plum,leek,A\nWhich is a tree?,rose,oak,B\n"
LONG = "It was a long and rainy day, and nobody in the village had been out to see the river. " * 2


def written(folder: Path, text: str, name: str = "set.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def rows(*objects: dict[str, Any]) -> str:
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in objects)


def right(loaded: LoadResult) -> list[str | None]:
    return [
        sample.choices[sample.target]
        if isinstance(sample.target, int)
        else next(iter(sample.references), None)
        for sample in loaded.dataset.samples
    ]


def notes(loaded: LoadResult, rule: str) -> list[UploadNote]:
    return [note for note in loaded.notes if note.rule == rule]


@pytest.mark.parametrize(
    "text",
    [
        "id,question,A,B,answer\n1,Which?,a,b,B\n",
        "id,question,A,B,answer,explanation,subject\n1,Which?,a,b,B,So.,law\n",
        "id,question,A,B,answer,level,source\n1,Which?,a,b,B,easy,own\n",
        '{"question": "Which?", "choices": ["a", "b"], "answer": 1}\n',
        '{"query": "Which?", "response": "this"}\n',
        "question,answer\nWhich is it?,this one\n",
        "question,capability\nWhich is it?,talk\n",
    ],
)
def test_a_file_of_exactly_a_formats_shape_is_read_by_that_format(
    tmp_path: Path, text: str
) -> None:
    loaded = load([written(tmp_path, text, "set.jsonl" if text[0] == "{" else "set.csv")])
    assert loaded.dataset.samples
    assert not notes(loaded, "columns-read")


def test_what_was_made_of_the_columns_is_said_in_a_note(tmp_path: Path) -> None:
    loaded = load([written(tmp_path, OPTIONS)])
    assert right(loaded) == ["plum", "oak"]
    (note,) = notes(loaded, "columns-read")
    assert note.params["columns"] == (
        "question = “question”, A-B = “option_a”, “option_b”, answer = “answer”"
    )


def test_what_is_not_clear_is_one_fault_that_says_what_was_made_out(tmp_path: Path) -> None:
    loaded = load([written(tmp_path, UNCLEAR)])
    (fault,) = loaded.faults
    assert (fault.rule, fault.line, loaded.n_rows, loaded.dataset.samples) == (
        "confirm-columns",
        1,
        2,
        (),
    )
    assert fault.actual == "question = “c1”, A-B = “c2”, “c3”, answer = “c4”"


def test_each_doubt_has_words_in_both_languages() -> None:
    keys = [f"fault.confirm-{doubt}.{part}" for doubt in get_args(Doubt) if doubt
            for part in ("what", "expected")]  # fmt: skip
    for language in ("en", "zh"):
        assert [key for key in keys if key not in messages(language).by_key] == []


def test_a_passage_is_asked_with_the_question_of_a_known_format(tmp_path: Path) -> None:
    text = "id,question,A,B,answer,passage\n1,Which?,a,b,B,It rained.\n2,Who?,c,d,A,\n"
    loaded = load([written(tmp_path, text)])
    assert [sample.question for sample in loaded.dataset.samples] == ["It rained.\nWhich?", "Who?"]
    text = "question,answer,context\nWho is it?,Ann,It was Ann.\n"
    (sample,) = load([written(tmp_path, text)]).dataset.samples
    assert (sample.question, sample.references) == ("It was Ann.\nWho is it?", ("Ann",))


def test_an_empty_answer_beside_a_full_label_does_not_win(tmp_path: Path) -> None:
    text = "question,A,B,answer,label\nWhich?,plum,leek,,B\nWho?,rose,oak,,A\n"
    assert right(load([written(tmp_path, text)])) == ["leek", "rose"]
    read = rows(*({"question": f"Q{n}?", "options": ["(A)plum", "(B)leek"], "label": "B",
                   "answer": None} for n in range(2)))  # fmt: skip
    assert right(load([written(tmp_path, read, "set.jsonl")])) == ["leek", "leek"]


def test_c_eval_with_other_answers_than_letters_is_read_by_them(tmp_path: Path) -> None:
    text = "question,A,B,C,answer,level\nWhich?,plum,leek,kale,kale,A\nWho?,rose,oak,fern,oak,B\n"
    assert right(load([written(tmp_path, text)])) == ["kale", "oak"]
    text = "question,A,B,C,answer\nWhich?,plum,leek,kale,3\nWho?,rose,oak,fern,1\n"
    loaded = load([written(tmp_path, text)])
    assert right(loaded) == ["kale", "rose"]
    assert notes(loaded, "counts-from-1")


def test_numbers_that_are_places_as_well_as_texts_are_asked_about(tmp_path: Path) -> None:
    path = written(tmp_path, "question,A,B,C,D,answer\n1+1?,4,3,2,1,2\n2+1?,2,3,4,1,3\n")
    assert [fault.rule for fault in load([path]).faults] == ["confirm-answer-key"]
    assert right(load([path], layout=Layout(answer_key="text"))) == ["2", "3"]
    assert right(load([path], layout=Layout(answer_key="index1"))) == ["3", "4"]


@pytest.mark.parametrize(
    "header",
    ["question,option_a,option_b,note", "question,choice1,choice2,note", "问题,选项A,选项B,备注"],
)
def test_what_looks_like_options_is_never_an_open_question_in_silence(
    tmp_path: Path, header: str
) -> None:
    path = written(tmp_path, header + "\nWhich of them is it?,plum,leek,ripe\nWho?,Ann,Bo,old\n")
    loaded = load([path])
    assert (loaded.dataset.kind, loaded.dataset.samples) == ("multiple_choice", ())
    stated = load([path], layout=Layout(kind="general_qa"))
    assert (stated.dataset.kind, len(stated.dataset.samples)) == ("general_qa", 2)


def test_letters_as_answers_want_options(tmp_path: Path) -> None:
    path = written(tmp_path, "question,answer\nWhich of these?,B\nAnd of those?,C\n")
    assert [fault.rule for fault in load([path]).faults] == ["confirm-options"]
    assert right(load([path], layout=Layout(kind="general_qa"))) == ["B", "C"]


def test_options_that_are_stated_not_to_be_used_leave_open_questions(tmp_path: Path) -> None:
    layout = with_columns(Layout(), {"question": "question", "answer": "answer"})
    loaded = load([written(tmp_path, OPTIONS)], layout=layout)
    assert (loaded.dataset.kind, right(loaded)) == ("general_qa", ["A", "B"])


def test_true_or_false_is_a_choice_of_two_unless_another_kind_is_stated(tmp_path: Path) -> None:
    path = written(tmp_path, "question,answer\nIs ice cold?,yes\nIs fire cold?,no\n")
    (first, second) = load([path]).dataset.samples
    assert (first.choices, first.target, second.target) == (("Yes", "No"), 0, 1)
    stated = load([path], layout=Layout(kind="general_qa"))
    assert (stated.dataset.kind, right(stated)) == ("general_qa", ["yes", "no"])
    assert stated.dataset.sha256 != load([path]).dataset.sha256


def test_options_may_stand_in_the_question_and_some_rows_be_true_or_false(tmp_path: Path) -> None:
    text = "题型,题目,答案\n单选,哪个是水果？A.桃 B.葱,A\n判断,地球是圆的,对\n判断,火是冷的,×\n"
    assert right(load([written(tmp_path, text)])) == ["桃", "对", "错"]
    mixed = text + "问答,为什么下雨？,因为云里的水变重了\n"
    assert [fault.rule for fault in load([written(tmp_path, mixed)]).faults] == ["confirm-options"]


@pytest.mark.parametrize(
    ("head", "row", "last"),
    [
        ("question,A,B,answer,label", "Which of {n}?,one{n},two{n},A,A", "Last?,one,two,A,B"),
        ("question,answer,ground_truth", "What is {n}?,it is {n},{n}", "Last?,one,two"),
    ],
)
def test_one_row_of_many_may_contradict(tmp_path: Path, head: str, row: str, last: str) -> None:
    rows = "\n".join(row.format(n=n) for n in range(300))
    assert not load([written(tmp_path, f"{head}\n{rows}\n")]).faults
    loaded = load([written(tmp_path, f"{head}\n{rows}\n{last}\n")])
    assert [fault.rule for fault in loaded.faults] == ["confirm-answers"]


def test_two_columns_of_answers_that_contradict_each_other_are_asked_about(tmp_path: Path) -> None:
    text = "question,opt1,opt2,opt3,answer,target\nWhich?,a,b,c,A,B\nWho?,d,e,f,B,C\n"
    assert [f.rule for f in load([written(tmp_path, text)]).faults] == ["confirm-answers"]
    same = text.replace("A,B\n", "A,1\n").replace("B,C\n", "B,2\n").replace("target", "answer_id")
    assert right(load([written(tmp_path, same)])) == ["a", "e"]


def test_the_answer_of_a_model_beside_the_right_one_changes_nothing(tmp_path: Path) -> None:
    text = "question,opt1,opt2,answer,prediction\nWhich?,a,b,A,B\nWho?,d,e,B,A\n"
    assert right(load([written(tmp_path, text)])) == ["a", "e"]


def test_the_whole_column_decides_from_where_numbers_count(tmp_path: Path) -> None:
    lines = [f"Question {n}?,a,b,c,d,{1 + n % 3}" for n in range(300)]
    head = "question,opt1,opt2,opt3,opt4,label\n"
    path = written(tmp_path, head + "\n".join([*lines, "The last?,a,b,c,d,4"]))
    loaded = load([path])
    assert (len(loaded.dataset.samples), right(loaded)[-1]) == (301, "d")
    path = written(tmp_path, head + "\n".join([*lines, "The last?,a,b,c,d,0"]))
    assert right(load([path]))[-1] == "a"
    undecided = load([written(tmp_path, head + "\n".join(lines))])
    assert [fault.rule for fault in undecided.faults] == ["confirm-answer-base"]


def test_the_table_of_the_card_has_every_short_cell_of_the_file(tmp_path: Path) -> None:
    lines = [f"Question {n}?,{n % 3}" for n in range(500)] + ["The last?,9"]
    table = read_columns([written(tmp_path, "question,level\n" + "\n".join(lines))])
    assert table is not None
    assert (len(table.rows), table.rows[-1]) == (51, ("The last?", "9"))


def test_a_file_in_doubt_is_read_as_its_sibling_of_the_same_columns(tmp_path: Path) -> None:
    head = "question,opt1,opt2,opt3,label\n"
    written(tmp_path, head + "One?,a,b,c,1\nTwo?,a,b,c,2\n", "law_dev.csv")
    written(tmp_path, head + "Three?,a,b,c,3\nFour?,a,b,c,1\n", "law_val.csv")
    loaded = load([tmp_path / "law_dev.csv", tmp_path / "law_val.csv"])
    assert (loaded.faults, right(loaded)) == ((), ["c", "a"])
    assert [shot.choices[shot.target] for shot in loaded.dataset.shots
            if isinstance(shot.target, int)] == ["a", "b"]  # fmt: skip


def test_a_file_in_doubt_does_not_decide_the_kind_of_the_others(tmp_path: Path) -> None:
    written(tmp_path, "sentence,label\na lovely film,1\na dull film,0\n", "a.csv")
    written(tmp_path, "id,question,A,B,answer\n1,Which?,a,b,B\n", "b.csv")
    loaded = load([tmp_path])
    assert (loaded.dataset.kind, right(loaded)) == ("multiple_choice", ["b"])
    assert [(fault.file, fault.rule) for fault in loaded.faults] == [("a.csv", "confirm-labels")]


def test_texts_that_nothing_uses_are_named(tmp_path: Path) -> None:
    text = (
        "id,question,A,B,answer,level,remark\n1,Which?,a,b,B,easy,Ask the teacher of the class.\n"
        "2,Who?,c,d,A,hard,See the second page of the book.\n"
    )
    loaded = load([written(tmp_path, text)])
    assert (right(loaded), loaded.unused_columns) == (["b", "c"], ("remark",))
    (note,) = notes(loaded, "unused-columns")
    assert note.params["columns"] == "remark"
    assert load([written(tmp_path, OPTIONS)]).unused_columns == ()


def test_a_part_of_the_question_is_no_unused_text(tmp_path: Path) -> None:
    text = rows(
        {"ctx_a": "A man is standing on a roof.", "ctx": "A man is standing on a roof. he",
         "endings": ["sits.", "flies."], "label": 0},
        {"ctx_a": "A cat is lying in the garden.", "ctx": "A cat is lying in the garden. it",
         "endings": ["sits.", "flies."], "label": 1},
    )  # fmt: skip
    assert load([written(tmp_path, text, "set.jsonl")]).unused_columns == ()


def test_a_long_text_without_a_name_is_asked_about(tmp_path: Path) -> None:
    text = f'question,A,B,answer,n1\nWhich?,a,b,B,"{LONG}"\nWho?,c,d,A,"{LONG}"\n'
    path = written(tmp_path, "id," + text.replace("\nW", "\n1,W").replace("\n1,Who", "\n2,Who"))
    table = read_columns([path])
    assert table is not None
    guess = guess_roles(table)
    assert (guess.doubt, guess.place("passage")) == ("passage", 5)


def test_ids_that_repeat_are_not_taken_for_ids(tmp_path: Path) -> None:
    text = "qid,question,opt1,opt2,label\n" + "".join(
        f"{n},Question {n}?,a,b,{'AB'[n % 2]}\n" for n in (*range(60), 7)
    )
    loaded = load([written(tmp_path, text)])
    assert (len(loaded.dataset.samples), loaded.faults) == (61, ())


def test_the_guess_is_part_of_the_hash(tmp_path: Path) -> None:
    path = written(tmp_path, OPTIONS)
    guessed, stated = load([path]), load([path], layout=Layout(options=("option_b", "option_a")))
    assert guessed.dataset.sha256 == load([path]).dataset.sha256 != stated.dataset.sha256


def test_columns_that_are_stated_in_part_are_completed(tmp_path: Path) -> None:
    text = OPTIONS.replace("answer", "key").replace("question", "stem")
    layout = with_columns(Layout(), {"answer": "key"})
    assert right(load([written(tmp_path, text)], layout=layout)) == ["plum", "oak"]


def test_a_kind_that_a_file_cannot_have_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "question,answer\nWhy did it rain?,Because of the clouds.\n")
    with pytest.raises(DataError, match="no questions of the kind multiple_choice"):
        load([path], layout=Layout(kind="multiple_choice"))


def test_a_table_of_heads_alone_is_no_guess() -> None:
    table = ColumnTable("x.csv", ("question", "option_a", "option_b", "answer"), (), 0)
    guess = guess_roles(table)
    assert (guess.sure, guess.doubt) == (False, "columns")
