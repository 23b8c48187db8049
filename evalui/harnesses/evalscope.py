"""EvalScope 1.x: `reviews/MODEL/DATASET_SUBSET.jsonl`, and `reports/MODEL/DATASET.json` beside.

A review has the prompt, the reply, what EvalScope read in it and its marks. The subsets of a
dataset are its subjects.

Models that only decide (`systemone_api`, `autotrust_api`) give probabilities of named options. Its
choices and its questions for yes or no ("noul") have figures of their own, and are parts of their
own here.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalui.datasets.model import as_list, as_object
from evalui.harnesses.base import (
    HARNESSES,
    Flaw,
    FlawedAnswer,
    LoggedAnswer,
    LogPart,
)
from evalui.harnesses.files import (
    JsonObject,
    as_number,
    as_text,
    first_object,
    head_of,
    json_lines,
    json_object,
)
from evalui.harnesses.options import options_of, question_of, slot_of
from evalui.types import LETTERS, Decision, LeftOut, PrintedFigure

NAME = "evalscope"
_VERSION = re.compile(rb"^evalscope_version: *(\S+)", re.MULTILINE)
_CONFIG_BYTES = 2**20
_WORKED = {"question", "examples"}  # the state of a benchmark that is asked with worked examples
# evalui's figures of the same meaning: of yes or no, EvalScope's Brier score is of one option and
# its calibration error that of "yes".
_DECISION_READINGS = {
    "choice": {"acc": "forced", "nll": "nll", "brier": "brier", "ece": "ece", "aurc": "aurc"},
    "noul": {"acc": "forced", "nll": "nll", "aurc": "aurc"},
}


def read_evalscope(files: Sequence[Path]) -> tuple[LogPart, ...]:
    """A part for each dataset and model among the files."""
    groups: dict[tuple[Path, str], list[_Subset]] = {}
    for path in files:
        if _has_reviews(path):
            subset = _Subset.of(path, files)
            groups.setdefault((path.parent, subset.dataset), []).append(subset)
    return tuple(part for subsets in groups.values() for part in _parts(subsets, files))


@dataclass(frozen=True, slots=True)
class _Subset:
    """The reviews of one subset; `report` is {} where there is none.

    `kinds` are those of its decisions, none where it has something else.
    """

    path: Path
    dataset: str
    name: str
    report: JsonObject
    kinds: frozenset[str]

    @classmethod
    def of(cls, path: Path, files: Sequence[Path]) -> "_Subset":
        reports = [
            each
            for each in files
            if each.suffix == ".json"
            and each.parent.name == path.parent.name
            and each.parent.parent.name == "reports"
            and each.parents[2] == path.parents[2]
            and path.stem.startswith(each.stem)
        ]
        is_decided = _decided(first_object(path) or {})
        reviews = (review for _, review in json_lines(path) if review) if is_decided else ()
        kinds = frozenset(as_text(_decided(review).get("kind")) for review in reviews)
        if not reports:
            return cls(path, path.stem, "", {}, kinds)
        report = max(reports, key=lambda each: len(each.stem))
        name = path.stem.removeprefix(report.stem).removeprefix("_")
        return cls(path, report.stem, name, json_object(report) or {}, kinds)


def _has_reviews(path: Path) -> bool:
    return path.suffix == ".jsonl" and "sample_score" in (first_object(path) or {})


def _parts(subsets: Sequence[_Subset], files: Sequence[Path]) -> tuple[LogPart, ...]:
    kinds = frozenset[str]().union(*(each.kinds for each in subsets))
    if not kinds:
        return (_part(subsets, files),)
    read = [each for each in _DECISION_READINGS if each in kinds] or ["choice"]
    return tuple(
        _decision_part(subsets, kind, files, first=not place) for place, kind in enumerate(read)
    )


def _decision_part(
    subsets: Sequence[_Subset], kind: str, files: Sequence[Path], *, first: bool
) -> LogPart:
    """The decisions of a kind; the first part has what cannot be used of the dataset, too."""
    one = subsets[0]
    model = as_text(one.report.get("model_name"))
    errors = as_number(as_object(one.report.get("execution_summary")).get("errored"))
    errored = LeftOut("log-errored", one.dataset, "EvalScope", rows=int(errors or 0))
    return LogPart(
        harness=NAME,
        dataset=one.dataset if kind == "choice" else f"{one.dataset} {kind}",
        model=model or one.path.parent.name,
        evidence="decision",
        files=tuple(each.path.name for each in subsets if first or kind in each.kinds),
        read=lambda: _decisions(subsets, kind, first=first),
        version=_version(one.path, files),
        figures=tuple(_decision_figures(subsets, kind)),
        readings=_DECISION_READINGS[kind],
        repeats=True,
        missing=("one-order", *(() if one.report else ("results",))),
        named_after=None if model else one.path.parent,
        left_out=(errored,) if first and errored.rows else (),
    )


def _part(subsets: Sequence[_Subset], files: Sequence[Path]) -> LogPart:
    first = subsets[0]
    sample = first_object(first.path) or {}
    has_options = _options(sample) is not None
    names = list(_marks(sample))
    score = as_object(as_object(sample.get("sample_score")).get("score"))
    main = as_text(score.get("main_score_name"))
    main = main if main in names else next(iter(names), "")
    figures = tuple(_figures(first.report, names, several=len(subsets) > 1))
    model = as_text(first.report.get("model_name"))
    return LogPart(
        harness=NAME,
        dataset=first.dataset,
        model=model or first.path.parent.name,
        evidence="reply" if has_options else "written",
        files=tuple(each.path.name for each in subsets),
        read=lambda: _answers(subsets),
        version=_version(first.path, files),
        figures=figures,
        readings={main: "tolerant"} if has_options else _text_readings(names),
        main_mark=main if has_options else "",
        repeats=True,
        missing=(
            *(("one-order", "probabilities") if has_options else ()),
            *(() if first.report else ("results",)),
        ),
        named_after=None if model else first.path.parent,
    )


def _version(path: Path, files: Sequence[Path]) -> str:
    """As the configuration states it; older versions do not."""
    for each in files:
        is_own = each.parent.name == "configs" and each.parents[1] == path.parents[2]
        if is_own and (stated := _VERSION.search(head_of(each, _CONFIG_BYTES))):
            return stated[1].decode("utf-8", "replace")
    return ""


def _text_readings(names: Sequence[str]) -> dict[str, str]:
    """evalui's figures of the same name; both have them from the same packages."""
    return {name: name.lower() for name in names}


def _figures(report: JsonObject, names: Sequence[str], *, several: bool) -> Iterator[PrintedFigure]:
    """What a report prints, under the names of the marks that it is the mean of."""
    for metric in map(as_object, as_list(report.get("metrics"))):
        name = _mark_of(metric, names)
        if (value := as_number(metric.get("score"))) is not None:
            yield PrintedFigure(name, value)
        for category in map(as_object, as_list(metric.get("categories")) if several else []):
            for subset in map(as_object, as_list(category.get("subsets"))):
                value = as_number(subset.get("score"))
                if value is not None and not subset.get("is_aggregate"):
                    yield PrintedFigure(name, value, subject=as_text(subset.get("name")))


def _decision_figures(subsets: Sequence[_Subset], kind: str) -> Iterator[PrintedFigure]:
    """What a report prints of decisions of a kind.

    The share that is right is over all kinds; it counts where there is no other.
    """
    alone = {each.name for each in subsets if each.kinds == frozenset({kind})}
    for metric in map(as_object, as_list(subsets[0].report.get("metrics"))):
        identity = as_object(metric.get("identity"))
        about = as_object(identity.get("dimensions"))
        if about.get("kind", kind) != kind:
            continue
        name = as_text(identity.get("name"))
        name = "acc" if name == "accuracy" else name
        name += " (confidence)" * (about.get("confidence") == "provider_confidence")
        value = as_number(metric.get("score"))
        if value is not None and ("kind" in about or len(alone) == len(subsets)):
            yield PrintedFigure(name, value)
        categories = as_list(metric.get("categories")) if len(subsets) > 1 else []
        for category in map(as_object, categories):
            for subset in map(as_object, as_list(category.get("subsets"))):
                value, subject = as_number(subset.get("score")), as_text(subset.get("name"))
                if value is not None and ("kind" in about or subject in alone):
                    yield PrintedFigure(name, value, subject=subject)


def _mark_of(metric: JsonObject, names: Sequence[str]) -> str:
    """The mark that a metric of a report is the mean of, its own name if there is none.

    A report spells out what the name of a mark abbreviates: "rouge", 1, "recall" is "Rouge-1-R".
    """
    identity = as_object(metric.get("identity"))
    name = as_text(identity.get("name")) or as_text(metric.get("name"))
    parts = as_object(identity.get("dimensions"))
    size = as_text(parts.get("ngram", parts.get("variant")))
    full = "-".join(filter(None, (name, size, as_text(parts.get("statistic"))[:1])))
    wanted = {_plain(full), _plain(name.removeprefix("mean_").removeprefix("Average"))}
    wanted |= {"acc"} if "accuracy" in wanted else set()
    same = [each for each in names if _plain(each) in wanted]
    return same[0] if same else full


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).casefold()


def _answers(subsets: Sequence[_Subset]) -> Iterator[LoggedAnswer | FlawedAnswer]:
    several = len(subsets) > 1
    for subset in subsets:
        # What decides is the same for all reviews of a dataset.
        has_options = _options(first_object(subsets[0].path) or {}) is not None
        for number, review in json_lines(subset.path):
            place = f"{subset.path.name}:{number}"
            if review is None or "sample_score" not in review:
                yield FlawedAnswer(place, "damaged")
                continue
            read = _answer(review, number, subset.name if several else "", has_options)
            yield read if isinstance(read, LoggedAnswer) else FlawedAnswer(place, read)


def _answer(review: JsonObject, number: int, subset: str, has_options: bool) -> LoggedAnswer | Flaw:
    scored = as_object(review["sample_score"])
    score, about = as_object(scored.get("score")), as_object(scored.get("sample_metadata"))
    if not isinstance(reply := score.get("prediction"), str):
        return "no-answer"
    id_ = as_text(about.get("id")) or as_text(_own_id(review, number))
    id_ = f"{subset}/{id_}" if subset else id_
    targets = [as_text(each) for each in as_list(review.get("target"))]
    targets = targets or [as_text(review.get("target"))]
    prompt, marks = _prompt(review), _marks(review)
    if not has_options:
        references = tuple(filter(None, targets))
        return LoggedAnswer(
            id_,
            prompt.strip() or id_,
            references=references,
            subject=subset,
            reply=reply,
            marks=marks,
        )
    options = _options(review)
    if options is None:
        return "options"
    if len(targets) > 1:
        return "several"
    gold = slot_of(targets[0], len(options))
    if gold is None:
        return "gold"
    return LoggedAnswer(
        id_,
        question_of(prompt) or id_,
        options,
        gold,
        subject=subset,
        reply=reply,
        extracted=slot_of(score.get("extracted_prediction"), len(options)),
        marks=marks,
    )


def _decisions(
    subsets: Sequence[_Subset], kind: str, *, first: bool
) -> Iterator[LoggedAnswer | FlawedAnswer]:
    for subset in subsets:
        for number, review in json_lines(subset.path):
            place = f"{subset.path.name}:{number}"
            own = as_text(_decided(review).get("kind")) if review else ""
            if own == kind and review:
                read = _decision(review, number, subset.name if len(subsets) > 1 else "")
                yield read if isinstance(read, LoggedAnswer) else FlawedAnswer(place, read)
            elif first and own not in _DECISION_READINGS:
                yield FlawedAnswer(place, "scale" if own == "score" else "damaged")


def _decision(review: JsonObject, number: int, subset: str) -> LoggedAnswer | Flaw:
    held, asked = _decided(review), _asked(review)
    labels = [*map(as_text, as_list(held.get("labels")))]
    criteria = as_object(asked.get("criteria"))
    is_choice = held.get("kind") == "choice"
    options = tuple(as_text(criteria.get(each)) for each in labels) if is_choice else tuple(labels)
    if len(options) < 2 or not all(options):
        return "options"
    if len(options) > len(LETTERS):
        return "many"
    if (gold := as_text(held.get("gold"))) not in labels:
        return "gold"
    given = as_object(held.get("raw_probabilities"))
    probabilities = [as_number(given.get(each)) for each in labels]
    if not all(each is not None and 0 <= each <= 1 for each in probabilities):
        return "damaged"
    scored = as_object(review["sample_score"])
    reply = as_text(as_object(scored.get("score")).get("prediction"))
    named = reply.removeprefix(as_text(asked.get("answer_prefix")))
    id_ = as_text(as_object(scored.get("sample_metadata")).get("source_id"))
    id_ = id_ or as_text(_own_id(review, number))
    return LoggedAnswer(
        f"{subset}/{id_}" if subset else id_,
        _decision_question(asked, is_choice=is_choice),
        options,
        labels.index(gold),
        subject=subset,
        decision=Decision(
            tuple(each for each in probabilities if each is not None),
            labels.index(named) if named in labels else None,
            confidence=as_number(held.get("confidence")),
        ),
        reply=named,
        marks=_marks(review),
    )


def _decision_question(asked: JsonObject, *, is_choice: bool) -> str:
    """What a model was told, and asked; the options of a choice are apart."""
    state = asked.get("state")
    entries = as_object(state)
    if entries.keys() == _WORKED:
        entries = {"question": entries["question"]}
    if entries and all(isinstance(each, str) for each in entries.values()):
        told = "\n".join(f"{name}: {each}" for name, each in entries.items())
    else:
        told = state if isinstance(state, str) else json.dumps(state, ensure_ascii=False)
    meant = {} if is_choice else as_object(asked.get("criteria"))
    parts = (told, as_text(asked.get("instructions")), *(f"{k}: {v}" for k, v in meant.items()))
    return "\n\n".join(filter(None, parts))


def _decided(review: JsonObject) -> JsonObject:
    """What EvalScope keeps of a decision, {} if the review is of something else."""
    score = as_object(as_object(review.get("sample_score")).get("score"))
    return as_object(as_object(score.get("metadata")).get("decision"))


def _asked(review: JsonObject) -> JsonObject:
    """The question of a decision as it was put, {} if there is none."""
    for message in map(as_object, as_list(review.get("messages"))):
        if asked := as_object(as_object(message.get("internal")).get("systemone")):
            return asked
    return {}


def _own_id(review: JsonObject, number: int) -> object:
    """The number of a question; several replies to one have its group in common."""
    scored = as_object(review["sample_score"])
    return scored.get("group_id", scored.get("sample_id", review.get("index", number)))


def _options(review: JsonObject) -> tuple[str, ...] | None:
    listed = tuple(map(as_text, as_list(review.get("choices")))) or options_of(_prompt(review))
    targets = as_list(review.get("target")) or [review.get("target")]
    named = all(slot_of(each, len(listed)) is not None for each in targets)
    return listed if len(listed) > 1 and named else None


def _prompt(review: JsonObject) -> str:
    """The last question to the model; of earlier versions a text."""
    given = review.get("input")
    if isinstance(given, str):
        return given
    for message in reversed([*map(as_object, as_list(review.get("messages")))]):
        if message.get("role") == "user" and isinstance(content := message.get("content"), str):
            return content
    return ""


def _marks(review: JsonObject) -> Mapping[str, float]:
    value = as_object(as_object(as_object(review.get("sample_score")).get("score")).get("value"))
    numbers = ((name, as_number(each)) for name, each in value.items())
    return {name: number for name, number in numbers if number is not None}


HARNESSES.register(NAME)(read_evalscope)
