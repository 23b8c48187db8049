import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from runs_examples import dataset, sample

from evalui import __version__
from evalui.errors import SpecError, UnknownName
from evalui.runs.signature import labels, signature, with_fingerprint
from evalui.runs.spec import ModeSpec, RunSpec, read_spec, write_spec
from evalui.types import Sample

FLAT = {"datasets": ["a.csv"], "models": ["m"], "mode": "cloze", "shots": 5}
TEMPLATE = {
    "name": "mine.1",
    "language": "en",
    "question": "{question}\n{options}\n",
    "cloze": "{question}\n",
    "answer": "{answer}",
    "unconditional": "",
}


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
    ("text", "told"),
    [
        ("{", "not JSON: line 1, column 2"),
        ("[]", "the whole: Input should be"),
        ('{"datasets": ["a"], "models": ["m"]}', "modes: Field required"),
        ('{"datasets": [], "models": ["m"], "mode": "cloze"}', "datasets: List should have"),
        ('{"datasets": "a", "models": ["m"], "mode": "cloze"}', "datasets: Input should be"),
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
    ],
)
def test_a_mistake_is_told_with_its_place(text: str, told: str) -> None:
    with pytest.raises(SpecError) as caught:
        read_spec(text)
    assert told in str(caught.value)


def test_an_unknown_template_names_the_known_ones() -> None:
    with pytest.raises(UnknownName, match=r"ceval-zh\.1"):
        ModeSpec(mode="cloze", template="nope").read_template()


def test_a_mode_that_is_alone_is_called_by_its_name() -> None:
    modes = [ModeSpec(mode="cloze", shots=5), ModeSpec(mode="generation")]
    assert labels(modes) == ("cloze", "generation")


def test_modes_are_told_apart_by_what_differs() -> None:
    modes = [
        ModeSpec(mode="generation", shots=5, pattern="circular", chat=True),
        ModeSpec(mode="generation", shots=5, pattern="circular", chat=False),
        ModeSpec(mode="generation", shots=5, chat=True, template="plain-en.1"),
    ]
    assert labels(modes) == (
        "generation circular auto chat",
        "generation circular auto plain",
        "generation origin plain-en.1 chat",
    )


def test_the_signature_says_how_a_figure_was_made() -> None:
    data = dataset(240)
    mode = ModeSpec(mode="multiple_choice", shots=5, pattern="circular", chat=False)
    told = signature(data, data.samples, mode, model="demo-late", seed=0, limit=None)
    assert told == (
        "sums@4f1c9ae2|n:240|mode:multiple_choice|prompt:plain-en.1|rule:forced|spell:common|shots:5|"
        f"orders:circular4|chat:no|temp:0|seed:0|model:demo-late|evalui:{__version__}"
    )


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"mode": "generation"}, "rule:tolerant."),
        ({"mode": "generation", "max_tokens": 9}, "max:9"),
        ({"mode": "cloze", "pattern": "circular"}, "orders:origin"),
        ({"spellings": "lm_eval"}, "spell:lm_eval"),
        ({"unconditional": ""}, "un:"),
        ({"template": "ceval-zh.1"}, "prompt:ceval-zh.1|"),
        ({"template": TEMPLATE}, "prompt:mine.1@"),
        ({"chat": True}, "chat:yes"),
        ({"pattern": "all_possible"}, "orders:all_possible4"),
    ],
)
def test_the_signature_changes_with_each_setting(change: dict[str, Any], told: str) -> None:
    data = dataset(2)
    mode = ModeSpec.model_validate({"mode": "multiple_choice", "chat": False} | change)
    assert told in signature(data, data.samples, mode, model="m", seed=0, limit=None)


def test_two_templates_of_one_name_have_different_signatures() -> None:
    data = dataset(2)
    told = {
        signature(
            data,
            data.samples,
            ModeSpec(mode="cloze", template=TEMPLATE | {"cloze": text}),
            model="m",
            seed=0,
            limit=None,
        )
        for text in ("{question}", "{question} ")
    }
    assert len(told) == 2


def test_the_signature_tells_a_limit_and_mixed_numbers_of_options() -> None:
    data = dataset(samples=[sample(1), sample(2, options=3), sample(3, options=7, naming=True)])
    mode = ModeSpec(mode="multiple_choice", pattern="circular")
    told = signature(data, data.samples, mode, model="m", seed=7, limit=3)
    assert "|n:3|limit:3|" in told
    assert "|orders:circular3-4|" in told
    assert "|seed:7|" in told


def test_the_signature_counts_options_of_the_same_text_among_what_is_shown() -> None:
    twice = replace(sample(1), choices=("2", "3", "3", "4"))
    data = replace(dataset(samples=[twice, sample(2, options=3)]), shots=(twice,))

    def told(shots: int, samples: Sequence[Sample]) -> str:
        mode = ModeSpec(mode="multiple_choice", pattern="circular", shots=shots)
        return signature(data, samples, mode, model="m", seed=0, limit=None)

    assert "|n:2|duplicate-options:1|" in told(0, data.samples)
    assert "|orders:circular3|" in told(0, data.samples)
    assert "|duplicate-options:2|" in told(5, data.samples)
    assert "duplicate-options" not in told(0, data.samples[1:])


def test_the_fingerprint_follows_the_model() -> None:
    assert with_fingerprint("a|model:m|b", "scripted:0123456789") == "a|model:m@01234567|b"


def test_the_library_that_multiplied_is_a_part_of_the_signature() -> None:
    told = with_fingerprint("a|model:m|b", "fp32:onednn|sha256:0123456789")
    assert told == "a|model:m@01234567|fp32:onednn|b"


def test_without_a_fingerprint_the_signature_stays() -> None:
    assert with_fingerprint("a|model:m|b", "") == "a|model:m|b"


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
        ({"limit_per": "subject"}, "subject"),
    ],
)
def test_a_limit_counts_as_the_version_of_the_specification_says(
    fields: dict[str, Any], per: str
) -> None:
    spec = read(limit=3, **fields)
    assert spec.counts_per == per
    assert read_spec(write_spec(spec)) == spec


@pytest.mark.parametrize("version", [0, 3, "2", 2.5, True, None])
def test_an_unknown_version_is_one_sentence(version: object) -> None:
    with pytest.raises(SpecError) as caught:
        read(version=version)
    assert str(caught.value) == (
        f"The run specification has version {json.dumps(version)}. "
        "This evalui reads versions 1 and 2; a specification without a version is of version 1."
    )


def test_a_limit_per_subject_stands_in_the_signature() -> None:
    data, mode = dataset(3), ModeSpec(mode="multiple_choice", chat=False)
    told = [
        signature(data, data.samples, mode, model="m", seed=0, limit=3, limit_per=per)
        for per in ("subject", "dataset")
    ]
    assert "|limit:3/subject|" in told[0]
    assert "|limit:3|" in told[1]
