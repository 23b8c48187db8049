"""BLEU and chrF over all answers together, as sacreBLEU counts them, with its signatures."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from evalui.scoring.text_metrics import contains_chinese


@dataclass(frozen=True, slots=True)
class Corpus:
    """sacreBLEU's corpus figures, 0..100, with the signatures of their settings."""

    bleu: float
    bleu_signature: str
    chrf: float
    chrf_signature: str


def corpus(replies: Sequence[str], references: Sequence[Sequence[str]]) -> Corpus | None:
    """The figures of the replies whose question has a reference, None if there is no such reply.

    Chinese has no blanks between words: where most references are Chinese, BLEU counts
    characters (sacreBLEU's tokenizer "zh"), else words ("13a"). A blank reply stays in.
    """
    kept = [pair for pair in zip(replies, references, strict=True) if pair[1]]
    if not kept:
        return None
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    bleu, chrf = BLEU(tokenize=_tokenizer([several[0] for _, several in kept])), CHRF()
    written = [reply for reply, _ in kept]
    # One stream per place; a question with fewer references has None in the later ones.
    streams = list(zip_longest(*(several for _, several in kept)))
    return Corpus(
        bleu.corpus_score(written, streams).score,
        str(bleu.get_signature()),
        chrf.corpus_score(written, streams).score,
        str(chrf.get_signature()),
    )


def _tokenizer(references: Sequence[str]) -> str:
    chinese = sum(map(contains_chinese, references))
    return "zh" if 2 * chinese > len(references) else "13a"
