"""How long patterns are written down, and what any match of one holds."""

from dataclasses import dataclass


def either(*blocks: str) -> str:
    """A pattern for any of these phrases, which a bar between blanks or a new line parts."""
    lines = (line.strip() for block in blocks for line in block.split("\n"))
    return f"(?:{'|'.join(phrase for line in lines if line for phrase in line.split(' | '))})"


@dataclass(frozen=True, slots=True)
class Stems:
    """Parts of words, in ASCII and others, of which every match of a pattern holds one."""

    ascii: tuple[str, ...]
    others: tuple[str, ...]

    def may_be_in(self, text: str) -> bool:
        """Whether the pattern may match in a text; False where it certainly does not."""
        for stem in self.ascii:  # quicker than any()
            if stem in text:
                return True
        return not text.isascii() and any(stem in text for stem in self.others)
