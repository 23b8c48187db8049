"""A run in one line: its models, its modes, and every setting of its own.

A setting at its default is left out, so two runs that differ in one setting differ in their line.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from evalui.errors import SpecError
from evalui.generation import DeclaredSetting, GenerationSettings
from evalui.messages import Messages
from evalui.runs.contest import JudgingSpec
from evalui.runs.spec import DatasetSpec, ModeSpec, RunSpec, read_spec
from evalui.scoring.cell_summary import is_decided
from evalui.store.runs import CellRow, RunRow

_LIMITS = {"subject": "setting.limit_subject", "dataset": "setting.limit"}
_MAX_SHOWN = 40  # characters of a text
_NAMED = 3  # models; of more, the others are counted


def run_label(t: Messages, row: RunRow) -> str:
    """ "demo-late, demo-early · letters, circular, 5 examples · seed 7"."""
    try:
        spec = read_spec(row.spec)
    except SpecError:
        return ""  # written by another version of evalui: what is in it can still be opened
    names = [*spec.models, *(answers.model for answers in spec.answers)]
    parts = [
        _names(t, names),
        t("list.semicolon").join(_modes(t, spec.modes)),
        *setting_labels(t, spec),
    ]
    return " · ".join(part for part in parts if part)


def owned_label(t: Messages, row: RunRow, person: str) -> str:
    """The same, and before it whose run it is, if not the person's."""
    whose = t("runs.whose", name=row.owner) if row.owner != person else ""
    return " · ".join(filter(None, (whose, run_label(t, row))))


def settings_label(t: Messages, row: RunRow) -> list[str]:
    """How the models were asked, where it is not as usual; files and judges have their own page."""
    try:
        spec = read_spec(row.spec)
    except SpecError:
        return []
    return setting_labels(t, spec.model_copy(update={"datasets": (), "judging": None}))


def setting_labels(t: Messages, spec: RunSpec) -> list[str]:
    """What is not at its default, a few words each."""
    shown = [mode for mode in spec.modes if not mode.pictures]
    has_baseline = 0 < len(shown) < len(spec.modes)
    labels = [
        *(t("setting.template", name=name) for name in _distinct(map(_template, spec.modes))),
        *(t(f"setting.chat_{_chat(mode)}") for mode in spec.modes if mode.chat is not None),
        *(
            label
            for mode in (shown if has_baseline else spec.modes)
            for label in generation_labels(t, mode)
        ),
        t("setting.baseline") if has_baseline else "",
        t.count(_LIMITS[spec.counts_per], spec.limit) if spec.limit else "",
        *generation_labels(t, GenerationSettings(seed=spec.seed or None)),
        *(t("setting.columns", names=names) for names in _distinct(map(_columns, spec.datasets))),
        *(
            t("setting.duplicates")
            for dataset in spec.datasets
            if dataset.duplicate_options == "skip"
        ),
        *(_judging(t, spec.judging) if spec.judging else ()),
    ]
    return _distinct(labels)


def generation_labels(t: Messages, settings: GenerationSettings) -> list[str]:
    """The settings of writing that are not at their default: "Temperature 0.7"."""
    return [
        t(
            own if (own := f"generation.{name}_given") in t else "generation.given",
            setting=t(f"generation.{name}"),
            value=_shown(t, settings.declared[name], value),
        )
        for name, value in settings.given.items()
    ]


def _shown(t: Messages, declared: DeclaredSetting, value: Any) -> str:
    if declared.kind == "choice":
        return t(f"generation.{declared.name}_{value}")
    if declared.kind in ("text", "lines"):
        text = json.dumps(value, ensure_ascii=False)
        return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"
    return declared.write(value)


def mode_label(t: Messages, cell: CellRow) -> str:
    """The mode of a cell in words: "letters, every order, 5 examples"."""
    mode = ModeSpec.model_validate_json(cell.plan)
    if mode.judging:
        return _judging_label(t, mode.mode, mode.judging)
    name, kind = cell.cell.mode, "recorded" if mode.recorded else "short"
    decided = f"mode.{name}_decision_{kind}"
    words = [t(decided if is_decided(cell.cell) and decided in t else f"mode.{name}_{kind}")]
    if cell.cell.pattern != "origin":
        words.append(t(f"orders.{cell.cell.pattern}_short"))
    if mode.shots:
        words.append(t.count("runs.shots", mode.shots))
    return t("list.comma").join(words)


def _judging_label(t: Messages, mode: str, judging: JudgingSpec) -> str:
    """ "judge, all pairs, both orders"."""
    words = [t(f"mode.{mode}_short")]
    if judging.rates_single:
        words.append(t("judge.single"))
    else:
        words.append(t(f"judge.pairs_{judging.pairs}_short"))
        words.append(t(f"judge.orders_{judging.orders}_short"))
    return t("list.comma").join(words)


def _names(t: Messages, names: Sequence[str]) -> str:
    shown = t("list.comma").join(names[:_NAMED])
    more = len(names) - _NAMED
    return t("setting.more", names=shown, n=f"{more:,}") if more > 0 else shown


def _modes(t: Messages, modes: Sequence[ModeSpec]) -> list[str]:
    """Each mode with its orders, and all its numbers of worked examples together."""
    shots: dict[tuple[str, str], list[int]] = {}
    for mode in modes:
        shots.setdefault((mode.mode, mode.pattern), []).append(mode.shots)
    return [
        t("list.comma").join(_mode(t, name, pattern, numbers))
        for (name, pattern), numbers in shots.items()
    ]


def _mode(t: Messages, name: str, pattern: str, shots: Sequence[int]) -> list[str]:
    words = [t(f"mode.{name}_short")]
    if pattern != "origin":
        words.append(t(f"orders.{pattern}_short"))
    numbers = _distinct(str(number) for number in shots)
    if len(numbers) > 1:
        words.append(t("runs.shots", n=" / ".join(numbers)))
    elif shots[0]:
        words.append(t.count("runs.shots", shots[0]))
    return words


def _judging(t: Messages, judging: JudgingSpec) -> list[str]:
    return [
        t("setting.judges", names=t("list.comma").join(judging.judges)),
        t(f"judge.pairs_{judging.pairs}_short") if judging.pairs != "all" else "",
        t("list.comma").join([*judging.baseline, *judging.against]),
        t(f"judge.orders_{judging.orders}_short") if judging.orders != "double" else "",
        t("setting.rubric", name=rubric) if (rubric := _named(judging.template)) else "",
        t("setting.sample", n=f"{judging.sample:,}") if judging.sample else "",
        t(f"setting.conflict_{judging.conflict}") if judging.conflict != "tie" else "",
        *generation_labels(t, judging),
        t(f"setting.output_{judging.output}") if judging.output != "auto" else "",
        t("setting.strong", n=str(judging.strong)) if judging.strong > 1 else "",
    ]


def _template(mode: ModeSpec) -> str:
    return _named(mode.template)


def _named(template: str | dict[str, Any]) -> str:
    """The name of a prompt or of a judge's form; "" if one is chosen by question."""
    return template if isinstance(template, str) else str(template.get("name", ""))


def _chat(mode: ModeSpec) -> str:
    return "yes" if mode.chat else "no"


def _columns(dataset: DatasetSpec) -> str:
    key = dataset.answer_key if dataset.answer_key != "letter" else ""
    named = [*dataset.options, dataset.answer, key, dataset.question, *dataset.columns.values()]
    named += [dataset.sheet, dataset.kind]
    return ", ".join(name for name in named if name)


def _distinct(texts: Iterable[str]) -> list[str]:
    return [text for text in dict.fromkeys(texts) if text]


def day(t: Messages, at: float) -> str:
    """ "30 June", in the server's time zone."""
    then = datetime.fromtimestamp(at).astimezone()
    month = t("shared.months").split("/")[then.month - 1]
    return t("shared.day", day=then.day, month=month)


def run_facts(t: Messages, run: RunRow, cells: Sequence[CellRow], moment: str) -> list[str]:
    """The only dataset, numbers of questions and models, who judged, when, unusual settings."""
    answering = [cell for cell in cells if cell.cell.gives != "verdicts"]
    datasets = {cell.cell.dataset for cell in answering}
    sizes = {cell.dataset_key: cell.questions for cell in answering}
    models = len({cell.cell.model for cell in answering})
    judges = dict.fromkeys(cell.cell.model for cell in cells if cell.cell.gives == "verdicts")
    judged = [t("setting.judges", names=t("list.comma").join(judges))] if judges else []
    return [
        *(datasets - {run.name} if len(datasets) == 1 else ()),
        t.count("results.questions", sum(sizes.values())),
        t.count("results.models", models),
        *judged,
        moment,
        *settings_label(t, run),
    ]


def file_name(run: RunRow, extension: str) -> str:
    """What a run is called as a file."""
    name = "".join(c if c.isalnum() or c in "-_. " else "_" for c in run.name).strip()
    return f"{name or run.id}.{extension}"
