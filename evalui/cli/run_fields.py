"""The options of `evalui run` that set fields of its specification, alone or over one in a file.

    evalui run --model NAME --dataset NAME_OR_FILE... --out DIR
    evalui run SPEC.json --limit 20 --pattern circular --temperature 0.7 --out DIR

Each is declared once: its `dest` is the field, of the run, of each mode or of each dataset.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

from evalui.cli.parser import number
from evalui.cli.store import read_text
from evalui.errors import SpecError
from evalui.types import Pattern, Spellings

if TYPE_CHECKING:
    from evalui.generation import GenerationSettings
    from evalui.runs.spec import RunSpec

_VERSION = 3  # of a specification that is made of options alone
_OPTIONS = {
    "models": "--model",
    "datasets": "--dataset",
    "modes": "--mode",
    "summary_groups": "--groups",
}
_OF_RUN = ("limit", "name", "metrics", "summary_groups", "replies_of")
_OF_MODES = ("shots", "pattern", "chat", "spellings")


@dataclass(frozen=True, slots=True)
class RequestedRun:
    """The specification that a command says, and the folder that its paths start from.

    `chooses_mode`: nobody named a mode, so that the questions and models decide.
    """

    values: Any
    base: Path
    chooses_mode: bool = False


def add_field_options(run: argparse.ArgumentParser, *, in_full: bool) -> None:
    """Add the options; `in_full` with the settings of all modes, which are slow to import."""
    group = run.add_argument_group("what is evaluated", "instead of SPEC.json, or overriding it")
    group.add_argument(
        "--model",
        dest="models",
        nargs="+",
        metavar="MODEL",
        help="names from models.toml; or a folder, a hub id, the base URL of an endpoint",
    )
    group.add_argument(
        "--dataset",
        dest="datasets",
        nargs="+",
        metavar="NAME_OR_FILE",
        help="datasets: a file, folder, zip or published set each",
    )
    group.add_argument(
        "--skip-faulty",
        action="store_const",
        const=True,
        help="leave out rows that have faults",
    )
    group.add_argument(
        "--mode",
        dest="modes",
        nargs="+",
        metavar="MODE",
        help="how questions are put; docs/modes.md has the names",
    )
    group.add_argument("--pattern", choices=get_args(Pattern), help="orders of the options to ask")
    group.add_argument(
        "--spellings",
        choices=get_args(Spellings),
        help="what stands for an option: its letter in all spellings that the letters share, or in "
        "that of lm-eval, or a key of a decision",
    )
    group.add_argument(
        "--shots",
        type=number("the number of examples", 0),
        metavar="N",
        help="worked examples before each question",
    )
    group.add_argument(
        "--limit",
        type=number("the number of questions", 1),
        metavar="N",
        help="questions of each subject",
    )
    group.add_argument(
        "--chat",
        action=argparse.BooleanOptionalAction,
        help="send conversations or plain prompts (default: as the model's entry says)",
    )
    group.add_argument(
        "--replies-of",
        metavar="MODEL=ADDRESSES",
        nargs="+",
        help="use replies kept from the model's earlier addresses (the command prints the digest)",
    )
    group.add_argument("--name", help="name of the run")
    add_figure_options(run)
    if in_full:
        _add_settings(run)


def add_figure_options(command: argparse.ArgumentParser) -> None:
    """Add what a report states beside its usual figures; it decides nothing of the answers."""
    command.add_argument(
        "--metrics", metavar="NAME", nargs="+", help="that lead the report, in this order"
    )
    command.add_argument(
        "--groups",
        dest="summary_groups",
        metavar="NAME",
        nargs="+",
        help="published groups of subjects with figures of their own: ceval, cmmlu, mmlu",
    )


def read_fields(given: argparse.Namespace) -> RequestedRun:
    """The specification that the options say, over that of the file.

    Raises:
        SpecError: neither names datasets or models, or the file cannot be read.
    """
    stated = {
        name: value
        for name in ("models", "datasets", "skip_faulty", "modes", *_OF_MODES, *_OF_RUN)
        if (value := getattr(given, name)) is not None
    }
    if given.eval_url and "models" not in stated:
        stated["models"] = [given.eval_url]
    values: Any = {"version": _VERSION}
    base = Path()
    if given.spec is not None:
        from evalui.runs.spec import read_json

        if given.spec.suffix.lower() not in (".json", ""):
            raise SpecError("spec-is-data", file=given.spec)
        values, base = read_json(read_text(given.spec)), given.spec.parent
        if not isinstance(values, dict):
            return RequestedRun(values, base)
        values = cast("dict[str, Any]", values)  # the keys of a JSON object are texts
    values |= {name: stated[name] for name in ("models", *_OF_RUN) if name in stated}
    if "datasets" in stated:
        values["datasets"] = [_dataset(name) for name in stated["datasets"]]
    for name in ("datasets", "models"):
        if given.spec is None and name not in stated:
            raise SpecError("flag-missing", flag=option(name))
    if "skip_faulty" in stated:
        listed: list[Any] = values.get("datasets", [])
        listed = [{"path": each} if isinstance(each, str) else each for each in listed]
        values["datasets"] = [_with(each, {"skip_faulty": True}) for each in listed]
    if "replies_of" in stated:
        pairs = [each.rpartition("=") for each in stated["replies_of"]]
        values["replies_of"] = {model: addresses for model, _, addresses in pairs}
    _set_modes(values, stated)
    named = {"mode", "modes", "answers", "judging"} & values.keys()
    # A file says it all, unless options change what is evaluated.
    chooses = not named and (given.spec is None or stated.keys() - {"metrics", "summary_groups"})
    if chooses:
        from evalui.modes import usual_mode

        values["mode"] = [usual_mode("choices"), usual_mode("answers")]
    return RequestedRun(values, base, chooses_mode=bool(chooses))


def validated(given: argparse.Namespace, values: Any) -> "RunSpec":
    """The specification of these values.

    Raises:
        SpecError: one is wrong; the message begins with the option that set it, or with its place
            in the file.
    """
    from evalui.runs.spec import validate

    def option_of(loc: Sequence[int | str]) -> str:
        names = [part for part in loc if isinstance(part, str)]
        of_mode = names[0:1] == ["modes"] and len(names) > 1
        name = names[1] if of_mode else "".join(names[:1])
        return option(name) if getattr(given, name, None) is not None else ""

    return validate(values, option_of)


def read_settings(given: argparse.Namespace) -> "GenerationSettings":
    """How models are to write in every mode that this means something to.

    Raises:
        SpecError: a value is none of its setting.
    """
    from evalui.generation import declared_settings
    from evalui.modes.own_settings import all_settings

    kind, read = all_settings(), dict[str, Any]()
    for name, declared in declared_settings(kind).items():
        text: str | list[str] | None = getattr(given, name)
        if text is None:
            continue
        try:
            read[name] = declared.read("\n".join(text) if isinstance(text, list) else text)
        except SpecError as error:
            reason = f"{error.sentence.values['reason']}."
            raise SpecError("flag-wrong", flag=option(name), reason=reason) from error
    return kind.model_validate(read)


def option(name: str) -> str:
    """The option that sets a field."""
    return _OPTIONS.get(name) or f"--{name.replace('_', '-')}"


def _add_settings(run: argparse.ArgumentParser) -> None:
    from evalui.generation import declared_settings
    from evalui.modes.own_settings import all_settings

    group = run.add_argument_group("how models write", "for all modes, whatever the file says")
    for name, declared in declared_settings(all_settings()).items():
        about: dict[str, Any] = {"dest": name, "help": str(declared.help).replace("%", "%%")}
        if declared.kind == "lines":
            group.add_argument(option(name), metavar="TEXT", action="append", **about)
        elif declared.kind == "choice":
            choices = [each for each in declared.choices if each]
            group.add_argument(option(name), choices=choices, **about)
        else:
            metavar = "TEXT" if declared.kind == "text" else "N"
            group.add_argument(option(name), metavar=metavar, **about)


def _dataset(name: str) -> dict[str, Any]:
    """An entry of the specification for a file, or for a dataset that is known by its name."""
    from evalui.benchmarks.preparing import is_benchmark

    path = Path(name).expanduser()
    if path.exists():
        return {"path": str(path.absolute())}
    if not is_benchmark(name):
        raise SpecError("flag-no-dataset", name=name)
    return {"path": name}


def _set_modes(values: dict[str, Any], stated: Mapping[str, Any]) -> None:
    """Put the modes of the options in the specification, and their settings in each mode."""
    from evalui.modes import MODES, usual_mode

    settings = {name: stated[name] for name in _OF_MODES if name in stated}
    listed: list[Any] | None = values.get("modes")  # None where one stands at the top
    if "modes" in stated:
        known = [name for name in MODES if MODES[name].gives != "verdicts"]
        for name in stated["modes"]:
            if name not in known:
                raise SpecError("flag-value", flag="--mode", value=name, known=", ".join(known))
        if listed is not None:
            named: list[dict[str, Any]] = [each for each in listed if isinstance(each, dict)]
            by_name = {each.get("mode"): each for each in named}
            listed = [by_name.get(name, {"mode": name}) for name in stated["modes"]]
        else:
            values["mode"] = list(stated["modes"])
    if listed is not None:
        values["modes"] = [_with(each, settings) for each in listed]
        return
    if settings and "mode" not in values and ("answers" in values or "judging" in values):
        values["mode"] = usual_mode("answers")
    values |= settings


def _with(entry: Any, fields: Mapping[str, Any]) -> Any:
    """An entry of a list with more fields; what is none is refused when it is validated."""
    return cast("dict[str, Any]", entry) | dict(fields) if isinstance(entry, dict) else entry
