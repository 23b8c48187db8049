import pytest

from evalui.scoring.text_metrics import TokenizedText, WordTokenizers, contains_chinese, tokenize


def _characters(text: str) -> list[str]:
    return list(text)


SPLITTERS = WordTokenizers(chinese=_characters, english=lambda text: text.lower().split())


def _rouge(text: str) -> tuple[str, ...]:
    return tokenize(text, SPLITTERS).rouge


def test_english_rouge_splits_at_blanks_and_bleu_as_told():
    assert tokenize("It is  Beijing.", SPLITTERS) == TokenizedText(
        ("It", "is", "Beijing."), ("it", "is", "beijing.")
    )


def test_chinese_words_are_those_of_the_splitter_and_bleu_keeps_blanks():
    assert tokenize("北京 A", SPLITTERS) == TokenizedText(("北", "京", "A"), ("北", "京", " ", "A"))


@pytest.mark.parametrize("text", ["", "  ", "\n\t", "\u3000"])
def test_a_blank_text_has_no_words(text: str):
    assert tokenize(text, SPLITTERS) == TokenizedText((), ())


def test_a_blank_text_loads_no_splitter():
    def load(text: str) -> list[str]:
        raise AssertionError(text)

    assert tokenize(" ", WordTokenizers(load, load)) == TokenizedText((), ())


@pytest.mark.parametrize(
    ("text", "chinese"),
    [("一", True), ("a龥", True), ("龦", False), ("かな", False), ("abc", False)],
)
def test_chinese_is_one_character_of_evalscopes_range(text: str, chinese: bool):
    assert contains_chinese(text) is chinese


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("what?yes", ("what?", "yes")),
        ("what!yes", ("what!yes",)),
        ("what?”yes", ("what?”", "yes")),
        ("what?”", ("what?”",)),
        ("??a", ("?", "?a")),
        ("wait......now", ("wait......", "now")),
        ("wait.....now", ("wait.....now",)),
        ("wait……now", ("wait……", "now")),
        ("a\n \nb", ("a", "", "b")),
        ("a\n\nb ", ("a", "b")),
    ],
)
def test_rouge_ends_lines_as_rouge_chinese(text: str, words: tuple[str, ...]):
    assert _rouge(text) == words
