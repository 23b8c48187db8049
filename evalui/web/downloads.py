"""Files of a run as answers: its exports, its votes, and pictures of its questions.

What writes them is imported when one is requested, for it takes longer than to draw a page.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import cast
from urllib.parse import quote

from fastapi.responses import Response, StreamingResponse
from starlette.concurrency import run_in_threadpool
from starlette.types import Send

from evalui.app.results import export_apart, export_run
from evalui.app.run_labels import file_name
from evalui.app.service import AppService
from evalui.app.voters import VOTE_FILES, vote_file
from evalui.errors import UnknownName
from evalui.pictures import Picture
from evalui.report.write.formats import FORMATS
from evalui.types import Language

_KEPT = "private, max-age=604800, immutable"  # a picture is never another one; seconds of a week
_MOST_AT_ONCE = 5000  # trials of a run whose files are made in this process, and sent with a size


def export_of(service: AppService, run_id: str, extension: str, language: Language) -> Response:
    """A run as a file.

    Raises:
        UnknownName: `extension` is none of `FORMATS`.
        UnknownRun, SpecError: as `export_run` does.
    """
    if extension not in FORMATS:
        raise UnknownName("no-export", kind=extension, known=", ".join(FORMATS))
    run = service.run(run_id)
    if run.done > _MOST_AT_ONCE:
        pieces = export_apart(service, run_id, extension, language)
        headers = _named(file_name(run, extension))
        return ExportResponse(pieces, media_type=FORMATS[extension], headers=headers)
    name, content = export_run(service, run_id, extension, language)
    return download(b"".join(content), FORMATS[extension], name)


async def read_export(
    service: AppService, run_id: str, extension: str, language: Language
) -> bytes:
    """The content of one of `FORMATS` of a run; of a larger one made in another process.

    Raises:
        UnknownRun, SpecError: as `export_run` does.
    """
    run = await run_in_threadpool(service.run, run_id)
    if run.done > _MOST_AT_ONCE:
        pieces = export_apart(service, run.id, extension, language)
        return b"".join([piece async for piece in pieces])
    _, content = await run_in_threadpool(export_run, service, run.id, extension, language)
    return b"".join(content)


class ExportResponse(StreamingResponse):
    """A file that is sent while it is made; what makes it ends with the transfer."""

    async def stream_response(self, send: Send) -> None:
        """Send every piece; an error on the way breaks the transfer off."""
        pieces = cast("AsyncGenerator[bytes]", self.body_iterator)  # as it was given
        async with aclosing(pieces):
            await super().stream_response(send)


def votes_of(service: AppService, run_id: str, extension: str) -> Response:
    """The votes of people on a run, as one of `VOTE_FILES`; raises `UnknownRun`."""
    name = f"votes-{service.run(run_id).id}.{extension}"
    content = b"".join(vote_file(service, run_id, extension))
    return download(content, VOTE_FILES[extension], name)


def picture_answer(picture: Picture) -> Response:
    """A picture, which the browser of whoever may see it keeps: of no other session of it.

    Raises:
        UnknownName: it is of none of the kinds that are kept.
    """
    try:
        kind = picture.media_type
    except ValueError as error:
        raise UnknownName("no-picture", picture=picture.id[:8]) from error
    headers = {"Cache-Control": _KEPT, "Vary": "Cookie, Authorization"}
    return Response(picture.body, media_type=kind, headers=headers)


def download(content: bytes, kind: str, name: str) -> Response:
    """A file under a name, in any script."""
    return Response(content, media_type=kind, headers=_named(name))


def _named(name: str) -> dict[str, str]:
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
