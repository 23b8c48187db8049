from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from open_run_examples import CATALOG, capitals
from runs_examples import dataset

from evalui.models import ModelEntry
from evalui.models.catalog import ModelState, describe
from evalui.modes import MODES
from evalui.pictures import Mark
from evalui.runs.cells import blocking_reason, mode_settings, trials_to_run, uses_chat
from evalui.runs.spec import ModeSpec
from evalui.scoring.bias import measure_bias
from evalui.scoring.choice.circular import MOVABLE, circular_metrics
from evalui.types import (
    LETTERS,
    Ability,
    Contestant,
    Dataset,
    GeneratedText,
    Pattern,
    Sample,
    Trial,
    Variant,
)


def test_an_open_question_is_prompted_once():
    mode = ModeSpec(mode="question_answer", chat=False)
    pairs = list(trials_to_run(mode, "origin", capitals().samples, mode_settings(mode, ())))
    assert [variant for _, variant in pairs] == [Variant(())] * 4


def test_a_judge_is_planned_with_contestants_orders_and_seed_and_with_which_seed():
    judging = {"judges": ["j"], "template": "mtbench-en.1", "seed": 7}
    mode = ModeSpec.model_validate({"mode": "judge", "judging": judging})
    both = (Contestant("x", {}), Contestant("y", {}))
    setting = mode_settings(mode, (), both)
    assert (setting.contestants, setting.seed) == (both, 7)
    assert setting.rubric is not None
    assert setting.rubric.name == "mtbench-en.1"


def test_each_mode_refuses_the_kinds_it_is_not_for():
    entry = CATALOG["perfect"]
    assert "no options" in blocking_reason(
        capitals(), entry, ModeSpec(mode="multiple_choice"), describe
    )
    assert "nothing to write" in blocking_reason(
        dataset(), entry, ModeSpec(mode="question_answer"), describe
    )
    assert blocking_reason(capitals(), entry, ModeSpec(mode="question_answer"), describe) == ""


def test_a_rule_that_knows_questions_by_their_text_is_not_prompted_without():
    entry = CATALOG["perfect"]
    assert "left out here" in blocking_reason(
        dataset(), entry, ModeSpec(mode="choices_only"), describe
    )
    assert blocking_reason(dataset(), entry, ModeSpec(mode="multiple_choice"), describe) == ""


_ANY = st.lists(st.sampled_from(["Co", "CO", "one", "two", "1"]), min_size=2, max_size=4)
_SAMPLES = st.lists(st.tuples(_ANY, st.integers(0, 3)), min_size=1, max_size=8).map(
    lambda rows: [
        Sample(f"q{n}", "Q?", tuple(choices), gold % len(choices))
        for n, (choices, gold) in enumerate(rows)
    ]
)


def _answered(samples: Sequence[Sample], pattern: Pattern, letters: str) -> list[Trial]:
    """Replies of a letter each, the same for the same question and order."""
    mode = ModeSpec(mode="generation", chat=False)
    setting = mode_settings(mode, ())
    trials: list[Trial] = []
    for sample, variant in trials_to_run(mode, pattern, samples, setting):
        shown = int(sample.id[1:]) + sum(n * slot for n, slot in enumerate(variant.permutation))
        letter = letters[shown % len(letters)]
        trials.append(MODES["generation"].grade(sample, variant, [GeneratedText(letter)], setting))
    return trials


@given(_SAMPLES, st.text("ABCD", min_size=1, max_size=12))
def test_accuracy_as_written_is_the_share_of_right_letters_whatever_the_options_say(
    samples: list[Sample], letters: str
):
    trials = _answered(samples, "circular", letters)
    as_written = [trial for trial in trials if trial.variant.is_origin]
    right = sum(trial.reply == LETTERS[trial.target] for trial in as_written)
    found = circular_metrics(trials, "circular")
    assert found.n_origin == len(samples) == len(as_written)
    assert found.values["acc_origin"] == pytest.approx(100 * right / len(samples))


@given(
    _SAMPLES,
    st.text("ABCD", min_size=1, max_size=12),
    st.sampled_from(["circular", "all_possible"]),
)
def test_movable_figures_are_those_without_the_questions_that_mean_something_else(
    samples: list[Sample], letters: str, pattern: Pattern
):
    plain = [sample for sample in samples if not sample.duplicate_options]
    every, without = (_answered(some, pattern, letters) for some in (samples, plain))
    found, expected = circular_metrics(every, pattern), circular_metrics(without, pattern)

    moved = len(samples) - len(plain)
    suffix = MOVABLE if moved else ""
    over_orders = {
        name.removesuffix(MOVABLE): value
        for name, value in found.values.items()
        if not name.endswith("_origin") and name.endswith(suffix)
    }
    wanted = {k: v for k, v in expected.values.items() if not k.endswith("_origin")}
    assert over_orders == pytest.approx(wanted)
    assert len(found.duplicates) == moved == found.n_circular - found.n_movable
    assert found.n_circular == found.n_origin == len(samples)
    one, other = (measure_bias(trials, pattern, draws=0).strata for trials in (every, without))
    assert [stratum.position.counts for stratum in one] == [s.position.counts for s in other]
    assert [stratum.n for stratum in one] == [stratum.n for stratum in other]


def state_of(entry: ModelEntry) -> ModelState:
    every = frozenset[Ability]({"next_token", "loglik", "generate"})
    return ModelState(entry, every, "", plain_only={"loglik": "it has completions for that"})


TALKING = ModelEntry("m", "openai", path="m", chat=True)


@pytest.mark.parametrize(
    ("mode", "chat", "used"),
    [
        ("cloze", None, False),
        ("cloze", True, True),
        ("cloze", False, False),
        ("generation", None, True),
        ("multiple_choice", None, True),
    ],
)
def test_options_are_scored_after_plain_prompts_where_those_alone_are_scored(
    mode: str, chat: bool | None, used: bool
):
    assert uses_chat(TALKING, ModeSpec(mode=mode, chat=chat), state_of) is used


def test_conversations_that_cannot_be_scored_are_refused_before_the_start():
    asked = ModeSpec(mode="cloze", chat=True)
    assert "it has completions for that" in blocking_reason(dataset(), TALKING, asked, state_of)
    plain = ModeSpec(mode="cloze", chat=False)
    assert blocking_reason(dataset(), TALKING, plain, state_of) == ""


def shown(*, options: bool = False) -> Dataset:
    """Questions with pictures, or with pictures as options."""
    mark, asked = str(Mark("0" * 32)), dataset()
    samples = tuple(
        replace(each, choices=(mark, *each.choices[1:]))
        if options
        else replace(each, question=f"{mark}\n{each.question}")
        for each in asked.samples
    )
    return replace(asked, samples=samples, pictures="/folder")


def test_pictures_that_explain_an_answer_are_shown_to_no_model():
    mark, asked = str(Mark("0" * 32)), dataset()
    samples = tuple(replace(each, metadata={"explanation": mark}) for each in asked.samples)
    explained = replace(asked, samples=samples, pictures="/folder")
    assert blocking_reason(explained, TALKING, ModeSpec(mode="generation"), state_of) == ""


@pytest.mark.parametrize(
    ("mode", "sees", "text_only", "told"),
    [
        ("generation", True, {}, ""),
        ("generation", False, {}, "m sees no pictures. Choose"),
        ("generation", False, {"generate": "it ignores them"}, "no pictures here: it ignores them"),
        ("cloze", True, {"loglik": "it scores texts"}, "no pictures here: it scores texts"),
        ("generation", True, {"loglik": "it scores texts"}, ""),
        ("decision", True, {"decide": "it decides on texts"}, "no pictures here: it decides on"),
        ("decision", True, {}, ""),
    ],
)
def test_a_model_that_is_shown_no_pictures_is_refused_with_the_reason_it_has(
    mode: str, sees: bool, text_only: dict[Ability, str], told: str
):
    def describes(entry: ModelEntry) -> ModelState:
        able = state_of(entry).abilities | {"decide"}
        return ModelState(entry, able, "", sees_pictures=sees, text_only=text_only)

    decided = mode == "decision"
    asked = ModeSpec(
        mode="multiple_choice" if decided else mode,
        spellings="decision" if decided else "common",
        chat=False,
    )
    reason = blocking_reason(shown(), TALKING, asked, describes)
    assert told in reason
    assert bool(reason) is bool(told)
    blind = asked.model_copy(update={"pictures": "none"})
    assert blocking_reason(shown(), TALKING, blind, describes) == ""
    assert blocking_reason(dataset(), TALKING, asked, describes) == ""


def test_options_that_are_pictures_are_shown_and_never_scored_as_texts():
    def describes(entry: ModelEntry) -> ModelState:
        return replace(state_of(entry), sees_pictures=True)

    scored, chosen = ModeSpec(mode="cloze", chat=False), ModeSpec(mode="generation", chat=False)
    assert "are pictures" in blocking_reason(shown(options=True), TALKING, scored, describes)
    assert blocking_reason(shown(options=True), TALKING, chosen, describes) == ""
