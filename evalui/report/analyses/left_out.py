"""What a run was given and does not evaluate, a sentence each."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from evalui.messages import add_messages, localized, messages
from evalui.report.analyses.base import Analysis
from evalui.report.blocks import Block, Bullets, Heading
from evalui.report.numbers import count
from evalui.report.words import join_names
from evalui.types import Language, LeftOut

add_messages(Path(__file__).with_suffix(".toml"))


def left_out_sentences(left_out: Sequence[LeftOut], language: Language) -> tuple[str, ...]:
    """A sentence for each thing left out, in the order of the run; none twice."""
    t = messages(language)
    sentences = (
        t(
            f"left-out.{each.rule}",
            dataset=each.dataset,
            what=each.what,
            mode=_modes(each.mode, language),
            why=t.translate(each.why),
            rows=count(each.rows),
        )
        for each in left_out
    )
    return tuple(dict.fromkeys(sentences))


def _modes(names: str, language: Language) -> str:
    """Modes in words, not by the names under which they are registered."""
    t = messages(language)
    words = (t(key) if (key := f"mode.{name}_short") in t else name for name in names.split(", "))
    return join_names(words, language) if names else ""


def left_out_blocks(left_out: Sequence[LeftOut], language: Language) -> Iterator[Block]:
    """The part of a report that lists what was left out; nothing if all was evaluated."""
    if sentences := left_out_sentences(left_out, language):
        yield Heading(2, localized("left-out.title", language))
        yield Bullets(sentences)


LEFT_OUT = Analysis(
    lambda report: not report.has_choices,  # else the overview states it
    lambda report, language: left_out_blocks(report.left_out, language),
)
