"""The gallery of `evalui demo`: finished runs to look at, which nobody can change."""

import json
from dataclasses import dataclass

from evalui.settings import Settings
from evalui.shipped_files import ASSETS
from evalui.version import __version__

GALLERY_FILE = "gallery.json"
_FOLDER = "demo"  # in the data folder


@dataclass(frozen=True, slots=True)
class Gallery:
    """The queries of the addresses of what is shown, by the version that built it."""

    version: str
    orders: str
    judged: str
    people: str
    compared: str


def gallery_settings(settings: Settings) -> Settings:
    """The same server on the gallery: a folder of its own, scripted models, and nothing written."""
    own = {
        "data_dir": settings.data_dir / _FOLDER,
        "models": ASSETS / "gallery.toml",
        "read_only": True,
    }
    return settings.model_copy(update=own)


def read_gallery(settings: Settings) -> Gallery | None:
    """The gallery that a server shows; None for every other server, and for another version's."""
    if not settings.read_only:
        return None
    try:
        values = json.loads((settings.data_dir / GALLERY_FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return Gallery(**values) if values.get("version") == __version__ else None
