"""The guess: what the cells of a table say its columns are, and whether that is sure.

Options stand in columns, in a list, at the end of the question, or one to a row. Wherever something
looks like options, a column of answers has to name them; if none does, that is asked, and never
taken for an open question. Of open questions a column may be the reference.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, groupby

from evalui.datasets.answers import (
    CELL_KEYS,
    NO_ANSWER,
    AnswerFit,
    RawAnswer,
    answer_function,
    by_letter,
    by_text,
    fit_answers,
    is_mark,
    is_true_mark,
    truth_of,
)
from evalui.datasets.column_profile import (
    FITTING_SHARE,
    MIN_OPTIONS,
    ColumnProfile,
    TableProfile,
    are_labels,
    is_number,
)
from evalui.datasets.model import ColumnTable, Doubt, Layout, Roles, with_columns
from evalui.datasets.names import (
    CHOICE_ANSWER_NAMES,
    CORRECT_NAMES,
    LABEL_NAMES,
    MODEL_NAMES,
    OUTPUT_NAMES,
    REFERENCE_NAMES,
    HeadSeries,
    find_series,
    fold_head,
    read_head,
)
from evalui.datasets.options import (
    find_separator,
    read_options,
    split_cell,
    split_question,
    strip_letters,
)
from evalui.types import LETTERS

_MARK_NAMES = frozenset(
    ("iscorrect", "correct", "isright", "right", "isanswer", "是否正确", "正确", "是否答案")
)
_SEVERAL_RIGHT_NAMES = ("correctanswers", "goodanswers")
_UNSURE_SEPARATORS = (",", "，", "/")  # they stand within options, too
_MAX_GROUP_ROWS = 50  # rows that follow each other in a table
_MAX_CANDIDATES = 100  # columns that are tried as those of the answers
_MAX_UNNAMED = 60  # columns of a table in which options are looked for without any head
_JUDGE_NAMES = frozenset(("capability", "evaluatingguidance", "referenceanswer", "turns"))
_KEY_NAMES = frozenset(("questionid", "qid"))  # of a question that stands in another file
_ANSWER_WORDS = ("answer", "reference", "solution", "response", "答案", "回答", "回复")
# Heads of what is no set of questions.
_OF_BATTLES = tuple(
    map(
        frozenset,
        (
            ("modela", "modelb"),
            ("model1", "model2"),
            ("responsea", "responseb"),
            ("output1", "output2"),
            ("chosen", "rejected"),
        ),
    )
)
_OF_RATINGS = (frozenset(("judgment", "score")), frozenset(("judgement", "score")))
_OF_REPLIES = (frozenset(("ansid", "messages")), frozenset(("answerid", "choices")))


def guess_roles(table: ColumnTable, layout: Layout | None = None) -> Roles:
    """Which column is probably what, of which kind the questions are, and whether that is sure.

    What a `layout` names is taken as it is: columns, the kind and the answer key.
    """
    profile = TableProfile(table, layout or Layout())
    guess = _guess(profile)
    if guess.place("question") < 0 and _holds_replies(profile):
        return Roles(tuple(profile.new_roles()), kind=profile.layout.kind, doubt="outputs")
    if not profile.fixed and (doubt := no_questions(table.headers)):
        return replace(guess, sure=False, doubt=doubt)
    if table.answers_differ and guess.sure and "answer" not in profile.fixed:
        return replace(guess, sure=False, doubt="answers")
    return guess


def guess_answer_key(table: ColumnTable, roles: Sequence[str]) -> str:
    """What the right answer is written as in the rows, a name in `ANSWER_KEYS`."""
    columns = {role: table.headers[at] for at, role in enumerate(roles) if role}
    if "answer" not in columns:
        return "letter"
    layout = with_columns(Layout(kind="multiple_choice"), columns)
    return guess_roles(table, layout).answer_key


def no_questions(headers: Sequence[str]) -> Doubt:
    """What a table is by its heads if it is none of questions: pairs, ratings or replies."""
    heads = {fold_head(head) for head in headers if head.strip()}
    kinds: tuple[tuple[Doubt, tuple[frozenset[str], ...]], ...] = (
        ("battles", _OF_BATTLES),
        ("ratings", _OF_RATINGS),
        ("outputs", _OF_REPLIES),
    )
    for doubt, names in kinds:
        if any(each <= heads for each in names):
            return doubt
    outputs = heads & OUTPUT_NAMES
    asked = {name for name in heads if read_head(name).role == "question"}
    return "outputs" if outputs and asked and heads == outputs | asked else ""


def _guess(profile: TableProfile) -> Roles:
    if profile.layout.kind in ("", "multiple_choice") and (guess := _guess_choice(profile)):
        return guess
    if profile.layout.kind == "multiple_choice":
        return _guess_without_options(profile)
    return _guess_open(profile)


# Multiple choice


@dataclass(frozen=True)
class _OptionSource:
    """Where the options of each row may stand: in columns, in a list, or in the question.

    `by_head`: the heads say so too. The right option stands in the column `correct` where the
    others are all wrong. `marked`: the lists mark the right options themselves. `start` is the
    first letter or number of the heads.
    """

    texts: Sequence[tuple[str, ...]]
    columns: tuple[int, ...] = ()
    listed: int = -1
    question: int = -1
    correct: int = -1
    by_head: bool = True
    marked: bool = False
    start: str = ""
    doubt: Doubt = ""


@dataclass(frozen=True)
class _AnswerColumn:
    """A column of answers, and how well they name the options."""

    column: ColumnProfile
    fit: AnswerFit
    doubt: Doubt = ""

    @property
    def is_good(self) -> bool:
        """Whether nearly all of its cells name an option."""
        return self.fit.share >= FITTING_SHARE


def _guess_choice(profile: TableProfile) -> Roles | None:
    """The guess of multiple choice; None where nothing looks like it."""
    if rows := _guess_option_rows(profile):
        return rows
    by_function = answer_function(profile.layout.answer_key or "letter")
    unfit: _OptionSource | None = None
    for source in _option_sources(profile):
        answer = _find_answer(profile, source)
        if by_function and answer and "answer" not in (answer.column.role, *profile.fixed):
            answer = None  # a function says what is right: no column has to
        if source.marked or source.correct >= 0 or (answer and answer.is_good):
            return _to_guess(profile, source, answer)
        if unfit is None and source.by_head:
            unfit = source
    if unfit and by_function:
        return _to_guess(profile, unfit, None)
    if truth := _guess_truth(profile):
        return truth
    if unfit:
        return _to_guess(profile, unfit, _find_answer(profile, unfit))
    return _guess_without_options(profile) if _answers_are_letters(profile) else None


def _guess_without_options(profile: TableProfile) -> Roles:
    """The guess where there should be options and none can be made out."""
    roles = profile.new_roles()
    named = profile.by_head("answer")
    if named and "answer" not in roles:
        roles[named[0].at] = "answer"
    doubt = profile.assign_texts(roles, profile.find_question(roles))
    return profile.to_guess(roles, "multiple_choice", ["options", doubt])


def _answers_are_letters(profile: TableProfile) -> bool:
    """Whether all answers are letters, as if they named options that no column has."""
    if "answer" in profile.fixed:
        return False
    for column in profile.by_head("answer")[:1]:
        lettered = all(by_letter(text, LETTERS[:8]) is not None for text in column.texts)
        return lettered and column.distinct > 1
    return False


def _option_sources(profile: TableProfile) -> Iterator[_OptionSource]:
    """The places where options may stand, the likeliest first."""
    letters = [profile.fixed[letter] for letter in LETTERS if letter in profile.fixed]
    listed = profile.column("options")
    if letters or listed:
        source = _from_list(listed) if listed else _from_columns(profile, letters, start="a")
        apart = profile.layout.answer_key == "apart"
        yield replace(source, correct=profile.fixed.get("answer", -1)) if apart else source
        return
    yield from _wrong_and_right(profile)
    named = [each for each in profile.series if each.names_options]
    for series in sorted(named, key=lambda each: (bool(each.stem), -len(each.columns))):
        columns = _filled_columns(profile, series)
        if len(columns) >= MIN_OPTIONS:
            yield _from_columns(profile, columns, start=series.start)
    yield from _lists(profile)
    yield from _inline(profile)
    yield from _unnamed_columns(profile)


def _from_columns(
    profile: TableProfile, columns: Sequence[int], *, start: str = "", named: bool = True
) -> _OptionSource:
    cells = zip(*(profile.columns[at].cells for at in columns), strict=True)
    texts = [strip_letters(tuple(filter(None, row))) for row in cells]
    doubt: Doubt = "" if named else "columns"
    return _OptionSource(texts, tuple(columns), by_head=named, start=start, doubt=doubt)


def _from_list(column: ColumnProfile, *, named: bool = True) -> _OptionSource:
    lists = column.lists
    doubt: Doubt = ""
    if not column.has_lists and (separator := find_separator(column.texts)):
        lists = [split_cell(cell, separator) if cell else None for cell in column.cells]
        doubt = "options" if separator in _UNSURE_SEPARATORS else ""
    texts = [tuple(filter(None, each.texts)) if each else () for each in lists]
    rights = [each.right for each in lists if each]
    marked = bool(rights) and None not in rights
    if not any(texts):
        doubt = "options"
    return _OptionSource(texts, listed=column.at, by_head=named, marked=marked, doubt=doubt)


def _filled_columns(profile: TableProfile, series: HeadSeries) -> list[int]:
    """The columns of a series up to the last that has anything."""
    columns = [at for at in series.columns if at not in profile.fixed.values()]
    while columns and not profile.columns[columns[-1]].texts:
        columns.pop()
    return columns


def _wrong_and_right(profile: TableProfile) -> Iterator[_OptionSource]:
    """Columns, or a list, of wrong options beside a column of the right one."""
    named = [column for column in profile.columns if column.head.name in CORRECT_NAMES]
    correct = profile.column("answer") or min(
        (column for column in named if column.texts), key=lambda each: each.rank, default=None
    )
    if correct is None:
        return
    several = any(column.head.name in _SEVERAL_RIGHT_NAMES for column in profile.columns)
    for source in _wrong_options(profile):
        pairs = zip(correct.cells, source.texts, strict=True)
        known = [right not in wrong for right, wrong in pairs if right and wrong]
        if known and sum(known) >= FITTING_SHARE * len(known):
            doubt: Doubt = source.doubt or ("options" if several else "")
            yield replace(source, correct=correct.at, marked=False, doubt=doubt)


def _wrong_options(profile: TableProfile) -> Iterator[_OptionSource]:
    for series in profile.series:
        if series.names_distractors and (columns := _filled_columns(profile, series)):
            yield _from_columns(profile, columns)
    for column in profile.by_head("distractor"):
        yield _from_list(column)
    for column in profile.columns:
        numbered = find_series((f"{column.header}1", f"{column.header}2"))
        if column.texts and any(series.names_distractors for series in numbered):
            yield _from_columns(profile, [column.at])


def _lists(profile: TableProfile) -> Iterator[_OptionSource]:
    """Columns of lists: under a name for options first, then under any other."""
    fixed = set(profile.fixed.values())
    free = [column for column in profile.columns if column.texts and column.at not in fixed]
    named = [column for column in free if column.role == "options" or column.holds_choices]
    yield from map(_from_list, sorted(named, key=lambda column: not column.has_lists))
    for column in free:
        if column.role in ("options", "question", "distractor") or column.is_chat:
            continue
        if column.has_lists:
            marks = any(each and each.right is not None for each in column.lists)
            yield _from_list(column, named=marks)


def _inline(profile: TableProfile) -> Iterator[_OptionSource]:
    """Options at the end of the question's own text; rows without may be true or false."""
    question = profile.find_question(profile.new_roles())
    if question is None:
        return
    split = [split_question(cell) for cell in question.cells]
    if not any(split):
        return
    answers = next(iter(profile.by_head("answer")), question).cells
    rows = zip(split, answers, strict=True)
    fitting = sum(bool(each) or truth_of(answer) is not None for each, answer in rows)
    nearly_all = fitting >= FITTING_SHARE * len(question.texts)
    texts = [each.options.texts if each else () for each in split]
    doubt: Doubt = "" if nearly_all else "options"
    yield _OptionSource(texts, question=question.at, by_head=nearly_all, doubt=doubt)


def _unnamed_columns(profile: TableProfile) -> Iterator[_OptionSource]:
    """Other series, and columns beside each other behind the question; never sure."""
    if profile.has_pair_of_texts or len(profile.columns) > _MAX_UNNAMED:
        return
    question = profile.find_question(profile.new_roles())
    taken = {question.at if question else -1, *profile.fixed.values()}
    for series in profile.series:
        columns = _filled_columns(profile, series)
        if not series.names_options and len(columns) >= MIN_OPTIONS and taken.isdisjoint(columns):
            yield _from_columns(profile, columns, named=False)
    run: list[ColumnProfile] = []
    for column in profile.columns[question.at + 1 if question else 0 :]:
        if column.role or not column.texts or column.is_structured or column.at in taken:
            break
        if run and all(by_letter(text, LETTERS) is not None for text in column.texts):
            break  # letters name options
        run.append(column)
    places = [column.at for column in run]
    for width in range(min(len(run), len(LETTERS)), MIN_OPTIONS - 1, -1):
        yield _from_columns(profile, places[:width], named=False)


def _find_answer(profile: TableProfile, source: _OptionSource) -> _AnswerColumn | None:
    """The column whose cells name the options, by its head and by what it says."""
    if column := profile.column("answer"):
        return _AnswerColumn(column, _fit(column, source))
    taken = {*source.columns, source.listed, source.question, *profile.fixed.values()}
    named = profile.by_head("answer")
    # Where the column of answers is empty, no other one has them.
    is_empty = not named and any(column.role == "answer" for column in profile.columns)
    candidates = [
        column
        for column in (*named, *([] if is_empty else profile.columns))
        if column.role in ("", "answer") and column.texts and column.at not in taken
    ]
    fits = [
        _AnswerColumn(column, _fit(column, source))
        for column in list(dict.fromkeys(candidates))[:_MAX_CANDIDATES]
        if not column.is_chat
    ]
    named = [each for each in fits if each.column.role == "answer"]
    good = [each for each in named if each.is_good]
    if good:
        best = min(good, key=lambda each: (each.column.rank, -each.fit.n))
        contradicted = any(_contradict(best, other, source) for other in good)
        return replace(best, doubt="answers") if contradicted else best
    if source.by_head or not named:
        for each in reversed(fits):
            if (
                each.is_good
                and not each.column.role
                and (each.column.distinct > 1 or each.fit.n == 1)
            ):
                return replace(each, doubt="answer")
    return max(named, key=lambda each: (each.fit.share, -each.column.rank), default=None)


def _fit(column: ColumnProfile, source: _OptionSource) -> AnswerFit:
    pairs = zip(map(_unwrap, column.cells), source.texts, strict=True)
    return fit_answers(
        [
            RawAnswer(cell, texts, column.is_number)
            for cell, texts in pairs
            if cell and texts and cell != NO_ANSWER
        ],
        "" if column.head.name in LABEL_NAMES else source.start,  # labels are numbers of classes
    )


def _unwrap(cell: str) -> str:
    """An answer without its list: what is read of ["A", "C"] is A, C."""
    listed = read_options(cell) if cell.startswith("[") else None
    return ", ".join(listed.texts) if listed else cell


def _contradict(best: _AnswerColumn, other: _AnswerColumn, source: _OptionSource) -> bool:
    """Whether another column of answers names other options, from wherever its numbers count."""
    rows = [
        (CELL_KEYS[best.fit.key](first, texts), second, texts)
        for first, second, texts in zip(
            best.column.cells, other.column.cells, source.texts, strict=True
        )
        if first and second and texts
    ]
    keys = ("index0", "index1") if other.fit.assumed else (other.fit.key,)
    return all(
        any(
            target not in (None, place)
            for place, cell, texts in rows
            if place is not None
            for target in [CELL_KEYS[key](cell, texts)]
        )
        for key in keys
    )


def _to_guess(profile: TableProfile, source: _OptionSource, answer: _AnswerColumn | None) -> Roles:
    """The guess of a file with options here and answers there."""
    roles = profile.new_roles()
    for letter, at in zip(LETTERS, source.columns, strict=False):
        roles[at] = letter
    if source.listed >= 0 and not profile.columns[source.listed].holds_choices:
        roles[source.listed] = "options"
    key = profile.layout.answer_key
    doubts: list[Doubt] = [source.doubt]
    if source.correct >= 0:
        roles[source.correct], key = "answer", "apart"
    elif answer:
        roles[answer.column.at] = "answer"
        doubts += _answer_doubts(profile, source, answer)
        key = answer.fit.key if key == "letter" else key
    elif not source.marked and not answer_function(key or "letter"):
        doubts.append("answer")
    question = profile.columns[source.question] if source.question >= 0 else None
    question = question or profile.find_question(roles)
    doubt = profile.assign_texts(roles, question)
    if doubt == "question" and question and question.role == "passage" and source.by_head:
        doubt = ""  # what options stand beside is the question, though its head says “text”
    return profile.to_guess(roles, "multiple_choice", [*doubts, doubt], key)


def _answer_doubts(
    profile: TableProfile, source: _OptionSource, answer: _AnswerColumn
) -> list[Doubt]:
    if profile.layout.answer_key != "letter":
        return []
    fit = answer.fit
    # Numbers that JSON writes as such are places.
    rival = fit.rival and not (answer.column.is_number and fit.key.startswith("index"))
    pairs = zip(answer.column.cells, source.texts, strict=True)
    is_first = fit.key == "text" and all(
        by_text(cell, texts) in (0, None) for cell, texts in pairs if cell
    )
    # Such a list has the spellings of the answer.
    spelled = is_first and source.listed >= 0 and profile.columns[source.listed].role == "answer"
    return [
        "options" if spelled else "",
        answer.doubt or ("" if answer.is_good else "answer"),
        "answer-key" if rival else "",
        "answer-base" if fit.assumed and source.start != "0" else "",
    ]


def _guess_truth(profile: TableProfile) -> Roles | None:
    """A file whose answers are all true or false, and that has no options."""
    stated = profile.column("answer")
    marked = [
        column
        for column in ([stated] if stated else profile.by_head("answer"))
        if len(column.texts) > 1 or {text.casefold() for text in column.texts} <= {"true", "false"}
        if all(truth_of(text) is not None for text in column.texts)
    ]
    if not marked:
        return None
    roles = profile.new_roles()
    roles[marked[0].at] = "answer"
    question = profile.find_question(roles)
    replies = [
        column
        for column in profile.columns
        if column.texts and column not in marked
        if (column.role == "answer" and column.is_text) or column.head.name in OUTPUT_NAMES
    ]
    if not stated and (replies or (question and question.is_chat)):
        return None  # they mark a reply, or the one that a conversation ends with
    doubts: list[Doubt] = ["labels" if profile.has_pair_of_texts else ""]
    # One of the two alone may be any answer.
    one_sided = len({truth_of(text) for text in marked[0].texts}) == 1 < len(marked[0].texts)
    doubts.append("answer" if one_sided and not stated else "")
    rows = zip(*(map(truth_of, column.cells) for column in marked), strict=True)
    doubts.append("answers" if any({True, False} <= {*row} for row in rows) else "")
    doubts.append(profile.assign_texts(roles, question))
    return profile.to_guess(roles, "multiple_choice", doubts)


def _guess_option_rows(profile: TableProfile) -> Roles | None:
    """A file with one row per option: the question is repeated, and one row of it is marked."""
    if profile.fixed.keys() & {*LETTERS, "options"}:
        return None
    marks = [
        column
        for column in profile.columns
        if (column.head.name in _MARK_NAMES or column.role == "answer")
        and column.filled == 1
        and all(map(is_mark, column.texts))
    ]
    keys = [c for c in profile.columns if c.role in ("id", "question") and c.filled == 1]
    for key in keys:
        for mark in marks:
            if mark is not key and _has_one_right_per_group(key, mark):
                return _to_option_rows(profile, key, mark)
    return None


def _has_one_right_per_group(key: ColumnProfile, mark: ColumnProfile) -> bool:
    rows = zip(key.cells[:_MAX_GROUP_ROWS], mark.cells[:_MAX_GROUP_ROWS], strict=True)
    groups = [
        [is_true_mark(cell) for _, cell in group] for _, group in groupby(rows, lambda row: row[0])
    ]
    if len(key.cells) >= _MAX_GROUP_ROWS:
        groups = groups[:-1]  # cut where the table ends
    good = sum(len(group) >= MIN_OPTIONS and sum(group) == 1 for group in groups)
    return bool(groups) and good >= FITTING_SHARE * len(groups)


def _to_option_rows(profile: TableProfile, key: ColumnProfile, mark: ColumnProfile) -> Roles | None:
    roles = profile.new_roles()
    roles[mark.at] = "answer"
    if key.role == "id":
        roles[key.at] = "id"
    question = key if key.role == "question" else profile.find_question(roles)
    if question is None or question.distinct == len(question.texts):
        return None
    free = [
        column
        for column in profile.columns
        if not roles[column.at] and column is not question and column.is_text
        if column.role in ("", "options", "answer", "passage")
    ]
    varied = [column for column in free if len(set(column.cells[:_MAX_GROUP_ROWS])) > 1]
    # Beside the texts of options their letters may stand.
    labels = [c for c in varied if all(by_letter(text, LETTERS) is not None for text in c.texts)]
    texts = [column for column in varied if column not in labels] or varied
    named = [column for column in texts if column.role in ("options", "answer")]
    options = named or texts
    option = profile.column("row_option") or next(iter(options), None)
    if option is None:
        return None
    roles[option.at] = "row_option"
    clear = mark.head.name in _MARK_NAMES and (option.role != "passage" or labels)
    doubts: list[Doubt] = ["" if clear and (named or len(options) == 1) else "columns"]
    doubts.append(profile.assign_texts(roles, question))
    return profile.to_guess(roles, "multiple_choice", doubts)


# Open questions


def _guess_open(profile: TableProfile) -> Roles:
    """The guess of open questions; its kind is "" where there is no question."""
    roles = profile.new_roles()
    answer = _find_reference(profile)
    if answer:
        roles[answer.at] = "answer"
    question = profile.find_question(roles)
    names = {column.head.name for column in profile.columns}
    if question is None and "turns" not in names:
        return Roles(tuple(roles), doubt="columns")
    doubts: list[Doubt] = ["labels" if answer and _is_label(profile, answer) else ""]
    if answer and "answer" not in profile.fixed:
        doubts.append("answers" if _answers_differ(profile) else "")
        doubts.append("outputs" if _is_output(profile, answer) else "")
    if question is not None:
        if question.is_chat and answer and doubts[0] == "labels":
            roles[answer.at] = ""  # it marks the reply that the conversation ends with
        doubts.append(profile.assign_texts(roles, question))
    if answer is None:
        doubts.append(_propose_reference(profile, roles))
    judged = not names.isdisjoint(_JUDGE_NAMES)
    kind = profile.layout.kind or ("subjective" if judged else "general_qa")
    return profile.to_guess(roles, kind, doubts)


def _holds_replies(profile: TableProfile) -> bool:
    """Whether the rows are replies of a model to questions of another file, as FastChat's are."""
    names = {column.head.name for column in profile.columns if column.texts}
    return not (names.isdisjoint(MODEL_NAMES) or names.isdisjoint(_KEY_NAMES))


def _find_reference(profile: TableProfile) -> ColumnProfile | None:
    if "answer" in profile.fixed:
        return profile.column("answer")
    named = [
        column
        for column in profile.by_head("answer")
        if column.head.name not in CHOICE_ANSWER_NAMES and not column.is_chat
    ]
    # Beside a reference by its name, an "answer" or a "response" is a model's.
    sure = [column for column in named if column.head.name in REFERENCE_NAMES]
    return next(iter(sure if sure and _answers_differ(profile) else named), None)


def _answers_differ(profile: TableProfile) -> bool:
    """Whether two columns of answers have other texts in a row, neither of them within the other.

    Marks of right and wrong, numbers of options or keys, classes of the questions and the way to
    an answer are no answers.
    """
    columns = [
        column
        for column in profile.by_head("answer")
        if not (column.is_chat or are_labels(column) or column.head.name == "solution")
        and not (column.head.name in CHOICE_ANSWER_NAMES and all(map(is_number, column.texts)))
        and not all(truth_of(text) is not None for text in column.texts)
    ]
    return profile.table.answers_differ or any(
        one and other and one not in other and other not in one
        for first, second in combinations(columns, 2)
        for one, other in zip(first.folded, second.folded, strict=True)
    )


def _is_output(profile: TableProfile, answer: ColumnProfile) -> bool:
    """Whether the answers are replies of a model that another column names."""
    models = any(column.head.name in MODEL_NAMES and column.texts for column in profile.columns)
    return models and answer.head.name not in REFERENCE_NAMES


def _is_label(profile: TableProfile, answer: ColumnProfile) -> bool:
    """Whether the answer is a class of the text, which nobody could know without a list."""
    if "answer" in profile.fixed:
        return False
    return answer.head.name in LABEL_NAMES or (profile.has_pair_of_texts and are_labels(answer))


def _is_of_a_model(column: ColumnProfile) -> bool:
    """Whether a head says that a model wrote the texts, as `chatgpt_response` does."""
    return column.head.name in OUTPUT_NAMES or any(
        word in column.head.name for word in ("gpt", "llm", "model", "assistant", "chatbot", "模型")
    )


def _are_ids(column: ColumnProfile) -> bool:
    """Whether cells name rows: no blank in any, and all different."""
    unspaced = all(len(text.split()) == 1 and text.isascii() for text in column.texts)
    return column.head.name.endswith("id") or (unspaced and column.distinct == len(column.texts))


def _propose_reference(profile: TableProfile, roles: list[str]) -> Doubt:
    """A further column of texts may be that of the references, which heads do not say."""
    free = [
        column
        for column in profile.columns
        if not roles[column.at] and column.texts and not _is_of_a_model(column)
    ]
    hinted = [c for c in free if any(word in c.head.name for word in _ANSWER_WORDS)]
    texts = [
        column
        for column in free
        if column.is_unknown
        and column.filled == 1
        and not 1 < 4 * column.distinct <= len(column.texts)
        and (column.is_prose or (column.is_text and len(profile.columns) == 2))
    ]
    for column in (*hinted, *(column for column in texts if not _are_ids(column))):
        roles[column.at] = "answer"
        return "columns"
    return ""
