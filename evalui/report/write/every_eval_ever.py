"""A run in the shared form of Every Eval Ever, schema 0.3.0: an object and lines for each cell.

The object has the figures with their ranges, a line of the `.jsonl` beside it is an answer. What
the schema has no place for (positions, tests, several rules that read one reply) stays out.
https://github.com/evaleval/every_eval_ever
"""

import hashlib
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from math import isfinite

from evalui.modes import traits_of
from evalui.report.analyses.base import Report
from evalui.report.frames.base import SEPARATOR, Row
from evalui.report.frames.metrics import answer_metrics, choice_metrics
from evalui.report.write.archive import zip_parts
from evalui.report.write.json_text import JsonObject, json_text, utf8
from evalui.report.write.lines import encoded, json_lines
from evalui.scoring.choice.options import shown_options
from evalui.scoring.metrics import Metric, metric_named
from evalui.scoring.trial_columns import columns_of
from evalui.types import LETTERS, Cell, CellResult, Language, Sample, Trial
from evalui.version import __version__

SCHEMA_VERSION = "0.3.0"
_UNSTATED = "unknown"


def eee_zip(report: Report, language: Language) -> Iterator[bytes]:
    """All cells but those of judges, an archive piece by piece; names are in no language."""
    del language
    return zip_parts(_files(report, str(int(time.time()))))


def _files(report: Report, moment: str) -> Iterator[tuple[str, Iterable[bytes]]]:
    rows = {
        **{_key(one.cell): choice_metrics(one) for one in report.summaries},
        **{_key(one.cell): answer_metrics(one) for one in report.answers},
    }
    for place, result in enumerate(report.results, start=1):
        cell = result.cell
        if cell.gives == "verdicts":
            continue
        own = rows.get(_key(cell), ())
        id_ = f"{cell.dataset}/{cell.model}/{moment}-{place}"
        name = re.sub(r"[^\w.+-]+", "_", f"{place:03}_{cell.dataset}_{cell.model}_{cell.label}")
        results = _results(result, own, id_)
        whole = {
            "schema_version": SCHEMA_VERSION,
            "evaluation_id": id_,
            "retrieved_timestamp": moment,
            "source_metadata": {
                "source_name": report.name,
                "source_type": "evaluation_run",
                "source_organization_name": _UNSTATED,
                "evaluator_relationship": "other",
            },
            "eval_library": _library(result),
            "model_info": {
                "name": cell.model,
                "id": cell.model,
                "additional_details": {
                    "deployment_type": "unknown",
                    "model_availability": "unknown",
                },
            },
            "evaluation_results": results,
        }
        yield f"{name}.json", (utf8(f"{json_text(whole, indented=True)}\n"),)
        headline = next((str(each["evaluation_result_id"]) for each in results), "")
        lines = json_lines(_instances(result, id_, headline))
        yield f"{name}.jsonl", encoded(lines)


def _key(cell: Cell) -> tuple[str, str, str]:
    return cell.dataset, cell.model, cell.label


def _library(result: CellResult) -> JsonObject:
    """What has collected the answers; of an imported log that is another harness."""
    if result.log is None:
        return {"name": "evalui", "version": __version__}
    own = {"scored_by": f"evalui {__version__}"}
    version = result.log.version or _UNSTATED
    return {"name": result.log.harness, "version": version, "additional_details": own}


def _results(result: CellResult, rows: Iterable[Row], id_: str) -> list[JsonObject]:
    """Every metric of the whole cell that has a range and is no judge's."""
    return [
        _result(result, id_, row, metric_named(str(row["metric"])))
        for row in rows
        if row["low"] is not None and not row["group"] and not row["judge"]
    ]


def _result(result: CellResult, id_: str, row: Row, metric: Metric | None) -> JsonObject:
    # A score that only a mode gives is a share, too, see `metrics_of_texts`.
    share = metric is None or metric.unit == "share"
    ends = (0.0, 100.0) if metric is None or share else metric.range
    least, most = (end if isfinite(end) else None for end in ends)
    interval = {"lower": row["low"], "upper": row["high"], "confidence_level": 0.95}
    number = {} if row["n"] is None else {"num_samples": row["n"]}
    return {
        "evaluation_result_id": f"{id_}/{row['metric']}",
        "evaluation_name": result.cell.dataset,
        "source_data": {"dataset_name": result.cell.dataset, "source_type": "other"},
        "metric_config": {
            "metric_id": f"evalui.{row['metric']}",
            "metric_name": row["metric"],
            "metric_unit": row["unit"] or "percent",
            "lower_is_better": row["direction"] == "lower",
            "score_type": "continuous",
            "min_score": least,
            "max_score": most,
        },
        "score_details": {
            "score": row["value"],
            "uncertainty": {"confidence_interval": interval, **number},
        },
        "generation_config": {"additional_details": {"signature": result.cell.signature}},
    }


def _instances(result: CellResult, id_: str, headline: str) -> Iterator[JsonObject]:
    credit = traits_of(result.cell.mode).credit
    for trial in columns_of(result.trials):
        sample = result.samples[trial.sample_id]
        own = _choice(sample, trial) if result.cell.gives == "choices" else None
        own = own or _answer(sample, trial, credit)
        yield {
            "schema_version": SCHEMA_VERSION,
            "evaluation_id": id_,
            "model_id": result.cell.model,
            "evaluation_name": result.cell.dataset,
            **({"evaluation_result_id": headline} if headline else {}),
            "sample_id": sample.id,
            "sample_hash": _hash(sample, own["input"]["reference"]),
            "interaction_type": "single_turn",
            **own,
            "metadata": _metadata(sample, trial),
        }


def _choice(sample: Sample, trial: Trial) -> JsonObject:
    """One order of the options: `choices` as shown, the reference is the right option's text."""
    reading = trial.reading
    shown = shown_options(sample.choices, trial.variant)
    letter = "" if reading.choice is None else LETTERS[reading.choice]
    reply = trial.reply if trial.reply is not None else letter
    return {
        "input": {
            "raw": sample.question,
            "reference": [shown[trial.target]],
            "choices": shown,
        },
        "output": {"raw": [reply]},
        "answer_attribution": [_attribution(letter, reading.rule)],
        "evaluation": {"score": reading.credit, "is_correct": reading.credit == 1.0},
    }


def _answer(sample: Sample, trial: Trial, credit_metric: str) -> JsonObject:
    """A written answer: correct is what equals a reference, the score as its mode credits it."""
    reply = SEPARATOR.join(trial.answers)
    exact = trial.scores.get("exact_match")
    credit = trial.scores.get(credit_metric, (trial.reading.credit,))[0]
    return {
        "input": {"raw": sample.question, "reference": list(sample.references)},
        "output": {"raw": [reply]},
        "answer_attribution": [_attribution(reply, trial.reading.rule)],
        "evaluation": {"score": credit, "is_correct": bool(exact and exact[0] == 1.0)},
    }


def _attribution(value: str, rule: str) -> JsonObject:
    return {
        "turn_idx": 0,
        "source": "output.raw",
        "extracted_value": value,
        "extraction_method": rule or _UNSTATED,
        "is_terminal": True,
    }


def _hash(sample: Sample, references: Sequence[str]) -> str:
    whole = sample.question + "".join(references)
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()


def _metadata(sample: Sample, trial: Trial) -> dict[str, str]:
    order = "".join(LETTERS[content] for content in trial.variant.permutation)
    stated = {"subject": sample.subject, "order": order}
    return {name: text for name, text in stated.items() if text}
