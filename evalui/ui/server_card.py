"""What this server is: its memory, its workers, and the cluster where models run on one."""

from collections.abc import Sequence

from evalui.app.models_service import ClusterSettings, Hardware, WorkerView
from evalui.messages import Messages
from evalui.report.html import Child, Html, div, el, join, span
from evalui.report.icons import status_icon
from evalui.runs.worker.devices import DeviceMemory
from evalui.ui.components.format import amount
from evalui.ui.components.widgets import bar, note, status, table

_IN_WORKER_PROCESS = (
    "endpoint",
    "rule",
    "",
)  # what a worker is at in its own process, whatever the engine


def server_card(
    t: Messages,
    hardware: Hardware,
    workers: Sequence[WorkerView],
    cluster: ClusterSettings | None = None,
) -> Html:
    """One line that unfolds to memory and workers, and to the cluster, if models run on one."""
    memories = [
        _memory(t, t("device.memory"), hardware.machine),
        *(
            _memory(t, t("device.gpu", n=number, name=gpu.name), gpu)
            for number, gpu in enumerate(hardware.gpus)
        ),
    ]
    inside = div(
        _cluster(t, cluster) if cluster else None,
        div(
            div(
                *memories,
                None if hardware.gpus or cluster else div(t("device.no_gpu"), cls="meta gap-s"),
                cls="memories",
            ),
            div(_workers(t, workers, cluster), cls="f2"),
            cls="row devices",
        ),
        cls="in",
    )
    finding = span(_finding(t, hardware, workers), cls="finding")
    line = el("summary", el("b", t("device.title")), finding)
    # Without a worker nothing will ever start, which nobody must have to look for.
    return div(el("details", line, inside, open=not workers), cls="disc")


def _finding(t: Messages, hardware: Hardware, workers: Sequence[WorkerView]) -> Child:
    if not workers:
        return join(span(status_icon("warn"), cls="warn"), t("device.none"))
    busy = sum(worker.row.is_busy for worker in workers)
    memory = hardware.gpus[0] if hardware.gpus else hardware.machine
    parts = [
        t.count("device.gpus", len(hardware.gpus)) if hardware.gpus else "",
        t("device.used", used=amount(memory.used), total=amount(memory.total)),
        t("device.busy", busy=busy, idle=len(workers) - busy),
    ]
    return " · ".join(part for part in parts if part)


def _cluster(t: Messages, cluster: ClusterSettings) -> Html:
    """Where models are opened, and what the picture below does not show."""
    where = t("device.cluster_at") if cluster.address else t("device.cluster_here")
    address = span(cluster.address, cls="mono") if cluster.address else None
    text = note(
        "na",
        div(el("b", where), " " if address else None, address),
        div(t("device.cluster_seats", cores=cluster.cores), cls="dim"),
        div(t("device.cluster_unseen"), cls="dim"),
    )
    return div(text, cls="on-cluster")


def _memory(t: Messages, name: str, memory: DeviceMemory) -> Html:
    used = t("device.used", used=amount(memory.used), total=amount(memory.total))
    if memory.utilization is not None:
        used += " · " + t("device.computing", share=f"{100 * memory.utilization:.0f}")
    share = memory.used / memory.total if memory.total else 0.0
    return div(
        div(el("b", name), span(used, cls="dim"), cls="two"),
        bar(share, label=f"{name}, {used}"),
        cls="memory",
    )


def _workers(t: Messages, workers: Sequence[WorkerView], cluster: ClusterSettings | None) -> Html:
    if not workers:
        return note("warn", t("device.no_worker"))
    heads = [t(f"device.{name}") for name in ("who", "state", "model", "work", "place", "holds")]
    rows = [_worker(t, worker, cluster) for worker in workers]
    return table(heads, rows, right=(5,), cls="workers")


def _worker(t: Messages, worker: WorkerView, cluster: ClusterSettings | None) -> list[Child]:
    row = worker.row
    name = span(row.name.rpartition(":")[2], cls="mono")
    holds = amount(row.bytes)
    if not row.is_busy:
        kept = row.model if row.keeps and worker.visible else ""
        model = join(kept, div(t("device.keeps"), cls="meta")) if kept else "–"
        place = row.own_device or (row.device if kept else "") or "–"
        return [name, status("na", t("device.idle")), model, "–", place, holds]
    state = status("go", t("device.works"))
    work = _work(t, worker)
    if not worker.visible:
        return [name, state, "–", work, row.own_device or "–", holds]
    device = "on_cluster" if cluster and row.device not in _IN_WORKER_PROCESS else row.device
    place = t(f"device.{device}") if f"device.{device}" in t else device
    model = join(row.model or "–", None if row.has_loaded_model or not row.model else _loading(t))
    return [name, state, model, work, place or "–", holds]


def _work(t: Messages, worker: WorkerView) -> Html:
    """What a worker is at: all of its runs, those of others without their names."""
    links = [el("a", run.name, href=f"runs?run={run.id}") for run in worker.runs]
    tries = worker.visible and not worker.row.run  # a model, perhaps beside runs at endpoints
    hidden = worker.others or not (worker.visible or links)
    parts = [t("device.tries") if tries else None, *links, t("device.others") if hidden else None]
    return join(*(div(part) for part in parts if part))


def _loading(t: Messages) -> Html:
    return div(t("runs.loading"), cls="meta")
