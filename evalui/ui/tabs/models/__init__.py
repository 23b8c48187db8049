"""The Models tab: what there is, what each model can do, and what this server has room for.

The page shows the state of the server; it is read again while something of it can change.
"""

import hashlib
import time
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import gradio as gr
from pydantic import Field

from evalui.errors import EvaluiError
from evalui.messages import Messages
from evalui.models.base import ModelEntry
from evalui.models.catalog import base_of
from evalui.models.user_catalog import InvalidModelForm
from evalui.report.html import Child, Html, div, el, join, span
from evalui.runs.worker.devices import DeviceMemory
from evalui.runs.worker.model_tests import ModelTestRow
from evalui.ui.components.component_tabs import QUIET, SKIP, html_fragment, on_action, skip_all
from evalui.ui.components.form import Form, dump_client_state, load_client_state
from evalui.ui.components.format import amount
from evalui.ui.components.fragment import Action
from evalui.ui.components.widgets import bar, button, note, page_head, status, table, titled
from evalui.ui.services.models_service import ClusterSettings, Hardware, ModelStatus, WorkerView
from evalui.ui.services.service import AppService
from evalui.ui.tabs.models.catalog_list import catalog_cards
from evalui.ui.tabs.models.row_actions import ModelRow, RowContext, add_card, read_wanted

_EVERY_S = 1.0
_LATEST = 2.0**32  # Unix time, in the year 2106; a clock cannot show every number
_IN_WORKER_PROCESS = (
    "endpoint",
    "rule",
    "",
)  # what a worker is at in its own process, whatever the engine


class ModelsNotice(NamedTuple):
    """What the last click left to show, kept in the browser as text.

    `problem` came of it, `confirming` is the model whose removal waits for a second one,
    `checked_at` when it was, in Unix time.
    """

    problem: str = ""
    confirming: str = ""
    checked_at: Annotated[float, Field(ge=0, le=_LATEST)] = 0.0


class ModelsTab:
    """The tab in one language."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.t = t
        self.outputs: list[Any] = []

    def build(self) -> None:
        """Lay out the page, and the form below it that no poll touches."""
        with gr.Column(elem_classes="page"):
            whole = html_fragment("models-pane")
            # As it is laid out, and from then on only what a click makes of it: whatever else
            # wrote it, an address or the tab, could undo what a user is about to send.
            form = html_fragment("models-add", self.empty_form())
        notice = gr.Textbox(visible=False)
        stamp = gr.Textbox(visible=False)
        timer = gr.Timer(_EVERY_S, active=False)
        self.outputs = [whole, form, notice, stamp, timer]
        for source in (whole, form):
            on_action(source, self.answer, outputs=self.outputs)
        # A poll that began before a click may end after it, so it never writes the notice.
        timer.tick(self.tick, [notice, stamp], [whole, stamp, timer], trigger_mode="once", **QUIET)

    def empty_form(self) -> Html:
        """The form before any input; a line that states it where models may not be added."""
        return self._form({})

    def enter(self, form: Form) -> tuple[Any, ...]:
        """All outputs for an address; another tab's costs nothing."""
        return self.open() if form.get("tab") == "models" else skip_all(self.outputs)

    def open(self) -> tuple[Any, ...]:
        """All outputs when the tab is pressed."""
        return self._page(_new_notice(), SKIP)

    def answer(self, act: Action) -> tuple[Any, ...]:
        """The page after a click: a test, a question, a model more or less, or another place."""
        if act.do == "add":
            return self._added(act)
        if act.do == "set":
            # Only a place changes the fields. What is left at the click on "Add model" is reported
            # beside that click, and whatever it comes to must not be written over.
            place = act.value("name") == "add_place"
            return self._only_form(self._form(act.form) if place else SKIP)
        try:
            self._perform(act)
            problem = ""
        except EvaluiError as error:
            problem = self.t.translate(error.sentence)
        confirming = act.value("model") if act.do == "ask" else ""
        return self._page(_new_notice(problem, confirming), SKIP)

    def tick(self, notice: str, stamp: str) -> tuple[Any, ...]:
        """The page if it is another than that of `stamp`, else nothing at all.

        It is requested once more after each change, so that what came too late is put right.
        """
        page, live = self.show(load_client_state(ModelsNotice, notice))
        now = _stamp(page)
        if now == stamp:
            return SKIP, SKIP, SKIP if live else gr.Timer(active=False)
        return page, now, gr.Timer(active=True)

    def show(self, notice: ModelsNotice = ModelsNotice()) -> tuple[Html, bool]:  # noqa: B008 (it cannot change)
        """The page, and whether something of it may change by itself."""
        service, t = self.service.models, self.t
        workers, hardware = service.workers(self.service.owner), service.hardware()
        problem, broken, looks, shadowed = notice.problem, False, {}, frozenset[str]()
        try:
            looks, shadowed = service.current_statuses(), service.shadowed()
        except EvaluiError as error:
            problem, broken = t.translate(error.sentence), True
        models = self._rows(looks, workers, hardware)
        context = RowContext(
            self._wait_sentence(workers), service.may_edit, notice.confirming, notice.checked_at
        )
        page = div(
            page_head(t("catalog.head"), t("catalog.promise"), self._scroll_to_form()),
            div(note("bad", problem), role="alert") if problem else None,
            self._shadowed(sorted(shadowed)) if shadowed else None,
            devices_card(t, hardware, workers, service.cluster),
            None if broken else catalog_cards(t, models, context),
            cls="stack models-page",
        )
        return page, self._live(models, workers)

    def _scroll_to_form(self) -> Html | None:
        """The way to the form, which a long catalog pushes out of sight."""
        if not self.service.models.may_edit:
            return None
        word = self.t("add.title")
        return el("button", word, type="button", cls="btn", data_scroll="models-add")

    def _shadowed(self, names: Sequence[str]) -> Html:
        """That added models are not used, and for those who may the way to be rid of them."""
        t = self.t
        words = [button(t("catalog.rescue", name=n), "remove", data_model=n) for n in names]
        warning = note("warn", t("catalog.shadowed", names=t("list.comma").join(names)))
        return join(warning, div(*words, cls="ways") if self.service.models.may_edit else None)

    def _page(self, notice: ModelsNotice, form: Any) -> tuple[Any, ...]:
        page, live = self.show(notice)
        return page, form, dump_client_state(notice), _stamp(page), gr.Timer(active=live)

    def _only_form(self, form: Any) -> tuple[Any, ...]:
        return SKIP, form, SKIP, SKIP, SKIP

    def _form(self, form: Form, *, problem: str = "", done: str = "") -> Html:
        if self.service.models.may_edit:
            return add_card(self.t, form, problem=problem, done=done)
        return el("p", self.t("add.not_yours"), cls="meta")

    def _added(self, act: Action) -> tuple[Any, ...]:
        try:
            entry = self.service.models.add(read_wanted(act.form))
        except InvalidModelForm as error:
            return self._only_form(add_card(self.t, act.form, faults=error.faults))
        except EvaluiError as error:
            problem = self.t.translate(error.sentence)
            return self._only_form(self._form(act.form, problem=problem))
        place: Form = {"add_place": act.value("add_place")}
        return self._page(
            _new_notice(), self._form(place, done=self.t("add.done", name=entry.name))
        )

    def _perform(self, act: Action) -> None:
        name = act.value("model")
        if act.do == "test":
            self.service.models.queue_test(name, self.service.owner)
        elif act.do == "again":
            self.service.models.refresh(name)
        elif act.do == "remove":
            self.service.models.remove(name)

    def _rows(
        self,
        looks: Mapping[str, ModelStatus],
        workers: Sequence[WorkerView],
        hardware: Hardware,
    ) -> list[ModelRow]:
        service, catalog = self.service.models, {}
        if looks:
            catalog = service.catalog()
        tests, speeds = service.tests(self.service.owner), service.speeds()
        added = service.added() - service.shadowed() if looks else frozenset[str]()
        at = {worker.row.model: worker for worker in workers if worker.visible and worker.row.model}
        return [
            ModelRow(
                entry=catalog[name],
                status=status,
                test=_current_test(tests.get(name), catalog[name]),
                footprint=service.footprint(status.state, hardware) if status.state else None,
                free_bytes=None if service.cluster else hardware.free(catalog[name]),
                speeds=speeds.get(name, {}),
                worker=at.get(name),
                base=base_of(catalog[name], catalog.values()),
                added=name in added,
            )
            for name, status in looks.items()
            if name in catalog
        ]

    def _wait_sentence(self, workers: Sequence[WorkerView]) -> str:
        """What a queued test waits for."""
        t = self.t
        if not workers:
            return t("tried.nobody")
        if not all(worker.row.is_busy for worker in workers):
            return t("tried.soon")
        if runs := [worker.run_name for worker in workers if worker.run_name]:
            return t("tried.behind", run=runs[0])
        mine = any(worker.visible and not worker.row.run for worker in workers)
        return t("tried.behind_test" if mine else "tried.behind_others")

    def _live(self, models: Sequence[ModelRow], workers: Sequence[WorkerView]) -> bool:
        return (
            any(model.status.pending or (model.test and model.test.is_pending) for model in models)
            or any(worker.row.is_busy for worker in workers)
            or (not workers and self.service.settings.workers > 0)  # they come with the server
            or self.service.queued_runs() > 0
        )


def _new_notice(problem: str = "", confirming: str = "") -> ModelsNotice:
    """What a click leaves that was made just now."""
    return ModelsNotice(problem, confirming, time.time())


def _current_test(test: ModelTestRow | None, entry: ModelEntry) -> ModelTestRow | None:
    """The test, unless it is of a model that the catalog has changed since."""
    return test if test and (test.is_pending or test.entry == entry) else None


def _stamp(page: Html) -> str:
    return hashlib.sha256(page.encode()).hexdigest()[:16]


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


def _summary(t: Messages, workers: Sequence[WorkerView]) -> str:
    if not workers:
        return ""
    busy = sum(worker.row.is_busy for worker in workers)
    return t("device.busy", busy=busy, idle=len(workers) - busy)


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
        return [name, status("na", t("device.idle")), "–", "–", "–", holds]
    state = status("go", t("device.works"))
    if not worker.visible:
        return [name, state, "–", t("device.others"), "–", holds]
    run = (
        el("a", worker.run_name, href=f"?run={row.run}&tab=runs") if row.run else t("device.tries")
    )
    device = "on_cluster" if cluster and row.device not in _IN_WORKER_PROCESS else row.device
    place = t(f"device.{device}") if f"device.{device}" in t else device
    model = join(row.model or "–", None if row.has_loaded_model or not row.model else _loading(t))
    return [name, state, model, run, place or "–", holds]


def _loading(t: Messages) -> Html:
    return div(t("runs.loading"), cls="meta")
