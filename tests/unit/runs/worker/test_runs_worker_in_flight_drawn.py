"""Replies that come out otherwise each time are neither kept nor shared, nor are instant ones."""

from dataclasses import dataclass

import pytest
from runs_examples import sample

from evalui.models import ModelEntry, open_model
from evalui.modes import MODES, ModeSettings
from evalui.runs.worker.in_flight import InFlightBatch
from evalui.scoring.choice.options import variants
from evalui.store.response_cache import cacheable_by
from evalui.types import Generate, NextToken


@dataclass
class Drawn:
    is_nondeterministic: bool = True


def test_of_a_model_that_draws_only_what_is_scored_lasts():
    wanted = cacheable_by(Drawn())  # type: ignore[arg-type] # stands for a model
    assert not wanted(Generate("a"))
    assert wanted(NextToken("a", ("A",)))


@pytest.mark.parametrize("model", [Drawn(is_nondeterministic=False), object()])
def test_of_any_other_model_replies_last_unless_they_are_sampled(model: object):
    wanted = cacheable_by(model)  # type: ignore[arg-type] # stands for a model
    assert wanted(Generate("a"))
    assert not wanted(Generate("a", temperature=1.0))


@pytest.mark.parametrize(
    ("options", "kept"), [({}, False), ({"delay": 0.1}, True), ({"log": "file"}, True)]
)
def test_a_rule_that_answers_sooner_than_the_store_is_requested_again(
    options: dict[str, object], kept: bool
):
    wanted = cacheable_by(
        open_model(ModelEntry("a", "scripted", options={"rule": "noisy"} | options))
    )
    assert wanted(Generate("a")) == wanted(NextToken("a", ("A",))) == kept


def test_drawn_replies_have_no_place_in_the_cache():
    pairs = [(sample(1), variant) for variant in variants(4, "origin")]
    mode, setting = MODES["generation"], ModeSettings(shots={})
    drawn = InFlightBatch(pairs * 2, mode, setting, "f", is_cacheable=cacheable_by(Drawn()))  # type: ignore[arg-type] # stands for a model
    assert list(drawn.keys.values()) == [None, None]
    assert None not in InFlightBatch(pairs * 2, mode, setting, "f").keys.values()


def test_of_several_repeats_every_draw_is_kept():
    wanted = cacheable_by(Drawn(), repeats=4)  # type: ignore[arg-type] # stands for a model
    assert wanted(Generate("a", temperature=1.0, repeat=3))
    assert wanted(Generate("a", temperature=1.0))
