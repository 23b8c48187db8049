"""Where the files are that evalui ships beside its code."""

from pathlib import Path

_PACKAGE_DIR = Path(__file__).parent
# A wheel carries the assets inside the package, a checkout beside it.
ASSETS = (
    _PACKAGE_DIR / "assets"
    if (_PACKAGE_DIR / "assets").is_dir()
    else _PACKAGE_DIR.parent / "assets"
)
