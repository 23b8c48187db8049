"""A run as the form of the page has it: each field is called by its path in a specification.

What all modes share stands at the top ("shots", "temperature"), what is of judging behind
"judging.", of a dataset behind "datasets.UPLOAD.", of a file of answers behind "answers.UPLOAD.".
Texts are read as pydantic reads them; what is wrong is said with the label of the field.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast, get_args

from pydantic import TypeAdapter, ValidationError

from evalui.benchmarks.groups import SummaryGroup, check_published
from evalui.datasets.model import Layout, columns_of
from evalui.errors import SpecError
from evalui.generation import (
    OF_RUN,
    GenerationSettings,
    check_used,
    declared_settings,
    fitting,
)
from evalui.messages import sentence
from evalui.modes import MODES
from evalui.modes.own_settings import all_settings, settings_taken
from evalui.modes.prompts.rubrics import (
    LETTERED_FORMATS,
    NUMBERED_FORMATS,
    SINGLE_ANSWER_FORMATS,
    parse_rubric,
)
from evalui.runs.contest import JudgingSpec
from evalui.runs.spec import (
    MAX_NAME,
    RUBRICS_BY_VERSION,
    VERSION,
    DatasetSpec,
    ModeSpec,
    RunSpec,
    validate,
)
from evalui.runs.submit import layout_of
from evalui.types import Spellings
from evalui.ui.components.form import Form, field_value, field_values

CUSTOM = "own"  # the template list's last entry: the text fields below it
BOTH = "both"  # the choice of pictures that adds each mode once more without them
JUDGING = "judging."  # begins the names of the fields of judges
RUBRIC_FIELDS = ("name", "language", "form", "instruction", "closing", "pattern")
TEMPLATE_FIELDS = ("name", "language", "question", "cloze", "answer", "unconditional")
# The sentence that a field has as its label; settings of writing have their own.
LABELS: Mapping[str, str] = {
    "name": "set.name",
    "shots": "set.shots",
    "limit": "set.limit",
    "limit_per": "set.limit_per",
    "pattern": "orders.title",
    "template": "set.template",
    "chat": "set.chat",
    "spellings": "set.spellings",
    "summary_groups": "set.groups",
    "metrics": "set.metrics",
    "judging.judges": "judge.who",
    "judging.template": "judge.rubric",
    "judging.baseline": "judge.baseline",
    "judging.against": "judge.second_list",
    **{f"{JUDGING}{name}": f"judge.{name}" for name in ("orders", "pairs", "sample")},
    **{f"{JUDGING}{name}": f"judge.{name}" for name in ("conflict", "output", "strong")},
}
_CRITERIA = "judging.template.criteria"  # a line for each: its name, a colon, and what it is
_MORE = "judging.template.more"  # the rest of a rubric that a specification brought, as JSON
_ANSWERS, _MODEL = "answers.", ".model"
_GROUPS = TypeAdapter(tuple[SummaryGroup, ...])
_NO_LAYOUT = Layout()


def form_to_spec(form: Form) -> RunSpec:
    """The run that the form describes; its answers name no dataset yet.

    Raises:
        SpecError: a field holds what it cannot, or a setting means nothing to any of the modes.
    """
    both = field_value(form, "pictures") == BOTH
    settings = _settings(form | {"pictures": ""} if both else form, all_settings())
    judging = _judging(form)
    limit = field_value(form, "limit").strip()
    per_dataset = limit and field_value(form, "limit_per") == "dataset"
    chosen = {*field_values(form, "models"), *(judging or {}).get("judges", ())}
    replies = [each.rpartition("=") for each in field_values(form, "replies_of")]
    values: dict[str, Any] = {
        "version": VERSION,
        "name": field_value(form, "name").strip()[:MAX_NAME],
        "datasets": [
            # The page says how many rows are set aside.
            _dataset(form, upload) | {"skip_faulty": True}
            for upload in field_values(form, "uploads")
        ],
        "models": field_values(form, "models"),
        "modes": _modes(form, settings, with_baseline=both),
        "answers": _answers(form),
        "judging": judging,
        "seed": settings.seed or 0,
        "limit": limit or None,
        "limit_per": "dataset" if per_dataset else None,
        "metrics": [*filter(None, re.split(r"[,，\s]+", field_value(form, "metrics")))],
        "summary_groups": _summary_groups(field_value(form, "summary_groups")),
        "replies_of": {model: addresses for model, _, addresses in replies if model in chosen},
    }
    return validate(values, _label)


def spec_to_form(spec: RunSpec) -> Form:
    """The form that makes a run of uploads again, for repeating it with changes."""
    first = _main_mode(spec)
    choice_modes = [mode for mode in spec.modes if mode.gives != "answers"]
    form: Form = {
        "uploads": [source.upload for source in spec.datasets],
        "models": list(spec.models),
        "modes": list(dict.fromkeys(mode.mode for mode in spec.modes)),
        "shots": ", ".join(dict.fromkeys(str(each.shots) for each in choice_modes or spec.modes)),
        "pattern": next(
            (mode.pattern for mode in spec.modes if mode.pattern != "origin"), "origin"
        ),
        "chat": {None: "", True: "yes", False: "no"}[first.chat],
        "spellings": next(
            (mode.spellings for mode in spec.modes if mode.spellings != "common"), "common"
        ),
        "limit": str(spec.limit or ""),
        "limit_per": spec.counts_per if spec.limit else "subject",
        "name": spec.name,
    }
    if spec.replies_of:
        form["replies_of"] = [f"{model}={of}" for model, of in spec.replies_of.items()]
    if spec.metrics:
        form["metrics"] = ", ".join(spec.metrics)
    if spec.summary_groups:
        form["summary_groups"] = _write_groups(spec.summary_groups)
    # What all modes together set; each took what means something to it.
    given = {name: value for mode in spec.modes for name, value in mode.given.items()}
    form |= _write_settings(given | ({"seed": spec.seed} if spec.seed else {}))
    if len({mode.pictures for mode in spec.modes}) > 1:
        form["pictures"] = BOTH
    for source in spec.datasets:
        form |= write_layout(layout_of(source), source.upload)
    form |= _write_template(first)
    form |= {answer_field(each.upload): each.model for each in spec.answers if each.upload}
    if earlier := [f"{each.run}/{each.model}" for each in spec.answers if each.run]:
        form["earlier"] = earlier
    written = any(mode.gives == "answers" for mode in spec.modes)
    automatic = "" if spec.version >= RUBRICS_BY_VERSION else "auto.1"
    return form | _write_judging(spec.judging, automatic) if written else form


def dataset_field(upload: str, name: str = "") -> str:
    """The field of the form for a field of a dataset; without a name the beginning of them all."""
    return f"datasets.{upload.replace('.', '-')}.{name}"


def read_layout(form: Form, upload: str) -> Layout:
    """How the form says to read an upload; empty fields keep the format's own.

    Raises:
        SpecError: a field holds what it cannot.
    """
    try:
        return layout_of(DatasetSpec.model_validate(_dataset(form, upload)))
    except ValidationError as error:
        raise SpecError("kept") from error  # lists hold these, so nobody types them


def write_layout(layout: Layout, upload: str) -> Form:
    """The fields of the form that read an upload by this layout."""
    names = ("answer_key", "sheet", "kind", "head_row", "split", "duplicate_options", "cluster")
    values = {name: getattr(layout, name) for name in names}
    given = {name: str(each) for name, each in values.items() if each != getattr(_NO_LAYOUT, name)}
    given |= {f"columns.{role}": header for role, header in columns_of(layout).items()}
    given |= {"commas_in_text": "yes"} if layout.commas_in_text else {}
    return {dataset_field(upload, name): text for name, text in given.items()}


def fields_under(form: Form, beginning: str) -> Form:
    """The fields whose names begin so, by the rest of their names; empty ones are none."""
    size = len(beginning)
    return {name[size:]: each for name, each in form.items() if name.startswith(beginning) and each}


def answer_field(part: str) -> str:
    """The form's field for the name of the model whose answers a file holds."""
    return f"{_ANSWERS}{part.replace('.', '-')}{_MODEL}"


def read_answers(form: Form) -> dict[str, str]:
    """The files of answers that the form has, each with the name of its model."""
    return {
        name.removeprefix(_ANSWERS).removesuffix(_MODEL).replace("-", "."): field_value(
            form, name
        ).strip()[:MAX_NAME]
        for name in form
        if name.startswith(_ANSWERS) and name.endswith(_MODEL)
    }


def read_spellings(form: Form) -> Spellings:
    """The letters that count as answers."""
    chosen = field_value(form, "spellings")
    return next((each for each in get_args(Spellings) if each == chosen), "common")


def read_rubric(form: Form) -> str | dict[str, Any]:
    """The rubric of the form: a name, "" for one by question, or the fields of one's own."""
    if field_value(form, "judging.template") != CUSTOM:
        return field_value(form, "judging.template")
    own: dict[str, Any] = {
        name: text
        for name in RUBRIC_FIELDS
        if (text := field_value(form, f"judging.template.{name}").replace("\r\n", "\n"))
    }
    if more := field_value(form, _MORE):
        own = _more(more) | own
    elif own.get("form") in SINGLE_ANSWER_FORMATS:
        own["frame"] = "2"
    if own.get("form") in (*NUMBERED_FORMATS, *LETTERED_FORMATS):
        own.pop("frame", None)  # the form decides
    # A criterion for each line: its name, a colon, and what it is, or its name alone.
    lines = [line.strip() for line in field_value(form, _CRITERIA).splitlines() if line.strip()]
    parts = [re.split(r"\s*[:：]\s*", line, maxsplit=1) for line in lines]
    if criteria := {name: about[0] if about else name for name, *about in parts}:
        own["criteria"] = criteria
    return own


def _label(loc: Sequence[int | str]) -> str:
    """What the page calls a field of a specification."""
    names = [part for part in loc if isinstance(part, str) and part != "modes"]
    shorter = (".".join(names[:n]) for n in range(len(names), 0, -1))
    labels = (sentence(key) for at in shorter if (key := LABELS.get(at)))
    return next(labels, ".".join(names))


def _settings(
    form: Form, kind: type[GenerationSettings], *, beginning: str = ""
) -> GenerationSettings:
    return kind.model_validate(
        {
            name: each.read(field_value(form, beginning + name))
            for name, each in declared_settings(kind).items()
        }
    )


def _write_settings(given: Mapping[str, Any], *, beginning: str = "") -> Form:
    """The fields of settings that are not as usual."""
    declared = declared_settings(all_settings())
    return {f"{beginning}{name}": declared[name].write(value) for name, value in given.items()}


def _modes(
    form: Form, settings: GenerationSettings, *, with_baseline: bool
) -> list[dict[str, Any]]:
    """Each mode with each number of worked examples; open questions have none. A baseline is the
    same mode with the pictures left out.
    """
    spellings = read_spellings(form)
    modes = [mode for mode in field_values(form, "modes") if mode in MODES]
    if modes:
        check_used(settings, [settings_taken(mode, spellings) for mode in modes])
    shots = [*filter(None, re.split(r"[,，;；\s]+", field_value(form, "shots")))] or ["0"]
    pattern, template = field_value(form, "pattern") or "circular", _template(form)
    return [
        {
            "mode": mode,
            "shots": n,
            "pattern": pattern if MODES[mode].shows_options else "origin",
            "template": "" if MODES[mode].gives == "answers" else template,
            "chat": field_value(form, "chat") or None,
            "spellings": spellings,
            **fitting(settings, settings_taken(mode, spellings) - OF_RUN),
            **left_out,
        }
        for mode in modes
        for left_out in ({}, {"pictures": "none"})[: 1 + with_baseline]
        for n in (["0"] if MODES[mode].gives == "answers" else dict.fromkeys(shots))
    ]


def _main_mode(spec: RunSpec) -> ModeSpec:
    """The mode whose settings the form shows: the first that has them all."""
    return next((mode for mode in spec.modes if mode.gives != "answers"), spec.modes[0])


def _dataset(form: Form, upload: str) -> dict[str, Any]:
    fields = fields_under(form, dataset_field(upload))
    plain = {name: each for name, each in fields.items() if name in DatasetSpec.model_fields}
    return {"columns": fields_under(fields, "columns."), **plain, "upload": upload}


def _answers(form: Form) -> list[dict[str, Any]]:
    """The answers that the form takes from files, then those of earlier runs.

    A cleared name must be noticed and not replaced.
    """
    files = read_answers(form)
    if not all(files.values()):
        raise SpecError("answers-no-name")
    # What is wrong in a file stands on the page, beside its name.
    brought = [
        {"model": model, "upload": part, "skip_faulty": True} for part, model in files.items()
    ]
    pairs = [entry.partition("/") for entry in field_values(form, "earlier")]
    return [*brought, *({"model": model, "run": run} for run, _, model in pairs if run and model)]


def _judging(form: Form) -> dict[str, Any] | None:
    fields = fields_under(form, JUDGING)
    if "yes" not in field_values(form, "judging") or "judges" not in fields:
        return None
    settings = _settings(form, GenerationSettings, beginning=JUDGING)
    own = JudgingSpec.model_fields.keys() - settings.declared.keys()
    judging: dict[str, Any] = {name: each for name, each in fields.items() if name in own}
    pairs = judging.get("pairs", "all")
    unused = ("baseline", "against") if pairs == "all" else ("against",) * (pairs != "matrix")
    kept = {name: each for name, each in judging.items() if name not in unused}
    return kept | {"template": read_rubric(form)} | dict(settings.given)


def _write_judging(judging: JudgingSpec | None, automatic: str) -> Form:
    """The fields of the judge; `automatic` is how its rubric is chosen where none is named."""
    if judging is None:
        return {"judging": []}
    names = ("orders", "pairs", "conflict", "output", "strong")
    form: Form = {
        "judging": ["yes"],
        **{f"{JUDGING}{name}": str(getattr(judging, name)) for name in names},
        **{f"{JUDGING}{name}": list(getattr(judging, name)) for name in ("judges", "baseline")},
        "judging.against": list(judging.against),
        "judging.sample": str(judging.sample or ""),
    }
    form |= _write_settings(judging.given, beginning=JUDGING)
    if isinstance(judging.template, str):
        return form | {"judging.template": judging.template or automatic}
    template = dict(judging.template)
    own = {f"judging.template.{name}": str(template.pop(name, "")) for name in RUBRIC_FIELDS}
    rubric = parse_rubric(judging.template)
    lines = "\n".join(f"{name}: {text}" for name, text in rubric.criteria)
    template.pop("criteria", None)
    # What has a default by the rest is written down: another form must not change it unseen.
    template.setdefault("frame", rubric.frame)
    more = json.dumps(template, ensure_ascii=False)
    return form | {"judging.template": CUSTOM, _CRITERIA: lines, _MORE: more} | own


def _template(form: Form) -> str | dict[str, Any]:
    if field_value(form, "template") != CUSTOM:
        return field_value(form, "template")
    # Browsers send line breaks of text areas as they show them.
    return {
        name: field_value(form, f"template.{name}").replace("\r\n", "\n")
        for name in TEMPLATE_FIELDS
    }


def _write_template(mode: ModeSpec) -> Form:
    if isinstance(mode.template, str):
        return {"template": mode.template}
    form: Form = {f"template.{name}": str(mode.template.get(name, "")) for name in TEMPLATE_FIELDS}
    return form | {"template": CUSTOM}


def _summary_groups(chosen: str) -> Any:
    """Those of a published list, or own ones of a repeated run, which the form has as JSON."""
    try:
        return json.loads(chosen) if chosen else []
    except (ValueError, RecursionError):
        check_published([chosen[:80]])
        return [chosen]


def _write_groups(groups: list[SummaryGroup]) -> str:
    (first, *more) = groups
    if first.published and not more and first == SummaryGroup(published=first.published):
        return first.published
    return _GROUPS.dump_json(tuple(groups), exclude_defaults=True).decode()


def _more(text: str) -> dict[str, Any]:
    try:
        more: Any = json.loads(text)
    except (ValueError, RecursionError):
        more = None
    if not isinstance(more, dict):  # nobody types it
        raise SpecError("rubric-table", name=_MORE, field=_MORE)
    return cast("dict[str, Any]", more)
