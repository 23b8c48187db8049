"""A server that comes back as another model under the same name."""

from collections.abc import Callable

import pytest
from endpoint_server_examples import MODEL, Behaviour, Json, Reply, ToyServer

from evalui.errors import ModelError, Unreachable
from evalui.models import ModelEntry
from evalui.models.endpoint import server as identity
from evalui.models.endpoint.backend import EndpointModel, OpenAIBackend
from evalui.models.endpoint.driver import RetryPolicy
from evalui.types import Generate

QUICK = RetryPolicy(initial_delay=0.001, max_delay=0.02, initial_open_time=0.02, max_open_time=0.05)
AWAY = Reply(503, {"error": "starting"})


def says(root: str = "/m/a", length: int = 4096, fingerprint: str = "") -> Callable[[Json], Json]:
    def alter(answer: Json) -> Json:
        for each in answer.get("data", []):
            each |= {"root": root, "max_model_len": length}
        return answer | ({"system_fingerprint": fingerprint} if "choices" in answer else {})

    return alter


def opened(server: ToyServer) -> EndpointModel:
    options = {"base_url": server.url}
    model = OpenAIBackend(retry_policy=QUICK).open(
        ModelEntry("toy", "openai", MODEL, options=options)
    )
    assert isinstance(model, EndpointModel)
    return model


def reply(model: EndpointModel, text: str) -> None:
    """Have a reply, however often the server cannot be asked before, as a worker does."""
    for _ in range(100):
        try:
            assert len(list(model.answer([Generate(text, 3)]))) == 1
        except Unreachable:
            continue
        return


@pytest.mark.parametrize(
    ("after", "named"),
    [
        (says(root="/m/b"), r"root /m/a, max_model_len 4096; now: root /m/b, max_model_len 4096"),
        (says(length=2048), r"now: root /m/a, max_model_len 2048"),
        (says(fingerprint="fp2"), r"before: system_fingerprint fp1; now: system_fingerprint fp2"),
    ],
)
def test_a_server_that_comes_back_as_another_model_is_asked_no_more(
    after: Callable[[Json], Json], named: str
):
    with ToyServer(Behaviour(alter=says(fingerprint="fp1"))) as server:
        model = opened(server)
        reply(model, "one")
        server.script.extend([AWAY] * 7)
        server.behaviour = Behaviour(alter=after)
        with pytest.raises(ModelError, match=named):
            reply(model, "two")
        asked = len(server.posts())
        with pytest.raises(ModelError, match="Another model than before"):
            reply(model, "three")
        assert len(server.posts()) == asked
        model.close()


def test_a_server_that_comes_back_as_it_was_goes_on():
    with ToyServer(Behaviour(alter=says(fingerprint="fp1"))) as server:
        model = opened(server)
        reply(model, "one")
        server.script.extend([AWAY] * 7)
        reply(model, "two")
        assert model.changes() == ()
        model.close()


def test_a_provider_that_changes_its_fingerprint_is_told_and_goes_on():
    with ToyServer(Behaviour(alter=says(fingerprint="fp1"))) as server:
        model = opened(server)
        reply(model, "one")
        server.behaviour = Behaviour(alter=says(fingerprint="fp2"))
        reply(model, "two")
        (told,) = model.changes()
        assert "2 values of system_fingerprint, fp1 and fp2" in told
        server.script.extend([AWAY] * 7)
        server.behaviour = Behaviour(alter=says(fingerprint="fp3"))
        reply(model, "three")
        model.close()


def test_other_weights_without_an_outage_are_noticed_within_a_minute(
    monkeypatch: pytest.MonkeyPatch,
):
    with ToyServer(Behaviour(alter=says())) as server:
        model = opened(server)
        reply(model, "one")
        server.behaviour = Behaviour(alter=says(root="/m/b"))
        reply(model, "two")
        monkeypatch.setattr(identity, "_LOOK_AGAIN_S", 0.0)
        with pytest.raises(ModelError, match="now: root /m/b"):
            reply(model, "three")
        model.close()


@pytest.mark.parametrize("told", [401, 404, 500])
def test_a_list_of_models_that_is_refused_says_nothing(told: int, monkeypatch: pytest.MonkeyPatch):
    with ToyServer(Behaviour(alter=says())) as server:
        model = opened(server)
        monkeypatch.setattr(identity, "_LOOK_AGAIN_S", 0.0)
        server.script.append(Reply(told, {"error": "no"}))
        reply(model, "one")
        model.close()


def test_a_server_that_listed_nothing_of_its_model_is_not_asked_for_a_list_again(
    monkeypatch: pytest.MonkeyPatch,
):
    with ToyServer(Behaviour(alter=says("", 0))) as server:
        model = opened(server)
        monkeypatch.setattr(identity, "_LOOK_AGAIN_S", 0.0)
        before = len(server.posts("/models"))
        reply(model, "one")
        assert len(server.posts("/models")) == before
        model.close()
