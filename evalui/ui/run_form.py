"""The Evaluate form read into a run specification, and back again."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast, get_args

from pydantic import TypeAdapter, ValidationError

from evalui.app.run_form import (
    KINDS,
    AnswerSource,
    RunForm,
    read_columns,
    write_columns,
)
from evalui.datasets.base import Layout
from evalui.errors import SpecError
from evalui.generation import GenerationSettings, declared_settings
from evalui.messages import Sentence
from evalui.modes import MODES
from evalui.modes.own_settings import all_settings
from evalui.modes.prompts.rubrics import (
    LETTERED_FORMATS,
    NUMBERED_FORMATS,
    SINGLE_ANSWER_FORMATS,
    parse_rubric,
)
from evalui.runs.contest import MAX_STRONG, JudgingSpec, OutputChoice, PairPlan
from evalui.runs.spec import (
    RUBRICS_BY_VERSION,
    ModeSpec,
    RunSpec,
)
from evalui.runs.submit import layout_of
from evalui.summary_groups import SummaryGroup, published_lists
from evalui.types import ConflictRule, Pattern, PresentationOrders, Spellings, Split
from evalui.ui.components.form import Form, field_value, field_values, parse_whole_number

PATTERNS: Mapping[str, Pattern] = {name: name for name in get_args(Pattern)}
SPELLINGS: Mapping[str, Spellings] = {name: name for name in get_args(Spellings)}
SPLITS: Mapping[str, Split] = {name: name for name in get_args(Split)}
ORDERS: Mapping[str, PresentationOrders] = {name: name for name in get_args(PresentationOrders)}
PAIRS: Mapping[str, PairPlan] = {name: name for name in get_args(PairPlan)}
CONFLICTS: Mapping[str, ConflictRule] = {name: name for name in get_args(ConflictRule)}
OUTPUTS: Mapping[str, OutputChoice] = {name: name for name in get_args(OutputChoice)}
WEIGHTS = (1, 3)  # of a verdict of "much better", which the page offers: Arena-Hard's is 3
CUSTOM = "own"  # the template list's last entry: the text fields below it
RUBRIC_FIELDS = ("name", "language", "form", "instruction", "closing", "pattern")
_CRITERIA = "rubric_criteria"  # a line for each: its name, a colon, and what it is
_MORE = "rubric_more"  # the rest of a rubric that a specification brought along, as JSON
_CHAT: Mapping[str, bool | None] = {"": None, "yes": True, "no": False}
_OWN_FIELDS = ("name", "language", "question", "cloze", "answer", "unconditional")
_HEAD_ROW = re.compile(r"-1|[1-9]\d{0,6}")


def read_run_form(form: Form) -> RunForm:
    """The fields of the form as a run form.

    Raises:
        SpecError: a number field holds no number, or the models or modes are none.
    """
    uploads = field_values(form, "uploads")
    return RunForm(
        uploads=uploads,
        models=field_values(form, "models"),
        modes=tuple(mode for mode in field_values(form, "modes") if mode in MODES),
        layouts={upload: read_layout(form, upload) for upload in uploads},
        answers=read_answer_sources(form),
        judging=_judging(form),
        shots=_shots(field_value(form, "shots")),
        pattern=PATTERNS.get(field_value(form, "pattern"), "circular"),
        template=_template(form),
        chat=_CHAT.get(field_value(form, "chat")),
        spellings=SPELLINGS.get(field_value(form, "spellings"), "common"),
        generation=_generation(form),
        limit=_number(field_value(form, "limit"), Sentence("Questions", "set.limit")) or None,
        limit_per="dataset" if field_value(form, "limit_per") == "dataset" else "subject",
        name=field_value(form, "name").strip()[:120],
        metrics=tuple(filter(None, re.split(r"[,，\s]+", field_value(form, "metrics")))),
        summary_groups=_summary_groups(form),
        replies_of=_replies_of(form),
    )


def _replies_of(form: Form) -> dict[str, str]:
    """The addresses whose kept replies count as a model's, of the models that are chosen."""
    pairs = [each.rpartition("=") for each in field_values(form, "replies_of")]
    judges = field_values(form, "judges") if "yes" in field_values(form, "judging") else ()
    chosen = (*field_values(form, "models"), *judges)
    return {model: addresses for model, _, addresses in pairs if model in chosen}


def _summary_groups(form: Form) -> tuple[SummaryGroup, ...]:
    """Those of a published list, or own ones of a repeated run, which the form has as JSON."""
    chosen = field_value(form, "summary_groups")
    if not chosen:
        return ()
    known = published_lists()
    if chosen in known:
        return (SummaryGroup(published=chosen),)
    try:
        return _GROUPS.validate_json(chosen)
    except ValidationError as error:
        listed = ", ".join(known)
        raise SpecError("group-unpublished", name=chosen[:80], known=listed) from error


def _summary_groups_form(groups: Sequence[SummaryGroup]) -> str:
    (first, *more) = groups
    if first.published and not more and first == SummaryGroup(published=first.published):
        return first.published
    return _GROUPS.dump_json(tuple(groups), exclude_defaults=True).decode()


_GROUPS = TypeAdapter(tuple[SummaryGroup, ...])


def _generation(form: Form, *, judge: bool = False) -> GenerationSettings:
    kind = GenerationSettings if judge else all_settings()
    read = {
        name: each.read(field_value(form, generation_field(name, judge=judge)))
        for name, each in declared_settings(kind).items()
    }
    return kind.model_validate(read)


def _generation_form(given: Mapping[str, Any], *, judge: bool = False) -> Form:
    """The fields of settings that are not as usual."""
    declared = declared_settings(all_settings())
    return {
        generation_field(name, judge=judge): declared[name].write(value)
        for name, value in given.items()
    }


def generation_field(name: str, *, judge: bool = False) -> str:
    """The field of the form for a setting of `GenerationSettings`, of models or of judges."""
    return f"judge_gen_{name}" if judge else f"gen_{name}"


def read_layout(form: Form, upload: str = "") -> Layout:
    """How the form says to read an upload; empty fields keep the format's own."""
    suffix = f"_{upload}" if upload else ""
    return replace(
        read_columns(field_value(form, f"col_columns{suffix}")),
        sheet=field_value(form, f"col_sheet{suffix}"),
        kind=KINDS.get(field_value(form, f"col_kind{suffix}"), ""),
        head_row=parse_head_row(field_value(form, f"col_head_row{suffix}")),
        split=SPLITS.get(field_value(form, f"col_split{suffix}"), ""),
        commas_in_text=field_value(form, f"col_commas{suffix}") == "text",
        duplicate_options="skip"
        if field_value(form, f"col_duplicates{suffix}") == "skip"
        else "keep",
        cluster=field_value(form, f"col_cluster{suffix}"),
    )


def parse_head_row(text: str) -> int:
    """The row of the column names, -1 for none; 0, to look for it, if the text is no such row."""
    return int(text) if _HEAD_ROW.fullmatch(text) else 0


def layout_form(layout: Layout, upload: str) -> Form:
    """The fields of the form that read an upload by this layout."""
    fields = {
        "col_columns": write_columns(layout),
        "col_sheet": layout.sheet,
        "col_kind": layout.kind,
        "col_head_row": str(layout.head_row or ""),
        "col_split": layout.split,
        "col_commas": "text" if layout.commas_in_text else "",
        "col_duplicates": "skip" if layout.duplicate_options == "skip" else "",
        "col_cluster": layout.cluster,
    }
    return {f"{name}_{upload}": value for name, value in fields.items() if value}


def read_answer_sources(form: Form) -> tuple[AnswerSource, ...]:
    """The answers that the form takes from files, then those of earlier runs."""
    return (*_files(form), *_earlier(form))


def answer_name_field(upload: str, place: int) -> str:
    """The form's field for the name of the model whose answers a file holds."""
    return f"given_{upload}_{place}"


def form_from_spec(
    spec: RunSpec, uploads: Sequence[str], answers: Sequence[AnswerSource] = ()
) -> Form:
    """The form that makes `spec` again, for repeating a run with changes.

    `uploads` and `answers` are where its files are kept now.
    """
    first = _main_mode(spec)
    form: Form = {
        "uploads": list(uploads),
        "models": list(spec.models),
        "modes": list(dict.fromkeys(mode.mode for mode in spec.modes)),
        "shots": ", ".join(str(n) for n in _all_shots(spec)),
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
        form["summary_groups"] = _summary_groups_form(spec.summary_groups)
    # What all modes together set; each took what means something to it.
    given = {name: value for mode in spec.modes for name, value in mode.given.items()}
    form |= _generation_form(given | ({"seed": spec.seed} if spec.seed else {}))
    for upload, source in zip(uploads, spec.datasets, strict=False):
        form |= layout_form(layout_of(source), upload)
    form |= _template_form(first) | _answers_form(answers)
    written = any(mode.gives == "answers" for mode in spec.modes)
    automatic = "" if spec.version >= RUBRICS_BY_VERSION else "auto.1"
    return form | _judging_form(spec.judging, automatic) if written else form


def _main_mode(spec: RunSpec) -> ModeSpec:
    """The mode whose settings the form shows: the first that has them all."""
    return next((mode for mode in spec.modes if mode.gives != "answers"), spec.modes[0])


def _all_shots(spec: RunSpec) -> list[int]:
    choice_modes = [mode for mode in spec.modes if mode.gives != "answers"]
    return list(dict.fromkeys(mode.shots for mode in choice_modes or spec.modes))


def _template_form(mode: ModeSpec) -> Form:
    if isinstance(mode.template, str):
        return {"template": mode.template}
    form: Form = {f"own_{name}": str(mode.template.get(name, "")) for name in _OWN_FIELDS}
    return form | {"template": CUSTOM}


def _answers_form(answers: Sequence[AnswerSource]) -> Form:
    form: Form = {}
    if uploads := list(dict.fromkeys(each.upload for each in answers if each.upload)):
        form["answers"] = uploads
    for each in answers:
        if each.upload:
            form[answer_name_field(each.upload, each.place)] = each.model
    if earlier := [f"{each.run}/{each.model}" for each in answers if each.run]:
        form["earlier"] = earlier
    return form


def _judging_form(judging: JudgingSpec | None, automatic: str) -> Form:
    """The fields of the judge; `automatic` is how its rubric is chosen where none is named."""
    if judging is None:
        return {"judging": []}
    form: Form = {
        "judging": ["yes"],
        "judges": list(judging.judges),
        "judge_orders": judging.orders,
        "judge_pairs": judging.pairs,
        "judge_baseline": list(judging.baseline),
        "judge_against": list(judging.against),
        "judge_sample": str(judging.sample or ""),
        "judge_conflict": judging.conflict,
        "judge_output": judging.output,
        "judge_strong": str(judging.strong),
    }
    form |= _generation_form(judging.given, judge=True)
    if isinstance(judging.template, str):
        return form | {"rubric": judging.template or automatic}
    template = dict(judging.template)
    own = {f"rubric_{name}": str(template.pop(name, "")) for name in RUBRIC_FIELDS}
    rubric = parse_rubric(judging.template)
    lines = "\n".join(f"{name}: {text}" for name, text in rubric.criteria)
    template.pop("criteria", None)
    # What has a default by the rest is written down: another form must not change it unseen.
    template.setdefault("frame", rubric.frame)
    more = json.dumps(template, ensure_ascii=False)
    return form | {"rubric": CUSTOM, _CRITERIA: lines, _MORE: more} | own


def _template(form: Form) -> str | dict[str, Any]:
    if field_value(form, "template") != CUSTOM:
        return field_value(form, "template")
    # Browsers send line breaks of text areas as they show them.
    return {name: field_value(form, f"own_{name}").replace("\r\n", "\n") for name in _OWN_FIELDS}


def _files(form: Form) -> tuple[AnswerSource, ...]:
    """The answers files that the form names, each with its model.

    A cleared name must be noticed and not replaced, so it stays "".
    """
    sources: list[AnswerSource] = []
    for upload in field_values(form, "answers"):
        prefix = answer_name_field(upload, 0).removesuffix("0")
        ends = [name.removeprefix(prefix) for name in form if name.startswith(prefix)]
        places = sorted(place for end in ends if (place := parse_whole_number(end)) is not None)
        sources += [
            AnswerSource(field_value(form, f"{prefix}{place}").strip()[:120], upload, place)
            for place in places
        ]
    return tuple(sources)


def _earlier(form: Form) -> tuple[AnswerSource, ...]:
    pairs = [entry.partition("/") for entry in field_values(form, "earlier")]
    return tuple(AnswerSource(model, run=run) for run, _, model in pairs if run and model)


def _judging(form: Form) -> JudgingSpec | None:
    if "yes" not in field_values(form, "judging") or not field_values(form, "judges"):
        return None
    pairs = PAIRS.get(field_value(form, "judge_pairs"), "all")
    return JudgingSpec(
        judges=list(field_values(form, "judges")),
        template=read_rubric(form),
        orders=ORDERS.get(field_value(form, "judge_orders"), "double"),
        pairs=pairs,
        baseline=list(field_values(form, "judge_baseline")) if pairs != "all" else [],
        against=list(field_values(form, "judge_against")) if pairs == "matrix" else [],
        sample=_number(
            field_value(form, "judge_sample"), Sentence("Sample of pairs", "judge.sample")
        )
        or None,
        conflict=CONFLICTS.get(field_value(form, "judge_conflict"), "tie"),
        output=OUTPUTS.get(field_value(form, "judge_output"), "auto"),
        strong=read_weight(form),
        **_generation(form, judge=True).given,
    )


def read_weight(form: Form) -> int:
    """What a verdict of "much better" weighs; a specification may have what the page offers not."""
    weight = parse_whole_number(field_value(form, "judge_strong")) or WEIGHTS[0]
    return weight if weight <= MAX_STRONG else WEIGHTS[0]


def read_rubric(form: Form) -> str | dict[str, Any]:
    """The rubric of the form: a name, "" for one by question, or the fields of one's own."""
    if field_value(form, "rubric") != CUSTOM:
        return field_value(form, "rubric")
    own: dict[str, Any] = {
        name: text
        for name in RUBRIC_FIELDS
        if (text := field_value(form, f"rubric_{name}").replace("\r\n", "\n"))
    }
    if more := field_value(form, _MORE):
        own = _more(more) | own
    elif own.get("form") in SINGLE_ANSWER_FORMATS:
        own["frame"] = "2"
    if own.get("form") in (*NUMBERED_FORMATS, *LETTERED_FORMATS):
        own.pop("frame", None)  # the form decides
    if criteria := _criteria(field_value(form, _CRITERIA)):
        own["criteria"] = criteria
    return own


def _more(text: str) -> dict[str, Any]:
    try:
        more: Any = json.loads(text)
    except (ValueError, RecursionError):
        more = None
    if not isinstance(more, dict):  # nobody types it
        raise SpecError("rubric-table", name=_MORE, field=_MORE)
    return cast("dict[str, Any]", more)


def _criteria(text: str) -> dict[str, str]:
    """A criterion for each line: its name, a colon, and what it is, or its name alone."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    parts = [re.split(r"\s*[:：]\s*", line, maxsplit=1) for line in lines]
    return {name: about[0] if about else name for name, *about in parts}


def _shots(text: str) -> tuple[int, ...]:
    parts = [part for part in re.split(r"[,，;；\s]+", text.strip()) if part]
    if not all(part.isascii() and part.isdigit() and len(part) <= 3 for part in parts):
        raise SpecError("shots-no-number", text=text)
    return tuple(dict.fromkeys(int(part) for part in parts)) or (0,)


def _number(text: str, field: Sentence) -> int | None:
    text = text.strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise SpecError("no-number", field=field, text=text)
    return int(text)
