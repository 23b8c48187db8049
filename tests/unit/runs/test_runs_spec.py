import json
from typing import Any

import pytest
from runs_examples import TEMPLATE

from evalui.errors import SpecError, UnknownName
from evalui.generation import GenerationSettings
from evalui.runs.spec import ModeSpec, RunSpec, read_spec, with_generation, write_spec

FLAT = {"datasets": ["a.csv"], "models": ["m"], "mode": "cloze", "shots": 5}


def read(**fields: Any) -> RunSpec:
    return read_spec(json.dumps(FLAT | fields))


def test_the_fields_of_one_mode_may_stand_at_the_top() -> None:
    assert read().modes == [ModeSpec(mode="cloze", shots=5)]


def test_several_names_share_the_fields_at_the_top() -> None:
    modes = read(mode=["cloze", "generation"]).modes
    assert modes == [ModeSpec(mode="cloze", shots=5), ModeSpec(mode="generation", shots=5)]


def test_a_path_alone_is_a_dataset() -> None:
    assert read().datasets[0].paths == ("a.csv",)


def test_a_dataset_of_several_files_is_called_by_all_of_them() -> None:
    spec = read(datasets=[{"path": ["a_dev.csv", "a_val.csv"]}])
    assert spec.datasets[0].key == "a_dev.csv, a_val.csv"


def test_what_is_written_reads_back() -> None:
    spec = read(limit=10, seed=3, template=TEMPLATE, chat=False)
    assert read_spec(write_spec(spec)) == spec


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{", "not JSON: line 1, column 2"),
        ("[]", "the whole: Input should be"),
        ('{"datasets": ["a"], "models": ["m"]}', "modes: Field required"),
        (
            '{"datasets": [], "models": ["m"], "mode": "cloze"}',
            "datasets: the list is empty: name",
        ),
        ('{"datasets": "a", "models": ["m"], "mode": "cloze"}', "datasets: a list is expected"),
        (
            json.dumps(FLAT | {"judging": {"judges": ["j"], "baseline": "x"}}),
            'judging.baseline: a list is expected, in brackets: ["x"] for "x".',
        ),
        ('{"datasets": [7], "models": ["m"], "mode": "cloze"}', "datasets[0]: Input should be"),
        (json.dumps(FLAT | {"shots": -1}), "modes[0].shots: Input should be greater"),
        (json.dumps(FLAT | {"limit": 0}), "limit: Input should be greater than 0"),
        (json.dumps(FLAT | {"pattern": "circle"}), "modes[0].pattern: Input should be 'origin'"),
        (json.dumps(FLAT | {"shot": 5}), "shot: there is no such field. Known: version, name"),
        (
            '{"datasets": [{"path": "a", "anser": "x"}], "models": ["m"], "mode": "cloze"}',
            "datasets[0].anser: there is no such field. Known: path, name",
        ),
        (
            '{"datasets": ["a"], "models": ["m"], "modes": [{"mode": "cloze", "k": 1}]}',
            "modes[0].k: there is no such field. Known: mode, shots",
        ),
        (
            '{"datasets": ["a"], "models": ["m"], "modes": []}',
            "modes: the list is empty: name at least one of multiple_choice, choices_only, ",
        ),
    ],
)
def test_a_mistake_is_reported_with_its_place(text: str, expected: str) -> None:
    with pytest.raises(SpecError) as caught:
        read_spec(text)
    assert expected in str(caught.value)


def test_an_unknown_template_names_the_known_ones() -> None:
    with pytest.raises(UnknownName, match=r"ceval-zh\.1"):
        ModeSpec(mode="cloze", template="nope").read_template()


def test_a_specification_nested_too_deeply_is_refused() -> None:
    with pytest.raises(SpecError, match="nested too deeply"):
        read_spec('{"datasets": ' + "[" * 100_000)


@pytest.mark.parametrize(
    ("fields", "per"),
    [
        ({}, "dataset"),
        ({"version": 1}, "dataset"),
        ({"version": 2}, "subject"),
        ({"version": 2, "limit_per": "dataset"}, "dataset"),
        ({"version": 3}, "subject"),
        ({"limit_per": "subject"}, "subject"),
    ],
)
def test_a_limit_counts_as_the_version_of_the_specification_says(
    fields: dict[str, Any], per: str
) -> None:
    spec = read(limit=3, **fields)
    assert spec.counts_per == per
    assert read_spec(write_spec(spec)) == spec


@pytest.mark.parametrize("version", [0, 4, "2", 2.5, True, None])
def test_an_unknown_version_is_one_sentence(version: object) -> None:
    with pytest.raises(SpecError) as caught:
        read(version=version)
    assert str(caught.value) == (
        f"The run specification has version {json.dumps(version)}. "
        "This evalui reads versions 1 to 3; a specification without a version is of version 1."
    )


def _run(**fields: Any) -> RunSpec:
    return RunSpec.model_validate({"datasets": ["a.csv"], "models": ["m"], **fields})


def test_the_longest_reply_of_earlier_versions_is_read_with_modes_that_write_nothing():
    flat = _run(mode=["multiple_choice", "cloze", "generation"], max_tokens=9)
    assert [mode.max_tokens for mode in flat.modes] == [64, 64, 9]
    listed = _run(modes=[{"mode": "cloze", "max_tokens": 9}, {"mode": "question_answer"}])
    assert [(mode.max_tokens, dict(mode.given)) for mode in listed.modes] == [(64, {}), (512, {})]
    stored = ModeSpec(mode="question_answer").model_dump_json()
    assert '"max_tokens":512' in stored
    assert dict(ModeSpec.model_validate_json(stored).given) == {}


def test_a_seed_at_the_top_is_that_of_the_run_and_the_command_sets_it():
    plain = _run(mode="generation", seed=7, temperature=0.5)
    assert (plain.seed, plain.modes[0].seed) == (7, None)
    own = _run(modes=[{"mode": "generation", "temperature": 0.5, "seed": 3}], seed=7)
    assert own.modes[0].seed == 3
    set_ = with_generation(own, GenerationSettings(seed=9, max_tokens=5))
    assert (set_.seed, set_.modes[0].seed, set_.modes[0].max_tokens) == (9, None, 5)
    assert with_generation(_run(mode="cloze"), GenerationSettings(seed=9)).seed == 9
    with pytest.raises(ValueError, match="no use for “Seed”"):
        _run(modes=[{"mode": "cloze", "seed": 3}])


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('{"datasets": [{"path": "\\ud800"}]}', "half-character"),
        ('{"a": ' * 33 + "1" + "}" * 33, "spec-too-deep"),
    ],
)
def test_what_cannot_be_stored_is_refused(text: str, key: str):
    with pytest.raises(SpecError) as refused:
        read_spec(text)
    assert refused.value.sentence.key == f"error.{key}"


@pytest.mark.parametrize(
    ("dataset", "place"), [('{"name": "a"}', ".path: Field"), ('{"upload": "u"}', ".upload: ")]
)
def test_files_are_named_by_a_path_where_there_is_no_server(dataset: str, place: str):
    text = f'{{"datasets": ["a.csv", {dataset}], "models": ["m"], "mode": "cloze"}}'
    with pytest.raises(SpecError, match=r"datasets\[1\]" + place):
        read_spec(text)
