import subprocess
import sys
from pathlib import Path

import pytest

from evalui.scoring.texts.tokenizers import tokenize_en, tokenize_zh


def test_chinese_is_cut_by_jieba_with_unknown_words_found():
    assert tokenize_zh("中国的首都是北京。") == ["中国", "的", "首都", "是", "北京", "。"]
    # 杭研 is in no dictionary: jieba's page gives it as the example of its hidden Markov model.
    assert tokenize_zh("他来到了网易杭研大厦") == ["他", "来到", "了", "网易", "杭研", "大厦"]


def test_blanks_between_chinese_words_are_kept():
    assert tokenize_zh("北京 A\n") == ["北京", " ", "A", "\n"]


def test_english_is_cut_as_in_the_treebank():
    # The worked example of nltk's documentation.
    text = "Good muffins cost $3.88\nin New York.  Please buy me\ntwo of them.\n\nThanks."
    assert " ".join(tokenize_en(text)) == (
        "Good muffins cost $ 3.88 in New York . Please buy me two of them . Thanks ."
    )


@pytest.mark.parametrize(
    ("file", "text", "cut"),
    [
        ("abbrev_types", "It ended in Sept. Growth was slow.", "Sept. Growth"),
        ("sent_starters", "He left the U.S. He works here.", "U.S . He"),
        ("collocations", "It came from 30. International trade.", "30. International"),
        ("ortho_context", "He was J. Under the tree he sat.", "J . Under"),
    ],
)
def test_each_shipped_file_of_parameters_is_used(file: str, text: str, cut: str):
    """`file` alone makes the difference: without it the full stop is cut the other way."""
    assert cut in " ".join(tokenize_en(text)), file


def test_nothing_is_imported_written_or_said_before_or_at_the_first_text(tmp_path: Path):
    program = (
        "import sys\n"
        "from evalui.scoring.texts import tokenizers\n"
        "assert not {'jieba', 'nltk'} & set(sys.modules)\n"
        "tokenizers.tokenize_zh('北京')\n"
        "assert 'nltk' not in sys.modules\n"
        "tokenizers.tokenize_en('Paris.')\n"
    )
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    home.mkdir()
    temporary.mkdir()
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env={"HOME": str(home), "TMPDIR": str(temporary), "PYTHONUTF8": "1"},
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [*home.iterdir(), *temporary.iterdir()] == []
