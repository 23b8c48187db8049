"""Pictures as files have them, for tests: small ones whose colour tells which is which."""

import base64
import io
from typing import Any

from PIL import Image


def picture(
    colour: str = "red", kind: str = "PNG", size: tuple[int, int] = (12, 8), **options: Any
) -> bytes:
    """The bytes of a file of one colour."""
    written = io.BytesIO()
    Image.new("RGB", size, colour).save(written, kind, **options)
    return written.getvalue()


def base64_of(original: bytes) -> str:
    return base64.b64encode(original).decode()


def uri_of(original: bytes, kind: str = "png") -> str:
    return f"data:image/{kind};base64,{base64_of(original)}"
