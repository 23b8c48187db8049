"""Pictures for tests, and runs whose questions have them."""

import hashlib
import io
from base64 import b64encode
from pathlib import Path

from PIL import Image

from evalui.pictures import Mark, mark_of
from evalui.store.connection import Database


def png(colour: str, size: tuple[int, int] = (40, 30)) -> bytes:
    """A picture of one colour."""
    written = io.BytesIO()
    Image.new("RGB", size, colour).save(written, "PNG")
    return written.getvalue()


def uri_of(body: bytes) -> str:
    """A picture as an address of its own, as files have it."""
    return f"data:image/png;base64,{b64encode(body).decode()}"


RED, BLUE = png("red"), png("blue", (20, 40))
RED_MARK, BLUE_MARK = mark_of(RED), mark_of(BLUE)
SMALL = png("red", (4, 3))


def give_pictures(database: Database, run_id: str, *bodies: bytes, small: bytes = SMALL) -> None:
    """Keep pictures that the questions of a run name."""
    with database.writing() as connection:
        datasets = connection.execute("SELECT DISTINCT dataset FROM cell WHERE run = ?", (run_id,))
        for (dataset,) in datasets.fetchall():
            for body in bodies:
                digest = hashlib.sha256(body).hexdigest()
                connection.execute(
                    "INSERT INTO picture VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                    (digest, body, small),
                )
                connection.execute(
                    "INSERT INTO dataset_picture VALUES (?, ?, ?)",
                    (dataset, mark_of(body).id, digest),
                )


def put_pictures(folder: Path, *bodies: bytes) -> None:
    """Lay pictures where those of an upload are."""
    folder.mkdir(exist_ok=True)
    for body in bodies:
        (folder / mark_of(body).id).write_bytes(body)
        (folder / f"{mark_of(body).id}.small").write_bytes(SMALL)


def asked(mark: Mark, question: str = "What is shown?") -> str:
    """A question below its picture."""
    return f"{mark}\n{question}"
