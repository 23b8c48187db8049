from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from open_run_examples import CATALOG, RIGHT, capitals, open_spec
from PIL import Image
from runs_examples import dataset, plans_of, spec

from evalui.models import ModelEntry
from evalui.models.catalog import ModelState
from evalui.modes.multiple_choice import MultipleChoice
from evalui.pictures import Mark
from evalui.runs.estimate import Estimate, estimate, picture_tokens
from evalui.runs.plan import plan_run
from evalui.store.connection import Database
from evalui.store.datasets import add_dataset, read_dataset
from evalui.types import Request, Sample

DATASETS = {"sums.csv": dataset()}


def test_a_plan_and_its_estimate_render_as_much_however_many_questions_there_are(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    rendered: list[str] = []

    def plan(mode: MultipleChoice, sample: Sample, *rest: Any) -> tuple[Request, ...]:
        rendered.append(sample.id)
        return plan_one(mode, sample, *rest)

    plan_one = MultipleChoice.plan
    monkeypatch.setattr(MultipleChoice, "plan", plan)
    counts: list[int] = []
    for n in (240, 2400):
        big = dataset(n)
        plans = plans_of(spec(models=["perfect", "always-A"], pattern="all_possible"), big)
        assert [plan.total for plan in plans] == [24 * n] * 2
        # One request of each cell tells how many there are, and one at which temperature.
        assert len(rendered) == 4
        estimate(database, plans, {"sums.csv": big})
        counts.append(len(rendered))
        rendered.clear()
    assert counts == [4 + 24 * 24] * 2


def test_what_is_answered_already_is_stated(database: Database) -> None:
    estimated = estimate(database, plans_of(spec(pattern="circular")), DATASETS, cached=[20])
    assert (estimated.requests, estimated.cached) == (24, 20)


def test_a_cell_that_cannot_run_costs_nothing(database: Database) -> None:
    plans = plans_of(spec(models=["always-A"], mode="cloze"))
    assert estimate(database, plans, DATASETS) == Estimate(0, 0, 0)


def test_worked_examples_cost_tokens(database: Database) -> None:
    without = estimate(database, plans_of(spec()), DATASETS).tokens
    with_two = estimate(database, plans_of(spec(shots=2)), DATASETS).tokens
    assert with_two > 2.5 * without


def test_a_conversation_costs_its_turns(database: Database) -> None:
    assert estimate(database, plans_of(spec(chat=True)), DATASETS).tokens > 6 * 10


def judged(database: Database, **prices: float) -> Estimate:
    catalog = CATALOG | {"perfect": replace(CATALOG["perfect"], **prices)}
    asked = open_spec(models=["perfect"], judging={"judges": ["perfect"]})
    data = {"capitals.jsonl": capitals()}
    return estimate(database, plan_run(asked, data, catalog, [RIGHT]), data)


def test_the_judges_calls_are_distinguished(database: Database) -> None:
    estimated = judged(database)
    assert (estimated.requests, estimated.judged) == (4 + 8, 8)
    assert estimated.dollars is None


def test_a_price_makes_a_cost(database: Database) -> None:
    estimated = judged(database, input_price=2.0)
    assert estimated.dollars == pytest.approx(estimated.tokens * 2.0 / 1e6)
    written = judged(database, output_price=10.0)
    assert written.dollars == pytest.approx((4 * 512 + 8 * 1024) * 10.0 / 1e6)


def test_a_decision_reads_its_options_and_writes_a_token(database: Database) -> None:
    asked = spec(models=["decider"], pattern="circular")
    entry = ModelEntry("decider", "openai", output_price=10.0)
    (plan,) = plan_run(
        asked,
        DATASETS,
        {"decider": entry},
        describe=lambda entry: ModelState(entry, frozenset({"decide"}), ""),
    )
    estimated = estimate(database, [plan], DATASETS)
    assert (estimated.requests, estimated.dollars) == (24, pytest.approx(24 * 10.0 / 1e6))
    assert estimated.tokens > 24 * 15  # the state, the question, four keys and texts


def test_a_model_is_expected_to_write_as_much_as_it_did(database: Database) -> None:
    (plan,) = plans_of(spec(mode="generation"))
    plan = replace(plan, entry=replace(plan.entry, output_price=10.0))
    longest = plan.mode.max_tokens
    assert estimate(database, [plan], DATASETS).dollars == pytest.approx(6 * longest * 10.0 / 1e6)
    known = {("perfect", "generation"): 7.5, ("always-A", "generation"): 1.0}
    estimated = estimate(database, [plan], DATASETS, reply_tokens=known)
    assert estimated.dollars == pytest.approx(6 * 7.5 * 10.0 / 1e6)


@pytest.mark.parametrize(
    ("width", "height", "side", "tokens"),
    [
        (1000, 1000, 2048, 1334),  # Anthropic's example of about 1,334
        (200, 200, 2048, 54),  # and of about 54
        (4000, 3000, 2048, 1600),
        (4000, 3000, 400, 160),
        (1, 1, 2048, 1),
    ],
)
def test_a_picture_costs_what_its_size_says(
    width: int, height: int, side: int, tokens: int
) -> None:
    assert picture_tokens(width, height, side) == tokens


@pytest.mark.parametrize("is_stored", [False, True])
def test_marks_are_no_texts_and_pictures_cost_their_own(
    is_stored: bool, database: Database, tmp_path: Path
) -> None:
    def tokens(question: str, **fields: object) -> int:
        samples = [replace(each, question=question + each.question) for each in dataset().samples]
        asked = replace(dataset(samples=samples), pictures=str(tmp_path))
        if is_stored and any(tmp_path.glob(mark.id)):
            asked = read_dataset(database, add_dataset(database, asked))
        return estimate(database, plans_of(spec(**fields), asked), {"sums.csv": asked}).tokens

    mark = Mark("0" * 32)
    assert tokens(f"{mark}") == tokens("")  # of a picture that is not there
    Image.new("RGB", (750, 100)).save(tmp_path / mark.id, "PNG")
    (tmp_path / f"{mark.id}.small").touch()
    requests = len(dataset().samples)
    assert tokens(f"{mark}") == tokens("") + 100 * requests
    assert tokens(f"{mark}{mark}") == tokens("") + 200 * requests
    assert tokens(f"{mark}", pictures="none") == tokens("")
    assert tokens(f"{mark}", picture_side=75) == tokens("") + requests
