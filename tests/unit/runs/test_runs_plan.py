from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from runs_examples import CATALOG, dataset, plans_of, sample, spec

from evalui.errors import SpecError, UnknownName
from evalui.messages import messages
from evalui.models import ModelEntry
from evalui.models.base import sampling_seed
from evalui.models.catalog import ModelState
from evalui.modes import MODES, plan_requests
from evalui.runs.cells import CellPlan, blocking_reason, mode_settings, trials_to_run
from evalui.runs.contest import JudgingSpec
from evalui.runs.plan import plan_run
from evalui.runs.spec import ModeSpec, RunSpec
from evalui.store.codec import request_key
from evalui.types import Ability, Dataset, Decide, Generate, NextToken, Request, Variant


def test_the_cells_of_a_model_stand_together() -> None:
    asked = spec(
        datasets=["a", "b"], models=["perfect", "always-A"], mode=["multiple_choice", "generation"]
    )
    plans = plans_of(asked, dataset(name="a"), dataset(name="b"))
    assert [(plan.cell.model, plan.cell.dataset, plan.cell.mode) for plan in plans] == [
        (model, name, mode)
        for model in ("perfect", "always-A")
        for name in ("a", "b")
        for mode in ("multiple_choice", "generation")
    ]


def test_a_circular_cell_asks_each_question_in_each_order() -> None:
    (plan,) = plans_of(spec(pattern="circular"))
    assert (plan.questions, plan.total, plan.requests) == (6, 24, 24)


def test_a_cloze_cell_is_prompted_once_whatever_the_pattern() -> None:
    (plan,) = plans_of(spec(mode="cloze", pattern="circular"))
    assert plan.pattern == "origin"
    assert (plan.total, plan.requests) == (6, 6 * 2 * 4)


def test_questions_with_three_and_four_options_are_counted_apart() -> None:
    data = dataset(samples=[sample(1), sample(2, options=3)])
    (plan,) = plans_of(spec(pattern="all_possible"), data)
    assert plan.total == 24 + 6


def test_the_plan_counts_what_the_work_is() -> None:
    data = dataset(samples=[sample(1), sample(2, options=3), sample(3, naming=True)])
    for mode in ("multiple_choice", "cloze"):
        (plan,) = plans_of(spec(mode=mode, pattern="circular"), data)
        pairs = list(trials_to_run(plan.mode, plan.pattern, data.samples, plan.setting))
        asked = sum(len(MODES[mode].plan(*pair, plan.setting)) for pair in pairs)
        assert (plan.total, plan.requests) == (len(pairs), asked)


def test_questions_whose_options_name_others_or_repeat_are_moved_as_opencompass_does() -> None:
    mode = ModeSpec(mode="generation", chat=False)
    twice = replace(sample(3), choices=("2", "3", "3", "4"))
    samples = [sample(1, naming=True), sample(2), twice]
    pairs = list(trials_to_run(mode, "circular", samples, mode_settings(mode, ())))
    assert Counter(asked.id for asked, _ in pairs) == dict.fromkeys(
        ("sums/1", "sums/2", "sums/3"), 4
    )
    assert pairs[0][1] == Variant((0, 1, 2, 3))


def test_the_limit_takes_the_first_questions() -> None:
    (plan,) = plans_of(spec(limit=2))
    assert (plan.questions, plan.total) == (2, 2)


def test_worked_examples_are_dev_rows_only_and_cut_to_the_number() -> None:
    data = dataset(3, shots=5)
    setting = mode_settings(ModeSpec(mode="cloze", shots=2, chat=False), data.shots)
    assert setting.shots == {"sums": data.shots[:2]}


def test_each_subject_has_its_own_worked_examples() -> None:
    shots = [sample(1, subject="law"), sample(2, subject="art"), sample(3, subject="law")]
    setting = mode_settings(ModeSpec(mode="cloze", shots=1, chat=False), shots)
    assert setting.shots == {"law": (shots[0],), "art": (shots[1],)}


def test_without_shots_no_example_is_shown() -> None:
    assert mode_settings(ModeSpec(mode="cloze", chat=False), dataset().shots).shots == {}


def test_fewer_dev_rows_than_shots_are_reported_before_the_start() -> None:
    data = dataset(samples=[sample(1), sample(2, subject="law")], shots=5)
    with pytest.raises(SpecError, match=r"sums, subject law, has 0 worked examples.*3 are needed"):
        plans_of(spec(shots=3), data)


def test_a_subject_beyond_the_limit_needs_no_dev_rows() -> None:
    data = dataset(samples=[sample(1), sample(2, subject="law")], shots=5)
    assert len(plans_of(spec(shots=3, limit=1), data)) == 1


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"models": ["gpt"]}, "Unknown model 'gpt'. Known: always-A, perfect, position-biased."),
        ({"mode": "chess"}, "Unknown mode 'chess'."),
        ({"template": "nope"}, "Unknown template 'nope'."),
    ],
)
def test_an_unknown_name_lists_the_known_ones(change: dict[str, Any], expected: str) -> None:
    with pytest.raises(UnknownName) as caught:
        plans_of(spec(**change))
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"models": ["perfect", "perfect"]}, "2 models are called 'perfect'"),
        ({"mode": ["cloze", "cloze"]}, "2 modes are the same, 'cloze'"),
    ],
)
def test_twins_are_refused(change: dict[str, Any], expected: str) -> None:
    with pytest.raises(SpecError) as caught:
        plans_of(spec(**change))
    assert expected in str(caught.value)


def test_two_datasets_of_one_name_are_refused() -> None:
    with pytest.raises(SpecError, match="2 datasets are called 'sums'"):
        plans_of(spec(datasets=["a", "b"]), dataset(2), dataset(3))


def test_a_model_without_the_ability_is_reported_with_the_reason() -> None:
    (plan,) = plans_of(spec(models=["always-A"], mode="cloze"))
    assert plan.impossible == ("always-A cannot do this mode: it gives no probability of a text.")
    assert plan.requests == 0


def test_a_model_that_cannot_be_loaded_is_reported_with_the_reason() -> None:
    catalog = {"perfect": ModelEntry("perfect", "scripted", options={"rule": "none"})}
    asked = spec()
    (plan,) = plan_run(asked, {"sums.csv": dataset()}, catalog)
    assert "none" in plan.impossible


def test_open_questions_cannot_be_prompted_with_options() -> None:
    data = Dataset("essays", "general_qa", (sample(1),))
    (plan,) = plans_of(spec(), data)
    assert plan.impossible == "essays has no options to choose from."


def test_a_dataset_without_a_usable_row_cannot_run() -> None:
    (plan,) = plans_of(spec(), replace(dataset(1), samples=()))
    assert plan.impossible == "sums has no usable question."


@pytest.mark.parametrize(
    ("habit", "asked", "decided"),
    [(True, None, True), (False, None, False), (True, False, False), (False, True, True)],
)
def test_a_run_may_overrule_the_models_habit_of_chat(
    habit: bool, asked: bool | None, decided: bool
) -> None:
    catalog = {"perfect": replace(CATALOG["perfect"], chat=habit)}
    (plan,) = plan_run(spec(chat=asked), {"sums.csv": dataset()}, catalog)
    assert (plan.mode.chat, plan.setting.chat) == (decided, decided)
    assert f"|chat:{'yes' if decided else 'no'}|" in plan.cell.signature


def test_all_orders_of_ten_options_are_a_slip_of_the_hand() -> None:
    data = dataset(samples=[sample(1, options=10), sample(2, options=10)])
    with pytest.raises(SpecError, match="would ask 7,257,600 times"):
        plans_of(spec(pattern="all_possible"), data)


def _two_subjects() -> Dataset:
    rows = [sample(n, subject=subject) for subject in ("law", "logic") for n in range(3)]
    return dataset(samples=rows, shots=0)


def test_a_limit_takes_the_first_questions_of_each_subject() -> None:
    asked = spec(limit=2, limit_per="subject")
    (plan,) = plans_of(asked, _two_subjects())
    assert (plan.questions, plan.total) == (4, 4)
    assert "|n:4|limit:2/subject|" in plan.cell.signature


def test_a_limit_of_version_1_takes_the_first_questions_of_the_dataset() -> None:
    (plan,) = plans_of(spec(limit=2), _two_subjects())
    assert plan.questions == 2
    assert "|n:2|limit:2|" in plan.cell.signature


def test_the_signature_states_what_is_sent_and_whose_code_made_the_score(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Warm(type(MODES["generation"])):
        """A mode of another package that samples."""

        def plan(self, *given: Any) -> tuple[Request, ...]:
            return tuple(replace(each, temperature=0.8) for each in super().plan(*given))

    monkeypatch.setattr(MODES, "_entries", {**MODES._entries, "warm": Warm()})
    signed = {
        version: plans_of(spec(mode="warm"), dataset())[0].cell.signature
        for version in ("warm 1.0", "warm 1.1")
        if monkeypatch.setattr(MODES, "_packages", {"warm": version}) is None
    }
    assert "|temp:0.8|" in signed["warm 1.0"]
    assert "|plugins:warm 1.0|" in signed["warm 1.0"]
    assert signed["warm 1.0"] != signed["warm 1.1"]
    (plain,) = plans_of(spec(mode="generation"), dataset())
    assert "|temp:0|" in plain.cell.signature
    assert "plugins:" not in plain.cell.signature


def test_chosen_metrics_change_no_signature_and_an_unknown_one_is_refused() -> None:
    (plain,) = plans_of(spec(), dataset())
    (chosen,) = plans_of(spec(metrics=["robust", "acc_origin"]), dataset())
    assert chosen.cell.signature == plain.cell.signature
    with pytest.raises(SpecError, match=r"There is no metric 'nicety'; the metrics are n, acc_"):
        plans_of(spec(metrics=["nicety"]), dataset())


def test_groups_change_no_signature_and_an_unknown_member_is_refused() -> None:
    (plain,) = plans_of(spec(), dataset())
    sets = {"name": "sets", "members": [dataset().name], "of": "datasets"}
    (grouped,) = plans_of(spec(summary_groups=[sets]), dataset())
    assert grouped.cell.signature == plain.cell.signature
    with pytest.raises(SpecError, match=r"The group 'sets' names 'gone', which this run does not"):
        plans_of(spec(summary_groups=[sets | {"members": ["gone"]}]), dataset())
    with pytest.raises(SpecError, match="'C-Eval STEM' has no figures"):
        plans_of(spec(summary_groups="ceval"), dataset())


@pytest.mark.parametrize(("mode", "orders"), [("generation", 4), ("cloze", 1)])
def test_each_order_is_asked_as_often_as_the_run_repeats_it(mode: str, orders: int) -> None:
    settings = {"repeats": 3, "temperature": 0.7} if mode == "generation" else {}
    repeats = 3 if settings else 1
    (plan,) = plans_of(spec(mode=mode, pattern="circular", **settings))
    assert not plan.impossible
    pairs = list(trials_to_run(plan.mode, plan.pattern, dataset().samples, plan.setting))
    assert (
        plan.total
        == len(pairs)
        == len({(each.id, order) for each, order in pairs})
        == 6 * orders * repeats
    )
    shown = [variant for asked, variant in pairs if asked.id == pairs[0][0].id]
    assert [variant.repeat for variant in shown] == sorted(list(range(repeats)) * orders)
    assert shown[:orders] == [variant.order for variant in shown[-orders:]]


def test_repeats_are_in_the_signature_and_a_run_without_them_is_signed_as_before() -> None:
    one, other, plain = (
        plans_of(spec(mode="generation", temperature=0.7, **more))[0].cell.signature
        for more in ({}, {"repeats": 4}, {"repeats": 1})
    )
    assert one == plain
    assert "|repeats:4|" in other
    assert other.replace("|repeats:4", "") == one


def test_copies_of_a_reply_are_refused_with_the_reason() -> None:
    (plan,) = plans_of(spec(mode="generation", repeats=4))
    assert plan.impossible == (
        "perfect writes the same reply each time at temperature 0, so 4 replies to a question "
        "would be 4 copies. Set a temperature above 0, or ask once."
    )
    assert "4 份相同内容" in messages("zh").translate(plan.impossible)
    (drawn,) = plans_of(spec(mode="generation", repeats=4, temperature=0.1))
    assert not drawn.impossible


def test_a_server_that_draws_at_its_own_temperature_may_repeat() -> None:
    def drawing(entry: ModelEntry) -> ModelState:
        return ModelState(entry, frozenset({"generate"}), "", honours=frozenset({"top_p"}))

    entry = ModelEntry("o", "openai")
    mode = ModeSpec(mode="generation", chat=True, repeats=4)
    assert blocking_reason(dataset(), entry, mode, drawing) == ""


def test_a_judge_does_not_repeat() -> None:
    with pytest.raises(ValueError, match="A judge has no use for “Replies to each question”"):
        JudgingSpec(judges=["j"], repeats=2)


def test_the_seed_of_a_run_reaches_each_reply_that_is_drawn() -> None:
    def seeds(**fields: Any) -> tuple[set[int], int | None]:
        run = {"datasets": [{"path": "sums.csv"}], "models": ["perfect"]} | fields
        (plan,) = plans_of(RunSpec.model_validate(run))
        asked = plan_requests(
            MODES["generation"], dataset().samples[0], Variant((0, 1, 2, 3)), plan.setting
        )
        return {each.seed for each in asked if isinstance(each, Generate)}, plan.mode.seed

    drawn = {"mode": "generation", "temperature": 0.5}
    assert seeds(**drawn) == ({0}, None)
    assert seeds(**drawn, seed=7) == ({7}, 7)
    assert seeds(modes=[{**drawn, "seed": 3}], seed=7) == ({3}, 3)
    # Where nothing is drawn kept replies stay those of any seed.
    assert seeds(mode="generation", seed=7) == ({0}, 7)


def test_each_seed_of_a_run_is_a_draw_of_its_own() -> None:
    request = Generate("x", temperature=0.5)
    seeded = [sampling_seed(4, replace(request, seed=seed)) for seed in (0, 1, 2)]
    assert seeded[0] == sampling_seed(4, request)
    assert len(set(seeded)) == 3
    keys = [request_key("m", replace(request, seed=seed)) for seed in (0, 1, 2)]
    assert keys[0] == request_key("m", request)
    assert len(set(keys)) == 3


# ---------------------------------------------------------------- decisions

_TWO = CATALOG | {"decider": ModelEntry("decider", "openai", chat=True)}


def _states(entry: ModelEntry) -> ModelState:
    able: set[Ability] = {"decide"} if entry.name == "decider" else {"next_token", "loglik"}
    return ModelState(entry, frozenset(able), "")


def _decided(**fields: object) -> dict[str, CellPlan]:
    """The cells of a model that decides and of one with letters, by model."""
    asked = spec(models=["decider", "perfect"], **fields)
    planned = plan_run(asked, {"sums.csv": dataset()}, _TWO, describe=_states)
    return {plan.cell.model: plan for plan in planned}


def test_a_model_that_only_decides_makes_decisions_beside_one_with_letters() -> None:
    template = {"labels": "dealt", "template": "plain-zh.1", "chat": None, "pattern": "circular"}
    cells = _decided(**template)
    (asked,), (letters,) = (
        plan_requests(MODES[each.mode_name], sample(0), Variant((0, 1, 2, 3)), each.setting)
        for each in cells.values()
    )
    assert isinstance(asked, Decide)
    assert isinstance(letters, NextToken)
    assert [each.impossible for each in cells.values()] == ["", ""]
    assert [each.requests for each in cells.values()] == [6 * 4, 6 * 4]


def test_each_signs_what_it_was_asked() -> None:
    cells = _decided(labels="dealt", template="plain-zh.1")
    decided, letters = (each.cell.signature.split("|") for each in cells.values())
    assert {"spell:decision", "prompt:decision.1", "chat:no", 'labels:"dealt"'} <= {*decided}
    assert {"spell:common", "prompt:plain-zh.1"} <= {*letters}
    assert not any(part.startswith("labels:") for part in letters)
    assert cells["decider"].mode.template == ""
    plain = _decided()["decider"].cell.signature
    assert "labels:" not in plain  # letters in order, as usual


def test_what_only_a_decision_has_is_refused_to_a_model_with_letters() -> None:
    cells = _decided(spellings="decision")
    assert cells["decider"].impossible == ""
    assert cells["perfect"].impossible == ("perfect cannot do this mode: it makes no decisions.")


@pytest.mark.parametrize("mode", ["cloze", "generation"])
def test_a_model_that_only_decides_does_nothing_else(mode: str) -> None:
    assert "decider cannot do this mode" in _decided(mode=mode)["decider"].impossible


def test_letters_as_lm_eval_scores_them_are_a_decision_to_who_only_decides() -> None:
    cells = _decided(spellings="lm_eval")
    assert [each.setting.spellings for each in cells.values()] == ["decision", "lm_eval"]
