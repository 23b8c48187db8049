"""How long patterns are written down: one phrase after the other."""


def either(*blocks: str) -> str:
    """A pattern for any of these phrases, which a bar between blanks or a new line parts."""
    lines = (line.strip() for block in blocks for line in block.split("\n"))
    return f"(?:{'|'.join(phrase for line in lines if line for phrase in line.split(' | '))})"
