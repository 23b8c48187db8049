"""Pictures are taken out of a text as it is read, wherever its pieces end."""

import json
import textwrap
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from picture_examples import base64_of, picture, uri_of

from evalui.datasets import picture_texts
from evalui.datasets.picture_files import MAX_PICTURE_BYTES, current_folder, open_folder
from evalui.datasets.picture_texts import take_from_text, take_pictures
from evalui.pictures import mark_of

PNG, JPEG = picture("red"), picture("blue", "JPEG", (30, 20))
TIFF, BMP = picture("red", "TIFF"), picture("blue", "BMP")
GIF, WEBP = picture("red", "GIF", (60, 60)), picture("blue", "WEBP", (60, 60))


@pytest.fixture(autouse=True)
def folder() -> None:
    open_folder(None)


def taken(text: str, *ends: int) -> str:
    data = text.encode()
    cuts = [0, *sorted(ends), len(data)]
    pieces = [data[start:end] for start, end in pairwise(cuts)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(picture_texts, "_PIECE", 1)
        return b"".join(take_pictures(piece for piece in pieces if piece)).decode()


@pytest.mark.parametrize("original", [PNG, JPEG, TIFF, BMP, GIF, WEBP])
def test_each_kind_is_known_by_its_beginning(original: bytes) -> None:
    assert take_from_text(f"1\t{base64_of(original)}\tA\n") == f"1\t{mark_of(original)}\tA\n"
    assert current_folder().refused == {}


@given(st.lists(st.integers(0, 700), max_size=6))
def test_it_does_not_matter_where_pieces_end(ends: list[int]) -> None:
    text = f"题\t{base64_of(PNG)}\t{uri_of(JPEG, 'jpeg')},x\n{base64_of(BMP)}\n/9j/ no picture"
    assert taken(text, *ends) == (
        f"题\t{mark_of(PNG)}\t{mark_of(JPEG)},x\n{mark_of(BMP)}\n/9j/ no picture"
    )


def test_a_number_below_a_picture_is_no_part_of_it() -> None:
    text = f"1\t{base64_of(PNG)}\n2\t{base64_of(PNG)}\n"
    assert take_from_text(text) == f"1\t{mark_of(PNG)}\n2\t{mark_of(PNG)}\n"


@pytest.mark.parametrize("width", [64, 76])
def test_base64_may_be_wrapped_and_the_lines_keep_their_numbers(width: int) -> None:
    wrapped = textwrap.fill(base64_of(JPEG), width)
    n = wrapped.count("\n")
    assert take_from_text(f'Q,"{wrapped}",A\n') == f'Q,"{mark_of(JPEG)}' + "\n" * n + '",A\n'
    assert take_from_text(json.dumps([wrapped])) == f'["{mark_of(JPEG)}"]'


def test_json_may_escape_the_slashes() -> None:
    text = json.dumps([base64_of(JPEG), uri_of(PNG)]).replace("/", "\\/")
    assert take_from_text(text) == f'["{mark_of(JPEG)}", "{mark_of(PNG)}"]'


@pytest.mark.parametrize(
    "text",
    [
        "iVBORw0KGgo is how a PNG file begins",
        "see data:image/png;base64, and data:image/png;base64,AAAA",
        f"x{base64_of(PNG)}",
        f"https://example.org/a/9j/{'path/' * 30}",
        "data:text/plain;base64,SGVsbG8sIHdvcmxkISBIZWxsbw==",
    ],
)
def test_a_text_stays(text: str) -> None:
    assert take_from_text(text) == text


@pytest.mark.parametrize(
    ("original", "reason"),
    [
        (picture("red", size=(200, 200))[:-30], "cannot be read"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'>" + b" " * 40 + b"</svg>", "no PNG"),
        (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(60), "no PNG"),
    ],
)
def test_of_a_picture_that_cannot_be_used_the_mark_stays(original: bytes, reason: str) -> None:
    mark = mark_of(original)
    assert take_from_text(f"1\t{base64_of(original)}\tA") == f"1\t{mark}\tA"
    assert reason in current_folder().refused[mark.id]


def test_of_a_picture_that_is_too_large_nothing_but_its_mark_stays() -> None:
    head = base64_of(b"\x89PNG\r\n\x1a\n" + bytes(100)).rstrip("=")
    letters = "A" * (4 * MAX_PICTURE_BYTES)
    rest = b"".join(take_pictures((head.encode(), letters.encode(), b"\tQ?\n")))
    assert len(rest) < 60
    assert rest.endswith(b">\tQ?\n")
    (reason,) = current_folder().refused.values()
    assert reason == "a file of more than 20 MB"
