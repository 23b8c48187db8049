"""What reading a reply to a choice question comes to."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from evalui.replies.options import Options
from evalui.types import Reading


@dataclass(frozen=True, slots=True)
class ParsedChoice:
    """The slot a reply chose, None if it cannot be read, and the rule that decided.

    `tied_slots` are the slots of a text that several options share: then the reply chose them
    equally.
    """

    choice: int | None
    rule: str
    tied_slots: tuple[int, ...] = ()

    def grade(self, target: int) -> Reading:
        """The reading, graded: an unreadable reply earns nothing, one of t equal texts 1/t."""
        if self.tied_slots:
            return Reading.of_tie(self.tied_slots, target)
        return _reading(self.choice, float(self.choice == target), self.rule)


# A run has few different readings and many trials, which then share them.
_reading = lru_cache(maxsize=1024)(Reading)
AMBIGUOUS = ParsedChoice(None, "ambiguous")
CONFLICT = ParsedChoice(None, "label-text-conflict")
UNPARSED = ParsedChoice(None, "unparsed")


def only_slot(slots: Sequence[int], rule: str, options: Options) -> ParsedChoice:
    """The only slot, or a tie of slots that show the same text to the letter."""
    if len(slots) == 1:
        return ParsedChoice(slots[0], rule)
    same = len({options.texts[slot].shown for slot in slots}) == 1
    return ParsedChoice(None, "tie", tied_slots=tuple(slots)) if same else AMBIGUOUS
