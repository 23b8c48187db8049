"""How far runs are, and whether there is news of them, as small JSON documents for polling.

Each is made once for all who watch a run.
"""

from collections.abc import Callable
from dataclasses import dataclass

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from starlette.concurrency import run_in_threadpool

from evalui.app.run_progress import ProgressVersion, progress_version, read_progress
from evalui.app.service import AppService
from evalui.messages import messages
from evalui.types import Language
from evalui.ui.components.progress_document import progress_document, progress_tag
from evalui.ui.published import PublishedRuns, this_moment
from evalui.ui.web.downloads import messages_of
from evalui.ui.web.newest import NewestAnswers

_MOST = 1024  # watchers, runs and languages whose answers of a moment are kept


@dataclass(frozen=True, slots=True)
class _Progress:
    tag: str
    content: bytes


def add_progress(app: FastAPI, service: AppService, published: PublishedRuns) -> None:
    """Add the routes; whoever may see a run may follow it.

    They are plain routes of Starlette: hundreds of watchers request them each second.
    """
    # Of whoever asks: the version of what is made was read for somebody who may see the run.
    made = service.pages.memoize_newest(_make(service))
    answers = NewestAnswers[_Progress](_MOST)
    versions = NewestAnswers[str](_MOST)

    def read(run_id: str, language: Language, moment: int) -> _Progress:
        with service.runs.at(moment):
            version = progress_version(service, run_id, moment)
        return _Progress(progress_tag(version), made(run_id, language, version))

    async def progress(request: Request) -> Response:
        run_id: str = request.path_params["run_id"]
        language, moment = messages_of(request, service).language, this_moment()
        now = await answers.find(
            (run_id, language, service.person),
            moment,
            lambda: run_in_threadpool(read, run_id, language, moment),
        )
        headers = {"ETag": now.tag}
        # A proxy that compresses calls a tag weak.
        if request.headers.get("if-none-match", "").removeprefix("W/") == now.tag:
            return Response(status_code=304, headers=headers)
        return Response(now.content, media_type="application/json", headers=headers)

    def version(run_id: str, *, with_files: bool) -> str:
        with service.runs.at(this_moment()):
            return published.version(service, run_id, with_files=with_files)

    async def news(request: Request) -> Response:
        run_id: str = request.path_params["run_id"]
        with_files = "files" in request.query_params
        now = await versions.find(
            (run_id, with_files, service.person),
            this_moment(),
            lambda: run_in_threadpool(version, run_id, with_files=with_files),
        )
        return JSONResponse({"version": now, "pause_s": round(published.pause_s(), 1)})

    app.add_route("/progress/{run_id}", progress, ["GET"])
    app.add_route("/news/{run_id}", news, ["GET"])


def _make(service: AppService) -> Callable[[str, Language, ProgressVersion], bytes]:
    def make(run_id: str, language: Language, version: ProgressVersion) -> bytes:
        shown = progress_document(messages(language), read_progress(service, run_id), version)
        return shown.json().encode()

    return make
