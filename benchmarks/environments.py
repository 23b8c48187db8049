"""Where a peer lives: an environment of its own, found ready or made on demand."""

import hashlib
import subprocess
import sys
from pathlib import Path

PEERS = Path(__file__).with_name("peers")
MADE = Path(__file__).parents[1] / ".venv-peers"


class PeerMissing(Exception):
    """The peer cannot run here; the message says why."""


def interpreter(name: str, ready: Path | None) -> Path:
    """The Python of a peer's environment: `ready`/name if a folder is given, else one made here.

    Raises:
        PeerMissing: it is not there, or cannot be made.
    """
    if ready is not None:
        python = ready.absolute() / name / "bin" / "python"
        if not python.exists():
            raise PeerMissing(f"no environment {name} in {ready.name}")
        return python
    folder = MADE / name
    python, stamp = folder / "bin" / "python", folder / "installed"
    wanted = [PEERS / f"{name}.txt", PEERS / f"{name}.alone.txt"]
    digest = hashlib.sha256(b"".join(each.read_bytes() for each in wanted if each.exists()))
    if not stamp.exists() or stamp.read_text() != digest.hexdigest():
        _make(folder, wanted)
        stamp.write_text(digest.hexdigest())
    return python


def _make(folder: Path, wanted: list[Path]) -> None:
    print(f"making {folder}", file=sys.stderr)
    pinned, alone = wanted
    _run([sys.executable, "-m", "venv", "--clear", str(folder)])
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q"]
    pip += ["--disable-pip-version-check"]
    # torch comes first and alone: otherwise a build for other hardware may be preferred to it.
    for line in pinned.read_text().splitlines():
        if line.startswith("torch=="):
            _run([*pip, line])
    _run([*pip, "-r", str(pinned)])
    if alone.exists():
        _run([*pip, "--no-deps", "-r", str(alone)])


def _run(command: list[str]) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=1800)
    except subprocess.CalledProcessError as error:
        lines = str(error.stderr).strip().splitlines() or [str(error)]
        raise PeerMissing(f"its environment cannot be made: {lines[-1][:160]}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PeerMissing(f"its environment cannot be made: {error}") from error
