from dataclasses import replace

import pytest
from open_run_examples import CATALOG, RIGHT, WRONG, capitals, collected, open_spec
from runs_examples import dataset

from evalui.errors import SpecError, UnknownName
from evalui.models import ModelEntry
from evalui.models.catalog import ModelState
from evalui.modes import MODES, plan_requests
from evalui.modes.judge import rubric_of
from evalui.pictures import Mark
from evalui.runs.cells import CellPlan, Describe, mode_settings
from evalui.runs.contest import CollectedAnswers
from evalui.runs.plan import plan_run
from evalui.runs.spec import ModeSpec
from evalui.types import Ability, Variant, texts_of


def plans(*brought: CollectedAnswers, **fields: object) -> tuple[CellPlan, ...]:
    return plan_run(open_spec(**fields), {"capitals.jsonl": capitals()}, CATALOG, brought)


def test_answers_come_first_and_judges_last():
    planned = plans(RIGHT, WRONG, models=["perfect"])
    assert [(plan.cell.model, plan.mode_name) for plan in planned] == [
        ("perfect", "question_answer"),
        ("right", "question_answer"),
        ("wrong", "question_answer"),
        ("reference-judge", "judge"),
    ]
    assert [plan.requests for plan in planned] == [4, 0, 0, 4 * 3 * 2]


def test_each_judge_of_a_panel_has_a_cell_of_its_own():
    judges = ["reference-judge", "first-biased-judge"]
    planned = plans(RIGHT, WRONG, judging={"judges": judges})
    assert [plan.cell.model for plan in planned][2:] == judges


def test_only_pairs_with_two_answers_are_counted():
    planned = plans(RIGHT, collected("some", France="Paris"))
    assert planned[-1].total == 2


def test_one_contestant_cannot_be_compared():
    with pytest.raises(SpecError, match="answers of 1 contestants; judging needs 2"):
        plans(RIGHT)


def test_one_contestant_can_be_rated_alone():
    rated = {"judges": ["reference-judge"], "template": "score10-en.1"}
    assert plans(RIGHT, judging=rated)[-1].total == 4


def test_the_signature_tells_how_was_judged():
    signed = plans(RIGHT, WRONG, seed=3)[-1].cell.signature
    for part in ("contestants:right+wrong", "orders:double", "pairs:all", "conflict:tie", "seed:3"):
        assert part in signed.split("|")
    assert "judge:reference-judge" in signed.split("|")


def test_judges_read_the_first_answers_of_each_subject():
    data, seen = capitals(), iter(("north", "north", "south", "south"))
    samples = tuple(replace(each, metadata={"subject": next(seen)}) for each in data.samples)
    asked = open_spec(limit=1, limit_per="subject", models=["perfect"])
    data = replace(data, samples=samples)
    planned = plan_run(asked, {"capitals.jsonl": data}, CATALOG, (RIGHT, WRONG))
    assert [plan.questions for plan in planned] == [2, 2, 2, 2]
    assert [set(plan.answers) for plan in planned[1:3]] == [{samples[0].id, samples[2].id}] * 2
    assert planned[-1].total == 2 * 3 * 2
    assert all("|limit:1/subject|" in plan.cell.signature for plan in planned)


@pytest.mark.parametrize(
    "change",
    [
        {"orders": "single"},
        {"conflict": "drop"},
        {"template": "mtbench-en.1"},
        {"template": "auto.2"},
        {"sample": 2},
        {"strong": 3},
    ],
)
def test_what_changes_a_verdict_changes_the_signature(change: dict[str, object]):
    before = plans(RIGHT, WRONG)[-1].cell.signature
    after = plans(RIGHT, WRONG, judging={"judges": ["reference-judge"]} | change)[-1].cell
    assert before != after.signature


def test_a_contestant_has_one_name():
    with pytest.raises(SpecError, match="2 models are called 'perfect'"):
        plans(collected("perfect", France="Paris"), models=["perfect"], answers=[
            {"model": "perfect", "path": "p"}
        ])  # fmt: skip


def test_in_a_run_of_two_kinds_each_dataset_has_the_modes_made_for_it():
    asked = open_spec(
        datasets=[{"path": "capitals.jsonl"}, {"path": "sums.csv"}],
        models=["perfect"],
        answers=[],
        judging=None,
        modes=[{"mode": "question_answer"}, {"mode": "multiple_choice"}],
    )
    planned = plan_run(asked, {"capitals.jsonl": capitals(), "sums.csv": dataset()}, CATALOG)
    assert [(plan.cell.dataset, plan.mode_name) for plan in planned] == [
        ("capitals", "question_answer"),
        ("sums", "multiple_choice"),
    ]


def test_a_mode_that_fits_nothing_is_reported_with_the_reason():
    (plan,) = plans(models=["perfect"], answers=[], judging=None, modes=[{"mode": "cloze"}])
    assert "no options" in plan.impossible


def test_two_uploads_under_one_name_are_refused():
    with pytest.raises(SpecError, match="2 models are called 'right'"):
        plans(RIGHT, RIGHT)


def test_a_model_that_answers_in_two_ways_cannot_be_judged():
    modes = [{"mode": "question_answer", "max_tokens": n} for n in (64, 128)]
    with pytest.raises(SpecError, match="perfect answers capitals in 2 ways"):
        plans(models=["perfect"], answers=[], modes=modes)


def test_more_showings_than_can_be_done_are_refused_before_they_are_planned(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("evalui.runs.plan.MAX_TRIALS", 7)
    with pytest.raises(SpecError, match="would ask 8 times, more than 7"):
        plans(RIGHT, WRONG)


def test_the_judges_own_seed_stands_in_the_signature():
    planned = plans(RIGHT, WRONG, judging={"judges": ["reference-judge"], "seed": 5})[-1]
    assert "seed:5" in planned.cell.signature.split("|")


def test_a_rating_is_marked_by_its_own_rule():
    rated = {"judges": ["reference-judge"], "template": "score10-en.1"}
    assert "rule:rating.3" in plans(RIGHT, judging=rated)[-1].cell.signature.split("|")


def test_other_answers_have_another_signature_and_none_of_how_they_were_prompted():
    first, second = plans(RIGHT, WRONG)[:2]
    digests = [plan.cell.signature.partition("answers:")[2][:8] for plan in (first, second)]
    assert digests[0] != digests[1]
    assert "max:" not in first.cell.signature
    assert "temp:" not in first.cell.signature


@pytest.mark.parametrize("field", ["baseline", "against"])
def test_a_misspelt_name_is_reported_even_where_it_is_not_used(field: str):
    with pytest.raises(UnknownName, match="'rihgt' does not take part"):
        plans(RIGHT, WRONG, judging={"judges": ["reference-judge"], field: ["rihgt"]})


def test_why_a_contestant_gives_no_answers_is_told():
    gone = ModelEntry("gone", "transformers", path="/no/where")
    spec = open_spec(
        models=["gone"],
        answers=[],
        judging={"judges": ["reference-judge"], "template": "score10-en.1"},
    )
    with pytest.raises(
        SpecError, match=r"/no/where\. .* answers of 0 contestants; judging needs 1\.$"
    ):
        plan_run(spec, {"capitals.jsonl": capitals()}, {**CATALOG, "gone": gone})


def able(*more: Ability) -> Describe:
    """Every model can write, and do what is named."""
    return lambda entry: ModelState(entry, frozenset(("generate", *more)), "")


def judged_by(describe: Describe, **judging: object) -> CellPlan:
    asked = open_spec(version=3, judging={"judges": ["reference-judge"]} | judging)
    data = {"capitals.jsonl": capitals()}
    return plan_run(asked, data, CATALOG, (RIGHT, WRONG), describe=describe)[-1]


@pytest.mark.parametrize(
    ("version", "prompt"), [(1, "compass-en.1"), (2, "compass-en.1"), (3, "compass-en.2")]
)
def test_the_version_of_a_specification_decides_the_rubric_that_is_chosen_by_sample(
    version: int, prompt: str
):
    plan = plans(RIGHT, WRONG, version=version)[-1]
    assert f"prompt:{prompt}" in plan.cell.signature.split("|")
    # What a worker reads of the plan leads to the same rubric.
    stored = ModeSpec.model_validate_json(plan.mode.model_dump_json())
    setting = mode_settings(stored, (), plan.setting.contestants)
    sample = capitals().samples[0]
    assert rubric_of(sample, Variant((0, 1)), setting).name == prompt


def test_a_plan_from_before_there_were_versions_keeps_its_rubric_and_text():
    stored = ModeSpec.model_validate_json(
        '{"mode": "judge", "chat": true, "judging": {"judges": ["j"], "seed": 0}}'
    )
    setting = mode_settings(stored, ())
    sample = capitals().samples[0]
    assert rubric_of(sample, Variant((0, 1)), setting).name == "compass-en.1"
    assert setting.output == "text"


@pytest.mark.parametrize(
    ("abilities", "judging", "output"),
    [
        ((), {}, "text"),
        (("schema",), {}, "schema"),
        (("schema", "next_token"), {}, "schema"),
        (("next_token",), {}, "probabilities"),
        (("schema", "next_token"), {"output": "text"}, "text"),
        (("schema", "next_token"), {"output": "probabilities"}, "probabilities"),
        (("next_token",), {"output": "schema"}, "text"),
    ],
)
def test_a_verdict_is_given_in_what_the_judge_can_do(
    abilities: tuple[Ability, ...], judging: dict[str, object], output: str
):
    plan = judged_by(able(*abilities), **judging)
    assert f"output:{output}" in plan.cell.signature.split("|")
    assert plan.setting.output == output


def test_rubrics_of_the_first_version_are_asked_in_text_and_signed_as_ever():
    both = able("schema", "next_token")
    plan = judged_by(both, template="auto.1")
    assert plan.setting.output == "text"
    assert "output:" not in plan.cell.signature
    signed = plan.cell.signature
    assert "|prompt:compass-en.1|rule:" in signed
    assert judged_by(able(), template="auto.1").cell.signature == signed


def test_each_criterion_is_a_request_where_probabilities_are_read():
    single = {"template": "criteria10-en.2"}
    assert judged_by(able("next_token"), **single).requests == 2 * 4 * 3
    assert judged_by(able("schema"), **single).requests == 2 * 4


@pytest.mark.parametrize(
    ("sees", "text_only", "output", "blind"),
    [
        (True, {}, "schema", False),
        (True, {"schema": "by chat alone"}, "probabilities", False),
        (
            False,
            dict.fromkeys(("generate", "schema", "next_token"), "it ignores them"),
            "schema",
            True,
        ),
    ],
)
def test_a_judge_that_sees_no_pictures_judges_texts_and_its_signature_says_so(
    sees: bool, text_only: dict[Ability, str], output: str, blind: bool
):
    data, mark = capitals(), str(Mark("0" * 32))
    samples = tuple(replace(each, question=f"{mark}\n{each.question}") for each in data.samples)
    data = replace(data, samples=samples, pictures="/folder")

    def describes(entry: ModelEntry) -> ModelState:
        state = able("schema", "next_token")(entry)
        return replace(state, sees_pictures=sees, text_only=text_only)

    asked = open_spec(version=3)
    plan = plan_run(asked, {"capitals.jsonl": data}, CATALOG, (RIGHT, WRONG), describe=describes)[
        -1
    ]
    assert plan.impossible == ""
    assert plan.mode.judging is not None
    assert plan.mode.judging.output == output
    assert ('|pictures:"none"|' in plan.cell.signature) is blind
    variant = Variant((0, 1))
    requests = plan_requests(MODES["judge"], samples[0], variant, plan.setting)
    assert any(mark in text for request in requests for text in texts_of(request)) is not blind
    assert all("capital of France" in texts_of(request)[0] for request in requests)


def _deciding(entry: ModelEntry) -> ModelState:
    return ModelState(entry, abilities=frozenset({"decide"}), problem="")


@pytest.mark.parametrize("output", ["auto", "decision", "schema", "text"])
def test_a_judge_that_only_decides_decides(output: str):
    judging = {"judges": ["decider"], "template": "compass-en.2", "output": output}
    catalog = CATALOG | {"decider": ModelEntry("decider", "openai")}
    asked = open_spec(judging=judging)
    planned = plan_run(
        asked, {"capitals.jsonl": capitals()}, catalog, (RIGHT, WRONG), describe=_deciding
    )
    cell = planned[-1]
    assert (cell.impossible, cell.requests) == ("", 4 * 2)
    assert "output:decision" in cell.cell.signature.split("|")
    assert cell.setting.output == "decision"


def test_a_judge_that_only_decides_cannot_be_told_how_to_write():
    judging = {"judges": ["decider"], "template": "compass-en.1"}
    catalog = CATALOG | {"decider": ModelEntry("decider", "openai")}
    asked = open_spec(judging=judging)
    planned = plan_run(
        asked, {"capitals.jsonl": capitals()}, catalog, (RIGHT, WRONG), describe=_deciding
    )
    assert planned[-1].impossible.startswith("decider only makes decisions, and the rubric compass")


def test_a_judge_that_decides_is_asked_for_each_criterion():
    judging = {"judges": ["decider"], "template": "criteria10-en.2"}
    catalog = CATALOG | {"decider": ModelEntry("decider", "openai")}
    planned = plan_run(
        open_spec(judging=judging),
        {"capitals.jsonl": capitals()},
        catalog,
        (RIGHT, WRONG),
        describe=_deciding,
    )
    assert planned[-1].requests == 4 * 2 * 3
