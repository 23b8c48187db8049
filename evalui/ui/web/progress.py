"""How far runs are, as small JSON documents: each is made once for all who watch a run."""

import time
from collections.abc import Callable

from fastapi import FastAPI, Request
from fastapi.responses import Response

from evalui.app.run_progress import ProgressVersion, progress_version, read_progress
from evalui.app.service import AppService
from evalui.messages import messages
from evalui.types import Language
from evalui.ui.components.progress_document import progress_document, progress_tag
from evalui.ui.web.downloads import messages_of

_MOMENT_S = 0.5  # a run is read again after so many seconds at the earliest


def add_progress(app: FastAPI, service: AppService) -> None:
    """Add the route; whoever may see a run may follow it."""
    # Of whoever asks: the version of what is made was read for somebody who may see the run.
    made = service.pages.memoize_newest(_make(service))

    def progress(run_id: str, request: Request) -> Response:
        moment = int(time.monotonic() / _MOMENT_S)
        with service.runs.at(moment):
            version = progress_version(service, run_id, moment)
        headers = {"ETag": progress_tag(version)}
        # A proxy that compresses calls a tag weak.
        if request.headers.get("if-none-match", "").removeprefix("W/") == headers["ETag"]:
            return Response(status_code=304, headers=headers)
        content = made(run_id, messages_of(request, service).language, version)
        return Response(content, media_type="application/json", headers=headers)

    app.get("/progress/{run_id}")(progress)


def _make(service: AppService) -> Callable[[str, Language, ProgressVersion], bytes]:
    def make(run_id: str, language: Language, version: ProgressVersion) -> bytes:
        shown = progress_document(messages(language), read_progress(service, run_id), version)
        return shown.json().encode()

    return make
