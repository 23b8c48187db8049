import hashlib
import json
from dataclasses import replace
from pathlib import Path

from runs_examples import add_run, dataset, sample, spec

from evalui.models import ModelEntry
from evalui.runs.results import orders_of, read_sent_prompt
from evalui.runs.worker.worker import Worker
from evalui.store.connection import Database
from evalui.store.runs import read_cells
from evalui.store.trials import read_trials
from evalui.types import NextToken, Request


def test_the_prompts_shown_are_the_prompts_that_were_sent(
    database: Database, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    entry = ModelEntry("perfect", "scripted", options={"rule": "perfect", "log": str(log)})
    run_id = add_run(database, spec(pattern="circular", shots=2), dataset(1))
    Worker(database, lambda: {"perfect": entry}).run_once()
    (cell,) = read_cells(database, run_id)
    asked = [
        read_sent_prompt(database, cell, sample(0), variant)
        for variant in orders_of(cell, sample(0))
    ]
    shown = [
        hashlib.sha256(repr(request).encode()).hexdigest() for a in asked for request in a.requests
    ]
    assert shown == [json.loads(line)["sha256"] for line in log.read_text().splitlines()]
    assert [a.variant for a in asked] == [trial.variant for trial in read_trials(database, cell.id)]


def test_the_scored_question_ends_what_was_sent(database: Database) -> None:
    run_id = add_run(database, spec(shots=2), dataset(1))
    (cell,) = read_cells(database, run_id)
    (variant,) = orders_of(cell, sample(0))
    sent = read_sent_prompt(database, cell, sample(0), variant)
    whole, scored = contexts(sent.requests), contexts(sent.scored)
    assert whole.endswith(scored)
    assert "What is 100 plus 100?" in whole.removesuffix(scored)
    assert "What is 100 plus 100?" not in scored
    assert "What is 0 plus 0?" in scored


def test_a_question_whose_options_name_others_had_one_order_in_earlier_versions(
    database: Database,
) -> None:
    naming = sample(0, naming=True)
    run_id = add_run(database, spec(pattern="circular"), dataset(samples=[naming]))
    (cell,) = read_cells(database, run_id)
    assert len(orders_of(cell, naming)) == 4
    earlier = cell.cell.signature.replace("+naming|", "|")
    old = replace(cell, cell=replace(cell.cell, signature=earlier))
    assert [variant.is_origin for variant in orders_of(old, naming)] == [True]


def contexts(requests: tuple[Request, ...]) -> str:
    (request,) = requests
    assert isinstance(request, NextToken)
    assert isinstance(request.context, str)
    return request.context
