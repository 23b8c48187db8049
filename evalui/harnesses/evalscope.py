"""EvalScope 1.x: `reviews/MODEL/DATASET_SUBSET.jsonl`, and `reports/MODEL/DATASET.json` beside.

A review has the prompt, the reply, what EvalScope read in it and its marks. The subsets of a
dataset are its subjects.
"""

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
from evalui.types import PrintedFigure

NAME = "evalscope"
_VERSION = re.compile(rb"^evalscope_version: *(\S+)", re.MULTILINE)
_CONFIG_BYTES = 2**20


def read_evalscope(files: Sequence[Path]) -> tuple[LogPart, ...]:
    """A part for each dataset and model among the files."""
    groups: dict[tuple[Path, str], list[_Subset]] = {}
    for path in files:
        if _has_reviews(path):
            subset = _Subset.of(path, files)
            groups.setdefault((path.parent, subset.dataset), []).append(subset)
    return tuple(_part(subsets, files) for subsets in groups.values())


@dataclass(frozen=True, slots=True)
class _Subset:
    """The reviews of one subset; `report` is {} where there is none."""

    path: Path
    dataset: str
    name: str
    report: JsonObject

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
        if not reports:
            return cls(path, path.stem, "", {})
        report = max(reports, key=lambda each: len(each.stem))
        name = path.stem.removeprefix(report.stem).removeprefix("_")
        return cls(path, report.stem, name, json_object(report) or {})


def _has_reviews(path: Path) -> bool:
    return path.suffix == ".jsonl" and "sample_score" in (first_object(path) or {})


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
    # Several replies to one question have its group in common.
    own = scored.get("group_id", scored.get("sample_id", review.get("index", number)))
    id_ = as_text(about.get("id")) or as_text(own)
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
