"""Whether bubblewrap can be started here: some containers have no namespaces to give."""

import subprocess
from shutil import which

import pytest

_TRY = ("bwrap", "--ro-bind", "/", "/", "--unshare-all", "true")


def _reason() -> str:
    if not which("bwrap"):
        return "bubblewrap is not installed here"
    tried = subprocess.run(_TRY, capture_output=True, text=True, timeout=60)
    return f"bubblewrap cannot start here: {tried.stderr.strip()}" if tried.returncode else ""


_REASON = _reason()
needs_bubblewrap = pytest.mark.skipif(bool(_REASON), reason=_REASON)
