import io

import pytest
from PIL import Image

from evalui.pictures import Mark, Picture, fitted, has_marks, ids, mark_of, parts, without

ONE, TWO = mark_of(b"one"), mark_of(b"two")


def test_a_text_is_taken_apart_and_nothing_of_it_is_lost():
    text = f"{ONE}\nWhich of {TWO}{ONE} is larger?"
    assert parts(text) == (ONE, "\nWhich of ", TWO, ONE, " is larger?")
    assert "".join(map(str, parts(text))) == text
    assert ids([text, "none", str(TWO)]) == (ONE.id, TWO.id)


@pytest.mark.parametrize("text", ["", "plain", "<picture:abc>", "<picture:" + "G" * 32 + ">"])
def test_a_text_without_marks_stays_as_it_is(text: str):
    assert parts(text) == ((text,) if text else ())
    assert not ids([text])
    assert not has_marks(text)
    assert without(text) == text


def test_marks_are_left_out_with_the_line_break_behind_them():
    assert without(f"{ONE}\n{TWO}\nWhich is larger, {ONE} or {TWO}?") == ("Which is larger,  or ?")


def test_a_line_that_has_more_than_a_picture_keeps_its_end():
    assert without(f"A. {ONE}\nB. an {TWO}\nAnswer:") == "A. \nB. an \nAnswer:"
    assert without(f"{ONE}{TWO}\nWhich?\n{ONE}\nA. x") == "Which?\nA. x"


def test_a_page_of_two_colours_is_made_smaller_without_losing_its_lines():
    page = Image.new("1", (400, 400), 1)
    for row in range(0, 400, 8):
        page.paste(0, (0, row, 400, row + 1))
    written = io.BytesIO()
    page.save(written, "PNG")
    with Image.open(io.BytesIO(fitted(Picture("a", written.getvalue()), 100).body)) as image:
        column = [image.convert("L").getpixel((50, row)) for row in range(100)]
    assert all(min(column[row : row + 2]) < 255 for row in range(0, 100, 2))


def test_the_same_bytes_have_the_same_mark():
    assert mark_of(b"one") == Mark(ONE.id) != TWO


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_a_picture_is_made_as_small_as_is_wanted_and_never_larger(kind: str):
    written = io.BytesIO()
    Image.new("RGB", (300, 200), "red").save(written, kind)
    given = Picture("a", written.getvalue())
    assert fitted(given, 300) is given
    smaller = fitted(given, 150)
    assert smaller.media_type == given.media_type == f"image/{kind.lower()}"
    with Image.open(io.BytesIO(smaller.body)) as image:
        assert image.size == (150, 100)
