import codecs

import pytest

from evalui.datasets.encoding import decode
from evalui.errors import DataError

TEXT = "id,question,A,B,answer\n1,中国的首都是哪里？,北京,上海,A\n"
TRADITIONAL = "id,question,A,B,answer\n1,中國的首都是哪裡？,臺灣,東京,A\n"


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (TEXT.encode(), "utf-8"),
        (codecs.BOM_UTF8 + TEXT.encode(), "utf-8"),
        (codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"), "utf-16-le"),
        (codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"), "utf-16-be"),
        (TEXT.encode("utf-16-le"), "utf-16-le"),
        (TEXT.encode("utf-16-be"), "utf-16-be"),
        (TEXT.encode("utf-32"), "utf-32-le"),
        (TEXT.encode("gb18030"), "gb18030"),
    ],
)
def test_an_encoding_is_recognised_without_losing_a_character(data: bytes, encoding: str) -> None:
    assert decode(data, "x.csv") == (TEXT, encoding)


def test_traditional_characters_in_gb18030_are_read() -> None:
    assert decode(TRADITIONAL.encode("gb18030"), "x.csv").text == TRADITIONAL


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_every_line_break_becomes_the_same(newline: str) -> None:
    assert decode(TEXT.replace("\n", newline).encode(), "x.csv").text == TEXT


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("题目,答案\n哪个？,是", "gb18030"),
        (TRADITIONAL, "big5"),
        ("id,question\n1,日本の首都", "shift-jis"),
        ("問題,答え\n日本の首都はどこですか？,東京\n", "euc-jp"),
        ("질문,답\n대한민국의 수도는 어디입니까?,서울\n물의 화학식은?,물", "euc-kr"),
        ("вопрос,ответ\nСтолица России?,Москва\n", "cp1251"),
        (
            "question,réponse\nOù naît la Seine ?,À Source-Seine\nQue veut dire « très » ?,x",
            "cp1252",
        ),
        ("Frage,Lösung\nWas heißt „schön“?,hübsch\n", "cp1252"),
        ("pregunta,respuesta\n¿Qué año es?,dos mil\n", "latin-1"),
    ],
)
def test_older_encodings_are_told_by_what_the_text_then_is(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding), "x.csv").text == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("pytanie,odpowiedź\nGdzie leży Łódź?,w środku\n", "cp1250"),
        ("otázka,odpověď\nKde leží Plzeň?,v Čechách\n", "cp1250"),
        ("вопрос,ответ\nСтолица России?,Москва\n", "koi8-r"),
        ("ερώτηση,απάντηση\nΠοια είναι η πρωτεύουσα;,Αθήνα\n", "cp1253"),
        ("שאלה,תשובה\nמהי בירת ישראל?,ירושלים\n", "cp1255"),
        ("سؤال,جواب\nما هي عاصمة مصر؟,القاهرة\n", "cp1256"),
    ],
)
def test_another_encoding_is_refused_rather_than_misread(text: str, encoding: str) -> None:
    with pytest.raises(DataError, match=r"The encoding of x\.csv cannot be told for sure"):
        decode(text.encode(encoding), "x.csv")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", r"x\.csv is empty"),
        (b" \n\r\n\t", r"x\.csv is empty"),
        (codecs.BOM_UTF8, r"x\.csv is empty"),
        (b"PK\x03\x04rest", "an Excel workbook"),
        (b"%PDF-1.7", "a PDF"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", "a pointer of Git LFS"),
        (b"\x00\x01\x02\x03", "a binary file"),
        (bytes(range(1, 9)) * 100, "a binary file"),
    ],
)
def test_what_is_no_text_is_refused_with_its_name(data: bytes, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        decode(data, "x.csv")


def test_a_stray_control_character_is_no_reason_to_refuse() -> None:
    text = TEXT + "2,a\x02b,c,d,A\n" + "x" * 200
    assert decode(text.encode(), "x.csv").text == text
