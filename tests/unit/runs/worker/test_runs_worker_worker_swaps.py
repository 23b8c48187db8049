"""Models at one server that holds one of them in memory at a time."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from endpoint_server_examples import MODEL, Json, Reply, ToyServer
from open_run_examples import CATALOG, capitals

from evalui.models.base import ModelEntry
from evalui.models.endpoint.backend import OpenAIBackend
from evalui.runs.plan import plan_run
from evalui.runs.spec import RunSpec
from evalui.runs.submit import create_run
from evalui.runs.worker.worker import Worker
from evalui.store.connection import Database
from evalui.store.datasets import add_dataset
from evalui.store.runs import read_cells

LLAMA_CPP = {
    "/v1/models": {"data": [{"id": "a", "status": {"value": "unloaded"}}, {"id": "b"}]},
}
OLLAMA = {
    "/v1/models": {"data": [{"id": "a"}, {"id": "b"}]},
    "/api/version": {"version": "0.12.11"},
    "/api/ps": {"models": []},
}
LM_STUDIO = {
    "/v1/models": {"data": [{"id": "a"}, {"id": "b"}]},
    "/api/v0/models": {"data": [{"id": "a", "state": "not-loaded"}]},
}


class SwappingServer(ToyServer):
    """Holds one model, and loads another when a request names it; `routes` are what it lists."""

    def __init__(self, routes: Mapping[str, object]) -> None:
        super().__init__()
        self.routes = routes
        self.loaded: list[str] = []

    def respond(self, path: str, body: Json, headers: dict[str, str]) -> Reply:
        if not body:
            listed = self.routes.get(path)
            return Reply(200, listed) if listed else Reply(404, {"detail": "Not Found"})
        with self._lock:
            if self.loaded[-1:] != [body["model"]]:
                self.loaded.append(body["model"])
        reply = super().respond(path, body | {"model": MODEL}, headers)
        for choice in reply.body.get("choices", []):  # type: ignore[attr-defined]
            choice["text"] = f"{body['model']}'s.\nChoice: A"  # equal answers are not judged
        return reply


def work(database: Database, server: ToyServer, judge: str = "", **wanted: str) -> None:
    """Do a run of open questions to entries, each for a model of one server."""
    entries = wanted | ({"judge": judge} if judge else {})
    catalog = {
        name: ModelEntry(name, "openai", path=path, options={"base_url": server.url})
        for name, path in entries.items()
    }
    judging = {"judging": {"judges": ["judge"]}} if judge else {}
    stated = {"models": list(wanted), "mode": "question_answer", **judging}
    asked = RunSpec.model_validate({"datasets": [{"path": "capitals.jsonl"}], **stated})
    # Planned as models that need no server to be described.
    planned = {name: replace(CATALOG["perfect"], name=name) for name in entries}
    samples = [
        replace(each, id=f"{each.id}/{number}", question=f"{number}: {each.question}")
        for number in range(5)
        for each in capitals().samples
    ]
    data = replace(capitals(), samples=tuple(samples))
    add_dataset(database, data)
    run_id = create_run(database, asked, plan_run(asked, {"capitals.jsonl": data}, planned))
    assert Worker(database, lambda: catalog).run_once(run_id)
    done = [(cell.state, cell.done, cell.unreadable) for cell in read_cells(database, run_id)]
    answers = [("done", len(samples), 0)] * len(wanted)
    assert done == answers + ([("done", 2 * len(samples), 0)] if judge else [])


@pytest.mark.parametrize("routes", [LLAMA_CPP, OLLAMA, LM_STUDIO])
def test_each_model_is_loaded_once(database: Database, routes: Mapping[str, object]):
    with SwappingServer(routes) as server:
        work(database, server, one="a", two="b", three="a")
    assert server.loaded == ["a", "b"]


def test_the_model_of_a_judge_is_loaded_last(database: Database):
    with SwappingServer(OLLAMA) as server:
        work(database, server, one="a", two="b", judge="a")
    assert server.loaded == ["b", "a"]


def test_a_judge_with_a_model_of_its_own_waits_for_the_answers(database: Database):
    with SwappingServer(OLLAMA) as server:
        work(database, server, one="a", two="a", judge="b")
    assert server.loaded == ["a", "b"]


def test_models_of_a_server_that_holds_all_of_them_are_asked_at_once(database: Database):
    with SwappingServer({"/v1/models": OLLAMA["/v1/models"]}) as server:
        work(database, server, one="a", two="b")
    assert len(server.loaded) > 2


def test_a_server_is_asked_only_where_several_models_are_wanted_of_it():
    with SwappingServer(OLLAMA) as server:
        entry = ModelEntry("one", "openai", path="a", options={"base_url": server.url})
        entries = [entry, replace(entry, name="also"), ModelEntry("wrong", "openai")]
        found = OpenAIBackend().swapping_addresses(entries)
        assert found == {"one": frozenset(), "also": frozenset()}
        several = OpenAIBackend().swapping_addresses([entry, replace(entry, name="two", path="b")])
        assert several == {"one": {server.url}, "two": {server.url}}


def test_such_a_server_is_probed_for_one_model_after_another():
    backend = OpenAIBackend()
    with SwappingServer(LLAMA_CPP) as server:
        entries = [
            ModelEntry(path, "openai", path=path, options={"base_url": server.url}) for path in "ab"
        ]
        for entry in entries:
            backend.probe_again(entry)
        assert all(backend.probe_status(entry, wait_s=60).is_known for entry in entries)
    assert sorted(server.loaded) == ["a", "b"]
