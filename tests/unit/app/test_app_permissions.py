"""Each use case declares what it requires, and refuses whoever may not before it does anything."""

import inspect
import pkgutil
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from store_examples import open_database

import evalui.app
from evalui.access import ANONYMOUS, ROLES, Deed, Person
from evalui.app.column_memory import ColumnMemory
from evalui.app.files.reader import FileReader
from evalui.app.models_service import ModelsService
from evalui.app.permissions import checks, permission_of, requires
from evalui.app.service import AppService
from evalui.errors import NotAllowed, UnknownRun
from evalui.settings import Settings

SERVICES = (AppService, ModelsService, FileReader, ColumnMemory)
# They say for whom a service acts and what that person may do, and do nothing.
ABOUT_THE_PERSON = {"acting_for", "with_sender", "require", "deeds"}
UseCase = Callable[..., Any]


def modules() -> Iterator[Any]:
    for each in pkgutil.walk_packages(evalui.app.__path__, "evalui.app."):
        yield import_module(each.name)


def takes_a_service(function: UseCase) -> bool:
    first = next(iter(inspect.signature(function).parameters.values()), None)
    return first is not None and first.annotation in (AppService, "AppService")


def functions() -> dict[str, UseCase]:
    return {
        f"{module.__name__}.{name}": function
        for module in modules()
        for name, function in vars(module).items()
        if inspect.isfunction(function)
        and function.__module__ == module.__name__
        and not name.startswith("_")
        and takes_a_service(function)
    }


def methods() -> dict[str, UseCase]:
    return {
        f"{kind.__name__}.{name}": method
        for kind in SERVICES
        for name, method in vars(kind).items()
        if inspect.isfunction(method) and not name.startswith("_") and name not in ABOUT_THE_PERSON
    }


USE_CASES = functions() | methods()
CHECKED = {
    name: (use_case, declared)
    for name, use_case in USE_CASES.items()
    if (declared := permission_of(use_case)) and declared.deed
}


@pytest.mark.parametrize("name", USE_CASES)
def test_each_use_case_declares_what_it_requires(name: str):
    declared = permission_of(USE_CASES[name])
    assert declared, f"{name} declares no permission: see evalui/app/permissions.py"
    assert declared.deed or declared.by


def test_the_use_cases_are_found():
    assert {"evalui.app.people.set_role", "evalui.app.sharing.share_run"} <= USE_CASES.keys()
    assert {"AppService.run", "ModelsService.add", "FileReader.plan"} <= USE_CASES.keys()
    assert len(CHECKED) > 60


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppService]:
    """A server with accounts, and a run of somebody else."""
    folder: Path = tmp_path_factory.mktemp("box")
    models = folder / "models.toml"
    models.write_text("", encoding="utf-8")
    settings = Settings(data_dir=folder / "data", models=models, auth="password")
    settings.data_dir.mkdir()
    made = AppService(settings, open_database(settings.database))
    with made.database.writing() as connection:
        connection.execute(
            "INSERT INTO run (id, owner, name, spec, state, created, queued, revision)"
            " VALUES ('theirs', 'other', 'x', '{}', 'done', 1, 1, 1)"
        )
    yield made
    made.database.close()


def refused(name: str, service: AppService) -> None:
    use_case, declared = CHECKED[name]
    kind = name.partition(".")[0]
    first: Any = service.models if kind == "ModelsService" else service
    given = [
        "theirs" if parameter.name == declared.run else "x"
        for parameter in list(inspect.signature(use_case).parameters.values())[1:]
        if parameter.default is parameter.empty and parameter.kind is not parameter.KEYWORD_ONLY
    ]
    named = {
        parameter.name: "x"
        for parameter in inspect.signature(use_case).parameters.values()
        if parameter.default is parameter.empty and parameter.kind is parameter.KEYWORD_ONLY
    }
    before = service.database.rows("SELECT count(*) FROM audit")[0][0]
    with pytest.raises((NotAllowed, UnknownRun)):
        use_case(first, *given, **named)
    assert service.database.rows("SELECT count(*) FROM audit")[0][0] == before


def lacking(deed: Deed) -> Iterator[Person]:
    """People who may not do a deed with what is nobody's or another's."""
    yield ANONYMOUS
    yield Person("guest", guest_of="another")
    if deed != "see":
        yield Person("eve", "admin", scope="read")
        yield Person("eve", "reader")
    if deed == "add_models":
        yield Person("eve", "annotator")
    if deed in ("administer", "manage_accounts"):
        yield Person("eve", "operator")
    if deed == "manage_accounts":
        yield Person("eve", "admin", by_token=True)


@pytest.mark.parametrize("name", CHECKED)
def test_each_use_case_refuses_before_it_does_anything(box: AppService, name: str):
    _, declared = CHECKED[name]
    assert declared.deed
    for person in lacking(declared.deed):
        refused(name, box.acting_for(person))
    if declared.run:  # a run of somebody else
        for role in ROLES[:-1]:
            refused(name, box.acting_for(Person("eve", role)))


class Lenient:
    """Notes what was required."""

    def __init__(self) -> None:
        self.required: list[tuple[str, str]] = []

    def require(self, deed: Deed, run_id: str = "") -> None:
        self.required.append((deed, run_id))


def test_the_run_is_taken_from_its_parameter():
    @requires("change", "run_id")
    def act(service: Lenient, other: str, run_id: str = "default") -> str:
        return f"{other} {run_id} {len(service.required)}"

    service = Lenient()
    assert act(service, "a", "b") == "a b 1"
    assert act(service, run_id="c", other="a") == "a c 2"
    assert service.required == [("change", "b"), ("change", "c")]


def test_a_parameter_that_is_not_there_is_noticed_at_once():
    def act(service: Lenient) -> None: ...

    with pytest.raises(AssertionError):
        requires("change", "run_id")(act)
    assert permission_of(act) is None
    assert getattr(permission_of(checks("whose it is")(act)), "by", "") == "whose it is"


def test_a_service_for_one_person_leaves_that_for_another(box: AppService):
    ann, bob = (box.acting_for(Person(name, "annotator")) for name in ("ann", "bob"))
    assert [each.owner for each in (ann, bob, box)] == ["ann", "bob", ""]
    assert ann.files.requests is bob.files.requests  # they wait for the same processes
    assert ann.cache is bob.cache
    assert [each.files.person().name for each in (ann, bob, box)] == ["ann", "bob", ""]
