"""Files for browsers that come with other packages, found without importing the packages."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path


@cache
def gradio_frontend() -> Path:
    """The folder of Gradio's scripts and style sheets."""
    return _folder("gradio") / "templates" / "frontend"


@cache
def plotly_script() -> Path:
    """Plotly's script."""
    return _folder("plotly") / "package_data" / "plotly.min.js"


def _folder(package: str) -> Path:
    spec = find_spec(package)
    assert spec is not None, f"{package} is a requirement"
    assert spec.origin is not None, f"{package} is a package"
    return Path(spec.origin).parent
