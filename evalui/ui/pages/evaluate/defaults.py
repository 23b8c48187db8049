"""What a form does not say yet: models, modes and judges that can work with its files."""

from collections.abc import Sequence

from evalui.app.files.views import UploadView
from evalui.app.samples import SAMPLE_JUDGE
from evalui.models.catalog import ModelState
from evalui.models.endpoint.limits import external_hosts
from evalui.modes import modes_for
from evalui.types import DatasetKind, has_options
from evalui.ui.components.form import Form, field_values
from evalui.ui.pages.evaluate.judging import can_judge
from evalui.ui.pages.evaluate.mode_list import fits_options, preset_fields
from evalui.ui.pages.evaluate.model_list import OfferedModel

_DEFAULT_MODELS = 2


def kinds_of(datasets: Sequence[UploadView]) -> list[DatasetKind]:
    """The kinds of question, in the order of the datasets."""
    return list(dict.fromkeys(dataset.kind for dataset in datasets))


def with_defaults(
    form: Form, datasets: Sequence[UploadView], models: Sequence[OfferedModel]
) -> Form:
    """The form with defaults for what is not chosen yet, and without modes that fit no file.

    A kind of question that the form was not shown with brings its usual mode.
    """
    kinds = kinds_of(datasets)
    if "models" not in form:
        form = form | {"models": _default_models(models)}
    shown = field_values(form, "kinds")
    new: list[DatasetKind] = [kind for kind in kinds if kind not in shown]
    if "kinds" not in form and "modes" in form:
        new = []  # a run to repeat
    has_new_choice = any(map(has_options, new))
    if has_new_choice and not {"pattern", "limit"} & form.keys():
        form = form | preset_fields("robust", form, models)
    modes = [mode for mode in field_values(form, "modes") if mode in modes_for(kinds)]
    usual = [mode for kind in new if not has_options(kind) for mode in modes_for((kind,))[:1]]
    if has_new_choice and not any(map(fits_options, modes)):
        usual += field_values(preset_fields("robust", form, models), "modes")
    modes = list(dict.fromkeys((*modes, *usual)))
    form = form | {"modes": modes, "kinds": [str(kind) for kind in kinds]}
    if "judging" not in form and not all(map(has_options, kinds)):
        form |= _default_judging(form, datasets, [model.state for model in models])
    elif "subjective" in new and not field_values(form, "judging"):
        form |= {"judging.template": ""}  # marks were the default before; nobody chose them
    return form


def _default_models(models: Sequence[OfferedModel]) -> list[str]:
    """The first models of one's own that run here; what only demonstrates, or sends the questions
    elsewhere, waits to be chosen.
    """
    ready = [
        model.entry.name
        for model in models
        if model.can_run and model.group != "demo" and not external_hosts(model.entry)
    ]
    return ready[:_DEFAULT_MODELS]


def _default_judging(
    form: Form, datasets: Sequence[UploadView], states: Sequence[ModelState]
) -> Form:
    """Judges compare answers to open questions that have references; else none does."""
    able = [state.entry for state in states if can_judge(state)]
    judges = [entry.name for entry in able if not external_hosts(entry)]
    judge = SAMPLE_JUDGE if SAMPLE_JUDGE in judges else next(iter(judges), "")
    chosen: Form = {"judging.judges": [judge] if judge else [], "judging": []}
    open_ = [each for each in datasets if each.kind == "subjective"]
    referenced = any(each.n_references for each in open_)
    if len(field_values(form, "models")) > 1 and referenced and judge == SAMPLE_JUDGE:
        return chosen | {"judging": ["yes"]}
    return chosen if open_ else chosen | {"judging.template": f"score10-{_language(datasets)}.2"}


def _language(datasets: Sequence[UploadView]) -> str:
    """The language of most questions."""
    chinese = sum(each.n_chinese for each in datasets)
    return "zh" if 2 * chinese >= sum(each.n_questions for each in datasets) else "en"
