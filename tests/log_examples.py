"""Logs of other harnesses as a browser sends them: one by one, in their folders, or zipped."""

import io
import json
import zipfile
from pathlib import Path

LOGS = Path(__file__).parent / "golden" / "harnesses"
HARNESSES = ("lmeval", "inspect", "evalscope", "opencompass", "helm")
CSV = b"id,question,A,B,answer\n1,Capital of France?,Paris,Rome,A\n2,Of Italy?,Paris,Rome,B\n"
SAMPLES = LOGS / "lmeval/qwen2-small-4l256/samples_texts_2026-11-23T19-16-34.858737.jsonl"


def dropped(folder: str) -> list[tuple[str, bytes]]:
    """A golden folder as it is dropped: every file with the folders above it."""
    files = sorted(path for path in (LOGS / folder).rglob("*") if path.is_file())
    return [(str(path.relative_to(LOGS)), path.read_bytes()) for path in files]


def loose(folder: str) -> list[tuple[str, bytes]]:
    """The files of a golden folder, chosen one by one."""
    return [(Path(name).name, content) for name, content in dropped(folder)]


def zipped(folder: str, name: str = "log.zip") -> tuple[str, bytes]:
    """A golden folder as a zip."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for place, content in dropped(folder):
            archive.writestr(place, content)
    return name, packed.getvalue()


def lone_samples(name: str = SAMPLES.name) -> tuple[str, bytes]:
    """A file of lm-eval's samples without its results: no file states the model."""
    return name, SAMPLES.read_bytes()


def lying_zip(unpacked: int) -> tuple[str, bytes]:
    """An archive of one log that unpacks to so many bytes, and declares ten."""
    line = json.dumps({"doc_id": 0, "pad": "x" * 2**16}).encode() + b"\n"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("samples_a.jsonl", line * (unpacked // len(line)))
        size = archive.infolist()[0].file_size
    content = packed.getvalue()
    return "lying.zip", content.replace(size.to_bytes(4, "little"), (10).to_bytes(4, "little"))
