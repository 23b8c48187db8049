"""Files for browsers that come with other packages, found without importing the packages."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path


@cache
def gradio_frontend() -> Path:
    """The folder of Gradio's scripts and style sheets."""
    spec = find_spec("gradio")
    assert spec is not None, "Gradio is a requirement"
    assert spec.origin is not None, "Gradio is a package"
    return Path(spec.origin).parent / "templates" / "frontend"
