"""A model on a cluster that is played by one object."""

import pickle
from typing import Any

import pytest
from fake_ray_examples import (
    ENTRY,
    Echo,
    FakeRay,
    RayError,
    RayTaskError,
    UnbornError,
    answers,
    asked,
    opened,
)

from evalui.errors import ModelError, RequestRejected, Unreachable
from evalui.messages import Sentence, sentence
from evalui.models import ModelEntry
from evalui.models.base import Stoppable
from evalui.pictures import Picture, mark_of
from evalui.runs.cluster import actor as holder
from evalui.runs.cluster import model as cluster
from evalui.runs.cluster.actor import ModelActor, RemoteFailure, ShardResult
from evalui.runs.cluster.model import MAX_LOSSES, actor_slots, shards
from evalui.types import Generate, Loglik, Message, NextToken, Request

BODY = b"\x89PNG and so on"
SEEN = mark_of(BODY)
PICTURE = Picture(SEEN.id, BODY)


def test_every_request_is_answered_once_under_its_own_place(ray: FakeRay):
    model = opened(ray)
    prompts = [f"prompt {number}" for number in range(100)]
    assert answers(model, asked(*prompts)) == dict(enumerate(prompts))
    assert (model.fingerprint, model.abilities, ray.made) == ("echo", {"generate"}, 2)


@pytest.mark.parametrize(
    "request_",
    [
        NextToken(str(SEEN), ("A", "B"), (PICTURE,)),
        Loglik(str(SEEN), " A", (PICTURE,)),
        Generate((Message("user", str(SEEN)),), 1, pictures=(PICTURE,)),
    ],
)
def test_pictures_travel_with_their_request(request_: Request):
    there = pickle.loads(pickle.dumps(request_))  # as Ray sends it
    assert there == request_
    assert there.pictures[0].body == PICTURE.body


def test_the_portions_of_lost_actors_go_to_others(ray: FakeRay):
    model = opened(ray)
    ray.dying = 2
    prompts = [f"prompt {number}" for number in range(100)]
    assert answers(model, asked(*prompts)) == dict(enumerate(prompts))
    assert ray.made > 2
    assert ray.killed, "a lost actor must not come back beside the one that replaces it"


def test_a_machine_that_joins_gets_an_actor(ray: FakeRay):
    ray.cpus = 1
    model = opened(ray)
    ray.cpus = 3
    assert len(answers(model, asked(*map(str, range(50))))) == 50
    assert ray.made == 3


def test_without_room_the_cluster_is_unreachable(ray: FakeRay, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cluster, "NO_ACTOR_TIMEOUT_S", 0.0)
    with pytest.raises(Unreachable, match="No machine of the cluster has room for m"):
        opened(ray, cores=4)


def test_a_cluster_that_dies_away_is_unreachable_and_can_be_tried_again(
    ray: FakeRay, monkeypatch: pytest.MonkeyPatch
):
    model = opened(ray)
    monkeypatch.setattr(cluster, "NO_ACTOR_TIMEOUT_S", 0.0)
    ray.dying, ray.cpus = 10**6, 0
    with pytest.raises(Unreachable, match=r"The actor died\.$"):
        answers(model, asked("a"))
    ray.dying, ray.cpus = 0, 1
    monkeypatch.setattr(cluster, "NO_ACTOR_TIMEOUT_S", 5.0)
    assert answers(model, asked("a", "b")) == {0: "a", 1: "b"}


def test_a_head_that_dies_takes_all_actors_with_it_and_new_ones_are_made_once_it_is_back(
    ray: FakeRay,
):
    model = opened(ray)
    answering = model.answer(asked(*map(str, range(100))))
    next(answering)
    ray.headless = True
    with pytest.raises(Unreachable, match="The head is gone"):
        list(answering)
    with pytest.raises(Unreachable, match="The head is gone"):
        answers(model, asked("a"))
    ray.headless = False
    assert answers(model, asked("a", "b")) == {0: "a", 1: "b"}
    assert ray.made == 4
    assert ray.killed == ray.cancelled == []


def test_requests_that_end_every_machine_are_not_handed_on_for_ever(ray: FakeRay):
    model = opened(ray)
    ray.dying = 10**6
    with pytest.raises(ModelError, match=r"3 machines were lost.* same 1 requests.*died\.$"):
        answers(model, asked("a"))
    assert ray.made <= 2 + MAX_LOSSES


def test_all_actors_of_one_machine_are_lost_with_it_and_the_requests_are_not_blamed(ray: FakeRay):
    ray.cpus = 6
    model = opened(ray)
    assert answers(model, asked(*map(str, range(100)))) == dict(enumerate(map(str, range(100))))
    assert ray.made == 6
    for actor in model._actors[:5]:  # pyright: ignore[reportPrivateUsage]
        actor.handle.die()
    assert answers(model, asked("a")) == {0: "a"}
    assert len(ray.killed) == 5


def test_an_answer_that_is_waited_for_can_be_given_up(
    ray: FakeRay, monkeypatch: pytest.MonkeyPatch
):
    model = opened(ray)
    assert isinstance(model, Stoppable)
    monkeypatch.setattr(ray, "wait", lambda references, **_: model.stop() or ([], references))
    with pytest.raises(Unreachable, match=r"^m was told to stop\.$"):
        answers(model, asked("a"))
    assert ray.cancelled
    monkeypatch.undo()
    assert answers(model, asked("a")) == {0: "a"}


def test_a_machine_that_cannot_hold_the_model_is_not_tried_for_ever(ray: FakeRay):
    ray.stillborn = 10**6
    with pytest.raises(ModelError, match="cannot be loaded on the cluster: No module named"):
        opened(ray)
    ray.stillborn = MAX_LOSSES - 1
    assert opened(ray).fingerprint == "echo"


def test_an_actor_that_could_not_be_made_tells_the_last_line_of_its_error(
    ray: FakeRay, monkeypatch: pytest.MonkeyPatch
):
    text = (
        "The actor died because of an error raised in its creation task, H\n  File ...\nOSError: no"
    )
    monkeypatch.setattr(ray, "unborn", UnbornError(text))
    ray.stillborn = 10**6
    with pytest.raises(ModelError, match=r"cannot be loaded on the cluster: OSError: no$"):
        opened(ray)


def test_what_was_answered_is_kept_when_another_portion_fails(
    ray: FakeRay, monkeypatch: pytest.MonkeyPatch
):
    model = opened(ray)
    monkeypatch.setattr(ray, "wait", lambda references, **_: (references, []))
    prompts = ["break", *map(str, range(40))]
    found: list[int] = []
    with pytest.raises(ModelError, match=r"^Broken"):
        found.extend(index for index, _ in model.answer(asked(*prompts)))
    assert found == list(range(8, 16))  # the actor's second portion


def test_a_late_answer_never_meets_a_new_call(ray: FakeRay):
    model = opened(ray)
    answering = model.answer(asked(*map(str, range(100))))
    next(answering)
    ray.deaf = True
    with pytest.raises(RayError):
        answering.close()
    ray.deaf = False
    assert answers(model, asked("a", "b")) == {0: "a", 1: "b"}


def test_an_error_in_the_code_over_there_is_no_loss(ray: FakeRay, monkeypatch: pytest.MonkeyPatch):
    model = opened(ray)

    def fail(_: Any) -> None:
        raise RayTaskError("TypeError: ...")

    monkeypatch.setattr(ray, "get", fail)
    with pytest.raises(ZeroDivisionError):  # as on one machine
        answers(model, asked("a"))
    assert ray.killed == []


def test_what_one_actor_is_refused_is_raised_after_everything_else(ray: FakeRay):
    model = opened(ray)
    found: list[int] = []
    prompts = ["refuse", *map(str, range(40))]
    with pytest.raises(RequestRejected, match="One is refused"):
        found.extend(index for index, _ in model.answer(asked(*prompts)))
    assert sorted(found) == list(range(1, 41))


def test_a_model_that_cannot_be_loaded_is_reported_with_its_own_sentence(
    ray: FakeRay, monkeypatch: pytest.MonkeyPatch
):
    def fail(_: ModelEntry) -> None:
        raise ModelError("no-weights", folder="/models/m")

    monkeypatch.setattr(holder, "open_model", fail)
    with pytest.raises(ModelError) as caught:
        opened(ray)
    expected = sentence("error.no-weights", folder="/models/m")
    assert caught.value.sentence == expected
    assert getattr(caught.value.sentence, "key", "") == expected.key


def test_machines_with_different_models_never_mix(ray: FakeRay, monkeypatch: pytest.MonkeyPatch):
    models = iter(("one", "another"))

    def different(_: ModelEntry) -> Echo:
        model = Echo()
        model.fingerprint = next(models)
        return model

    monkeypatch.setattr(holder, "open_model", different)
    with pytest.raises(ModelError, match="hold different models under /models/m"):
        answers(opened(ray), asked("a"))


def test_what_was_given_out_is_taken_back_when_the_caller_stops_reading(ray: FakeRay):
    model = opened(ray)
    answering = model.answer(asked(*map(str, range(100))))
    next(answering)
    answering.close()
    assert ray.cancelled
    assert answers(model, asked("a")) == {0: "a"}
    model.close()
    assert len(ray.killed) == 2


@pytest.mark.parametrize(
    ("machines", "accelerators", "expected"),
    [
        ([{"CPU": 8.0}, {"CPU": 3.0}, {"CPU": 1.0}], 1, (5, {"num_cpus": 2})),
        ([{"CPU": 8.0, "GPU": 4.0}, {"CPU": 64.0}], 1, (4, {"num_gpus": 1, "num_cpus": 0})),
        ([{"GPU": 8.0}, {"GPU": 3.0}], 2, (5, {"num_gpus": 2, "num_cpus": 0})),
        # Two on each do not make four, and processors are no substitute.
        ([{"CPU": 64.0, "GPU": 2.0}] * 2, 4, (0, {"num_gpus": 4, "num_cpus": 0})),
        ([{"CPU": 64.0}], 2, (0, {"num_gpus": 2, "num_cpus": 0})),
        ([{"memory": 1.0}], 1, (0, {"num_cpus": 2})),
        ([], 1, (0, {"num_cpus": 2})),
    ],
)
def test_seats(
    machines: list[dict[str, float]], accelerators: int, expected: tuple[int, dict[str, float]]
):
    assert actor_slots(machines, cores=2, accelerators=accelerators) == expected


@pytest.mark.parametrize(("count", "actors"), [(0, 2), (1, 2), (7, 1), (100, 3), (4096, 16)])
def test_portions_hold_every_place_once_and_in_order(count: int, actors: int):
    cut = shards(count, actors)
    assert [place for portion in cut for place in portion] == list(range(count))
    assert all(cut)


def test_an_unreachable_model_tells_from_afar_when_to_ask_again():
    error = RemoteFailure("Unreachable", '["Gone."]', retry_after_s=7.0).error()
    assert isinstance(error, Unreachable)
    assert error.retry_after_s == 7.0


def test_an_error_of_a_kind_that_is_not_known_here_is_a_model_error():
    assert type(RemoteFailure("StoreError", '["Odd."]').error()) is ModelError


def test_an_answer_that_breaks_off_keeps_what_was_answered(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(holder, "open_model", lambda _: Echo())
    answered = ModelActor(ENTRY).answer(asked("a", "refuse"))
    assert isinstance(answered, ShardResult)
    assert [place for place, _ in answered.responses] == [0]
    assert answered.failure is not None
    assert answered.failure.kind == "RequestRejected"


def test_the_notes_of_the_model_are_kept_here(ray: FakeRay, monkeypatch: pytest.MonkeyPatch):
    stated = Sentence("Scored prompt by prompt: bloom.", "error.no-tree", {"kind": "bloom"})

    class Slow(Echo):
        notes = (stated,)

    monkeypatch.setattr(holder, "open_model", lambda _: Slow())
    (note,) = opened(ray).notes
    assert note == stated
    assert isinstance(note, Sentence)  # so it can be translated
    assert (note.key, note.values) == (stated.key, {"kind": "bloom"})
