"""An answer key: the option that most annotators chose, from a column of their letters."""

from collections import Counter

from evalui.datasets.answers import AnswerFunction, AnswerRow


def most_votes(row: AnswerRow) -> str:
    """The letter that is there most often in the column `votes`, as in "A B A"."""
    ranked = Counter(row.columns["votes"].split()).most_common(2)
    if len(ranked) == 2 and ranked[0][1] == ranked[1][1]:
        raise ValueError(f"{ranked[0][0]} and {ranked[1][0]} have as many votes")
    return ranked[0][0]


MOST_VOTES = AnswerFunction(most_votes, label={"en": "most votes", "zh": "多数票"})
