"""A dropped log of another harness: what it is, what it lacks, and the button that imports it."""

import gradio as gr

from evalui.app.files.views import LogChoices, LoggedRun, LogView, UnnamedModel
from evalui.messages import Messages
from evalui.ui.components.form import Form, field_value, field_values
from evalui.ui.components.listing import markup
from evalui.ui.components.templates import fill
from evalui.ui.pages.evaluate.fields import Field, Fields, show_fields

_SHOWN_NAMES = 3
_SHOWN_FILES = 3
_MAX_NAME = 120  # characters, as of a run that is started here


def show_log(t: Messages, upload: str, view: LogView, form: Form, *, opened: bool) -> None:
    """The card of an upload that is a finished run; what it lacks is asked in the opened one."""
    about = fill(
        "evaluate/log.html",
        t=t,
        upload=upload,
        view=view,
        opened=opened,
        name=run_name(t, view),
        facts=_facts(t, view),
        models=_names(t, [_model_name(t, view, run) for run in view.runs]),
        rows=[(run.dataset, _model_name(t, view, run), _harness(t, run)) for run in view.runs],
        more=view.n_runs - len(view.runs),
        remarks=_remarks(t, view),
        warnings=_warnings(t, view),
    )
    with gr.Column(elem_classes="card ds log", key=("log", upload)):
        markup(about, elem_classes="ev", key=("about-log", upload))
        if opened:
            show_fields(_fields(t, upload, view, form))
            taken = fill("evaluate/import.html", t=t, upload=upload)
            markup(taken, elem_classes="ev", key=("import-log", upload))


def model_field(upload: str, place: int) -> str:
    """The field for the name of a model that no file of a log states."""
    return f"log_model_{upload}_{place}"


def run_name(t: Messages, view: LogView) -> str:
    """What the run is called unless it is given a name."""
    return view.bundle or _names(t, [run.dataset for run in view.runs])


def read_choices(form: Form, upload: str, view: LogView | None) -> LogChoices:
    """What the fields of a card say."""
    models = (
        field_value(form, model_field(upload, place))
        for place in range(len(view.unnamed) if view else 0)
    )
    return LogChoices(
        field_value(form, "log_name").strip()[:_MAX_NAME],
        tuple(name[:_MAX_NAME] for name in models),
        field_values(form, "log_without"),
    )


def _fields(t: Messages, upload: str, view: LogView, form: Form) -> list[Field]:
    """The names that no file of the log states, what is left out of it, and its name here."""
    fields = Fields(t, form)
    without = {name: t("log.without", file=name) for name in view.apart}
    return [
        *(
            fields.text(
                model_field(upload, place),
                t("log.model_name"),
                _hint(t, model),
                usual=model.guess,
                quiet=True,
            )
            for place, model in enumerate(view.unnamed)
        ),
        *([fields.ticks("log_without", without, t("log.apart"))] if without else []),
        fields.text("log_name", t("log.run_name"), placeholder=run_name(t, view), quiet=True),
    ]


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


def _model_name(t: Messages, view: LogView, run: LoggedRun) -> str:
    unnamed = next((each for each in view.unnamed if each.label == run.model), None)
    return run.model if unnamed is None else unnamed.guess or t("log.unnamed")


def _missing(view: LogView) -> list[str]:
    return list(dict.fromkeys(key for run in view.runs for key in run.missing))


def _remarks(t: Messages, view: LogView) -> list[str]:
    """What the log lacks, and what of the drop is no part of it."""
    remarks = [t(f"log.missing-{key}") for key in _missing(view)]
    if view.beside:
        more = view.n_beside - len(view.beside)
        names = t("list.comma").join(view.beside) + (f" (+{more})" if more > 0 else "")
        remarks.append(t("log.beside", files=names))
    return remarks


def _warnings(t: Messages, view: LogView) -> list[str]:
    lacks_folders = not view.has_folders and (view.unnamed or "results" in _missing(view))
    warnings = [t("log.folders")] if lacks_folders else []
    return [*warnings, t("log.apart")] if view.apart else warnings


def _hint(t: Messages, model: UnnamedModel) -> str:
    more = len(model.files) - _SHOWN_FILES
    files = t("list.comma").join(model.files[:_SHOWN_FILES])
    files += f" (+{more})" if more > 0 else ""
    return t("log.model_folder" if model.guess else "log.model_missing", files=files)
