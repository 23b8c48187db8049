"""The guess of open questions: which column is the reference, if any is, and of which kind."""

from itertools import combinations

from evalui.datasets.answers import truth_of
from evalui.datasets.column_profile import (
    ColumnProfile,
    TableProfile,
    are_labels,
    is_number,
)
from evalui.datasets.model import Doubt, Roles
from evalui.datasets.names import (
    CHOICE_ANSWER_NAMES,
    LABEL_NAMES,
    MODEL_NAMES,
    OUTPUT_NAMES,
    REFERENCE_NAMES,
)

_JUDGE_NAMES = frozenset(("capability", "evaluatingguidance", "referenceanswer", "turns"))
_KEY_NAMES = frozenset(("questionid", "qid"))  # of a question that stands in another file
_ANSWER_WORDS = ("answer", "reference", "solution", "response", "答案", "回答", "回复")


def guess_open(profile: TableProfile) -> Roles:
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


def holds_replies(profile: TableProfile) -> bool:
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
