"""Texts with marks as markup: pictures, thumbnails in lists, words where none can stand."""

import pytest
from pictured_runs import BLUE_MARK, RED_MARK, png
from ui_examples import HOSTILE

from evalui.errors import UnknownName
from evalui.messages import messages
from evalui.pictures import Picture, cut
from evalui.report.words import in_words
from evalui.types import Language
from evalui.ui.components.pictures import Pictures, list_line
from evalui.ui.components.templates import macro
from evalui.ui.components.texts import render_markdown


def pictures(size: tuple[int, int] = (320, 200), language: Language = "en") -> Pictures:
    """Those of a question that has the red one alone."""

    def read(id_: str) -> Picture:
        if id_ != RED_MARK.id:
            raise UnknownName("no-picture", picture=id_)
        return Picture(id_, png("red", size))

    return Pictures(messages(language), "../pictures/k3f", "file/12", read)


def test_a_picture_stands_in_its_text_as_a_link_to_the_whole():
    shown = str(pictures().shown(f"Is {RED_MARK} red?"))
    href = f"../pictures/k3f/{RED_MARK.id}"
    assert shown.startswith(f'Is <a class="picture" href="{href}" target="_blank"><img')
    assert f'src="{href}?small" alt="Picture of question 12" width="320" height="200"' in shown
    assert shown.endswith("</a> red?")


def test_the_picture_is_named_in_the_language_of_the_page():
    assert 'alt="第 12 题的图片"' in pictures(language="zh").shown(str(RED_MARK))


@pytest.mark.parametrize(
    ("size", "reserved"),
    [
        ((320, 200), 'width="160" height="100"'),
        ((40, 320), 'width="20" height="160"'),
        ((320, 1), 'width="160" height="1"'),
        ((30, 20), 'width="30" height="20"'),  # never larger than it is
    ],
)
def test_the_room_of_a_smaller_picture_is_reserved(size: tuple[int, int], reserved: str):
    assert reserved in pictures(size).smaller(str(RED_MARK))


def test_what_stands_beside_a_picture_is_escaped():
    shown = str(pictures().shown(f"{HOSTILE}{RED_MARK}{HOSTILE}"))
    assert shown.count("<img") == 1
    assert "<script" not in shown


def test_a_picture_that_is_gone_is_a_word():
    assert pictures().shown(f"Is {BLUE_MARK} blue?") == "Is [picture] blue?"


def test_markdown_has_pictures_within_its_own_markup():
    shown = render_markdown(f"|a|\n|-|\n|{RED_MARK}|\n\n`{RED_MARK}` {HOSTILE}", pictures().figure)
    assert '<td><a class="picture"' in shown
    assert shown.count("<img") == 1
    assert f"<code>&lt;picture:{RED_MARK.id}&gt;</code>" in shown


@pytest.mark.parametrize(
    ("text", "words", "thumbnail"),
    [
        (f"{RED_MARK}\nWhat is it?", "What is it?", RED_MARK),
        (f"Is {RED_MARK} like {BLUE_MARK}?", "Is [picture] like [picture]?", RED_MARK),
        (f"{RED_MARK}{BLUE_MARK} differ?", "[picture] differ?", RED_MARK),
        (str(RED_MARK), "[picture]", RED_MARK),
        ("No <b>picture</b>", "No &lt;b&gt;picture&lt;/b&gt;", None),
    ],
)
def test_a_line_of_a_list_has_one_thumbnail_and_words(text: str, words: str, thumbnail: object):
    line = list_line(messages("en"), "../pictures/k3f", text)
    assert f'<span class="q">{words}</span>' in line
    assert line.count("<img") == (thumbnail is not None)
    assert (f'src="../pictures/k3f/{RED_MARK.id}?small" alt=""' in line) == bool(thumbnail)


def test_words_stand_for_pictures_in_both_languages():
    text = f"{RED_MARK} or {BLUE_MARK}"
    assert in_words(text, "en") == "[picture] or [picture]"
    assert in_words(text, "zh") == "[图片] or [图片]"
    assert in_words("<picture:of a cat>", "en") == "<picture:of a cat>"


@pytest.mark.parametrize("length", range(50))
def test_a_cut_text_has_no_half_of_a_mark(length: int):
    text = f"ab{RED_MARK}cd"
    kept = cut(text, length)
    assert text.startswith(kept)
    assert len(kept) <= length
    assert "<" not in kept or str(RED_MARK) in kept
    assert kept in (text[:length], "ab")


def test_pieces_escape_what_is_no_markup():
    assert macro("texts.html", "pieces", ["<b>"]) == "&lt;b&gt;"
