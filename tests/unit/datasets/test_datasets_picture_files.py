"""What is kept of a picture file: one upright frame, and no word on where and by whom it is."""

import io
import struct
import zlib
from pathlib import Path

import pytest
from picture_examples import picture
from PIL import Image, ImageCms, PngImagePlugin

from evalui.datasets import picture_files
from evalui.datasets.picture_files import SMALL_SIDE, PictureFolder, UnreadablePicture
from evalui.errors import DataError
from evalui.pictures import mark_of

SECRET = b"48 deg 51 N, by Ann"


def kept(folder: Path, original: bytes) -> tuple[bytes, bytes]:
    """The file that is kept, and the small one."""
    id_ = PictureFolder(folder).add(original).id
    assert id_ == mark_of(original).id
    return (folder / id_).read_bytes(), (folder / f"{id_}.small").read_bytes()


def opened(body: bytes) -> Image.Image:
    return Image.open(io.BytesIO(body))


def colour_of(body: bytes) -> tuple[int, ...]:
    return tuple(opened(body).convert("RGB").tobytes()[:3])


def chunk(kind: bytes, data: bytes) -> bytes:
    checksum = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)


def with_chunk(png: bytes, kind: bytes, data: bytes) -> bytes:
    return png[:-12] + chunk(kind, data) + png[-12:]


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_a_plain_file_stays_as_it_is(tmp_path: Path, kind: str) -> None:
    original = picture("red", kind, (800, 600))
    body, small = kept(tmp_path, original)
    assert body == original
    assert opened(small).size == (SMALL_SIDE, 240)
    assert colour_of(small)[0] > 250


@pytest.mark.parametrize("kind", ["GIF", "BMP", "TIFF"])
def test_other_kinds_become_png(tmp_path: Path, kind: str) -> None:
    body, _ = kept(tmp_path, picture("blue", kind))
    assert (opened(body).format, colour_of(body)) == ("PNG", (0, 0, 255))


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_of_an_animation_the_first_frame_counts(tmp_path: Path, kind: str) -> None:
    frames = [Image.new("RGB", (20, 20), colour) for colour in ("red", "blue")]
    written = io.BytesIO()
    options = {"lossless": True} if kind == "WEBP" else {}
    frames[0].save(written, kind, save_all=True, append_images=frames[1:], **options)
    body, _ = kept(tmp_path, written.getvalue())
    assert getattr(opened(body), "n_frames", 1) == 1
    assert colour_of(body) == (255, 0, 0)


def test_a_photograph_is_turned_upright_and_its_words_are_gone(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by 90 degrees
    exif[0x013B] = SECRET.decode()
    exif.get_ifd(0x8825)[1] = "N"  # of the position
    body, small = kept(tmp_path, picture("red", "JPEG", (80, 40), exif=exif, comment=SECRET))
    for each in (body, small):
        assert opened(each).size == (40, 80)
        assert len(opened(each).getexif()) == 0
        assert SECRET not in each


@pytest.mark.parametrize("kind", [b"tEXt", b"zTXt", b"iTXt", b"eXIf", b"sPLT", b"prVt"])
def test_words_behind_a_png_are_gone(tmp_path: Path, kind: bytes) -> None:
    written = {
        b"tEXt": b"Author\0" + SECRET,
        b"zTXt": b"Author\0\0" + zlib.compress(SECRET),
        b"iTXt": b"XML:com.adobe.xmp\0\0\0\0\0" + SECRET,
        b"sPLT": SECRET + b"\0\x08" + bytes(6),
    }
    data = written.get(kind, SECRET)
    body, _ = kept(tmp_path, with_chunk(picture(), kind, data))
    assert data not in body
    assert kind not in body


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
@pytest.mark.parametrize("tail", [SECRET, SECRET + b"IEND\xaeB`\x82", SECRET + b"\xff\xd9"])
def test_what_telephones_add_behind_a_picture_is_gone(
    tmp_path: Path, kind: str, tail: bytes
) -> None:
    body, _ = kept(tmp_path, picture("red", kind) + tail)
    assert SECRET not in body


@pytest.mark.parametrize("kind", [b"EXIF", b"XMP ", b"prVt"])
def test_words_behind_a_webp_are_gone(tmp_path: Path, kind: bytes) -> None:
    plain = picture("red", "WEBP")[8:]
    data = SECRET + bytes(len(SECRET) % 2)
    content = plain + kind + struct.pack("<I", len(SECRET)) + data
    body, _ = kept(tmp_path, b"RIFF" + struct.pack("<I", len(content)) + content)
    assert SECRET not in body


@pytest.mark.parametrize(
    ("marker", "data"),
    [
        (0xE0, b"JFXX\0\x13" + SECRET),
        (0xE0, b"JFIF\0\1\1\0\0\1\0\1\3\3" + SECRET + bytes(27 - len(SECRET))),
        (0xE1, b"Exif\0\0" + SECRET),
        (0xE2, b"FPXR\0" + SECRET),
        (0xEE, b"Adobe\0" + SECRET),
        (0xFE, SECRET),
    ],
)
def test_words_in_the_segments_of_a_jpeg_are_gone(tmp_path: Path, marker: int, data: bytes) -> None:
    plain = picture("red", "JPEG")
    segment = struct.pack(">BBH", 0xFF, marker, len(data) + 2) + data
    body, _ = kept(tmp_path, plain[:20] + segment + plain[20:])
    assert SECRET not in body


@pytest.mark.parametrize(
    ("mode", "kind", "lossless", "kept_kind"),
    [
        ("RGB", "JPEG", False, "JPEG"),
        ("RGB", "WEBP", False, "JPEG"),
        ("RGBA", "WEBP", False, "WEBP"),
        ("RGB", "WEBP", True, "PNG"),
    ],
)
def test_a_photograph_without_its_words_is_not_much_larger(
    tmp_path: Path, mode: str, kind: str, lossless: bool, kept_kind: str
) -> None:
    scene = Image.radial_gradient("L").resize((400, 300))
    photo = Image.blend(scene, Image.effect_noise((400, 300), 60), 0.5).convert(mode)
    if mode == "RGBA":
        photo.putalpha(scene)
    exif = Image.Exif()
    exif[0x013B] = SECRET.decode()
    written = io.BytesIO()
    photo.save(written, kind, exif=exif, lossless=lossless)
    original = written.getvalue()
    body, _ = kept(tmp_path, original)
    assert SECRET not in body
    assert (opened(body).format, opened(body).mode) == (kept_kind, mode)
    assert len(body) < 3 * len(original)


def test_what_is_too_large_without_loss_is_kept_as_a_photograph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, without_loss = io.BytesIO(), io.BytesIO()
    noise = Image.effect_noise((400, 300), 20)
    noise.save(original, "TIFF", compression="jpeg", quality=80)
    noise.save(without_loss, "PNG")
    monkeypatch.setattr(picture_files, "MAX_PICTURE_BYTES", len(without_loss.getvalue()) - 20_000)
    body, _ = kept(tmp_path, original.getvalue())
    assert opened(body).format == "JPEG"
    assert len(body) <= picture_files.MAX_PICTURE_BYTES


def test_colours_of_print_become_those_of_screens(tmp_path: Path) -> None:
    written = io.BytesIO()
    Image.new("CMYK", (20, 20), (0, 255, 255, 0)).save(written, "JPEG")
    body, _ = kept(tmp_path, written.getvalue())
    red, green, _ = colour_of(body)
    assert (opened(body).mode, red > 200, green < 60) == ("RGB", True, True)


@pytest.mark.parametrize(("mode", "keeps"), [("RGB", True), ("CMYK", False)])
@pytest.mark.parametrize("kind", ["JPEG", "TIFF"])
def test_a_profile_of_colours_stays_with_its_colours(
    tmp_path: Path, kind: str, mode: str, keeps: bool
) -> None:
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()  # pyright: ignore[reportUnknownArgumentType] - it has no types
    exif = Image.Exif()
    exif[0x013B] = SECRET.decode()
    written = io.BytesIO()
    Image.new(mode, (20, 20)).save(written, kind, exif=exif, icc_profile=profile)
    for body in kept(tmp_path, written.getvalue()):
        assert opened(body).info.get("icc_profile") == (profile if keeps else None)


def test_sixteen_bits_become_eight(tmp_path: Path) -> None:
    written = io.BytesIO()
    Image.new("I;16", (20, 20), 0x8000).save(written, "PNG")
    body, small = kept(tmp_path, written.getvalue())
    for each in (body, small):
        assert set(colour_of(each)) <= {127, 128}


def test_transparent_places_stay_transparent(tmp_path: Path) -> None:
    written = io.BytesIO()
    Image.new("RGBA", (20, 20), (255, 0, 0, 0)).save(written, "TIFF")
    body, small = kept(tmp_path, written.getvalue())
    assert (opened(body).mode, opened(small).mode) == ("RGBA", "RGBA")


def bomb() -> bytes:
    """A PNG file of 100 million pixels and 100 kB."""
    header = struct.pack(">IIBBBBB", 10_000, 10_000, 8, 0, 0, 0, 0)
    rows = zlib.compress(bytes(10_001 * 10_000), 9)
    parts = (chunk(b"IHDR", header), chunk(b"IDAT", rows), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def words_bomb() -> bytes:
    words = PngImagePlugin.PngInfo()
    words.add_text("Comment", "x" * (80 * 2**20), zip=True)
    return picture(pnginfo=words)


@pytest.mark.parametrize(
    ("original", "reason"),
    [
        (bomb(), "more than 50 million pixels"),
        (words_bomb(), "a picture that cannot be read"),
        (picture("red", "JPEG", (200, 200))[:400], "a picture that cannot be read"),
        (picture("red", "GIF")[:30], "a picture that cannot be read"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "no PNG, JPEG, WebP, GIF, BMP or TIFF"),
        (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(90), "no PNG, JPEG, WebP, GIF, BMP or T"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "no PNG, JPEG, WebP, GIF, BMP"),
        (bytes(20 * 2**20 + 1), "a file of more than 20 MB"),
        (b"", "no PNG"),
    ],
)
def test_what_cannot_be_used_says_why(tmp_path: Path, original: bytes, reason: str) -> None:
    with pytest.raises(UnreadablePicture) as unreadable:
        PictureFolder(tmp_path).add(original)
    assert reason in unreadable.value.reason
    assert list(tmp_path.iterdir()) == []


def test_a_picture_is_decoded_and_kept_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = picture()
    PictureFolder(tmp_path).add(original)
    monkeypatch.delattr(Image, "open")
    later = PictureFolder(tmp_path)
    assert later.known == set()
    assert later.add(original) == mark_of(original)


def test_a_picture_for_which_there_is_no_room_leaves_nothing_half_written(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    original = picture(size=(400, 300))
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, usual[1]))
    try:
        with pytest.raises(DataError, match="cannot be kept"):
            PictureFolder(tmp_path).add(original)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert list(tmp_path.iterdir()) == []
    assert kept(tmp_path, original)[0] == original
