"""What `gradio_client` may call: a run is started, followed and read, as over the REST interface.

All other events of the pages are private. The files of a specification are uploaded over REST.
"""

import json
from typing import Any

import gradio as gr
from gradio.events import api  # pyright: ignore[reportUnknownVariableType] # of any callable
from starlette.concurrency import run_in_threadpool

from evalui.api.runs import detail_of
from evalui.app.evaluations import start_run
from evalui.app.service import AppService
from evalui.messages import Messages
from evalui.runs.spec import parse_spec
from evalui.ui.screen import in_words, service_of
from evalui.web.downloads import read_export

_AT_ONCE = 8  # calls of one endpoint


def add_client_endpoints(service: AppService, t: Messages) -> None:
    """Declare the endpoints within an app of Gradio's that is being made."""
    endpoints = ClientEndpoints(service, t)
    for name in ("evaluate", "status", "results"):
        api(getattr(endpoints, name), api_name=name, concurrency_limit=_AT_ONCE)


class ClientEndpoints:
    """The endpoints of a language, in which sentences are answered."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self._service, self._t = service, t

    def evaluate(self, spec: dict[str, Any], request: gr.Request) -> dict[str, Any]:
        """Start a run: a specification as `evalui run` reads it, with ids of uploads for paths.

        Returns the run as `POST /api/v1/runs` does.
        """
        with in_words(self._t):
            service = service_of(self._service, request)
            service.require("start")  # who may not is not told what is wrong with a specification
            return self._detail(service, start_run(service, parse_spec(json.dumps(spec))))

    def status(self, run: str, request: gr.Request) -> dict[str, Any]:
        """How far a run is, as `GET /api/v1/runs/{run}` tells it."""
        with in_words(self._t):
            return self._detail(service_of(self._service, request), run)

    async def results(self, run: str, request: gr.Request) -> list[dict[str, Any]]:
        """The metrics of a run, one in a row, as `metrics.json` has them."""
        with in_words(self._t):
            service = service_of(self._service, request)
            content = await read_export(service, run, "metrics.json", self._t.language)
            return await run_in_threadpool(json.loads, content)

    def _detail(self, service: AppService, run_id: str) -> dict[str, Any]:
        return detail_of(service, self._t, run_id).model_dump(mode="json")
