"""Which column is what: what the heads of published formats say, else a guess from all cells.

The content decides and the heads help. A table whose heads are those of a published format is read
so whatever its cells say, unless they contradict it. A guess that is sure is read; of any other
the first rows are shown with it, and nothing is read until a person has confirmed it.
"""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from evalui.datasets.answers import NO_ANSWER, answer_function, by_letter
from evalui.datasets.column_profile import FITTING_SHARE
from evalui.datasets.containers.pictures import picture_columns
from evalui.datasets.guess import guess_roles, no_questions
from evalui.datasets.model import (
    Cell,
    ColumnTable,
    FileRole,
    FileTable,
    JsonNumber,
    Layout,
    Roles,
    Row,
    as_object,
    cell_text,
    columns_of,
    fold_name,
    shorten,
    with_columns,
)
from evalui.datasets.names import MODEL_NAMES, OUTPUT_NAMES, fold_head, is_known_name, read_head
from evalui.datasets.open_samples import TESTS
from evalui.datasets.options import read_options, split_question
from evalui.datasets.samples import SEVERAL_RULE, read_rows
from evalui.types import LETTERS, DatasetKind, Fault

OPEN_KINDS: tuple[DatasetKind, ...] = ("general_qa", "subjective", "code")
_MIN_COLUMNS = 2  # of a table: a question and something beside it
_MIN_CEVAL_NAMES = 3  # names that set C-Eval's table apart from others
_ROWS_SHOWN = 50  # rows of a table at its beginning
_MAX_ROWS = 200  # rows with those that show further short cells
_MAX_SHORT = 3  # characters of a cell that may be a letter or the number of an option
_MAX_VALUES = 40  # short cells of one column that are looked for
_FIRST_ROWS = 60  # in which it is seen of which format a table is
_ROWS_WITH_LISTS = 20  # in one of which a list of options must stand
_ROWS_TRIED = 200  # by the reader, to see whether a guess reads them
_MAX_HEADS = 4  # names of options that a sentence has
_EXPECTED = "the columns under “Columns” on the page, or `columns` of a specification"
_ANSWERS_EXPECTED = (
    "questions; replies of models belong under “Answers you already have” beside the file of their"
    " questions (`answers` of a specification)"
)
# What published formats call their columns; of several the first that is there counts.
_CEVAL_NAMES = ("id", "question", *LETTERS, "answer", "explanation", "subject")
_QUESTIONS_WITH_LISTS = (
    *("question", "query", "prompt", "input", "ctx", "stem", "problem", "题目", "问题"),
)
_LISTS = ("choices", "options", "candidates", "endings", "选项")
_ANSWERS_TO_LISTS = (
    *("answerkey", "answer", "label", "target", "gold", "correct_option", "correct_answer"),
    *("answer_idx", "answer_index", "答案"),
)
_PASSAGES = ("passage", "context", "article", "paragraph")
_OF_QUESTIONS_AND_ANSWERS: Mapping[str, tuple[str, ...]] = {
    "question": ("query", "question"),
    "answer": ("response", "answer"),
    "id": ("id", "index", "question_id"),
    "capability": ("capability",),
    "guidance": ("evaluating_guidance",),
    "subject": ("subject",),
}
_OF_OPEN_QUESTIONS: Mapping[DatasetKind, Mapping[str, tuple[str, ...]]] = {
    "general_qa": _OF_QUESTIONS_AND_ANSWERS,
    "code": _OF_QUESTIONS_AND_ANSWERS,
    "subjective": {
        "question": ("question", "query"),
        "answer": ("reference_answer", "reference", "answer", "response"),
        "id": ("index", "question_id", "id"),
        "capability": ("capability", "category"),  # MT-bench's word for it
        "guidance": ("evaluating_guidance",),
        "subject": ("subject",),
    },
}
_OF_JUDGES = ("capability", "evaluating_guidance", "reference_answer", "turns")


def find_roles(table: FileTable, layout: Layout) -> Roles:
    """What the columns of a table are, whatever kind of questions the layout wants.

    What the layout names is taken as it is. `kind` is "" where nothing can be made out.
    """
    natural = replace(layout, kind="")
    stated = columns_of(layout)
    if not stated and (doubt := no_questions(table.heads)):
        return Roles(("",) * len(table.heads), doubt=doubt)
    named = _roles_by_name(table, natural)
    if named and named.kind == "code":
        return named
    beginning = replace(table, rows=table.rows[:_FIRST_ROWS], faults=())
    if named and not stated and _contradicts_questions(beginning, named):
        return replace(named, sure=False, plain=False, doubt="options")
    if named and named.options and not stated and _is_plain_ceval(beginning):
        return named
    shown = column_table(beginning)
    if shown is None:
        return named or Roles(("",) * len(table.heads))
    guess = guess_roles(shown, natural)
    if named and _are_kept(named, shown, guess, stated, table):
        several = not stated and _has_several_answers(shown.headers)
        whole = column_table(table) if several else None
        if whole is None or guess_roles(whole, natural).doubt != "answers":
            return replace(named, unused=guess.unused)
    guess = _guess_from_all(table, natural)
    if guess.place("question") < 0 and named is None and not stated and _are_answers(shown.headers):
        return replace(guess, sure=False, doubt="outputs")
    if guess.place("question") < 0 and guess.doubt != "outputs":
        return replace(named, unused=guess.unused) if named else replace(guess, kind="", doubt="")
    return guess


def find_roles_of(kind: DatasetKind, table: FileTable, known: Roles, layout: Layout) -> Roles:
    """The columns of a table as those of questions of a kind that it does not seem to be of."""
    if kind in OPEN_KINDS and known.plain and known.kind in OPEN_KINDS:
        return replace(_open_roles(table, layout, kind), unused=known.unused)
    guess = _guess_from_all(table, replace(layout, kind=kind))
    if guess.place("question") < 0 or guess.doubt == "options":
        return replace(guess, kind="", doubt="")
    # That texts have labels speaks against the kind, which is stated now.
    return replace(guess, sure=True, doubt="") if guess.doubt == "labels" else guess


def column_table(table: FileTable) -> ColumnTable | None:
    """The columns of a table as a person sees them; None if it is no table of rows.

    Columns without a name, and those of pictures, are left out. A text of which half the lines have
    other cells than its first is none.
    """
    names = [fold_name(head) for head in table.heads]
    places = _named_columns(table)
    if len({names[at] for at in places}) < len(places):
        return None
    width = len(names)
    rows = [row for row in table.rows if not row.goes_beyond(width)]
    unread = len({fault.line for fault in table.faults}) + table.unlisted.total()
    n_rows = len(table.rows) + unread
    if not rows or 2 * len(rows) < n_rows:
        return None
    headers = tuple(table.heads[at].strip() for at in places)
    if len(headers) < _MIN_COLUMNS and not any(map(is_known_name, headers)):
        return None
    chosen = _representative_rows(rows, places)
    numbers = tuple(
        place
        for place, at in enumerate(places)
        if any(isinstance(row.cell(at), JsonNumber) for row in chosen)
        and all(isinstance(row.cell(at), JsonNumber | None) for row in chosen)
    )
    head_row = 0 if table.typed else table.head_line
    shown = ColumnTable(
        table.name, headers, _texts_of(chosen, places), n_rows, head_row, numbers=numbers
    )
    if not _has_several_answers(headers):
        return shown
    # Any row may show that two columns of answers contradict each other.
    whole = guess_roles(replace(shown, rows=_texts_of(rows, places)))
    return replace(shown, answers_differ=whole.doubt == "answers")


def layout_of_roles(table: FileTable, roles: Roles, layout: Layout) -> Layout:
    """The layout that names each column that has a role."""
    columns = {role: head for head, role in zip(table.heads, roles.roles, strict=True) if role}
    key = "apart" if roles.answer_key == "apart" else layout.answer_key
    named = {role: head.strip() for role, head in columns.items()}
    return with_columns(replace(layout, answer_key=key, kind=roles.kind), named)


def unconfirmed_fault(table: FileTable, roles: Roles) -> Fault:
    """What was made out of a table, and what is to be confirmed."""
    made_out, expected = describe_roles(table.heads, roles), _EXPECTED
    if roles.doubt == "outputs":
        expected = _ANSWERS_EXPECTED
        shown = column_table(table)
        models = (
            (
                f"{header} = “{', '.join(shown.values(at))}”"
                for at, header in enumerate(shown.headers)
                if fold_head(header) in MODEL_NAMES
            )
            if shown
            else ()
        )
        made_out = ", ".join(filter(None, (made_out, *models)))
    made_out = made_out or f"the columns {shorten(', '.join(table.heads), 120)}"
    if roles.doubt in ("battles", "ratings"):
        command = "battles" if roles.doubt == "battles" else "verdicts"
        expected = f"questions; `evalui score {command}` reads such files"
    line = 1 if table.typed else table.head_line
    return Fault(table.name, line, "", f"confirm-{roles.doubt}", made_out, expected)


def describe_roles(heads: Sequence[str], roles: Roles) -> str:
    """Which column is what, in the words of `columns` of a specification."""
    options = roles.options
    run = f"A-{LETTERS[len(options) - 1]}" if options else ""
    named = [
        (role, roles.place(role))
        for role in ("passage", "question", "options", "row_option", "answer")
        if roles.place(role) >= 0
    ]
    parts = [f"{role} = “{shorten(heads[at].strip())}”" for role, at in named]
    if options:
        first = "”, “".join(shorten(heads[at].strip()) for at in options[:_MAX_HEADS])
        more = ", …" if len(options) > _MAX_HEADS else ""
        place = len(parts) - (roles.place("answer") >= 0)
        parts.insert(place, f"{run} = “{first}”{more}")
    if roles.answer_key != "letter":
        parts.append(f"answer_key = {roles.answer_key}")
    return ", ".join(parts)


def missing_column_faults(table: FileTable, kind: DatasetKind, layout: Layout) -> tuple[Fault, ...]:
    """A fault for each column that questions of a kind need, and that the heads lack."""
    heads = {fold_name(head) for head in table.heads if head.strip()}
    if kind == "multiple_choice":
        options = layout.options or _option_letters(heads)
        answers = [layout.answer or "answer"]
        if answer_function(layout.answer_key) and not layout.answer:
            answers = []
        needed = [layout.question or "question", *options, *answers]
        needed += filter(None, (layout.subject, layout.id, layout.passage, layout.explanation))
    else:
        needed = [layout.answer] if layout.answer else []
        questions = _OF_OPEN_QUESTIONS[kind]["question"]
        names = (layout.question,) if layout.question else (*questions, "messages", "turns")
        if heads.isdisjoint(map(fold_name, names)):
            needed.insert(0, layout.question or questions[0])
    line = 1 if table.typed else table.head_line
    return tuple(
        _missing_column_fault(name, table, needed, line)
        for name in needed
        if fold_name(name) not in heads
    )


def _are_answers(headers: Sequence[str]) -> bool:
    """Whether there are answers to the questions of another file, which an id names."""
    heads = [read_head(header) for header in headers]
    roles = {head.role for head in heads}
    return "id" in roles and ("answer" in roles or any(h.name in OUTPUT_NAMES for h in heads))


# Published formats


def _roles_by_name(table: FileTable, layout: Layout) -> Roles | None:
    """The roles that the names of the columns state, None where they are of no published format."""
    heads = {fold_name(head): at for at, head in enumerate(table.heads) if head.strip()}
    if _are_ceval_names(heads, layout):
        return _ceval_roles(table, heads, layout)
    if _have_lists(table, heads, layout):
        return _list_roles(table, heads, layout)
    if TESTS in heads:
        return _open_roles(table, layout, "code")
    if not heads.keys().isdisjoint(_OF_JUDGES):
        return _open_roles(table, layout, "subjective")
    names = (layout.question,) if layout.question else _OF_OPEN_QUESTIONS["general_qa"]["question"]
    if not heads.keys().isdisjoint((*map(fold_name, names), "messages")):
        return _open_roles(table, layout, "general_qa")
    return None


def _are_ceval_names(heads: Mapping[str, int], layout: Layout) -> bool:
    """Whether heads look like C-Eval's, even if one is missing or misspelt.

    Without one column of options it is a table of questions with reference texts.
    """
    if layout.option_list:
        return False
    own = (layout.question, layout.answer, layout.subject, layout.id, layout.passage)
    known = {*_CEVAL_NAMES, *own, layout.explanation, *layout.options} - {""}
    has_options = layout.options or not heads.keys().isdisjoint(("a", "b"))
    return bool(has_options) and len(heads.keys() & map(fold_name, known)) >= _MIN_CEVAL_NAMES


def _ceval_roles(table: FileTable, heads: Mapping[str, int], layout: Layout) -> Roles:
    columns = {
        "question": layout.question or "question",
        **dict(zip(LETTERS, layout.options or _option_letters(heads.keys()), strict=False)),
        "answer": layout.answer or "answer",
        "subject": layout.subject or "subject",
        "id": layout.id or ("index" if _is_vlmevalkit(table, heads) else "id"),
        "explanation": layout.explanation or "explanation",
        "passage": layout.passage,
        "guidance": layout.guidance,
    }
    return _named(table, heads, columns, "multiple_choice")


def _is_vlmevalkit(table: FileTable, heads: Mapping[str, int]) -> bool:
    """Whether a table has pictures and numbers its rows as VLMEvalKit does."""
    return "id" not in heads and "index" in heads and bool(picture_columns(table))


def _option_letters(heads: Collection[str]) -> tuple[str, ...]:
    """A and the letters after it that have a column; of one missing between two the file lacks it.

    A letter further on (n, x) is the name of something else.
    """
    end = _MIN_COLUMNS
    while any(letter.casefold() in heads for letter in LETTERS[end : end + 2]):
        end += 1
    return tuple(LETTERS[:end])


def _have_lists(table: FileTable, heads: Mapping[str, int], layout: Layout) -> bool:
    """Whether one of the first rows has a question and a list of options, or the layout says so.

    A layout that names a question of multiple choice without columns of options means such a table:
    they stand in the question, or the answer is true or false.
    """
    if layout.options:
        return False
    if layout.row_option or (layout.kind == "multiple_choice" and layout.question):
        return True
    if layout.option_list:
        return fold_name(layout.option_list) in heads
    questions = (layout.question,) if layout.question else _QUESTIONS_WITH_LISTS
    question = next((heads[name] for name in map(fold_name, questions) if name in heads), -1)
    lists = [heads[name] for name in _LISTS if name in heads]
    if question < 0:
        return False
    if not table.typed and lists and not table.rows:
        return True  # a sheet of which only the header was read
    return any(_holds_list(row, question, lists) for row in table.rows[:_ROWS_WITH_LISTS])


def _holds_list(row: Row, question: int, lists: Sequence[int]) -> bool:
    inner = as_object(row.cell(question))
    cells = [inner["choices"]] if "choices" in inner else [row.cell(at) for at in lists]
    found = map(read_options, cells)
    return any(each is not None and len(each.texts) > 1 for each in found)


def _list_roles(table: FileTable, heads: Mapping[str, int], layout: Layout) -> Roles:
    def first(names: Sequence[str]) -> str:
        return next((name for name in names if name in heads), "")

    answers = [name for name in _ANSWERS_TO_LISTS if name in heads]
    filled = (
        name
        for name in answers
        if any(row.text(heads[name]) not in ("", NO_ANSWER) for row in table.rows)
    )
    passages = [name for name in _PASSAGES if name in heads]
    read = (name for name in passages if any(row.text(heads[name]) for row in table.rows))
    columns = {
        "question": layout.question or first(_QUESTIONS_WITH_LISTS),
        "options": "" if layout.row_option else layout.option_list or first(_LISTS),
        "row_option": layout.row_option,
        "answer": layout.answer or next(filled, next(iter(answers), "")),
        "passage": layout.passage or next(read, ""),
        "explanation": layout.explanation or "explanation",
        "subject": layout.subject or "subject",
        "id": layout.id or "id",
        "guidance": layout.guidance,
    }
    return _named(table, heads, columns, "multiple_choice")


def _open_roles(table: FileTable, layout: Layout, kind: DatasetKind) -> Roles:
    heads = {fold_name(head): at for at, head in enumerate(table.heads) if head.strip()}
    stated = columns_of(layout)
    columns = {
        role: stated.get(role) or next((name for name in names if name in heads), "")
        for role, names in _OF_OPEN_QUESTIONS[kind].items()
    }
    more = {role: stated.get(role, "") for role in ("passage", "explanation")}
    return _named(table, heads, {**columns, **more}, kind)


def _contradicts_questions(table: FileTable, roles: Roles) -> bool:
    """Whether the options in the questions are others than those in their columns, or their order.

    In most rows; what one question quotes may look like options.
    """
    at, options = roles.place("question"), roles.options
    if at < 0 or not options:
        return False
    split = [(row, split_question(cell_text(row.cell(at)))) for row in table.rows]
    found = [(row, each.options.texts) for row, each in split if each]
    others = [
        texts
        for row, texts in found
        if tuple(filter(None, (row.text(place) for place in options)))
        != tuple(text.strip() for text in texts)
    ]
    return 2 * len(others) > max(len(table.rows), 1)


def _named(
    table: FileTable, heads: Mapping[str, int], columns: Mapping[str, str], kind: DatasetKind
) -> Roles:
    roles = [""] * len(table.heads)
    for role, name in columns.items():
        at = heads.get(fold_name(name), -1) if name else -1
        if at >= 0 and not roles[at]:
            roles[at] = role
    id_, passage = (roles.index(role) if role in roles else -1 for role in ("id", "passage"))
    if id_ >= 0 and passage >= 0:
        # RACE's ids are those of the passages.
        ids = [cell_text(row.cell(id_)) for row in table.rows]
        pairs = {(cell_text(row.cell(id_)), cell_text(row.cell(passage))) for row in table.rows}
        if len(pairs) == len(set(ids)) < len(ids):
            roles[id_] = ""
    return Roles(tuple(roles), kind=kind, sure=True, plain=True)


def _is_plain_ceval(table: FileTable) -> bool:
    """Whether a table has the columns of C-Eval, and no other that might be read with them."""
    header = [fold_name(head) for head in table.heads]
    letters = [name for name in header if len(name) == 1 and name.upper() in LETTERS]
    if not {"question", "a", "b", "answer"} <= {*header}:
        return False
    run = list(LETTERS[: len(letters)].casefold())
    others = [name for name in header if name and name not in (*letters, "id", "question")]
    if sorted(letters) != run or not {*others} <= {"answer", "explanation", "subject"}:
        return False
    place = header.index("answer")
    answers = [cell_text(row.cells[place]) for row in table.rows if len(row.cells) > place]
    lettered = sum(by_letter(answer, LETTERS) is not None for answer in answers)
    return bool(answers) and lettered >= FITTING_SHARE * len(answers)


def _are_kept(
    named: Roles, shown: ColumnTable, guess: Roles, stated: Mapping[str, str], table: FileTable
) -> bool:
    """Whether a table is read as the names of its columns say: the cells do not veto it."""
    is_choice = named.kind == "multiple_choice"
    if stated:
        return is_choice or "question" in stated or not guess.sure
    heads = {fold_name(header): at for at, header in enumerate(shown.headers)}
    places = {
        role: heads[fold_name(table.heads[at])]
        for at, role in enumerate(named.roles)
        if role and fold_name(table.heads[at]) in heads
    }
    if not is_choice:
        return _keeps_open(places, guess)
    if named.options:
        return _keeps_ceval(heads, guess)
    return _keeps_lists(heads, shown, guess)


def _keeps_ceval(heads: Mapping[str, int], guess: Roles) -> bool:
    if not {"question", "a", "b", "answer"} <= heads.keys():
        return not guess.sure
    if guess.doubt in ("answer-key", "answer-base"):
        return False
    same = all(guess.place(role) in (-1, heads[role]) for role in ("question", "answer"))
    return not guess.sure or (same and guess.place("passage") < 0)


def _keeps_lists(heads: Mapping[str, int], table: ColumnTable, guess: Roles) -> bool:
    if not guess.sure:
        return True
    filled = [name for name in _ANSWERS_TO_LISTS if name in heads and table.values(heads[name])]
    answer = guess.place("answer")
    passage = guess.place("passage")
    return (
        guess.kind == "multiple_choice"
        and answer in (-1, heads[filled[0]] if filled else -1)
        and (passage < 0 or fold_name(table.headers[passage]) in _PASSAGES)
    )


def _keeps_open(places: Mapping[str, int], guess: Roles) -> bool:
    if guess.kind == "multiple_choice":
        return False
    if guess.doubt in ("labels", "outputs"):
        return False
    question, reference = places.get("question", -1), places.get("answer", -1)
    return (
        guess.place("passage") < 0
        and (question < 0 or guess.place("question") in (-1, question))
        and (reference >= 0 or guess.place("answer") < 0)
    )


# Guesses


def _guess_from_all(table: FileTable, layout: Layout) -> Roles:
    """The guess of the columns of a table, in which ids are different in all its rows."""
    shown = column_table(table)
    if shown is None:
        return Roles(("",) * len(table.heads))
    guess = guess_roles(shown, layout)
    roles = [""] * len(table.heads)
    for at, role in zip(_named_columns(table), guess.roles, strict=True):
        roles[at] = role
    guess = replace(guess, roles=tuple(roles))
    at = guess.place("id")
    if at >= 0 and not layout.id and guess.place("row_option") < 0:
        ids = [row.text(at) for row in table.rows]
        if len(set(ids)) < len(ids):
            guess = replace(guess, roles=tuple("" if role == "id" else role for role in roles))
    if guess.sure and not _reads_rows(table, guess, layout):
        return replace(guess, sure=False, doubt="columns")
    return guess


def _named_columns(table: FileTable) -> list[int]:
    """The columns with a name but those of pictures, which are shown with the question anyway."""
    pictures = picture_columns(table)
    return [at for at, head in enumerate(table.heads) if head.strip() and at not in pictures]


def _reads_rows(table: FileTable, roles: Roles, layout: Layout) -> bool:
    """Whether the reader makes questions of at least half of the first rows by these roles.

    Rows with several right answers, or with none, say nothing against the columns.
    """
    tried = replace(table, rows=table.rows[:_ROWS_TRIED], faults=(), unlisted=Counter())
    role = FileRole("", None, table.name)
    read = read_rows(tried, roles, role, layout_of_roles(table, roles, layout))
    wrong = {fault.line for fault in read.faults if fault.rule != SEVERAL_RULE}
    bare = {fault.line for fault in read.faults if fault.actual == "empty"}
    return 2 * len(wrong - bare) <= read.n_rows


def _representative_rows(rows: Sequence[Row], places: Sequence[int]) -> list[Row]:
    """The first rows, and each later one that shows a short cell which none before has."""
    chosen = list(rows[:_ROWS_SHOWN])
    watched: dict[int, set[str]] = {}
    for at in places:
        texts = (cell_text(row.cell(at)) for row in chosen)
        values = {text for text in texts if len(text) <= _MAX_SHORT}
        if 0 < len(values) <= _MAX_VALUES:
            watched[at] = values
    for row in rows[_ROWS_SHOWN:]:
        if len(chosen) >= _MAX_ROWS or not watched:
            break
        news = [
            (at, text)
            for at, values in watched.items()
            if len(text := _short_text(row.cell(at))) <= _MAX_SHORT and text not in values
        ]
        for at, text in news:
            watched[at].add(text)
        if news:
            chosen.append(row)
            watched = {at: values for at, values in watched.items() if len(values) <= _MAX_VALUES}
    return chosen


def _short_text(cell: Cell) -> str:
    """The text of a cell, or one that is too long for what cannot be short."""
    return cell if isinstance(cell, str) else cell_text(cell)


def _texts_of(rows: Sequence[Row], places: Sequence[int]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(_shown_text(row.cell(at)) for at in places) for row in rows)


def _shown_text(cell: Cell) -> str:
    """A cell as a person sees it; lists and objects as JSON."""
    if isinstance(cell, list | dict):
        return json.dumps(cell, ensure_ascii=False)
    return cell_text(cell)


def _has_several_answers(headers: Sequence[str]) -> bool:
    return sum(read_head(header).role == "answer" for header in headers) > 1


def _missing_column_fault(name: str, table: FileTable, needed: Sequence[str], line: int) -> Fault:
    """The fault of a column that the heads lack, with the nearest name that is there."""
    from difflib import get_close_matches  # only faulty files need it

    taken = {fold_name(other) for other in needed}
    free = {fold_name(other): other for other in table.heads if fold_name(other) not in taken}
    # One letter is near to every other letter: options get no suggestion.
    near = get_close_matches(fold_name(name), free, n=1) if len(name) > 1 else []
    shown = ", ".join(other for other in table.heads if other)
    actual = f"the columns {shorten(shown, 120)}" if shown else "no header"
    expected = f"a column “{name}”" + (f"; is “{free[near[0]]}” meant?" if near else "")
    return Fault(table.name, line, name, "missing-column", actual, expected)
