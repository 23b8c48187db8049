"""What this server is: its memory, its workers, and the cluster where models run on one."""

from collections.abc import Sequence

from evalui.app.models_service import ClusterSettings, Hardware, WorkerView
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.ui.components.format import amount
from evalui.ui.components.templates import fill

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
    """One line that unfolds to memory and workers, and to the cluster, if models run on one.

    Unfolded without a worker: nothing will ever start, which nobody must have to look for.
    """
    return fill(
        "server_card.html",
        t=t,
        amount=amount,
        hardware=hardware,
        workers=workers,
        cluster=cluster,
        finding=_finding(t, hardware, workers),
        places={worker.row.name: _place(t, worker, cluster) for worker in workers},
    )


def _finding(t: Messages, hardware: Hardware, workers: Sequence[WorkerView]) -> str:
    busy = sum(worker.row.is_busy for worker in workers)
    memory = hardware.gpus[0] if hardware.gpus else hardware.machine
    parts = [
        t.count("device.gpus", len(hardware.gpus)) if hardware.gpus else "",
        t("device.used", used=amount(memory.used), total=amount(memory.total)),
        t("device.busy", busy=busy, idle=len(workers) - busy),
    ]
    return " · ".join(part for part in parts if part)


def _place(t: Messages, worker: WorkerView, cluster: ClusterSettings | None) -> str:
    """Where a busy worker computes, as far as the person may know."""
    row = worker.row
    if not worker.visible:
        return row.own_device
    device = "on_cluster" if cluster and row.device not in _IN_WORKER_PROCESS else row.device
    return t(f"device.{device}") if f"device.{device}" in t else device
