"""The figures of a whole corpus: those of sacreBLEU, however the texts are counted."""

from collections.abc import Sequence

import pytest
import sacrebleu
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from evalui.scoring.texts import tally
from evalui.scoring.texts.tally import Corpus, CorpusCounts, count_corpus


def corpus(replies: Sequence[str], references: Sequence[Sequence[str]]) -> Corpus | None:
    return tally.corpus(count_corpus(zip(replies, references, strict=True)))


def test_the_signature_tells_tokenizer_references_and_version():
    found = corpus(["The cat sat."], [("The cat sat.",)])
    version = sacrebleu.__version__
    assert found
    assert found.bleu_signature == f"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:{version}"
    assert found.chrf_signature == (
        f"nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:{version}"
    )


def test_an_exact_answer_has_full_marks():
    found = corpus(["The cat sat on the mat."], [("The cat sat on the mat.",)])
    assert found
    assert (found.bleu, found.chrf) == pytest.approx((100, 100))


def test_bleu_is_the_geometric_mean_of_four_precisions():
    # Words: 4 of 5, pairs: 3 of 4, triples: 2 of 3, fours: 1 of 2; both texts are equally long.
    found = corpus(["a b c d x"], [("a b c d e",)])
    assert found
    assert found.bleu == pytest.approx(100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25)


def test_chinese_is_counted_by_character():
    found = corpus(["猫坐在垫子里"], [("猫坐在垫子上",)])
    assert found
    assert "tok:zh" in found.bleu_signature
    assert found.bleu == pytest.approx(100 * (5 / 6 * 4 / 5 * 3 / 4 * 2 / 3) ** 0.25)


def test_the_language_of_most_references_decides():
    found = corpus(["x", "y", "z"], [("一",), ("one",), ("two",)])
    assert found
    assert "tok:13a" in found.bleu_signature


def test_the_closest_of_several_references_counts():
    exact = "the cat sat on the mat"
    found = corpus([exact, exact], [("something else entirely here", exact), (exact,)])
    assert found
    assert found.bleu == pytest.approx(100)
    assert found.bleu_signature.startswith("nrefs:var|")


def test_a_question_without_reference_is_left_out():
    exact = "the cat sat on the mat"
    assert corpus([exact, "noise"], [(exact,), ()]) == corpus([exact], [(exact,)])


def test_nothing_to_compare_has_no_figures():
    assert corpus(["words"], [()]) is None
    assert corpus([], []) is None


def test_a_blank_answer_costs():
    exact = "the cat sat on the mat"
    found = corpus([exact, ""], [(exact,), (exact,)])
    assert found
    assert found.bleu < 50


@pytest.mark.parametrize("language", ["en", "zh"])
def test_counts_that_add_up_give_what_sacrebleu_gives_for_the_whole(language: str):
    words = ["the cat", "sat", "on", "a", "mat.", "Dogs", "run!"]
    words = words if language == "en" else ["猫", "坐在", "垫子", "上。", "狗", "跑", "Hi!"]
    texts = [" ".join(words[n % 5 :] + words[: n % 3]) for n in range(40)]
    references = [(" ".join(words[n % 4 :]), " ".join(words))[: 1 + n % 2] for n in range(40)]
    pairs = list(zip(texts, references, strict=True))
    counts: CorpusCounts | None = None
    for start in range(0, 40, 7):
        counts = count_corpus(pairs[start : start + 7], counts)
    assert counts
    found = tally.corpus(counts)
    streams = [[own[0] for own in references], [own[1] if own[1:] else None for own in references]]
    bleu, chrf = BLEU(tokenize="13a" if language == "en" else "zh"), CHRF()
    scores = [each.corpus_score(texts, streams).score for each in (bleu, chrf)]  # pyright: ignore[reportArgumentType]
    assert found == Corpus(
        scores[0], str(bleu.get_signature()), scores[1], str(chrf.get_signature())
    )


def test_no_text_stays_in_sacrebleus_caches():
    count_corpus([("The cat sat.", ("The cat sat.",))])
    assert Tokenizer13a.__call__.cache_info().currsize == 0
