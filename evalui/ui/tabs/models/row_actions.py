"""The right column of a model's row: its state, and what a person can do about it."""

from datetime import datetime
from pathlib import Path
from urllib.parse import urlencode

from evalui.messages import Messages
from evalui.models.catalog import ModelState
from evalui.runs.worker.model_tests import ModelTestRow
from evalui.ui.components.format import format_time
from evalui.ui.components.html import Child, Html, div, el, join
from evalui.ui.components.widgets import button, link_button, status
from evalui.ui.services.models_service import WorkerView
from evalui.ui.tabs.models.devices import worker_label
from evalui.ui.tabs.models.rows import ModelRow, RowContext


def state_column(t: Messages, model: ModelRow, context: RowContext) -> Html:
    """The state, when it was found, and the buttons."""
    return div(
        div(*_status_lines(t, model, context), cls="told-state"),
        div(*_actions(t, model, context), cls="acts"),
        cls="model-state",
    )


def problem_note(t: Messages, model: ModelRow, context: RowContext) -> Html | None:
    """Why it cannot be used, and what helps; None if nothing is against it."""
    state = model.state
    if state is None or not state.problem or model.status.pending:
        return None
    return div(
        div(t.translate(state.problem)),
        div(t(_advice(model, state, context)), cls="dim"),
        cls="why",
    )


def _status_lines(t: Messages, model: ModelRow, around: RowContext) -> list[Child]:
    seat, last = model.worker, _last_checked(t, model, around)
    if model.state is None:
        return [status("go", t("catalog.asked")), div(t("catalog.asked_about"), cls="meta")]
    if model.status.pending:
        return [status("go", t("catalog.asked")), last]
    if (
        model.state.is_endpoint_down
    ):  # it may pass by itself, so it must not look like what has to be mended
        return [status("warn", t("catalog.away")), last]
    if model.state.problem:
        return [status("bad", t("catalog.problem")), last]
    if seat and seat.row.has_loaded_model and model.local:
        return [status("ok", t("catalog.loaded")), div(_worker_link(t, seat), cls="meta")]
    if seat:
        word = "catalog.in_use" if seat.row.has_loaded_model else "catalog.loading"
        return [status("go", t(word)), div(_worker_link(t, seat), cls="meta")]
    if model.remote:
        silent = status("warn", t("catalog.silent")) if _last_test_failed(model) else None
        return [silent or status("ok", t("catalog.answers")), last]
    return _idle(t, model)


def _idle(t: Messages, model: ModelRow) -> list[Child]:
    """The state of a model that nobody uses and nothing is against."""
    if model.local and not Path(model.entry.path).is_absolute():
        return [status("na", t("catalog.hub")), div(t("catalog.hub_about"), cls="meta")]
    if not model.fits:
        return [status("warn", t("catalog.tight")), div(t("catalog.tight_about"), cls="meta")]
    return [status("ok", t("catalog.loadable" if model.local else "catalog.always"))]


def _advice(model: ModelRow, state: ModelState, around: RowContext) -> str:
    if state.is_endpoint_down:
        return "catalog.away_about"
    if not around.may_edit:
        return "catalog.mend_other"
    return "catalog.mend_added" if model.added else "catalog.mend"


def _last_checked(t: Messages, model: ModelRow, around: RowContext) -> Html | None:
    """When an endpoint was last asked, or its files were looked at."""
    if model.remote:
        at, key = model.status.checked_at, "catalog.asked_at"
    else:
        at, key = around.checked_at, "catalog.looked_at"
    return div(t(key, when=_clock(t, at)), cls="meta") if at else None


def _clock(t: Messages, at: float) -> str:
    """To the second, so that asking again is seen to have changed something."""
    then, now = datetime.fromtimestamp(at).astimezone(), datetime.now().astimezone()
    return f"{then:%H:%M:%S}" if then.date() == now.date() else format_time(t, at)


def _last_test_failed(model: ModelRow) -> bool:
    """Whether its last test failed, and it was not asked since."""
    trial, asked = model.test, model.status.checked_at or 0.0
    return bool(trial and trial.state == "failed" and (trial.finished or trial.created) > asked)


def _worker_link(t: Messages, seat: WorkerView) -> Html:
    work = (
        el("a", seat.run_name, href=f"?run={seat.row.run}&tab=runs")
        if seat.row.run
        else t("device.tries")
    )
    return join(worker_label(t, seat), " · ", work)


def _actions(t: Messages, model: ModelRow, around: RowContext) -> list[Html | None]:
    name, trial = model.entry.name, model.test
    if around.confirming == name:
        return [
            div(t("catalog.remove_sure"), cls="meta"),
            button(t("catalog.remove_yes"), "remove", data_model=name),
            button(t("runs.keep"), "keep", cls="quiet"),
        ]
    live = trial is not None and trial.is_pending
    return [
        _waiting(t, trial, around) if live and trial and not model.worker else None,
        None if live or not model.usable else button(t("catalog.test"), "test", data_model=name),
        _retry_button(t, model),
        _compare(t, model),
        link_button(t("file.remove"), "ask", data_model=name)
        if model.added and around.may_edit
        else None,
    ]


def _retry_button(t: Messages, model: ModelRow) -> Html | None:
    """What cannot be used may be asked again first of all; what works, by the way."""
    if model.status.pending or (model.usable and not model.remote):
        return None
    make = link_button if model.usable else button
    word = t("catalog.ask_again" if model.remote else "catalog.look_again")
    return make(word, "again", data_model=model.entry.name)


def _waiting(t: Messages, trial: ModelTestRow, around: RowContext) -> Html:
    if trial.state == "running":
        return div(status("go", t("tried.running")))
    return div(status("na", t("tried.queued")), div(around.wait_sentence, cls="meta"))


def _compare(t: Messages, model: ModelRow) -> Html | None:
    if not model.base or not model.usable:
        return None
    address = "?" + urlencode(
        [("tab", "evaluate"), ("models", model.base.name), ("models", model.entry.name)]
    )
    return el("a", t("catalog.compare"), href=address, cls="btn")
