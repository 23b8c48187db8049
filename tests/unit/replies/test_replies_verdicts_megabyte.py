"""A hostile or broken judge writes a megabyte: it is read in seconds, and in linear time."""

import pytest

from evalui.replies import read_correctness, read_rating, read_verdict

pytestmark = pytest.mark.slow

PIECES = (
    *("[[A]] ", "[[A]]\n", "Choice: A or ", "“", '"a', "```\n", "> A\n", "{", '{"a":', "A better "),
    *(
        "says:\n",
        "<answer_a_0123456789abcdef>",
        "Assistant 1: 6/10 ",
        "| A | B |\n",
        "Rating: ",
        " ",
    ),
)


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.timeout(60)
def test_a_megabyte_is_read_in_seconds(piece: str):
    reply = piece * (1_000_000 // len(piece))
    for form in ("compass", "scores"):
        assert read_verdict(form, reply).outcome in (None, "a", "tie")
    assert read_rating(reply, criteria=("accuracy",)).value is None
    assert read_correctness(reply).value in (None, 1.0)
