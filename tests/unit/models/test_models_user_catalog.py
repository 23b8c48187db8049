import json
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from evalui.access import Person, may
from evalui.errors import ModelError, StoreError
from evalui.models.base import ModelEntry
from evalui.models.endpoint.config import read_endpoint
from evalui.models.new_model import typed_fields
from evalui.models.user_catalog import (
    InvalidModelForm,
    NewModelForm,
    add_model,
    additions_path,
    change_model,
    hand_over_models,
    has_key,
    read_added,
    read_models,
    remove_model,
)

ASSETS = Path(__file__).parents[3] / "assets"
MINE = '# mine\n[mine]\nbackend = "scripted"\noptions = { rule = "perfect" }\n'
FOLDER = NewModelForm("late", str(ASSETS / "models" / "demo-late"))
ENDPOINT = NewModelForm("far", "gpt", place="endpoint", address="http://127.0.0.1:8000/v1")


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    path = tmp_path / "models.toml"
    path.write_text(MINE, encoding="utf-8")
    return path


@pytest.fixture
def additions(tmp_path: Path) -> Path:
    return additions_path(tmp_path / "data" / "evalui.sqlite")


def test_an_added_model_comes_after_the_administrators(catalog: Path, additions: Path):
    add_model(additions, FOLDER, catalog=catalog)
    models = read_models(catalog, additions)
    assert list(models) == ["mine", "late"]
    assert models["late"].path == FOLDER.path
    assert models["late"].backend == "transformers"


def test_the_administrators_file_is_left_alone(catalog: Path, additions: Path):
    add_model(additions, FOLDER, catalog=catalog)
    remove_model(additions, "late")
    assert catalog.read_text(encoding="utf-8") == MINE
    assert additions != catalog


def test_an_endpoint_has_the_backend_or_the_interface_that_was_named(
    catalog: Path, additions: Path
):
    assert add_model(additions, ENDPOINT, catalog=catalog).backend == "openai"
    decides = replace(ENDPOINT, name="decides", backend="decision")
    added = add_model(additions, decides, catalog=catalog)
    assert (added.backend, "api" in added.options) == ("decision", False)
    # The page names no backend, and shows what this one means as its interface.
    stated = replace(decides, backend="transformers", api=typed_fields(added)["api"])
    changed = change_model(additions, stated)
    assert (changed.backend, changed.options["api"]) == ("openai", "decision")
    assert read_endpoint(changed).api == read_endpoint(added).api == "decision"
    assert "api" not in change_model(additions, replace(stated, api="auto")).options


def test_without_additions_the_catalog_is_as_it_is(catalog: Path, additions: Path):
    assert list(read_models(catalog, additions)) == ["mine"]
    assert not additions.exists()


def test_a_second_model_keeps_the_first(catalog: Path, additions: Path):
    add_model(additions, FOLDER, catalog=catalog)
    add_model(additions, replace(FOLDER, name="again", dtype="bfloat16"), catalog=catalog)
    assert [entry.dtype for entry in read_added(additions).values()] == ["auto", "bfloat16"]
    remove_model(additions, "late")
    assert list(read_added(additions)) == ["again"]


def test_an_endpoint_keeps_the_name_of_its_key_and_never_a_key(catalog: Path, additions: Path):
    add_model(additions, replace(ENDPOINT, key_variable="MY_API_KEY", chat=True), catalog=catalog)
    entry = read_added(additions)["far"]
    assert (entry.backend, entry.path, entry.chat) == ("openai", "gpt", True)
    assert entry.options == {"base_url": "http://127.0.0.1:8000/v1", "api_key_env": "MY_API_KEY"}


def test_prices_and_length_of_an_endpoint_are_kept(catalog: Path, additions: Path):
    priced = replace(
        ENDPOINT, input_price="0.0000001", output_price="1", max_length="8192", timeout_s="300"
    )
    add_model(additions, priced, catalog=catalog)
    entry = read_added(additions)["far"]
    assert (entry.input_price, entry.output_price, entry.max_length) == (1e-07, 1.0, 8192)
    assert entry.options["timeout_s"] == 300


def test_what_was_left_out_is_not_written(catalog: Path, additions: Path):
    add_model(additions, replace(ENDPOINT, input_price="0"), catalog=catalog)
    told = tomllib.loads(additions.read_text(encoding="utf-8"))["far"]
    assert list(told) == ["backend", "path", "chat", "options"]


def test_every_wrong_field_is_reported_at_once(catalog: Path, additions: Path):
    wrong = replace(ENDPOINT, name="a b", address="far", output_price="free")
    with pytest.raises(InvalidModelForm) as caught:
        add_model(additions, wrong, catalog=catalog)
    assert list(caught.value.faults) == ["name", "address", "output_price"]
    assert caught.value.sentence == caught.value.faults["name"]


def test_a_hub_id_is_kept_as_it_is(catalog: Path, additions: Path):
    add_model(additions, NewModelForm("qwen", "Qwen/Qwen2.5-0.5B", place="hub"), catalog=catalog)
    assert read_added(additions)["qwen"].path == "Qwen/Qwen2.5-0.5B"


def test_a_name_that_toml_would_trip_over_survives(catalog: Path, additions: Path):
    path = 'weights "of\\mine" 模型'
    add_model(additions, replace(ENDPOINT, name="模型.2", path=path), catalog=catalog)
    assert read_added(additions)["模型.2"].path == path


@pytest.mark.parametrize("name", ["mine", "late"])
def test_a_name_that_is_taken_is_refused(catalog: Path, additions: Path, name: str):
    add_model(additions, FOLDER, catalog=catalog)
    with pytest.raises(ModelError, match="already"):
        add_model(additions, replace(FOLDER, name=name), catalog=catalog)


def test_a_name_that_the_administrator_takes_later_is_theirs(catalog: Path, additions: Path):
    add_model(additions, FOLDER, catalog=catalog)
    add_model(additions, replace(FOLDER, name="other"), catalog=catalog)
    catalog.write_text(MINE.replace("[mine]", "[late]"), encoding="utf-8")
    models = read_models(catalog, additions)
    assert {name: entry.backend for name, entry in models.items()} == {
        "late": "scripted",
        "other": "transformers",
    }
    remove_model(additions, "late")
    assert list(read_models(catalog, additions)) == ["late", "other"]


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        (replace(FOLDER, name=""), "name may have"),
        (replace(FOLDER, name="a b"), "name may have"),
        (replace(FOLDER, name="a]\n[b"), "name may have"),
        (replace(FOLDER, name="x" * 65), "name may have"),
        (replace(FOLDER, path=""), "Name the folder of the model"),
        (replace(FOLDER, path="models/mine"), "not an absolute path"),
        (replace(FOLDER, path="../mine"), "not an absolute path"),
        (replace(FOLDER, path="/no/such/folder"), "There is no folder"),
        (replace(FOLDER, path="/a\nb"), "cannot be read"),
        (replace(FOLDER, path="/" + "x" * 600), "longer than 500"),
        (replace(FOLDER, path="/" + "x" * 300), "File name too long"),
        (replace(FOLDER, adapter="/" + "x" * 300), "File name too long"),
        (replace(FOLDER, dtype="int3"), "dtype 'int3' is unknown"),
        (replace(FOLDER, adapter="lora"), "not an absolute path"),
        (replace(FOLDER, adapter="/no/such/lora"), "/no/such/lora"),
        (NewModelForm("q", "qwen", place="hub"), "not a hub id"),
        (NewModelForm("q", "../../etc", place="hub"), "not a hub id"),
        (NewModelForm("q", "a/b/c", place="hub"), "not a hub id"),
        (replace(ENDPOINT, path=""), "as its server calls it"),
        (replace(ENDPOINT, address="127.0.0.1:8000"), "not the address"),
        (replace(ENDPOINT, address="file:///etc/passwd"), "not the address"),
        (replace(ENDPOINT, address="http://me:secret@host/v1"), "not the address"),
        (replace(ENDPOINT, address="http://host:port/v1"), "not the address"),
        (replace(ENDPOINT, address="http://host/v1?key=secret"), "not the address"),
        (replace(ENDPOINT, address="http://host/v1#secret"), "not the address"),
        (replace(ENDPOINT, address="http://@host/v1"), "not the address"),
        (replace(ENDPOINT, address="http://169.254.169.254/v1"), "link-local"),
        (replace(ENDPOINT, address="http://2852039166/v1"), "link-local"),
        (replace(ENDPOINT, address="http://[fd00:ec2::254]/v1"), "metadata service"),
        (replace(ENDPOINT, key_variable="sk-123"), "must end in _API_KEY"),
        (replace(ENDPOINT, key_variable="AWS_SECRET_ACCESS_KEY"), "must end in _API_KEY"),
        (replace(ENDPOINT, key_variable="DATABASE_URL"), "must end in _API_KEY"),
        (replace(ENDPOINT, key_variable="_API_KEY"), "must end in _API_KEY"),
        (replace(ENDPOINT, key="sk 1"), "no space"),
        (replace(ENDPOINT, key="sk-ü"), "no space"),
        (replace(ENDPOINT, key="k" * 501), "no space"),
        (replace(ENDPOINT, key="sk-1", key_variable="MY_API_KEY"), "not both"),
        (replace(ENDPOINT, input_price="0,15"), "US dollars"),
        (replace(ENDPOINT, input_price="-1"), "US dollars"),
        (replace(ENDPOINT, output_price="nan"), "US dollars"),
        (replace(ENDPOINT, output_price="1e999"), "US dollars"),
        (replace(ENDPOINT, output_price="free"), "US dollars"),
        (replace(ENDPOINT, max_length="0"), "whole number of tokens"),
        (replace(ENDPOINT, max_length="-5"), "whole number of tokens"),
        (replace(ENDPOINT, max_length="4k"), "whole number of tokens"),
        (replace(ENDPOINT, max_length="4.5"), "whole number of tokens"),
        (replace(ENDPOINT, max_length="9" * 30), "whole number of tokens"),
        *(
            (replace(ENDPOINT, timeout_s=wrong), "seconds, from 0.1 on")
            for wrong in ("0", "0.05", "-1", "nan", "inf", "5 min")
        ),
    ],
)
def test_what_cannot_work_is_refused_and_nothing_written(
    catalog: Path, additions: Path, wanted: NewModelForm, told: str
):
    with pytest.raises(ModelError, match=told):
        add_model(additions, wanted, catalog=catalog)
    assert not additions.exists()


@pytest.mark.parametrize(
    "address", ["http://me:secret@host/v1", "http://host/?key=secret", "secret"]
)
def test_a_refused_address_is_not_repeated(catalog: Path, additions: Path, address: str):
    with pytest.raises(ModelError) as caught:
        add_model(additions, replace(ENDPOINT, address=address), catalog=catalog)
    assert "secret" not in caught.value.sentence


def test_a_failed_write_leaves_nothing_behind(
    catalog: Path, additions: Path, monkeypatch: pytest.MonkeyPatch
):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(StoreError, match="No space left"):
        add_model(additions, ENDPOINT, catalog=catalog)
    assert list(additions.parent.iterdir()) == []


def test_a_folder_of_pickles_is_refused(catalog: Path, additions: Path, tmp_path: Path):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(ModelError, match="pickles"):
        add_model(additions, replace(FOLDER, path=str(tmp_path)), catalog=catalog)


def test_only_what_was_added_here_can_be_removed(additions: Path):
    with pytest.raises(ModelError, match="not added on this page"):
        remove_model(additions, "mine")


def test_a_file_that_cannot_be_written_is_reported(catalog: Path, tmp_path: Path):
    (tmp_path / "data").write_text("no folder")
    with pytest.raises(StoreError, match="cannot be written"):
        add_model(tmp_path / "data" / "models-added.toml", FOLDER, catalog=catalog)


def test_fields_added_by_hand_are_kept(catalog: Path, additions: Path):
    additions.parent.mkdir()
    fields = {"backend": "openai", "path": "m", "input_price": 0.15, "chat": True, "max_length": 20}
    options = {"base_urls": ["http://a/v1", "http://b/v1"], "quoted key": "é"}
    lines = [f"{key} = {json.dumps(value)}" for key, value in fields.items()]
    lines.append('options = { base_urls = ["http://a/v1", "http://b/v1"], "quoted key" = "é" }')
    additions.write_text("[hand]\n" + "\n".join(lines), encoding="utf-8")
    add_model(additions, ENDPOINT, catalog=catalog)
    kept = tomllib.loads(additions.read_text(encoding="utf-8"))["hand"]
    assert kept == fields | {"options": options}


KEYED = replace(ENDPOINT, key="sk-one")


def key_of(additions: Path) -> str:
    return read_endpoint(read_added(additions)["far"]).key


def test_an_entered_key_is_used_and_stands_in_no_file(catalog: Path, additions: Path):
    add_model(additions, KEYED, catalog=catalog)
    assert key_of(additions) == "sk-one"
    assert has_key(read_added(additions)["far"])
    for path in additions.parent.iterdir():
        assert b"sk-one" not in path.read_bytes()
        assert path.stat().st_mode & 0o077 == 0


def test_a_key_moves_with_its_data_folder(catalog: Path, additions: Path):
    add_model(additions, KEYED, catalog=catalog)
    moved = additions.parent.rename(additions.parent.with_name("moved"))
    assert key_of(moved / additions.name) == "sk-one"


def test_a_changed_model_keeps_its_key_at_its_address(catalog: Path, additions: Path):
    add_model(additions, KEYED, catalog=catalog)
    changed = replace(ENDPOINT, path="gpt-2", address=f"{ENDPOINT.address}/", input_price="1")
    entry = change_model(additions, changed)
    assert (entry.path, entry.input_price) == ("gpt-2", 1.0)
    assert key_of(additions) == "sk-one"


def test_a_changed_address_needs_the_key_again(catalog: Path, additions: Path):
    add_model(additions, KEYED, catalog=catalog)
    moved = replace(ENDPOINT, address="http://127.0.0.1:9/v1")
    with pytest.raises(InvalidModelForm, match="another address") as caught:
        change_model(additions, moved)
    assert list(caught.value.faults) == ["key"]
    assert read_endpoint(read_added(additions)["far"]).urls == (ENDPOINT.address,)
    change_model(additions, replace(moved, key="sk-two"))
    assert key_of(additions) == "sk-two"


def test_an_address_changed_by_hand_gets_no_key(catalog: Path, additions: Path):
    add_model(additions, KEYED, catalog=catalog)
    text = additions.read_text(encoding="utf-8")
    additions.write_text(text.replace("127.0.0.1:8000", "127.0.0.1:9"), encoding="utf-8")
    with pytest.raises(ModelError, match="another address"):
        key_of(additions)
    two = text.replace('"key_store"', 'base_urls = ["http://127.0.0.1:9/v1"], "key_store"')
    additions.write_text(two, encoding="utf-8")
    with pytest.raises(ModelError, match="another address"):
        key_of(additions)


def test_a_key_is_removed_and_leaves_with_its_model(catalog: Path, additions: Path):
    keys = additions.parent / "model-keys.json"
    add_model(additions, KEYED, catalog=catalog)
    change_model(additions, replace(ENDPOINT, drops_key=True))
    assert key_of(additions) == ""
    assert json.loads(keys.read_text()) == {}
    change_model(additions, KEYED)
    assert list(json.loads(keys.read_text())) == ["far"]
    remove_model(additions, "far")
    assert json.loads(keys.read_text()) == {}


def test_a_variable_takes_the_place_of_a_key_only_when_that_is_removed(
    catalog: Path, additions: Path
):
    add_model(additions, KEYED, catalog=catalog)
    by_variable = replace(ENDPOINT, key_variable="MY_API_KEY")
    with pytest.raises(InvalidModelForm, match="not both"):
        change_model(additions, by_variable)
    entry = change_model(additions, replace(by_variable, drops_key=True))
    assert entry.options == {"base_url": ENDPOINT.address, "api_key_env": "MY_API_KEY"}


def test_a_change_keeps_what_was_written_by_hand(additions: Path):
    additions.parent.mkdir()
    additions.write_text(
        '[far]\nbackend = "openai"\npath = "m"\nparameters = 20\ninput_price = 1.0\n'
        'options = { base_url = "http://a/v1", concurrency = 2 }\n',
        encoding="utf-8",
    )
    entry = change_model(additions, replace(ENDPOINT, address="http://b/v1"))
    assert (entry.path, entry.parameters, entry.input_price) == ("gpt", 20, 0.0)
    assert entry.options == {"base_url": "http://b/v1", "concurrency": 2}


def test_a_folder_is_changed_and_stays_one(catalog: Path, additions: Path):
    add_model(additions, FOLDER, catalog=catalog)
    assert change_model(additions, replace(FOLDER, dtype="float32")).dtype == "float32"
    with pytest.raises(ModelError, match="no folder"):
        change_model(additions, replace(FOLDER, path="/no/where"))


def test_only_what_was_added_can_be_changed(catalog: Path, additions: Path):
    assert catalog.is_file()
    with pytest.raises(ModelError, match="not added on this page"):
        change_model(additions, replace(ENDPOINT, name="mine"))


def test_a_model_belongs_to_who_added_it_and_to_the_people_they_name(
    catalog: Path, additions: Path
):
    shared = replace(FOLDER, everyone=False, people=("bob",))
    entry = add_model(additions, shared, catalog=catalog, owner="ann")
    assert read_added(additions) == {"late": entry}
    seen = [may(Person(name), "see", entry.owned) for name in ("ann", "bob", "eve")]
    assert seen == [True, True, False]
    # Another form keeps the owner, and who may use it unless it decides that anew.
    kept = change_model(additions, FOLDER)
    assert (kept.owner, kept.everyone, kept.people) == ("ann", False, ["bob"])
    changed = change_model(additions, replace(FOLDER, everyone=True))
    assert (changed.owner, changed.everyone, changed.people) == ("ann", True, [])


@pytest.mark.parametrize("stated", ["", "everyone = false\n", "everyone = true\n"])
def test_an_entry_that_names_teams_is_its_owners_until_it_names_people(
    catalog: Path, additions: Path, stated: str
):
    add_model(additions, FOLDER, catalog=catalog, owner="ann")
    text = additions.read_text()
    for file in (additions, catalog):
        file.write_text(text + stated + 'teams = ["red"]\n')

    def seen(models: dict[str, ModelEntry]) -> list[bool]:
        people = Person("ann"), Person("red", "operator"), Person("root", "admin")
        return [may(each, "see", models["late"].owned) for each in people]

    assert seen(read_models(catalog, additions)) == [True, False, True]
    # A form that decides nothing of it opens it to nobody.
    assert change_model(additions, replace(FOLDER, dtype="float32")).everyone is False
    assert seen(read_added(additions)) == [True, False, True]
    catalog.write_text(text + 'everyone = false\nteams = ["red"]\npeople = ["red"]\n')
    assert seen(read_models(catalog, additions)) == [True, True, True]


def test_the_administrators_models_are_everybodys(catalog: Path, additions: Path):
    entry = read_models(catalog, additions)["mine"]
    assert may(Person("eve"), "see", entry.owned)
    assert not may(Person("eve", "operator"), "change", entry.owned)


@pytest.mark.parametrize(
    ("heir", "left"), [("bob", {"late": "bob", "far": "eve"}), (None, {"far": "eve"})]
)
def test_models_of_a_person_are_handed_over_or_removed_with_their_keys(
    catalog: Path, additions: Path, heir: str | None, left: dict[str, str]
):
    keyed = replace(ENDPOINT, name="late", key="sk-secret")
    add_model(additions, keyed, catalog=catalog, owner="ann")
    named = replace(ENDPOINT, everyone=False, people=("ann", "bob"))
    add_model(additions, named, catalog=catalog, owner="eve")
    hand_over_models(additions, "ann", heir)
    assert {name: entry.owner for name, entry in read_added(additions).items()} == left
    assert read_added(additions)["far"].people == ["bob"]  # whoever is called ann next is not meant
    kept = json.loads((additions.parent / "model-keys.json").read_text())
    assert list(kept) == (["late"] if heir else [])


def test_an_added_model_may_only_be_where_the_administrator_allows(catalog: Path, additions: Path):
    hosts = ["model.lab"]
    with pytest.raises(InvalidModelForm) as caught:
        add_model(additions, ENDPOINT, catalog=catalog, hosts=hosts)
    assert "EVALUI_ENDPOINT_HOSTS" in caught.value.faults["address"]
    add_model(additions, ENDPOINT, catalog=catalog)  # before they were decided
    with pytest.raises(ModelError, match="EVALUI_ENDPOINT_HOSTS"):
        read_endpoint(read_models(catalog, additions, hosts)["far"])


def test_the_administrators_own_endpoints_are_anywhere(catalog: Path, additions: Path):
    catalog.write_text(
        '[own]\nbackend = "openai"\npath = "m"\noptions = { base_url = "http://127.0.0.1:1/v1" }\n'
    )
    assert read_endpoint(read_models(catalog, additions, ["model.lab"])["own"]).allowed_hosts == ()
