"""HELM: `scenario_state.json`, and `stats.json` and `per_instance_stats.json` beside it.

Of adapters, those that ask for a letter after all options (`multiple_choice_joint`) and those that
ask for an answer in writing (`generation`) are read; a run of another one is left out by name.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from evalui.datasets.model import as_list, as_object
from evalui.errors import DataError
from evalui.harnesses.base import (
    HARNESSES,
    Flaw,
    FlawedAnswer,
    LoggedAnswer,
    LogPart,
    read_logs,
)
from evalui.harnesses.files import (
    JsonObject,
    as_number,
    as_text,
    json_file,
    json_object,
)
from evalui.harnesses.options import slot_of
from evalui.types import LETTERS, LeftOut, PrintedFigure

NAME = "helm"
_STATE = "scenario_state.json"
_JOINT, _GENERATION = "multiple_choice_joint", "generation"
_MARKS = ("exact_match", "quasi_exact_match", "prefix_exact_match", "quasi_prefix_exact_match")


def read_helm(files: Sequence[Path]) -> tuple[LogPart, ...]:
    """A part for each run among the files whose adapter is read; the first names the others.

    Raises:
        DataError: every run is damaged, or no adapter of any run is read.
    """
    others: list[LeftOut] = []

    def read(path: Path) -> Sequence[LogPart]:
        made = _part(path)
        if isinstance(made, LogPart):
            return (made,)
        others.append(made)
        return ()

    parts = read_logs(partial(read, path) for path in files if path.name == _STATE)
    if others and not parts:
        first = others[0]
        raise DataError("log-helm-method", file=first.dataset, method=first.what)
    return (
        *(replace(first, left_out=(*others, *first.left_out)) for first in parts[:1]),
        *parts[1:],
    )


def _part(path: Path) -> LogPart | LeftOut:
    """One run, or what is said of it if its adapter is not read."""
    state = json_object(path)
    if state is None or not as_list(state.get("request_states")):
        raise DataError("log-damaged", file=f"{path.parent.name}/{path.name}", reason="JSON?")
    adapter = as_object(state.get("adapter_spec"))
    method = as_text(adapter.get("method"))
    if method not in (_JOINT, _GENERATION):
        n_requests = len(as_list(state["request_states"]))
        return LeftOut("log-helm-method", path.parent.name, method, rows=n_requests)
    has_options = method == _JOINT
    marks = _instance_marks(path.parent)
    printed = _means(_stats(path.parent, "stats.json"))
    names = dict.fromkeys((*printed, *(name for own in marks.values() for name in own)))
    several = len({name.partition(",")[2] for name in names}) > 1
    if not several:
        printed = _named(printed, several=False)
    marks = {key: _named(own, several=several) for key, own in marks.items()}
    spec = json_object(path.parent / "run_spec.json") if _beside(path, "run_spec.json") else None
    shots = as_number(adapter.get("max_train_instances"))
    model = as_text(adapter.get("model")) or as_text(adapter.get("model_deployment"))
    return LogPart(
        harness=NAME,
        dataset=_dataset(path, spec or {}),
        model=model or path.parent.name,
        evidence="reply" if has_options else "written",
        files=(path.name,),
        read=lambda: _answers(path, state, marks, has_options=has_options),
        shots=None if shots is None else int(shots),
        figures=tuple(PrintedFigure(name, value) for name, value in printed.items()),
        readings=dict.fromkeys((*_MARKS, *names), "tolerant" if has_options else "exact_match"),
        main_mark=_MARKS[0] if has_options and marks else "",
        repeats=True,
        missing=(
            *(("one-order", "probabilities") if has_options else ()),
            *(() if marks else ("marks",)),
            *(() if printed else ("results",)),
        ),
        named_after=None if model else path.parent,
    )


def _beside(path: Path, name: str) -> bool:
    return (path.parent / name).is_file()


def _dataset(path: Path, spec: JsonObject) -> str:
    """The run without its model: "mmlu:subject=anatomy"."""
    name = as_text(spec.get("name")) or path.parent.name
    scenario, colon, arguments = name.partition(":")
    kept = [each for each in arguments.split(",") if each and not each.startswith("model")]
    return scenario + (colon + ",".join(kept) if kept else "")


def _stats(folder: Path, file: str) -> list[JsonObject]:
    path = folder / file
    return [*map(as_object, as_list(json_file(path)))] if path.is_file() else []


def _means(stats: Iterable[JsonObject]) -> dict[str, float]:
    """The means that are marks, by name and split: "exact_match,test"; perturbed instances are
    other questions.
    """
    means: dict[str, float] = {}
    for stat in stats:
        name, value = as_object(stat.get("name")), as_number(stat.get("mean"))
        if (
            as_text(name.get("name")) in _MARKS
            and value is not None
            and not name.get("perturbation")
        ):
            parts = (as_text(name.get(key)) for key in ("name", "split", "sub_split"))
            means[",".join(filter(None, parts))] = value
    return means


def _instance_marks(folder: Path) -> dict[tuple[str, str], Mapping[str, float]]:
    """The marks of each instance, by its id and the number of its worked examples' draw."""
    return {
        _key(each.get("instance_id"), each.get("train_trial_index")): _means(
            map(as_object, as_list(each.get("stats")))
        )
        for each in _stats(folder, "per_instance_stats.json")
        if not each.get("perturbation")
    }


def _named(means: Mapping[str, float], *, several: bool) -> dict[str, float]:
    """Marks by their name, and by that of their split where there are several."""
    plain = {name.partition(",")[0]: value for name, value in means.items()}
    return {**plain, **means} if several else plain


def _key(instance: object, draw: object) -> tuple[str, str]:
    return as_text(instance), as_text(draw)


def _answers(
    path: Path,
    state: JsonObject,
    marks: Mapping[tuple[str, str], Mapping[str, float]],
    *,
    has_options: bool,
) -> Iterator[LoggedAnswer | FlawedAnswer]:
    for number, request in enumerate(map(as_object, as_list(state["request_states"]))):
        instance = as_object(request.get("instance"))
        if instance.get("perturbation"):
            continue
        key = _key(instance.get("id"), request.get("train_trial_index"))
        read = _answer(request, instance, marks.get(key, {}), has_options=has_options)
        place = f"{path.name}:{number}"
        yield read if isinstance(read, LoggedAnswer) else FlawedAnswer(place, read)


def _answer(
    request: JsonObject, instance: JsonObject, marks: Mapping[str, float], *, has_options: bool
) -> LoggedAnswer | Flaw:
    result = as_object(request.get("result"))
    completions = as_list(result.get("completions"))
    if not completions or result.get("success") is False:
        return "no-answer"
    reply, *more = (as_text(as_object(each).get("text")) for each in completions)
    id_ = as_text(instance.get("id"))
    question = as_text(as_object(instance.get("input")).get("text")) or id_
    references = [as_object(each) for each in as_list(instance.get("references"))]
    texts = tuple(as_text(as_object(each.get("output")).get("text")) for each in references)
    right = [
        text
        for text, each in zip(texts, references, strict=True)
        if "correct" in as_list(each.get("tags"))
    ]
    if not has_options:
        return LoggedAnswer(
            id_,
            question,
            references=tuple(right),
            reply=reply,
            more_replies=tuple(more),
            marks=marks,
        )
    shown_by_letter = as_object(request.get("output_mapping"))
    letters = [letter for letter in LETTERS if letter in shown_by_letter]
    shown = tuple(as_text(shown_by_letter[letter]) for letter in letters)
    if len(shown) < 2 or sorted(shown) != sorted(texts):
        return "options"
    if len(right) > 1:
        return "several"
    if not right:
        return "gold"
    return LoggedAnswer(
        id_,
        question,
        shown,
        shown.index(right[0]),
        own_options=texts,
        reply=reply,
        more_replies=tuple(more),
        # HELM takes the completion as it is, without the blanks around it, for a letter.
        extracted=slot_of(reply.strip(), len(shown)),
        marks=marks,
    )


HARNESSES.register(NAME)(read_helm)
