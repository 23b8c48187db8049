"""The Models page's picture of the server: its memory, and what each worker is at."""

from collections.abc import Sequence

from evalui.messages import Messages
from evalui.runs.worker.devices import DeviceMemory
from evalui.ui.components.html import Child, Html, div, el, join, span
from evalui.ui.components.widgets import bar, note, status, table, titled
from evalui.ui.services.models_service import ClusterSettings, Hardware, WorkerView

_IN_WORKER_PROCESS = (
    "endpoint",
    "rule",
    "",
)  # what a worker is at in its own process, whatever the engine


def devices_card(
    t: Messages,
    hardware: Hardware,
    workers: Sequence[WorkerView],
    cluster: ClusterSettings | None = None,
) -> Html:
    """Memory at the left, workers at the right; above them the cluster, if models run on one."""
    memories = [
        _memory(t, t("device.memory"), hardware.machine),
        *(
            _memory(t, t("device.gpu", n=number, name=gpu.name), gpu)
            for number, gpu in enumerate(hardware.gpus)
        ),
    ]
    return titled(
        t("device.title"),
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
        aside=_summary(t, workers),
    )


def amount(n_bytes: int) -> str:
    """Bytes as people compare them: "12 MB", "5.4 GB", "141 GB"."""
    if n_bytes < 1e9:
        return f"{n_bytes / 1e6:.3g} MB"
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes < 1e11 else f"{n_bytes / 1e9:.0f} GB"


def worker_label(t: Messages, worker: WorkerView) -> str:
    """ "worker 4711": the machine's name tells nothing where there is one machine."""
    return t("device.worker", name=worker.row.name.rpartition(":")[2])


def _summary(t: Messages, seats: Sequence[WorkerView]) -> str:
    if not seats:
        return ""
    busy = sum(seat.row.is_busy for seat in seats)
    return t("device.busy", busy=busy, idle=len(seats) - busy)


def _cluster(t: Messages, cluster: ClusterSettings) -> Html:
    """Where models are opened, and what the picture below does not show."""
    where = t("device.cluster_at") if cluster.address else t("device.cluster_here")
    address = span(cluster.address, cls="mono") if cluster.address else None
    told = note(
        "na",
        div(el("b", where), " " if address else None, address),
        div(t("device.cluster_seats", cores=cluster.cores), cls="dim"),
        div(t("device.cluster_unseen"), cls="dim"),
    )
    return div(told, cls="on-cluster")


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


def _workers(t: Messages, seats: Sequence[WorkerView], cluster: ClusterSettings | None) -> Html:
    if not seats:
        return note("warn", t("device.no_worker"))
    heads = [t(f"device.{name}") for name in ("who", "state", "model", "work", "place", "holds")]
    rows = [_worker(t, seat, cluster) for seat in seats]
    return table(heads, rows, right=(5,), cls="workers")


def _worker(t: Messages, seat: WorkerView, cluster: ClusterSettings | None) -> list[Child]:
    row = seat.row
    name = span(row.name.rpartition(":")[2], cls="mono")
    holds = amount(row.bytes)
    if not row.is_busy:
        return [name, status("na", t("device.idle")), "–", "–", "–", holds]
    state = status("go", t("device.works"))
    if not seat.visible:
        return [name, state, "–", t("device.others"), "–", holds]
    run = el("a", seat.run_name, href=f"?run={row.run}&tab=runs") if row.run else t("device.tries")
    device = "on_cluster" if cluster and row.device not in _IN_WORKER_PROCESS else row.device
    place = t(f"device.{device}") if f"device.{device}" in t else device
    model = join(row.model or "–", None if row.has_loaded_model or not row.model else _loading(t))
    return [name, state, model, run, place or "–", holds]


def _loading(t: Messages) -> Html:
    return div(t("runs.loading"), cls="meta")
