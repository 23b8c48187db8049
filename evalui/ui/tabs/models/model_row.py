"""One row of the Models page: its data, its state and buttons, and the form that adds a model."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import get_args
from urllib.parse import urlencode

from evalui.messages import Messages
from evalui.models.base import BACKENDS, ModelEntry, traits_of
from evalui.models.catalog import ModelState
from evalui.models.local import DTYPES
from evalui.models.memory_estimate import Footprint
from evalui.models.user_catalog import ModelSource, NewModelForm
from evalui.report.html import Child, Html, div, el, join
from evalui.runs.worker.model_tests import ModelTestRow
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.format import format_time
from evalui.ui.components.widgets import button, field, link_button, note, select, status, titled
from evalui.ui.services.models_service import ModelStatus, WorkerView

_PLACES: Mapping[str, ModelSource] = {name: name for name in get_args(ModelSource)}
# The form's own name of a field, where it is shorter than that of `NewModelForm`.
_SHORT = {"key_variable": "key"}
_OPTIONAL_FIELDS = ("input_price", "output_price", "max_length")


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One model of the catalog with everything its row shows.

    `free_bytes` are bytes where it would be loaded, None where that is not known. `worker` is the
    worker that has it, `base` what it was tuned from. `added`: on this page.
    """

    entry: ModelEntry
    status: ModelStatus
    test: ModelTestRow | None
    footprint: Footprint | None
    free_bytes: int | None
    speeds: Mapping[str, float]
    worker: WorkerView | None
    base: ModelEntry | None
    added: bool

    @property
    def state(self) -> ModelState | None:
        """What is known of it, None before it has answered."""
        return self.status.state

    @property
    def usable(self) -> bool:
        """Whether nothing is known against it."""
        return self.state is not None and not self.state.problem

    @property
    def remote(self) -> bool:
        """Whether it is reached over a network."""
        return traits_of(self.entry).remote

    @property
    def local(self) -> bool:
        """Whether it computes on this server, or on the cluster that belongs to it."""
        return traits_of(self.entry).loads_weights

    @property
    def fits(self) -> bool:
        """Whether there is room for it, as far as known; what is loaded has its room."""
        loaded = self.worker is not None and self.worker.row.has_loaded_model
        if self.footprint is None or self.free_bytes is None or loaded:
            return True
        return self.footprint.total <= self.free_bytes


@dataclass(frozen=True, slots=True)
class RowContext:
    """What the rows share: what a test waits for, who may edit, which removal is to be confirmed.

    `wait_sentence` is the sentence of a test that is queued. `checked_at` is when the files were
    last read because a user came or clicked, in Unix time.
    """

    wait_sentence: str
    may_edit: bool
    confirming: str = ""
    checked_at: float = 0.0


def worker_label(t: Messages, worker: WorkerView) -> str:
    """ "worker 4711": the machine's name adds nothing where there is one machine."""
    return t("device.worker", name=worker.row.name.rpartition(":")[2])


def state_column(t: Messages, model: ModelRow, context: RowContext) -> Html:
    """The state, when it was read, and the buttons."""
    return div(
        div(*_status_lines(t, model, context)),
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


def _status_lines(t: Messages, model: ModelRow, context: RowContext) -> list[Child]:
    worker, last = model.worker, _last_checked(t, model, context)
    if model.state is None:
        return [status("go", t("catalog.asked")), div(t("catalog.asked_about"), cls="meta")]
    if model.status.pending:
        return [status("go", t("catalog.asked")), last]
    if (
        model.state.is_endpoint_down
    ):  # it may pass by itself, so it must not look like what has to be fixed
        return [status("warn", t("catalog.away")), last]
    if model.state.problem:
        return [status("bad", t("catalog.problem")), last]
    if worker and worker.row.has_loaded_model and model.local:
        return [status("ok", t("catalog.loaded")), div(_worker_link(t, worker), cls="meta")]
    if worker:
        word = "catalog.in_use" if worker.row.has_loaded_model else "catalog.loading"
        return [status("go", t(word)), div(_worker_link(t, worker), cls="meta")]
    if model.remote:
        silent = status("warn", t("catalog.silent")) if _last_test_failed(model) else None
        return [silent or status("ok", t("catalog.answers")), last]
    return _idle(t, model)


def _idle(t: Messages, model: ModelRow) -> list[Child]:
    """The state of a model that is not in use and has no problem."""
    if model.local and not Path(model.entry.path).is_absolute():
        return [status("na", t("catalog.hub")), div(t("catalog.hub_about"), cls="meta")]
    if not model.fits:
        return [status("warn", t("catalog.tight")), div(t("catalog.tight_about"), cls="meta")]
    return [status("ok", t("catalog.loadable" if model.local else "catalog.always"))]


def _advice(model: ModelRow, state: ModelState, context: RowContext) -> str:
    if state.is_endpoint_down:
        return "catalog.away_about"
    if not context.may_edit:
        return "catalog.mend_other"
    return "catalog.mend_added" if model.added else "catalog.mend"


def _last_checked(t: Messages, model: ModelRow, context: RowContext) -> Html | None:
    """When an endpoint was last probed, or its files were read."""
    if model.remote:
        at, key = model.status.checked_at, "catalog.asked_at"
    else:
        at, key = context.checked_at, "catalog.looked_at"
    return div(t(key, when=_clock(t, at)), cls="meta") if at else None


def _clock(t: Messages, at: float) -> str:
    """To the second, so that a new probe is seen to have changed something."""
    then, now = datetime.fromtimestamp(at).astimezone(), datetime.now().astimezone()
    return f"{then:%H:%M:%S}" if then.date() == now.date() else format_time(t, at)


def _last_test_failed(model: ModelRow) -> bool:
    """Whether its last test failed, and it was not probed since."""
    test, checked_at = model.test, model.status.checked_at or 0.0
    return bool(test and test.state == "failed" and (test.finished or test.created) > checked_at)


def _worker_link(t: Messages, worker: WorkerView) -> Html:
    work = (
        el("a", worker.run_name, href=f"?run={worker.row.run}&tab=runs")
        if worker.row.run
        else t("device.tries")
    )
    return join(worker_label(t, worker), " · ", work)


def _actions(t: Messages, model: ModelRow, context: RowContext) -> list[Html | None]:
    name, test = model.entry.name, model.test
    if context.confirming == name:
        return [
            div(t("catalog.remove_sure"), cls="meta"),
            button(t("catalog.remove_yes"), "remove", data_model=name),
            button(t("runs.keep"), "keep", cls="quiet"),
        ]
    live = test is not None and test.is_pending
    return [
        _waiting(t, test, context) if live and test and not model.worker else None,
        None if live or not model.usable else button(t("catalog.test"), "test", data_model=name),
        _retry_button(t, model),
        _compare(t, model),
        link_button(t("file.remove"), "ask", data_model=name)
        if model.added and context.may_edit
        else None,
    ]


def _retry_button(t: Messages, model: ModelRow) -> Html | None:
    """The button to probe again: prominent for what cannot be used, small for what works."""
    if model.status.pending or (model.usable and not model.remote):
        return None
    make = link_button if model.usable else button
    word = t("catalog.ask_again" if model.remote else "catalog.look_again")
    return make(word, "again", data_model=model.entry.name)


def _waiting(t: Messages, test: ModelTestRow, context: RowContext) -> Html:
    if test.state == "running":
        return div(status("go", t("tried.running")))
    return div(status("na", t("tried.queued")), div(context.wait_sentence, cls="meta"))


def _compare(t: Messages, model: ModelRow) -> Html | None:
    if not model.base or not model.usable:
        return None
    address = "?" + urlencode(
        [("tab", "evaluate"), ("models", model.base.name), ("models", model.entry.name)]
    )
    return el("a", t("catalog.compare"), href=address, cls="btn")


def add_card(
    t: Messages,
    form: Form,
    *,
    problem: str = "",
    done: str = "",
    faults: Mapping[str, str] | None = None,
) -> Html:
    """The form, only with the fields that matter for where the model is.

    `faults` are sentences by the name of the field in `NewModelForm`; `problem` is one of the
    whole.
    """
    place = _PLACES.get(field_value(form, "add_place"), "folder")
    wrong = {_SHORT.get(name, name): message for name, message in (faults or {}).items()}
    fields = _endpoint(t, form, wrong) if place == "endpoint" else _local(t, form, place, wrong)
    if wrong:
        problem = t("add.wrong")
    message = note("bad", problem) if problem else note("ok", done) if done else None
    return titled(
        t("add.title"),
        el("p", t("add.about"), cls="dim"),
        div(_places(t, place), cls="gap"),
        fields,
        div(message, role="alert", cls="gap") if message else None,
        div(button(t("add.go"), "add", cls="pri", data_once=True), cls="gap"),
        cls="add-model",
    )


def read_wanted(form: Form) -> NewModelForm:
    """The form's fields; whether they are right is checked where the model is added."""
    place = _PLACES.get(field_value(form, "add_place"), "folder")
    backend = field_value(form, "add_backend")
    return NewModelForm(
        name=field_value(form, "add_name").strip(),
        path=field_value(form, "add_path").strip(),
        place=place,
        backend=backend if backend in _backends() else _backends()[0],
        dtype=field_value(form, "add_dtype") or "auto",
        chat=field_value(form, "add_chat") == "yes",
        adapter=field_value(form, "add_adapter").strip(),
        address=field_value(form, "add_address").strip(),
        key_variable=field_value(form, "add_key").strip(),
        input_price=field_value(form, "add_input_price").strip(),
        output_price=field_value(form, "add_output_price").strip(),
        max_length=field_value(form, "add_max_length").strip(),
    )


def _backends() -> list[str]:
    return [name for name in BACKENDS if BACKENDS[name].traits.opens_folders]


def _places(t: Messages, chosen: ModelSource) -> Html:
    return div(
        *(
            el(
                "label",
                el(
                    "input",
                    type="radio",
                    name="add_place",
                    value=place,
                    checked=place == chosen,
                    aria_label=t(f"add.{place}"),
                ),
                div(el("h3", t(f"add.{place}")), div(t(f"add.{place}_about"), cls="meta")),
                cls="opt",
            )
            for place in _PLACES
        ),
        cls="places",
        role="radiogroup",
        aria_label=t("add.where"),
    )


def _local(t: Messages, form: Form, place: ModelSource, wrong: Mapping[str, str]) -> Html:
    fields = [
        _text(t, form, "name", wrong, hint=True),
        _text(t, form, "path", wrong, word=f"add.{place}_path", example=f"add.{place}_example"),
        _text(t, form, "adapter", wrong, hint=True),
        field(
            t("add.dtype"),
            select(
                "add_dtype",
                {name: t("add.dtype_auto") if name == "auto" else name for name in DTYPES},
                field_value(form, "add_dtype"),
            ),
        ),
        _chat(t, form),
    ]
    if len(backends := _backends()) > 1:
        words = {name: t(f"backend.{name}") for name in backends}
        fields.append(
            field(t("add.backend"), select("add_backend", words, field_value(form, "add_backend")))
        )
    return div(*fields, cls="fields gap")


def _endpoint(t: Messages, form: Form, wrong: Mapping[str, str]) -> Html:
    return join(
        div(
            _text(t, form, "name", wrong, hint=True),
            _text(t, form, "address", wrong, example="add.address_example"),
            _text(t, form, "path", wrong, word="add.endpoint_path", example="add.endpoint_example"),
            _text(t, form, "key", wrong, hint=True, example="add.key_example"),
            _chat(t, form),
            cls="fields gap",
        ),
        el(
            "details",
            el("summary", t("add.more")),
            div(
                *(
                    _text(t, form, name, wrong, hint=True, inputmode="decimal")
                    for name in _OPTIONAL_FIELDS
                ),
                cls="fields",
            ),
            cls="gap",
            # What is filled in, or wrong, must not be out of sight.
            open=any(field_value(form, f"add_{name}") for name in _OPTIONAL_FIELDS),
        ),
    )


def _chat(t: Messages, form: Form) -> Html:
    words = {"": t("set.chat_no"), "yes": t("set.chat_yes")}
    return field(t("set.chat"), select("add_chat", words, field_value(form, "add_chat")))


def _text(
    t: Messages,
    form: Form,
    name: str,
    wrong: Mapping[str, str],
    *,
    word: str = "",
    example: str = "",
    hint: bool = False,
    inputmode: str | None = None,
) -> Html:
    """A text field; its fault, if it has one, takes the place of its hint."""
    fault = wrong.get(name, "")
    about = el("span", t.translate(fault), cls="bad fault", id=f"fault-{name}") if fault else None
    control = el(
        "input",
        type="text",
        name=f"add_{name}",
        value=field_value(form, f"add_{name}"),
        placeholder=t(example) if example else None,
        inputmode=inputmode,
        autocomplete="off",
        spellcheck="false",
        aria_invalid="true" if fault else None,
        aria_describedby=f"fault-{name}" if fault else None,
    )
    return field(
        t(word or f"add.{name}"), control, hint=about or (t(f"add.{name}_hint") if hint else None)
    )
