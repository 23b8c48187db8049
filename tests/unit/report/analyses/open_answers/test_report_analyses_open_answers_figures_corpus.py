import pytest
import sacrebleu

from evalui.report.analyses.open_answers.figures import corpus


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
