"""Files of questions in every container, layout, language and form of answers, made when needed.

Nothing is drawn anew from run to run: `made()` gives the same files in the same order each time.
"""

import base64
import csv
import io
import json
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from html import escape
from itertools import chain, cycle
from typing import Any

import pyarrow
from openpyxl import Workbook
from openpyxl.drawing.image import Image
from openpyxl.styles import Font
from pyarrow import parquet

from evalui.types import LETTERS

Rows = Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Made:
    """Files by their names; what is right in them is known where they are plain questions."""

    name: str
    files: dict[str, bytes]
    layout: dict[str, Any] = field(default_factory=dict[str, Any])
    right: tuple[str, ...] | None = None
    steady: bool = True  # whether its bytes are the same with each version of the libraries


# question, options, place of the right one
QUESTIONS: dict[str, list[tuple[str, list[str], int]]] = {
    "en": [
        ("Which of these is a fruit?", ["leek", "plum", "kale", "chard"], 1),
        ("Which of these is a tree?", ["rose", "fern", "moss", "oak"], 3),
        ("How many days has a week?", ["seven", "six", "five", "eight"], 0),
        ("What is ice made of, mostly?", ["sand", "air", "water", "salt"], 2),
    ],
    "zh": [
        ("一周有几天？", ["五天", "六天", "七天", "八天"], 2),
        ("水在几度结冰？", ["零度", "十度", "五十度", "一百度"], 0),
        ("下列哪个是水果？", ["大葱", "桃子", "大蒜", "白菜"], 1),
        ("太阳从哪边升起？", ["西边", "南边", "北边", "东边"], 3),
    ],
    "ja": [
        ("一週間は何日ですか。", ["五日", "七日", "六日", "八日"], 1),
        ("水は何度で凍りますか。", ["零度", "十度", "五十度", "百度"], 0),
        ("太陽はどこから昇りますか。", ["西", "南", "東", "北"], 2),
    ],
    "ru": [
        ("Сколько дней в неделе?", ["пять", "шесть", "семь", "восемь"], 2),
        ("Что из этого фрукт?", ["слива", "лук", "капуста", "редис"], 0),
        ("Что из этого дерево?", ["роза", "мох", "трава", "дуб"], 3),
    ],
    "de": [
        ("Wie viele Tage hat eine Woche?", ["sieben", "sechs", "fünf", "acht"], 0),
        ("Was ist eine Frucht?", ["Lauch", "Kohl", "Pflaume", "Mangold"], 2),
        ("Was ist ein Baum?", ["Rose", "Eiche", "Moos", "Farn"], 1),
    ],
}
# question, an option (of a number or letter), answer, a list of options, passage
HEADS = {
    "en": ("question", "Option {}", "answer", "options", "passage"),
    "zh": ("题目", "选项{}", "答案", "选项", "材料"),
    "ja": ("問題", "選択肢{}", "正解", "選択肢", "本文"),
    "ru": ("Вопрос", "Вариант {}", "Правильный ответ", "Варианты", "Текст"),
    "de": ("Frage", "Antwort {}", "Richtige Antwort", "Antworten", "Text"),
}
FORMS: dict[str, Callable[[list[str], int], Any]] = {
    "letter": lambda _options, place: LETTERS[place],
    "lower": lambda _options, place: LETTERS[place].lower(),
    "bracket": lambda _options, place: f"（{LETTERS[place]}）",
    "dressed": lambda options, place: f"{LETTERS[place]}. {options[place]}",
    "text": lambda options, place: options[place],
    "from0": lambda _options, place: place,
    "from1": lambda _options, place: place + 1,
}


def _letters(language: str, form: str) -> Rows:
    question, _, answer, _, _ = HEADS[language]
    rows = ([n, q, *o, FORMS[form](o, r)] for n, (q, o, r) in enumerate(QUESTIONS[language], 1))
    return [["id", question, *"ABCD", answer], *rows]


def _named(language: str, form: str) -> Rows:
    question, option, answer, _, _ = HEADS[language]
    names = [option.format(n) for n in (LETTERS[:4] if form == "letter" else range(1, 5))]
    rows = ([q, *o, FORMS[form](o, r)] for q, o, r in QUESTIONS[language])
    return [[question, *names, answer], *rows]


def _list(language: str, form: str) -> Rows:
    question, _, answer, options, _ = HEADS[language]
    return [
        [question, options, answer],
        *([q, o, FORMS[form](o, r)] for q, o, r in QUESTIONS[language]),
    ]


def _cell(language: str, form: str) -> Rows:
    question, _, answer, options, _ = HEADS[language]

    def joined(texts: list[str]) -> str:
        return "\n".join(f"{letter}. {text}" for letter, text in zip(LETTERS, texts, strict=False))

    rows = ([q, joined(o), FORMS[form](o, r)] for q, o, r in QUESTIONS[language])
    return [[question, options, answer], *rows]


def _passage(language: str, form: str) -> Rows:
    question, _, answer, _, passage = HEADS[language]
    text = " ".join(o[r] + "." for _, o, r in QUESTIONS[language]) * 3
    rows = ([text, q, *o, FORMS[form](o, r)] for q, o, r in QUESTIONS[language])
    return [[passage, question, *"ABCD", answer], *rows]


def _open(language: str, _form: str) -> Rows:
    question, _, answer, _, _ = HEADS[language]
    return [[question, answer], *([q, o[r]] for q, o, r in QUESTIONS[language])]


def _judged(language: str, _form: str) -> Rows:
    heads = ["question", "index", "reference_answer", "evaluating_guidance", "capability"]
    rows = ([q, n, o[r], "", "facts"] for n, (q, o, r) in enumerate(QUESTIONS[language], 1))
    return [heads, *rows]


def _truth(language: str, form: str) -> Rows:
    question, _, answer, _, _ = HEADS[language]
    words = {"zh": ("对", "错"), "text": ("True", "False")}.get(
        language if language == "zh" else form, ("Yes", "No")
    )
    rows = ([q, words[n % 2]] for n, (q, _, _) in enumerate(QUESTIONS[language]))
    return [[question, answer], *rows]


LAYOUTS: dict[str, Callable[[str, str], Rows]] = {
    "letters": _letters,
    "named": _named,
    "list": _list,
    "cell": _cell,
    "passage": _passage,
    "open": _open,
    "judged": _judged,
    "truth": _truth,
}


# Containers


def delimited(rows: Rows, *, delimiter: str = ",", encoding: str = "utf-8", ends: str = "\n"):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator=ends)
    for row in rows:
        writer.writerow([_json(cell) if isinstance(cell, list | dict) else cell for cell in row])
    return text.getvalue().encode(encoding, "replace")


def _json(value: Any, **options: Any) -> str:
    return json.dumps(value, ensure_ascii=False, **options)


def _objects(rows: Rows) -> list[dict[str, Any]]:
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


def json_lines(rows: Sequence[Any]) -> bytes:
    return "".join(_json(row) + "\n" for row in rows).encode()


def sheet(
    rows: Rows,
    *,
    edit: Callable[[Any], object] | None = None,
    more: dict[str, Rows] | None = None,
) -> bytes:
    book = Workbook()
    first: Any = book.active
    for row in rows:
        first.append([_json(cell) if isinstance(cell, list | dict) else cell for cell in row])
    for title, others in (more or {}).items():
        further = book.create_sheet(title)
        for row in others:
            further.append(list(row))
    if edit:
        edit(first)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def open_document(rows: Rows, *, hidden: int = 0, title: str = "") -> bytes:
    names = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text", "style", "draw")
    )

    def cell(value: Any) -> str:
        if value is None or value == "":
            return "<table:table-cell/>"
        kind = "float" if isinstance(value, int | float) else "string"
        number = f' office:value="{value}"' if kind == "float" else ""
        text = _json(value) if isinstance(value, list | dict) else str(value)
        lines = "".join(f"<text:p>{escape(line)}</text:p>" for line in text.split("\n"))
        return f'<table:table-cell office:value-type="{kind}"{number}>{lines}</table:table-cell>'

    made: list[str] = []
    if title:
        spanned = f'<table:table-cell table:number-columns-spanned="{len(rows[0])}">'
        made.append(f"{spanned}<text:p>{title}</text:p></table:table-cell>")
    made += ["".join(map(cell, row)) for row in rows]
    unseen = ' table:visibility="collapse"'
    lines = "".join(
        f"<table:table-row{unseen if n == hidden else ''}>{row}</table:table-row>"
        for n, row in enumerate(made, 1)
    )
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {names}>'
        "<office:automatic-styles/><office:body><office:spreadsheet>"
        f'<table:table table:name="Sheet1">{lines}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    return packed(
        {
            "mimetype": kind.encode(),
            "content.xml": content.encode(),
            "META-INF/manifest.xml": b"<manifest/>",
        }
    )


def columns(rows: Rows, **options: Any) -> bytes:
    named = zip(rows[0], zip(*rows[1:], strict=True), strict=True)
    table = pyarrow.table({name: list(values) for name, values in named})
    stream = io.BytesIO()
    parquet.write_table(table, stream, **options)
    return stream.getvalue()


def packed(files: dict[str, bytes]) -> bytes:
    """An archive of them, not compressed: its bytes are the same everywhere."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2024, 1, 1, 0, 0, 0)), data)
    return stream.getvalue()


def _titled(rows: Rows) -> bytes:
    rows = [["2024 bank of questions"], *rows]
    return sheet(rows, edit=lambda first: first.merge_cells("A1:C1"))


# The name of the file, and how it is written.
CONTAINERS: dict[str, tuple[str, Callable[[Rows], bytes]]] = {
    "csv": ("exam_val.csv", delimited),
    "bom": ("exam.csv", lambda rows: delimited(rows, encoding="utf-8-sig", ends="\r\n")),
    "semicolon": (
        "exam.csv",
        lambda rows: delimited(rows, delimiter=";", encoding="gb18030", ends="\r\n"),
    ),
    "tsv": ("exam_test.tsv", lambda rows: delimited(rows, delimiter="\t")),
    "utf16": ("exam.txt", lambda rows: delimited(rows, delimiter="\t", encoding="utf-16")),
    "jsonl": ("exam.jsonl", lambda rows: json_lines(_objects(rows))),
    "json": ("exam.json", lambda rows: _json(_objects(rows), indent=1).encode()),
    "document": (
        "exam.json",
        lambda rows: _json({"version": "1", "data": _objects(rows)}).encode(),
    ),
    "columns": (
        "exam.json",
        lambda rows: _json(
            {
                name: list(values)
                for name, values in zip(rows[0], zip(*rows[1:], strict=True), strict=True)
            }
        ).encode(),
    ),
    "xlsx": ("exam.xlsx", sheet),
    "titled": ("exam.xlsx", _titled),
    "ods": ("exam.ods", open_document),
    "parquet": ("exam.parquet", columns),
    "zip": (
        "exam.zip",
        lambda rows: packed(
            {"set/val/exam.csv": delimited(rows), "set/dev/exam.csv": delimited(rows[:3])}
        ),
    ),
}


def made() -> Iterator[Made]:
    for each in chain(_crossed(), _sheets(), _documents(), _tables(), _sets()):
        written = any(name.endswith((".xlsx", ".parquet")) for name in each.files)
        yield replace(each, steady=not written)


def _crossed() -> Iterator[Made]:
    """Each layout in each container; languages and forms of answers take turns."""
    languages, forms = cycle(QUESTIONS), cycle(FORMS)
    for container, (name, write) in CONTAINERS.items():
        for layout, rows_of in LAYOUTS.items():
            language, form = next(languages), next(forms)
            rows = rows_of(language, form)
            right = tuple(o[r] for _, o, r in QUESTIONS[language])
            if layout == "truth":
                right = tuple(row[-1] for row in rows[1:])
            yield Made(f"{container} {layout} {language} {form}", {name: write(rows)}, right=right)


HEAD = ["question", "A", "B", "C", "answer"]
ROW = ["Which of these is a fruit?", "leek", "plum", "kale", "B"]
TREE = ["Which of these is a tree?", "oak", "rose", "fern", "A"]


def _sheets() -> Iterator[Made]:
    """What people do in workbooks."""

    def of(name: str, rows: Rows, layout: dict[str, Any] | None = None, **options: Any) -> Made:
        return Made(f"sheet {name}", {"book.xlsx": sheet(rows, **options)}, layout or {})

    def shown(formats: str, *values: Any) -> Made:
        def edit(first: Any) -> None:
            for row in first.iter_rows(min_row=2, min_col=2, max_col=4):
                for cell in row:
                    cell.number_format = formats

        rows = [HEAD, ["How much is it?", *values, "B"], ["How much is it now?", *values, "A"]]
        return of(f"shown as {formats}", rows, edit=edit)

    yield shown("0%", 0.5, 0.25, 1)
    yield shown("0.00%", 0.5, 0.25, 1)
    yield shown("0.00", 1, 2.5, 3.14159)
    yield shown("#,##0", 1200, 35000, 4000000)
    yield shown('"￥"#,##0.00', 1200, 35000, 4000000)
    yield shown("[$€-407] #,##0", 12, 13, 14)
    yield shown("yyyy-mm-dd", date(1949, 10, 1), date(1950, 1, 2), date(1951, 3, 4))
    yield shown('yyyy"年"m"月"d"日"', date(1949, 10, 1), date(1950, 1, 2), date(1951, 3, 4))
    yield shown("d mmm yyyy", datetime(2020, 2, 3), datetime(2021, 4, 5), datetime(2022, 6, 7))  # noqa: DTZ001
    yield shown("h:mm", time(9, 30), time(10), time(23, 59))
    yield shown("0.00E+00", 12345, 0.00012, 5)
    yield shown("# ?/?", 0.5, 0.25, 0.75)
    yield shown("General", 0.1 + 0.2, 2.5, 1200)
    yield shown("0_);(0)", -3, 4, 5)
    yield shown("000", 7, 42, 100)
    yield shown("@", "007", "1e3", "1/2")
    yield of("numbers as options", [HEAD, ["2 + 2?", 3, 4, 5, 2], ["3 + 3?", 6, 7, 8, 1]])
    yield of("truth values", [HEAD, ["Is it so?", True, False, None, "A"], ROW])
    yield of("formulas without a value", [HEAD, ROW, ["=A2", "a", "b", "c", "A"], TREE])
    yield of("errors", [HEAD, ROW, ["Why?", "#REF!", "b", "c", "B"], TREE])
    yield of("empty rows between", [HEAD, ROW, [], [None] * 5, TREE])
    yield of("notes above", [["Please do not share."], [], HEAD, ROW, TREE])
    yield of("a total below", [HEAD, ROW, TREE, [], ["Total", 2], ["Signed by", "Lou"]])
    yield of("cells beyond the head", [HEAD, [*ROW, "my note"], TREE])
    yield of("blanks and widths", [[" Question ", "Ａ", "Ｂ", "Ｃ", "Answer "], ROW, TREE])
    yield of("no head", [ROW, TREE, ROW], {"head_row": -1})
    yield of("a head further down", [["x", "y"], HEAD, ROW, TREE], {"head_row": 2})
    yield of("rich and bold", [HEAD, ROW, TREE], edit=_bold)
    yield of("a picture", [HEAD, ROW, TREE], edit=_pictured)
    yield of("hidden rows", [HEAD, ROW, TREE], edit=_hidden_row)
    yield of("hidden columns", [[*HEAD, "key"], [*ROW, 1], [*TREE, 2]], edit=_hidden_column)
    group = [["question", "options", None, None, "answer"], [None, *"ABC", None], ROW, TREE]
    yield of("two rows of heads", group, edit=_grouped)
    merged = [["topic", *HEAD], ["plants", *ROW], [None, *TREE]]
    yield of("merged topics", merged, edit=lambda first: first.merge_cells("A2:A3"))
    two = {"more": {"Second": [HEAD, TREE]}}
    yield of("two sheets", [HEAD, ROW], **two)
    yield of("the second sheet", [HEAD, ROW], {"sheet": "Second"}, **two)
    yield of("a sheet that is not there", [HEAD, ROW], {"sheet": "Third"}, **two)
    yield of("a sheet of another kind", [HEAD, ROW], more={"Open": [["question", "answer"], ROW]})
    yield Made(
        "ods hidden",
        {"book.ods": open_document([HEAD, ROW, TREE], hidden=3)},
        right=("plum", "oak"),
    )
    yield Made(
        "ods titled",
        {"book.ods": open_document([HEAD, ROW, TREE], title="Bank")},
        right=("plum", "oak"),
    )


def _grouped(first: Any) -> None:
    for cells in ("A1:A2", "B1:D1", "E1:E2"):
        first.merge_cells(cells)


# Four by four pixels, written down because its bytes are its name.
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAQAAAAECAIAAAAmkwkpAAAADElEQVR4nGNgIB0AAAA0AAF2Xq7DAAAAAElFTkSuQmCC"


def _bold(first: Any) -> None:
    first["A2"].font = Font(bold=True)
    first["B2"].hyperlink = "https://example.org"


def _pictured(first: Any) -> None:
    first.add_image(Image(io.BytesIO(base64.b64decode(PNG))), "B3")


def _hidden_row(first: Any) -> None:
    first.row_dimensions[3].hidden = True


def _hidden_column(first: Any) -> None:
    first.column_dimensions["F"].hidden = True


def _turn(role: str, content: Any) -> dict[str, Any]:
    return {"role": role, "content": content}


def _documents() -> Iterator[Made]:
    """JSON that is no plain list of rows."""
    ask, reply = "Name a fruit.", "plum"

    def of(name: str, *rows: Any, layout: dict[str, Any] | None = None) -> Made:
        return Made(f"lines of {name}", {"set.jsonl": json_lines(rows)}, layout or {})

    def whole(name: str, value: Any) -> Made:
        return Made(f"a document of {name}", {"set.json": _json(value, indent=2).encode()})

    yield of("messages", {"messages": [_turn("user", ask), _turn("assistant", reply)]})
    yield of(
        "messages with a system text",
        {"messages": [_turn("system", "Be short."), _turn("user", ask), _turn("assistant", reply)]},
    )
    yield of(
        "longer talks",
        {
            "messages": [
                *(_turn("user", "Hello."), _turn("assistant", "Hello!")),
                *(_turn("user", ask), _turn("assistant", reply)),
            ]
        },
    )
    yield of(
        "typed parts",
        {"messages": [_turn("user", [{"type": "text", "text": ask}]), _turn("assistant", reply)]},
    )
    yield of(
        "conversations",
        {"conversations": [{"from": "human", "value": ask}, {"from": "gpt", "value": reply}]},
    )
    yield of("history", {"query": ask, "response": reply, "history": [["Hello.", "Hello!"]]})
    yield of("a system column", {"system": "Be short.", "query": ask, "response": reply})
    yield of("turns", {"question_id": 81, "category": "writing", "turns": ["A haiku.", "Another."]})
    yield of("instructions", {"instruction": "Name one.", "input": "a fruit", "output": reply})
    yield of("several references", {"question": ask, "answer": ["plum", "pear"]})
    yield of("numbers", {"question": "2 + 2?", "answer": 4}, {"question": "1/2?", "answer": 0.5})
    yield of("numbers as written", {"question": "1000?", "answer": 1.0e3, "id": 1e3})
    yield of(
        "null answers", {"question": ask, "answer": None}, {"question": "Why?", "answer": "so"}
    )
    options = {"question": "A fruit?", "choices": ["leek", "plum"], "answer": 1}
    yield of("options from 0", options, {**options, "question": "Again?", "answer": 0})
    labelled = {"text": ["leek", "plum"], "label": ["A", "B"]}
    yield of("labels beside", {"question": "A fruit?", "choices": labelled, "answerKey": "B"})
    objects = [{"label": "A", "text": "leek"}, {"label": "B", "text": "plum"}]
    yield of("objects", {"question": "A fruit?", "choices": objects, "answerKey": "B"})
    stem = {"stem": "A fruit?", "choices": objects}
    yield of("a stem", {"id": "q1", "question": stem, "answerKey": "B"})
    named = {"A": "leek", "B": "plum"}
    yield of("options by letters", {"question": "A fruit?", "options": named, "answer": "B"})
    yield of("keys that come and go", options, {**options, "question": "Now?", "topic": "x"})
    yield Made(
        "lines that are broken",
        {"set.jsonl": json_lines([options]) + b'{"question": oops\n[1, 2]\n"text"\n\n'},
    )
    yield Made("lines of nothing", {"set.jsonl": b"\n\n"})
    yield whole("one key", {"questions": [options]})
    yield whole("two lists", {"train": [options], "test": [{**options, "question": "Now?"}]})
    yield whole("rows by ids", {"q1": options, "q2": {**options, "question": "Now?"}})
    yield whole("one object", options)
    yield whole("a list of texts", ["Which?", "Why?"])
    yield whole("a number", 7)
    yield whole("empty lists", [])


def _tables() -> Iterator[Made]:
    """Rows of delimited text that need looking at."""

    def of(name: str, text: str, file: str = "set.csv", **layout: Any) -> Made:
        return Made(f"rows with {name}", {file: text.encode()}, layout)

    head, row = "id,question,A,B,C,answer\n", "1,Which?,x,y,z,B\n"
    yield of("a blank question", head + "1,,x,y,z,B\n" + row.replace("1", "2"))
    yield of("one option", head + row + "2,Why?,x,,,A\n")
    yield of("a gap in the options", head + row + "2,Why?,x,,z,A\n")
    yield of("an answer beyond", head + row + "2,Why?,x,y,,C\n")
    yield of("no answer", head + row + "2,Why?,x,y,z,\n")
    yield of("no answers at all", head + "1,Which?,x,y,z,\n2,Why?,x,y,z,\n", "law_test.csv")
    yield of("several letters", head + row + "2,Why?,x,y,z,AB\n")
    yield of("the same id", head + row + "1,Why?,x,y,z,A\n")
    yield of("the same options", head + row + "2,Why?,x,x,z,A\n")
    skipped = head + row + "2,Why?,x,x,z,A\n"
    yield of("the same options left out", skipped, duplicate_options="skip")
    yield of("options that name others", head + row + "2,Why?,x,y,all of the above,C\n")
    yield of("a comma", head + row + "2,Why, then?,x,y,z,A\n")
    yield of("commas that are text", head + row + "2,Why, then?,x,y,z,A\n", commas_in_text=True)
    yield of("an open quote", head + row + '2,"Why?,x,y,z,A\n3,How?,x,y,z,B\n')
    yield of("lines in cells", head + '1,"Which\none?",x,y,z,B\n2,Why?,x,y,z,A\n')
    yield of("old line ends", (head + row).replace("\n", "\r"))
    yield of("zero bytes", head + row.replace("x", "x\0"))
    yield of("a head alone", head)
    yield of("nothing", "")
    yield of("two heads alike", "question,A,A,answer\nWhich?,x,y,A\n")
    named = {"options": ("one", "two"), "answer": "right", "question": "q", "answer_key": "text"}
    yield of("other names", "q,one,two,right\nWhich?,x,y,y\n", **named)
    yield of("places", "question,A,B,C,answer\nWhich?,x,y,z,0\nWhy?,x,y,z,2\n", answer_key="index0")
    yield of("a subject column", "question,A,B,answer,subject\nWhich?,x,y,B,law\nWhy?,x,y,A,art\n")
    units = "question,A,B,answer,unit\nWhich?,x,y,B,u1\nWhy?,x,y,A,u1\n"
    yield of("a cluster", units, cluster="unit")
    yield of("an explanation", head.strip() + ",explanation\n1,Which?,x,y,z,B,because\n")
    yield of("ids that are names", head + row.replace("1", "q-one") + row.replace("1", "q-two"))
    yield of("the kind said", "question,answer,label\nWhich?,x,1\nWhy?,y,0\n", kind="general_qa")
    yield of("another kind than there is", head + row, kind="subjective")
    yield of("an unknown way of answers", head + row, answer_key="roman")


def _sets() -> Iterator[Made]:
    """Several files together."""
    head = "id,question,A,B,answer\n"

    def rows(first: int, n: int) -> bytes:
        lines = (f"{i},Question {i}?,x{i},y{i},{'AB'[i % 2]}\n" for i in range(first, first + n))
        return (head + "".join(lines)).encode()

    def of(name: str, files: dict[str, bytes], **layout: Any) -> Made:
        return Made(f"a set of {name}", files, layout)

    yield of("val and dev", {"law_val.csv": rows(1, 3), "law_dev.csv": rows(10, 5)})
    all_three = {"law_val.csv": rows(1, 3), "law_test.csv": rows(4, 2), "law_dev.csv": rows(10, 2)}
    yield of("val, test and dev", all_three)
    yield of("the test split", all_three, split="test")
    yield of("the dev split", all_three, split="dev")
    yield of("folders", {"s/val/law.csv": rows(1, 3), "s/dev/law.csv": rows(10, 5)})
    yield of("two subjects", {"law_val.csv": rows(1, 3), "art_val.csv": rows(1, 2)})
    yield of(
        "an archive", {"s.zip": packed({"a/law_val.csv": rows(1, 3), "a/law_dev.csv": rows(8, 5)})}
    )
    yield of(
        "an archive in an archive", {"s.zip": packed({"in.zip": packed({"law.csv": rows(1, 2)})})}
    )
    beside = {"s/law.csv": rows(1, 2), "s/README.md": b"# Read me\n", "s/.DS_Store": b"x"}
    yield of("what lies beside", beside)
    yield of("a file of no kind", {"law.csv": rows(1, 2), "notes.docx": b"PK"})
    written = json_lines([{"query": "q", "response": "r"}])
    yield of("two kinds", {"law.csv": rows(1, 2), "qa.jsonl": written})
    yield of("the same role twice", {"a/law_val.csv": rows(1, 2), "b/law_val.csv": rows(3, 2)})
    yield of("train and dev", {"law_train.csv": rows(1, 3), "law_dev.csv": rows(8, 2)})
    yield of("questions that repeat", {"law_val.csv": rows(1, 3), "law_dev.csv": rows(1, 5)})
