"""The package and the files of docs/extend.md."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLUGIN = ROOT / "examples" / "plugin"


def files_of_page() -> dict[str, str]:
    """The blocks of the page that have the name of a file before them."""
    page = (ROOT / "docs" / "extend.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^`([\w./-]+)`:\n\n```\w+\n(.*?)^```$", page, re.DOTALL | re.MULTILINE))
