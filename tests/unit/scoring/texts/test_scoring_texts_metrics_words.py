import pytest

from evalui.scoring.texts import metrics
from evalui.scoring.texts.metrics import TokenizedText, contains_chinese, tokenize


def _characters(text: str) -> list[str]:
    return list(text)


@pytest.fixture(autouse=True)
def _splitters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "tokenize_zh", _characters)
    monkeypatch.setattr(metrics, "tokenize_en", lambda text: text.lower().split())


def _rouge(text: str) -> tuple[str, ...]:
    return tokenize(text).rouge


def test_english_rouge_splits_at_blanks_and_bleu_as_told():
    assert tokenize("It is  Beijing.") == TokenizedText(
        ("It", "is", "Beijing."), ("it", "is", "beijing.")
    )


def test_chinese_words_are_those_of_the_splitter_and_bleu_keeps_blanks():
    assert tokenize("北京 A") == TokenizedText(("北", "京", "A"), ("北", "京", " ", "A"))


@pytest.mark.parametrize("text", ["", "  ", "\n\t", "\u3000"])
def test_a_blank_text_has_no_words(text: str):
    assert tokenize(text) == TokenizedText((), ())


def test_a_blank_text_loads_no_splitter(monkeypatch: pytest.MonkeyPatch):
    def load(text: str) -> list[str]:
        raise AssertionError(text)

    monkeypatch.setattr(metrics, "tokenize_zh", load)
    monkeypatch.setattr(metrics, "tokenize_en", load)
    assert tokenize(" ") == TokenizedText((), ())


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
