from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from open_run_examples import capitals
from runs_examples import TEMPLATE, dataset, sample

from evalui.replies import RATING_VERSION, VERDICT_VERSION
from evalui.runs.contest import JudgingSpec
from evalui.runs.signature import labels, signature
from evalui.runs.spec import ModeSpec
from evalui.store.runs import with_fingerprint
from evalui.types import Sample, leaves_out_pictures
from evalui.version import __version__


def test_a_mode_that_is_alone_is_called_by_its_name() -> None:
    modes = [ModeSpec(mode="cloze", shots=5), ModeSpec(mode="generation")]
    assert labels(modes) == ("cloze", "generation")


def test_modes_are_distinguished_by_what_differs() -> None:
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
    expected = signature(data, data.samples, mode, model="demo-late", seed=0, limit=None)
    assert expected == (
        "sums@4f1c9ae2|n:240|mode:multiple_choice|prompt:plain-en.1|rule:forced|spell:common|shots:5|"
        f"orders:circular4|chat:no|temp:0|seed:0|model:demo-late|evalui:{__version__}"
    )


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"mode": "generation"}, "rule:tolerant."),
        ({"mode": "generation", "max_tokens": 9}, "max:9"),
        ({"mode": "cloze", "pattern": "circular"}, "orders:origin"),
        ({"spellings": "lm_eval"}, "spell:lm_eval"),
        ({"mode": "cloze", "unconditional": ""}, '|un:""|'),
        ({"template": "ceval-zh.1"}, "prompt:ceval-zh.1|"),
        ({"template": TEMPLATE}, "prompt:mine.1@"),
        ({"chat": True}, "chat:yes"),
        ({"pattern": "all_possible"}, "orders:all_possible4"),
    ],
)
def test_the_signature_changes_with_each_setting(change: dict[str, Any], expected: str) -> None:
    data = dataset(2)
    mode = ModeSpec.model_validate({"mode": "multiple_choice", "chat": False} | change)
    assert expected in signature(data, data.samples, mode, model="m", seed=0, limit=None)


def test_two_templates_of_one_name_have_different_signatures() -> None:
    data = dataset(2)
    expected = {
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
    assert len(expected) == 2


def test_the_signature_tells_a_limit_and_mixed_numbers_of_options() -> None:
    data = dataset(samples=[sample(1), sample(2, options=3), sample(3, options=7, naming=True)])
    mode = ModeSpec(mode="multiple_choice", pattern="circular")
    expected = signature(data, data.samples, mode, model="m", seed=7, limit=3)
    assert "|n:3|limit:3|" in expected
    assert "|orders:circular3-4-7+naming|" in expected
    assert "|seed:7|" in expected


def test_the_signature_counts_options_of_the_same_text_among_what_is_shown() -> None:
    twice = replace(sample(1), choices=("2", "3", "3", "4"))
    data = replace(dataset(samples=[twice, sample(2, options=3)]), shots=(twice,))

    def expected(shots: int, samples: Sequence[Sample]) -> str:
        mode = ModeSpec(mode="multiple_choice", pattern="circular", shots=shots)
        return signature(data, samples, mode, model="m", seed=0, limit=None)

    assert "|n:2|duplicate-options:1|" in expected(0, data.samples)
    assert "|orders:circular3-4+naming|" in expected(0, data.samples)
    assert "|duplicate-options:2|" in expected(5, data.samples)
    assert "duplicate-options" not in expected(0, data.samples[1:])


def test_the_fingerprint_follows_the_model() -> None:
    assert with_fingerprint("a|model:m|b", "scripted:0123456789") == "a|model:m@01234567|b"


def test_the_library_that_multiplied_is_a_part_of_the_signature() -> None:
    expected = with_fingerprint("a|model:m|b", "fp32:onednn|sha256:0123456789")
    assert expected == "a|model:m@01234567|fp32:onednn|b"


def test_without_a_fingerprint_the_signature_stays() -> None:
    assert with_fingerprint("a|model:m|b", "") == "a|model:m|b"


def test_a_limit_per_subject_stands_in_the_signature() -> None:
    data, mode = dataset(3), ModeSpec(mode="multiple_choice", chat=False)
    expected = [
        signature(data, data.samples, mode, model="m", seed=0, limit=3, limit_per=per)
        for per in ("subject", "dataset")
    ]
    assert "|limit:3/subject|" in expected[0]
    assert "|limit:3|" in expected[1]


def test_the_fields_that_an_entry_adds_are_stated() -> None:
    data, mode = dataset(2), ModeSpec(mode="generation", chat=True)

    def part(extra_body: object) -> list[str]:
        signed = signature(
            data, data.samples, mode, model="m", seed=0, limit=None, extra_body=extra_body
        )
        return [each for each in signed.split("|") if each.startswith("body:")]

    assert part(None) == part({}) == []
    assert part({"b": 1, "a": False}) == ['body:{"a":false,"b":1}']
    (long,), (barred,) = part({"a": "b" * 100}), part({"a": "x|y"})
    assert long.startswith("body:@")
    assert barred.startswith("body:@")
    assert part({"a": "b" * 101}) != [long]


_OWN = {
    "name": "mine.1",
    "language": "en",
    "form": "mtbench",
    "instruction": "Which is funnier?",
    "closing": "End with [[A]], [[B]] or [[C]].",
}


def judged(**fields: Any) -> str:
    judging = JudgingSpec.model_validate({"judges": ["j"], "seed": 7} | fields)
    mode = ModeSpec(mode="judge", max_tokens=judging.max_tokens, chat=True, judging=judging)
    data = capitals()
    signed = signature(
        data, data.samples, mode, model="j", seed=7, limit=None, contestants=["x", "y"]
    )
    head, tail = "capitals@77aa77aa|n:4|mode:judge|", "|chat:yes|max:1024|temp:0|seed:7|judge:j|"
    assert signed.startswith(head)
    assert signed.endswith(f"{tail}evalui:{__version__}")
    return signed.removeprefix(head).removesuffix(f"{tail}evalui:{__version__}")


@pytest.mark.parametrize(
    ("fields", "signed"),
    [
        (
            {},
            f"prompt:compass-en.1|rule:{VERDICT_VERSION}|contestants:x+y|orders:double|pairs:all|"
            "conflict:tie",
        ),
        (
            {"template": "mtbench-en.1", "conflict": "half", "orders": "single"},
            f"prompt:mtbench-en.1|rule:{VERDICT_VERSION}|contestants:x+y|orders:single|pairs:all|"
            "conflict:half",
        ),
        (
            {"template": "score10-en.1"},
            f"prompt:score10-en.1|rule:{RATING_VERSION}|contestants:x+y",
        ),
        (
            {"template": _OWN, "pairs": "baseline", "baseline": ["x"], "sample": 3},
            f"prompt:mine.1@abdd4d56|rule:{VERDICT_VERSION}|contestants:x+y|orders:double|"
            "pairs:baseline(x)|sample:3|conflict:tie",
        ),
        (
            {"template": _OWN | {"form": "rating", "closing": "Rating: [[5]]"}},
            f"prompt:mine.1@41b840de|rule:{RATING_VERSION}|contestants:x+y",
        ),
    ],
)
def test_judging_from_before_there_were_outputs_and_weights_is_signed_as_it_was(
    fields: dict[str, Any], signed: str
) -> None:
    assert judged(**fields) == signed


def test_outputs_and_weights_stand_in_the_signature_of_what_has_them() -> None:
    assert judged(template="auto.2").endswith("|conflict:tie|output:text")
    assert judged(template="json-en.2", output="schema").endswith("|output:schema")
    assert judged(template="score10-en.2", output="probabilities") == (
        f"prompt:score10-en.2|rule:{RATING_VERSION}|contestants:x+y|output:probabilities"
    )
    assert judged(strong=3).endswith("|conflict:tie|strong:3")
    assert "strong" not in judged(template="score10-en.1", strong=3)
    changed = {
        judged(template=_OWN | {"pattern": pattern})
        for pattern in ("(?P<a>x)|(?P<b>y)", "(?P<a>y)|(?P<b>x)")
    }
    assert len(changed) == 2


def test_what_leaves_out_pictures_is_known_by_its_signature():
    given = dataset(2)
    shown, blind = (
        signature(given, given.samples, ModeSpec(**mode), model="m", seed=0, limit=None)
        for mode in ({"mode": "multiple_choice"}, {"mode": "multiple_choice", "pictures": "none"})
    )
    assert (leaves_out_pictures(shown), leaves_out_pictures(blind)) == (False, True)


def test_a_baseline_without_pictures_is_told_by_its_label_alone():
    modes = [ModeSpec(mode="cloze"), ModeSpec(mode="cloze", pictures="none")]
    assert labels(modes) == ("cloze", 'cloze pictures:"none"')
