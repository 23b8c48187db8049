"""A scorer: how little of a reply has to be changed to make it the reference."""

from difflib import SequenceMatcher

from evalui.scoring.scorers import ReplyScorer
from evalui.types import Sample


def edit_similarity(sample: Sample, reply: str) -> float:
    """The share of characters in common, in order; the closest reference counts."""
    return max(
        SequenceMatcher(None, reference.strip(), reply.strip(), autojunk=False).ratio()
        for reference in sample.references
    )


EDIT_SIMILARITY = ReplyScorer(
    edit_similarity,
    label={"en": "Edit similarity", "zh": "编辑相似度"},
    docs={"en": "share of characters in common, in order", "zh": "按顺序相同的字符所占的比例"},
)
