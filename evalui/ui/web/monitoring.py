"""What a monitor reads of a server: whether it is ready, figures for Prometheus, ids of requests.

Nothing of it names people, runs or files; models are named. Requests are counted by the template
of their route.
"""

import secrets
import time
from collections.abc import Iterator

from fastapi import FastAPI
from fastapi.responses import JSONResponse, Response
from prometheus_client import CollectorRegistry, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.routing import Mount
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evalui.errors import StoreError
from evalui.logs import REQUEST_ID, log_request
from evalui.models.endpoint.limits import is_loopback
from evalui.runs.upkeep.monitor import disk_use, not_ready, read_store
from evalui.runs.worker.devices import gpus
from evalui.settings import Settings
from evalui.store.connection import Database
from evalui.version import __version__
from evalui.web.middleware import route_of

_PATH = "/metrics"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_FAILED = 400  # the status from which on an answer is logged
_SLOW_S = 1.0
_BUCKETS = (0.005, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)  # seconds


class StoreCollector(Collector):
    """The figures of the store and of its disk, read when they are requested."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._settings = settings
        self._database = database

    def collect(self) -> Iterator[Metric]:
        """All figures; of a store that cannot be read only that it cannot, and the version."""
        build = GaugeMetricFamily("evalui_build_info", "The version.", labels=["version"])
        build.add_metric([__version__], 1)
        yield build
        try:
            readings, disk = read_store(self._database), disk_use(self._settings.data_dir)
        except StoreError:
            yield _gauge("store_readable", "Whether the store can be read.", 0)
            return
        yield _gauge("store_readable", "Whether the store can be read.", 1)
        yield _gauge("queue_length", "Runs that wait for a worker.", readings.runs["queued"])
        yield _gauge(
            "queue_oldest_seconds", "For how long the oldest of them has.", readings.waiting_s
        )
        runs = GaugeMetricFamily("evalui_runs", "Runs by state.", labels=["state"])
        for state, n in readings.runs.items():
            runs.add_metric([state], n)
        yield runs
        yield _gauge("trials", "Trials of all runs in the store.", readings.trials)
        failed = GaugeMetricFamily(
            "evalui_cells_failed", "Failed cells of all runs in the store.", labels=["model"]
        )
        tokens = GaugeMetricFamily(
            "evalui_tokens", "Tokens of all runs in the store.", labels=["model", "direction"]
        )
        for model, counts in readings.models.items():
            failed.add_metric([model], counts.failed_cells)
            tokens.add_metric([model, "read"], counts.read_tokens)
            tokens.add_metric([model, "written"], counts.written_tokens)
        yield failed
        yield tokens
        workers = GaugeMetricFamily("evalui_workers", "Live workers.", labels=["state"])
        workers.add_metric(["busy"], readings.busy_workers)
        workers.add_metric(["idle"], readings.idle_workers)
        yield workers
        yield _gauge("workers_memory_bytes", "Memory of all workers.", readings.worker_bytes)
        used = GaugeMetricFamily("evalui_gpu_memory_used_bytes", "Memory in use.", labels=["gpu"])
        whole = GaugeMetricFamily("evalui_gpu_memory_bytes", "Memory of a GPU.", labels=["gpu"])
        for number, device in enumerate(gpus()):
            used.add_metric([str(number)], device.used)
            whole.add_metric([str(number)], device.total)
        yield used
        yield whole
        yield _gauge("disk_free_bytes", "Room on the disk of the data folder.", disk.free)
        yield _gauge("disk_used_ratio", "Share of that disk in use, 0 to 1.", disk.share)
        yield _gauge("disk_nearly_full", "Whether 90 % of it are.", disk.is_nearly_full)


def _gauge(name: str, about: str, value: float) -> Metric:
    return GaugeMetricFamily(f"evalui_{name}", about, value=value)


class Monitoring:
    """The figures of one server, and the routes that show them."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._settings = settings
        self._database = database
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(StoreCollector(settings, database))
        ProcessCollector(registry=self._registry)
        self._durations = Histogram(
            "evalui_request_duration_seconds",
            "Until an answer began.",
            ["method", "route", "status"],
            buckets=_BUCKETS,
            registry=self._registry,
        )

    def add_routes(self, app: FastAPI) -> None:
        """Add /readyz, and /metrics for those whom the door lets in."""
        app.api_route("/readyz", methods=["GET", "HEAD"])(self._readyz)
        if self._settings.metrics != "off":
            app.get(_PATH)(self.read_metrics)

    def observe(self, scope: Scope, prefix: str, status: int, seconds: float) -> None:
        """Count an answer that began `seconds` after its request; log a failed or slow one."""
        method = scope["method"] if scope["method"] in _METHODS else "other"
        route = _template_of(scope, prefix)
        self._durations.labels(method, route, str(status)).observe(seconds)
        if status >= _FAILED or seconds >= _SLOW_S:  # pages that watch a run send many others
            log_request(method, route, status, seconds)

    def needs_no_door(self, scope: Scope) -> bool:
        """Whether this request may read /metrics without a token or an account."""
        if self._settings.metrics != "token":
            return self._settings.metrics == "open"
        # What a proxy on this machine passes on is not of this machine.
        headers = Headers(scope=scope)
        if "x-forwarded-for" in headers or "forwarded" in headers:
            return False
        return is_loopback((scope.get("client") or ("",))[0])

    def read_metrics(self) -> Response:
        """The figures as Prometheus reads them."""
        return Response(generate_latest(self._registry), media_type=CONTENT_TYPE_PLAIN_0_0_4)

    def _readyz(self) -> Response:
        reason = self._reason()
        state = {"ready": not reason} | ({"reason": reason} if reason else {})
        return JSONResponse(state, 503 if reason else 200)

    def _reason(self) -> str:
        """Why no run can be done just now, in a word: the route is public."""
        try:
            if disk_use(self._settings.data_dir).is_full:
                return "disk"
            if self._database.damage:
                return "store"
            return not_ready(self._database, needs_worker=not self._settings.read_only)
        except StoreError:
            return "store"


class MonitoringMiddleware:
    """Around the application and its door: each request is timed and gets an id.

    Some may read /metrics without the door.
    """

    def __init__(self, app: ASGIApp, monitoring: Monitoring) -> None:
        self.app = app
        self._monitoring = monitoring

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or answer with the figures."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, request_id = time.monotonic(), secrets.token_hex(8)
        prefix: str = scope.get("root_path", "")  # mounts add to it

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["X-Request-ID"] = request_id
                seconds = time.monotonic() - began
                self._monitoring.observe(scope, prefix, message["status"], seconds)
            await send(message)

        before = REQUEST_ID.set(request_id)
        try:
            if route_of(scope) == _PATH and self._monitoring.needs_no_door(scope):
                answer = await run_in_threadpool(self._monitoring.read_metrics)
                await answer(scope, receive, watched)
            else:
                await self.app(scope, receive, watched)
        finally:
            REQUEST_ID.reset(before)


def _template_of(scope: Scope, prefix: str) -> str:
    """The route as declared, below where its application is mounted; `prefix` is of a proxy."""
    route = scope.get("route")
    declared = "" if isinstance(route, Mount) else getattr(route, "path", "")
    mounted = scope.get("root_path", "").removeprefix(prefix)
    if f"{mounted}{declared}":
        return f"{mounted}{declared}"
    return _PATH if route_of(scope) == _PATH else "other"  # answered before the door
