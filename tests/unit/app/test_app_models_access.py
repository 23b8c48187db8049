from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from drawn_page import DrawnPage
from ui_examples import GOOD, MODELS

from evalui.access import LOCAL_PERSON, Person
from evalui.accounts.audit import read_audit
from evalui.accounts.people import add_person
from evalui.app.datasets import store_upload
from evalui.app.evaluations import plan_run, start_run
from evalui.app.service import AppService
from evalui.errors import ModelError, UnknownName
from evalui.models.endpoint.limits import check_url
from evalui.models.new_model import InvalidModelForm, NewModelForm
from evalui.models.user_catalog import additions_path
from evalui.settings import Settings
from evalui.store.connection import Database
from evalui.ui.current_person import acting_as, current_person
from evalui.ui.pages.evaluate.spec import form_to_spec

ANN = Person("ann", "operator")
BOB = Person("bob", "annotator")
EVE = Person("eve", "operator")
ADMIN = Person("root", "admin")
ENDPOINT = NewModelForm("far", "gpt", place="endpoint", address="http://127.0.0.1:9/v1")
MINE = replace(ENDPOINT, everyone=False, key="sk-planted")


@pytest.fixture
def box(tmp_path: Path) -> Iterator[AppService]:
    """A server with accounts."""
    models = tmp_path / "models.toml"
    models.write_text(MODELS, encoding="utf-8")
    settings = Settings(
        data_dir=tmp_path / "data", models=models, auth="password", endpoint_hosts=["127.0.0.0/8"]
    )
    settings.data_dir.mkdir()
    made = AppService(settings, Database(settings.database)).with_sender(current_person)
    for person in (ANN, BOB, EVE, ADMIN):
        add_person(made.database, person.name, person.role, by=LOCAL_PERSON)
    yield made
    made.database.close()


def seen_by(box: AppService, person: Person) -> bool:
    with acting_as(person):
        listed = "far" in box.models.catalog()
        assert any(state.entry.name == "far" for state in box.models.states()) == listed
        assert ("far" in box.models.current_statuses()) == listed
        assert ("far" in DrawnPage("models", box).text) == listed
        return listed


@pytest.mark.parametrize(
    ("wanted", "seen"),
    [
        (ENDPOINT, [True, True, True, True]),
        (MINE, [True, False, False, True]),
        (replace(MINE, people=("bob",)), [True, True, False, True]),
    ],
)
def test_who_sees_an_added_model(box: AppService, wanted: NewModelForm, seen: list[bool]):
    with acting_as(ANN):
        assert box.models.add(wanted).owner == "ann"
    assert [seen_by(box, person) for person in (ANN, BOB, EVE, ADMIN)] == seen


def test_a_model_of_another_is_planned_and_tested_as_if_unknown(box: AppService):
    with acting_as(ANN):
        box.models.add(MINE)
    with acting_as(EVE):
        upload = store_upload(box, [("a.csv", GOOD.encode())])
        form = form_to_spec({"uploads": [upload], "models": ["far"], "modes": ["generation"]})
        for refused in (
            lambda: plan_run(box, form),
            lambda: start_run(box, form),
            lambda: box.models.queue_test("far", "eve"),
            lambda: box.models.refresh("far"),
        ):
            with pytest.raises(UnknownName) as caught:
                refused()
            assert "'far'" in str(caught.value)
            assert "far" not in str(caught.value).partition("'far'")[2]
    assert not box.database.rows("SELECT 1 FROM run UNION ALL SELECT 1 FROM trial_of_model")


def test_only_the_owner_and_an_administrator_change_a_model(box: AppService):
    with acting_as(ANN):
        box.models.add(ENDPOINT)
    changed = replace(ENDPOINT, path="other")
    with acting_as(EVE):
        for refused in (lambda: box.models.change(changed), lambda: box.models.remove("far")):
            with pytest.raises(ModelError, match="ann"):
                refused()
        assert "edit=far" not in DrawnPage("models", box).text
    with acting_as(BOB), pytest.raises(ModelError):
        box.models.add(replace(ENDPOINT, name="near"))
    with acting_as(ADMIN):
        box.models.change(changed)
    with acting_as(ANN):
        box.models.remove("far")
    deeds = [(each.person, each.deed, each.thing) for each in read_audit(box.database, 3)]
    assert deeds == [
        ("ann", "remove-model", "model far"),
        ("root", "change-model", "model far"),
        ("ann", "add-model", "model far"),
    ]


def test_an_operator_sends_no_key_of_the_server_anywhere(box: AppService):
    named = replace(ENDPOINT, key_variable="OPENAI_API_KEY")
    with acting_as(ANN), pytest.raises(InvalidModelForm) as caught:
        box.models.add(named)
    assert "key_variable" in caught.value.faults
    with acting_as(ADMIN):
        box.models.add(named)


@pytest.mark.parametrize("person", [ANN, ADMIN], ids=lambda person: person.name)
def test_only_people_of_this_server_are_named(box: AppService, person: Person):
    with acting_as(person):
        assert box.models.people_for() == sorted({"ann", "bob", "eve", "root"} - {person.name})
        with pytest.raises(InvalidModelForm, match="There is no person red"):
            box.models.add(replace(MINE, people=("red",)))


def test_who_adds_no_models_is_not_told_who_is_here(box: AppService):
    with acting_as(BOB), pytest.raises(ModelError):
        box.models.people_for()


def test_an_entry_that_names_teams_says_that_it_is_hidden(box: AppService):
    with acting_as(ANN):
        box.models.add(MINE)
        added = additions_path(box.settings.database)
        added.write_text(added.read_text().replace('"people" = []', 'teams = ["red"]'))
        assert "names teams" in DrawnPage("models", box).text
        box.models.change(replace(MINE, people=("bob",)))
        assert "names teams" not in DrawnPage("models", box).text
    assert [seen_by(box, person) for person in (BOB, EVE)] == [True, False]


def test_the_form_says_who_may_use_a_model(box: AppService):
    with acting_as(ANN):
        form = DrawnPage("models", box, "add=endpoint")
        assert form.component("Everyone on this server").value is True
        assert form.offered("Who may use it") == ["bob", "eve", "root"]
        fields = {"Model, as the server calls it": "m", "Base URL": "http://127.0.0.1:9/v1"}
        form.press(
            "Add model",
            **fields,
            Name="far",
            **{"Everyone on this server": False, "Who may use it": ["bob"]},
        )
        entry = box.models.catalog()["far"]
        assert (entry.everyone, entry.people) == (False, ["bob"])
        form = DrawnPage("models", box, "edit=far")
        assert form.component("Who may use it").value == ["bob"]


def test_one_person_alone_decides_nothing_of_the_kind(desk: AppService):
    assert "Everyone on this server" not in DrawnPage("models", desk, "add=endpoint").text
    assert desk.models.add(ENDPOINT).owned.everyone
    assert not read_audit(desk.database)


def test_hosts_are_checked_where_a_model_is_added(box: AppService):
    box.settings.endpoint_hosts[:] = ["model.lab"]
    with acting_as(ADMIN), pytest.raises(InvalidModelForm) as caught:
        box.models.add(ENDPOINT)
    assert "EVALUI_ENDPOINT_HOSTS" in caught.value.faults["address"]


@pytest.mark.parametrize(
    ("auth", "hosts", "refused"),
    [
        ("token", [], False),
        ("password", [], True),
        ("proxy", [], True),
        ("password", ["127.0.0.0/8"], False),
    ],
)
def test_with_accounts_the_network_of_the_server_is_closed_unless_listed(
    tmp_path: Path, auth: str, hosts: list[str], refused: bool
):
    settings = Settings(data_dir=tmp_path, auth=auth, endpoint_hosts=hosts)
    with nullcontext() if not refused else pytest.raises(ModelError, match="ENDPOINT_HOSTS"):
        check_url("http://127.0.0.1:8000/v1", settings.endpoint_hosts)
    check_url("http://169.254.169.253.nip.example/v1", settings.endpoint_hosts)


def test_an_operator_sends_no_variable_of_the_server_in_a_header(box: AppService):
    named = replace(ENDPOINT, headers={"X-Key": "$OPENAI_API_KEY"})
    with acting_as(ANN), pytest.raises(InvalidModelForm) as caught:
        box.models.add(named)
    assert "headers" in caught.value.faults
    with acting_as(ADMIN):
        box.models.add(named)
