"""The cells of a run with their trials so far, as reports read them, and what models were sent."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from evalui.errors import UnknownRun
from evalui.modes import MODES, ModeSettings, plan_requests
from evalui.modes.prompts.templates import choose_template
from evalui.runs.cells import mode_settings, permutes_options, repeated
from evalui.runs.signature import is_shown_in
from evalui.runs.spec import ModeSpec
from evalui.scoring.choice.options import variants
from evalui.store.codec import decode_sample
from evalui.store.connection import Database
from evalui.store.datasets import read_cell_dataset
from evalui.store.runs import CellRow, read_cells
from evalui.store.trials import DeferredTrials, read_contestants, read_trials
from evalui.types import CellResult, Request, Sample, Variant

QuestionReader = Callable[[CellRow], Mapping[str, Sample]]


@dataclass(frozen=True, slots=True)
class SentPrompt:
    """What a model was sent about one order of a question.

    `scored` are the same requests without worked examples and opening: where they are the end of
    what was sent, the question that was scored begins there.
    """

    variant: Variant
    requests: tuple[Request, ...]
    scored: tuple[Request, ...]


def read_results(
    database: Database, run_id: str, read_questions: QuestionReader | None = None
) -> tuple[CellResult, ...]:
    """All cells of a run with their trials so far, in order; raises `UnknownRun`.

    `read_questions` gives the questions of a cell by id in file order where they are kept.
    """
    read_questions = read_questions or partial(_read_questions, database)
    samples: dict[tuple[str, int], Mapping[str, Sample]] = {}  # cells of one dataset share them
    results: list[CellResult] = []
    for row in read_cells(database, run_id):
        key = row.dataset_key, row.questions
        if key not in samples:
            samples[key] = read_questions(row)
        results.append(_read_result(database, row, samples[key]))
    return tuple(results)


def read_result(
    database: Database, run_id: str, cell_id: int, read_questions: QuestionReader | None = None
) -> CellResult:
    """One such cell of a run; raises `UnknownRun` if it has no cell of that id."""
    read_questions = read_questions or partial(_read_questions, database)
    for row in read_cells(database, run_id):
        if row.id == cell_id:
            return _read_result(database, row, read_questions(row))
    raise UnknownRun("run-cell", run=run_id, cell=cell_id)


def _read_questions(database: Database, row: CellRow) -> Mapping[str, Sample]:
    samples = read_cell_dataset(database, row.id).samples[: row.questions]
    return {sample.id: sample for sample in samples}


def _read_result(database: Database, row: CellRow, samples: Mapping[str, Sample]) -> CellResult:
    """All that a report needs to know of a cell, finished or not."""
    result = CellResult(
        cell=row.cell,
        samples=samples,
        trials=DeferredTrials(row.done, partial(read_trials, database, row.id, row.done)),
        total=row.total,
        state=row.state,
        error=row.error,
    )
    plan = ModeSpec.model_validate_json(row.plan)
    judging = plan.judging
    if judging is None:
        return replace(result, log=plan.log)
    return replace(
        result,
        contestants=read_contestants(database, row),
        orders=judging.orders,
        conflict=judging.conflict,
        strong=judging.strong,
        output=judging.decided_output,
        says_neither=judging.says_neither,
    )


def is_recorded(row: CellRow) -> bool:
    """Whether the answers of a cell were supplied with the run, and not requested from a model."""
    return ModeSpec.model_validate_json(row.plan).recorded


def orders_of(row: CellRow, sample: Sample) -> tuple[Variant, ...]:
    """The orders in which a cell shows the options of a question, as written first, by repeat."""
    plan = ModeSpec.model_validate_json(row.plan)
    shown = row.cell.pattern if permutes_options(MODES[plan.mode], row.cell.pattern) else "origin"
    orders = repeated(variants(len(sample.choices), shown), plan.repeats)
    return tuple(order for order in orders if is_shown_in(sample, order, row.cell.signature))


def read_sent_prompt(
    database: Database, row: CellRow, sample: Sample, variant: Variant
) -> SentPrompt:
    """The requests of one order of a question, made again.

    Those that only earlier responses call for are left out. A judge's cell has no such questions.
    """
    mode = ModeSpec.model_validate_json(row.plan)
    examples = database.rows(
        "SELECT body FROM sample WHERE dataset = (SELECT dataset FROM cell WHERE id = ?)"
        " AND role = 'shot' AND subject = ? ORDER BY place",
        (row.id, sample.subject),
    )
    setting = mode_settings(mode, [decode_sample(each["body"]) for each in examples])
    scorer = MODES[mode.mode]
    return SentPrompt(
        variant,
        plan_requests(scorer, sample, variant, setting),
        plan_requests(scorer, sample, variant, _without_examples(sample, setting)),
    )


def _without_examples(sample: Sample, setting: ModeSettings) -> ModeSettings:
    template = setting.template or choose_template(sample)
    return replace(setting, shots={}, template=replace(template, opening=""))
