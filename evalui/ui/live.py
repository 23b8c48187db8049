"""How far a run is while it goes on: its markup within a page, and the route that has it anew.

A page looks at the route every two seconds while it can be seen, so that no connection stays open.
What is answered is made once for all who watch a run in one language.
"""

import asyncio
import hashlib
import time
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response
from starlette.concurrency import run_in_threadpool

from evalui.access import may
from evalui.app.evaluations import stop_run
from evalui.app.run_progress import (
    LiveStates,
    ProgressVersion,
    live_states,
    progress_version,
    read_progress,
    version_of,
)
from evalui.app.service import AppService
from evalui.errors import UnknownRun
from evalui.messages import Messages, language_of, messages
from evalui.report.html import Html
from evalui.store.runs import LIVE_STATES, RunRow, read_run
from evalui.types import Language
from evalui.ui.components.progress_document import ProgressDocument, progress_document, run_title
from evalui.ui.components.templates import fill

if TYPE_CHECKING:
    from evalui.ui.screen import Screen

T = TypeVar("T")

_LOOK_MS = 2000
_FIRST_LOOK_MS = 500  # while the first answer is awaited
_MOMENT_S = 0.5  # in which a run is read once for all who look at it


def follow(
    screen: "Screen", run: RunRow, live: LiveStates | None = None, *, shown: bool = True
) -> None:
    """Draw the page anew when a run has ended, or gone on enough; a part of a drawing.

    `run` is what the page is drawn with, and `live` what was in the queue before that.
    With `shown` it is shown how far the run is, and whoever may stop it has a button. A page of
    figures is drawn anew when the run has more answers, the page of runs when they come and go.

    Raises:
        UnknownRun: the person sees none of this id.
    """
    import gradio as gr  # which takes seconds: routes answer before

    t, service = screen.t, screen.service
    # What has changed since is seen by a look.
    version = version_of(service, run, live_states(service) if live is None else live)
    now = progress_document(t, read_progress(service, run.id)) if shown else None
    may_stop = run.state in LIVE_STATES and not run.cancelling and "change" in service.deeds(run)
    with gr.Column(elem_classes="live", key="live"):
        gr.HTML(
            _markup(t, run, version, now),
            js_on_load="evalui.live(element, props)",
            apply_default_css=False,
            key="progress",
            preserved_by_key=[],
            address=f"../live/{run.id}?lang={t.language}",
            shown=shown,
            drawn={
                "state": run.state,
                "queue": str(version.queue),
                "revision": str(version.revision),
            },
            news="queue" if screen.name == "runs" else "revision",
            title=f"{t(f'tab.{screen.name}')} · {t('app.name')}",
        )
        if shown and may_stop:

            def stop(service: AppService) -> str:
                stop_run(service, run.id)
                return screen.address(run=run.id)

            button = gr.Button(t("runs.stop"), elem_classes="stop", key="stop")
            screen.on(button.click, stop, None, screen.place)


def add_live(app: FastAPI, service: AppService) -> None:
    """Add the route that says how far a run is to whoever may see it.

    It is a plain route of Starlette: hundreds of watchers request it.
    """
    made = service.pages.memoize_newest(_make(service))
    present = _Present()

    def read(run_id: str, language: Language) -> Html:
        return made(run_id, language, progress_version(service, run_id))

    async def live(request: Request) -> Response:
        run_id: str = request.path_params["run_id"]
        language = language_of(request.query_params.get("lang"), service.settings.language)
        run = await present.find(run_id, lambda: read_run(service.database, run_id))
        if not may(service.person, "see", run.owned):
            raise UnknownRun("no-run", run=run_id)
        html = await present.find((run_id, language), lambda: read(run_id, language))
        headers = {"ETag": f'"{hashlib.blake2b(html.encode(), digest_size=12).hexdigest()}"'}
        # A proxy that compresses calls a tag weak.
        if request.headers.get("if-none-match", "").removeprefix("W/") == headers["ETag"]:
            return Response(status_code=304, headers=headers)
        return HTMLResponse(html, headers=headers)

    app.add_route("/live/{run_id}", live, ["GET"])


class _Present:
    """What was asked for at the present moment; of those who ask for the same one has it made.

    Who waits holds no thread.
    """

    def __init__(self) -> None:
        self._moment = 0
        self._found: dict[Hashable, asyncio.Future[Any]] = {}

    async def find(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` makes, or raises."""
        moment = int(time.monotonic() / _MOMENT_S)
        if moment != self._moment:
            self._moment, self._found = moment, {}
        if key not in self._found:
            self._found[key] = asyncio.ensure_future(run_in_threadpool(make))
        # Who goes away leaves the others their answer.
        return cast("T", await asyncio.shield(self._found[key]))


def _make(service: AppService) -> Callable[[str, Language, ProgressVersion], Html]:
    def make(run_id: str, language: Language, version: ProgressVersion) -> Html:
        t, progress = messages(language), read_progress(service, run_id)
        return _markup(t, progress.run, version, progress_document(t, progress))

    return make


def _markup(
    t: Messages, run: RunRow, version: ProgressVersion, now: ProgressDocument | None
) -> Html:
    is_first = run.state == "running" and not run.done
    return fill(
        "live.html",
        t=t,
        now=now,
        title=run_title(t, run),
        state=run.state,
        revision=version.revision,
        queue=version.queue,
        pause=(_FIRST_LOOK_MS if is_first else _LOOK_MS) if version.is_any_live else "",
    )
