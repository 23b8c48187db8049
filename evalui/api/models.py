"""The models of the server: states, tests, and for operators adding, changing and removing."""

from dataclasses import asdict, replace
from typing import Annotated

from fastapi import APIRouter

from evalui.api.problems import CheckedRoute, Service, Words, permits, requires
from evalui.api.schemas import CheckedJson, ModelShown, ModelTested
from evalui.app.models_service import ModelsService, group_of
from evalui.app.service import AppService
from evalui.messages import Messages
from evalui.models.base import ModelEntry
from evalui.models.catalog import ModelStatus, find_entry
from evalui.models.new_model import NewModelForm
from evalui.runs.worker.model_tests import ModelTestRow

ModelSent = Annotated[NewModelForm, CheckedJson]
router = APIRouter(route_class=CheckedRoute, prefix="/models", tags=["models"])


@router.get("", dependencies=[requires("see")])
def list_models(service: Service, t: Words) -> list[ModelShown]:
    """Every model of the server with what it can do here."""
    return _shown(service, t)


@router.post("", status_code=201, dependencies=[requires("add_models")])
def add_model(sent: ModelSent, service: Service, t: Words) -> ModelShown:
    """Add a model; for operators. Its key is stored encrypted and never given out."""
    return _one(service, t, service.models.add(sent).name)


@router.get("/{name:path}", dependencies=[requires("see")])
def read_model(name: str, service: Service, t: Words) -> ModelShown:
    """One model."""
    return _one(service, t, name)


@router.put("/{name:path}", dependencies=[requires("add_models")])
def change_model(name: str, sent: ModelSent, service: Service, t: Words) -> ModelShown:
    """Change a model that was added; for operators. What is left out has its default again, but
    for who may use it, which stays.
    """
    return _one(service, t, service.models.change(replace(sent, name=name)).name)


@router.delete("/{name:path}", status_code=204, dependencies=[requires("add_models")])
def remove_model(name: str, service: Service) -> None:
    """Remove a model that was added; for operators. Its files stay."""
    service.models.remove(name)


@router.post("/{name:path}/test", status_code=202, dependencies=[permits(ModelsService.queue_test)])
def test_model(name: str, service: Service, t: Words) -> ModelShown:
    """Have a worker ask the model one question for each ability; `test` has the answers later."""
    service.models.queue_test(name, service.owner)
    return _one(service, t, name)


@router.post("/{name:path}/look", dependencies=[permits(ModelsService.refresh)])
def look_again(name: str, service: Service, t: Words) -> ModelShown:
    """Ask the endpoint of a model anew what it can do."""
    service.models.refresh(name)
    return _one(service, t, name)


def _one(service: AppService, t: Messages, name: str) -> ModelShown:
    find_entry(service.models.catalog(), name)
    return next(each for each in _shown(service, t) if each.name == name)


def _shown(service: AppService, t: Messages) -> list[ModelShown]:
    catalog, tests = service.models.catalog(), service.models.tests(service.owner)
    added = service.models.added().keys() - service.models.shadowed()
    return [
        _model(t, catalog[name], status, tests.get(name), added=name in added)
        for name, status in service.models.current_statuses().items()
        if name in catalog
    ]


def _model(
    t: Messages, entry: ModelEntry, status: ModelStatus, test: ModelTestRow | None, *, added: bool
) -> ModelShown:
    state = status.state
    shown = {
        "place": group_of(entry),
        "abilities": sorted(state.abilities) if state else [],
        "sees_pictures": state is not None and state.sees_pictures,
        "problem": t.translate(state.problem) if state else "",
        "pending": status.pending,
        "added": added,
        "test": ModelTested.model_validate(test, context=t) if test else None,
    }
    return ModelShown.model_validate(asdict(entry) | shown)
