"""A dropped log of another harness: what it is, what it lacks, and the button that imports it."""

from evalui.app.files.views import LogChoices, LoggedRun, LogView, UnnamedModel
from evalui.messages import Messages
from evalui.report.html import Html, div, el, span
from evalui.ui.components.form import Form, field_value, field_values
from evalui.ui.components.widgets import (
    button,
    card,
    field,
    hidden,
    link_button,
    note,
    table,
    text_input,
    tick,
)
from evalui.ui.tabs.evaluate.rows import details_summary, remark

LOG_FIELD = "log_"  # begins the names of the fields of a card
_SHOWN_NAMES = 3
_SHOWN_FILES = 3
_MAX_NAME = 120  # characters, as of a run that is started here


def log_card(t: Messages, upload: str, view: LogView, form: Form) -> Html:
    """The card of an upload that is a finished run."""
    return card(
        hidden("logs", upload, many=True),
        div(
            el("b", view.bundle or _names(t, [run.dataset for run in view.runs])),
            span(t("log.own" if view.bundle else "log.finished"), cls="chip on"),
            span(_facts(t, view), cls="meta"),
            span(link_button(t("file.remove"), "remove", data_upload=upload), cls="acts"),
            cls="l1",
        ),
        el(
            "details",
            details_summary(
                span(_names(t, [_model_name(t, view, run) for run in view.runs])),
                t("file.details"),
            ),
            div(_runs(t, view), cls="in"),
            cls="l2",
        ),
        *(div(each, cls="gap-s") for each in _notes(t, view)),
        *(div(_without(t, upload, name, form), cls="gap-s") for name in view.apart),
        div(
            *(
                _model_field(t, f"{LOG_FIELD}model_{upload}_{place}", model, form)
                for place, model in enumerate(view.unnamed)
            ),
            _name_field(t, f"{LOG_FIELD}name_{upload}", view, form),
            cls="fields gap",
        ),
        div(
            button(t("log.import"), "import", cls="pri", data_upload=upload, data_once=True),
            cls="acts gap",
        ),
        cls="ds log",
        data_key=f"log_{upload}",
    )


def read_choices(form: Form, upload: str, view: LogView | None) -> LogChoices:
    """What the fields of a card say."""
    models = (
        field_value(form, f"{LOG_FIELD}model_{upload}_{place}")
        for place in range(len(view.unnamed) if view else 0)
    )
    return LogChoices(
        field_value(form, f"{LOG_FIELD}name_{upload}").strip()[:_MAX_NAME],
        tuple(name[:_MAX_NAME] for name in models),
        field_values(form, f"{LOG_FIELD}without_{upload}"),
    )


def _facts(t: Messages, view: LogView) -> str:
    harnesses = dict.fromkeys(_harness(t, run) for run in view.runs)
    facts = [
        t("list.comma").join(harnesses),
        t.count("log.models", view.n_models),
        t.count("log.datasets", view.n_datasets),
    ]
    return " · ".join(facts)


def _harness(t: Messages, run: LoggedRun) -> str:
    key = f"harness.{run.harness}"
    return f"{t(key) if key in t else run.harness} {run.version}".strip()


def _names(t: Messages, names: list[str]) -> str:
    """The first distinct names, and how many more there are."""
    distinct = list(dict.fromkeys(names))
    more = len(distinct) - _SHOWN_NAMES
    return t("list.comma").join(distinct[:_SHOWN_NAMES]) + (f" (+{more})" if more > 0 else "")


def _runs(t: Messages, view: LogView) -> Html:
    heads = (t("log.dataset"), t("log.model"), t("log.harness"))
    rows = ((run.dataset, _model_name(t, view, run), _harness(t, run)) for run in view.runs)
    more = view.n_runs - len(view.runs)
    return div(
        table(heads, rows, repeats=True),
        el("p", t.count("log.more", more), cls="meta gap-s") if more > 0 else None,
    )


def _model_name(t: Messages, view: LogView, run: LoggedRun) -> str:
    unnamed = next((each for each in view.unnamed if each.label == run.model), None)
    return run.model if unnamed is None else unnamed.guess or t("log.unnamed")


def _notes(t: Messages, view: LogView) -> list[Html]:
    """What the log lacks, and what of the drop is no part of it."""
    missing = dict.fromkeys(key for run in view.runs for key in run.missing)
    notes = [_remark(t(f"log.missing-{key}")) for key in missing]
    if view.beside:
        more = view.n_beside - len(view.beside)
        names = t("list.comma").join(view.beside) + (f" (+{more})" if more > 0 else "")
        notes.append(_remark(t("log.beside", files=names)))
    if not view.has_folders and (view.unnamed or "results" in missing):
        notes.append(note("warn", t("log.folders")))
    if view.apart:
        notes.append(note("warn", t("log.apart")))
    return notes


def _remark(text: str) -> Html:
    return div(remark("na", text), cls="meta")


def _without(t: Messages, upload: str, name: str, form: Form) -> Html:
    field_name = f"{LOG_FIELD}without_{upload}"
    on = name in field_values(form, field_name)
    return tick(field_name, name, t("log.without", file=name), on=on)


def _model_field(t: Messages, name: str, model: UnnamedModel, form: Form) -> Html:
    more = len(model.files) - _SHOWN_FILES
    files = t("list.comma").join(model.files[:_SHOWN_FILES])
    files += f" (+{more})" if more > 0 else ""
    hint = t("log.model_folder" if model.guess else "log.model_missing", files=files)
    value = field_value(form, name) if name in form else model.guess
    control = text_input(name, value, required=True, maxlength=_MAX_NAME)
    return field(t("log.model_name"), control, hint=hint, key=name)


def _name_field(t: Messages, name: str, view: LogView, form: Form) -> Html:
    usual = view.bundle or _names(t, [run.dataset for run in view.runs])
    control = text_input(name, field_value(form, name), maxlength=_MAX_NAME, placeholder=usual)
    return field(t("log.run_name"), control, key=name)
