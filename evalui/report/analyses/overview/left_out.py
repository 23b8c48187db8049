"""Everything a run was given and does not evaluate, one sentence each.

The command line, the report and the page show the same sentences.
"""

from collections.abc import Iterator, Sequence

from evalui.messages import localized
from evalui.report.blocks import Block, Bullets, Heading
from evalui.report.numbers import count
from evalui.types import Language, LeftOut


def left_out_sentences(left_out: Sequence[LeftOut], language: Language) -> tuple[str, ...]:
    """A sentence for each thing left out, in the order of the run; none twice."""
    told = (
        localized(
            f"left-{each.rule}",
            language,
            dataset=each.dataset,
            what=each.what,
            mode=each.mode,
            why=each.why,
            rows=count(each.rows),
        )
        for each in left_out
    )
    return tuple(dict.fromkeys(told))


def left_out_blocks(left_out: Sequence[LeftOut], language: Language) -> Iterator[Block]:
    """The part of a report that lists what was left out; nothing if all was evaluated."""
    if told := left_out_sentences(left_out, language):
        yield Heading(2, localized("left-title", language))
        yield Bullets(told)
