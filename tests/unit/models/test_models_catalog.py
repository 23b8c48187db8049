import re
import time
from dataclasses import replace
from pathlib import Path

import pytest
from endpoint_server_examples import MODEL, ToyServer

from evalui.errors import ModelError, UnknownName
from evalui.models import BACKENDS, ModelEntry, ModelState, describe, open_model, read_catalog
from evalui.models.catalog import ModelStatus, base_of, probe_again, statuses
from evalui.models.local import TransformersBackend, weights
from evalui.shipped_files import ASSETS


def catalog(folder: Path, text: str) -> Path:
    path = folder / "models.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_field_reaches_its_entry(tmp_path: Path):
    text = """
[qwen]
backend = "transformers"
path = "Qwen/Qwen3-0.6B"
revision = "c1899de"
dtype = "bfloat16"
device = "cuda:1"
chat = true
max_length = 4096
notes = "small"
parameters = 600
baseline = false
input_price = 0.15
output_price = 1
options = { seed = 3 }
"""
    assert read_catalog(catalog(tmp_path, text)) == {
        "qwen": ModelEntry(
            "qwen",
            "transformers",
            path="Qwen/Qwen3-0.6B",
            revision="c1899de",
            dtype="bfloat16",
            device="cuda:1",
            chat=True,
            max_length=4096,
            notes="small",
            parameters=600,
            input_price=0.15,
            output_price=1.0,
            options={"seed": 3},
        )
    }


def test_models_keep_the_order_of_the_file(tmp_path: Path):
    text = "\n".join(f'[{name}]\nbackend = "scripted"' for name in ("z", "a", "m"))
    assert list(read_catalog(catalog(tmp_path, text))) == ["z", "a", "m"]


@pytest.mark.parametrize("path", ["models/mine", "./models/mine", "models/../models/mine"])
def test_a_folder_is_found_from_the_catalogs_own(tmp_path: Path, path: str):
    (tmp_path / "models" / "mine").mkdir(parents=True)
    text = f'[mine]\nbackend = "transformers"\npath = "{path}"'
    (entry,) = read_catalog(catalog(tmp_path, text)).values()
    assert entry.path == str(tmp_path / "models" / "mine")


def test_a_path_that_begins_with_a_dot_is_never_a_hub_id(tmp_path: Path):
    text = '[mine]\nbackend = "transformers"\npath = "./models/mine"'
    (entry,) = read_catalog(catalog(tmp_path, text)).values()
    assert describe(entry).problem == f"There is no folder {tmp_path / 'models' / 'mine'}."


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[m", "is not valid TOML"),
        ('m = "transformers"', "model 'm': expected a table"),
        ('[m]\npath = "x"', "model 'm': backend is missing. Known: .*transformers"),
        ('[m]\nbackend = "scripted"\npaht = "x"', "unknown field 'paht'. Known: backend, path"),
        ('[m]\nbackend = "scripted"\nname = "x"', "unknown field 'name'"),
        ('[m]\nbackend = "scripted"\nchat = 1', "chat must be true or false, found 1"),
        ('[m]\nbackend = "scripted"\nmax_length = true', "max_length must be a whole number"),
        ("[m]\nbackend = 7", "backend must be a text, found 7"),
        ('[m]\nbackend = "scripted"\noptions = "x"', "options must be a table"),
        ('[m]\nbackend = "scripted"\ninput_price = "1"', "input_price must be a number"),
        ('[m]\nbackend = "scripted"\ninput_price = true', "input_price must be a number"),
        ('[m]\nbackend = "scripted"\noutput_price = -0.1', "output_price must be 0 or more"),
        ('[m]\nbackend = "scripted"\noutput_price = nan', "output_price must be 0 or more"),
        ('[m]\nbackend = "scripted"\nmax_length = 1.0', "max_length must be a whole number"),
    ],
)
def test_a_bad_entry_is_reported_with_its_place(tmp_path: Path, text: str, complaint: str):
    with pytest.raises(ModelError, match=complaint) as caught:
        read_catalog(catalog(tmp_path, text))
    assert "models.toml" in str(caught.value)


def test_a_missing_catalog_is_named(tmp_path: Path):
    with pytest.raises(ModelError, match="cannot be read: No such file"):
        read_catalog(tmp_path / "models.toml")


def test_a_catalog_in_another_encoding_is_reported(tmp_path: Path):
    path = tmp_path / "models.toml"
    path.write_bytes('[m]\nbackend = "scripted"\nnotes = "模型"'.encode("gb18030"))
    with pytest.raises(ModelError, match="is not valid TOML"):
        read_catalog(path)


@pytest.mark.parametrize("path", ["x" * 300, "./ring", "./" + "x" * 300, "./a\\u0000b"])
def test_a_path_that_cannot_be_looked_at_spoils_its_own_entry_only(tmp_path: Path, path: str):
    (tmp_path / "ring").symlink_to(tmp_path / "ring")
    read = read_catalog(catalog(tmp_path, f'[m]\nbackend = "transformers"\npath = "{path}"\n'))
    assert re.search("There is no folder|cannot be read", describe(read["m"]).problem)


@pytest.mark.parametrize("hidden", ["is_dir", "is_file", "glob", "open"])
def test_an_unreadable_folder_is_reported(
    small_entry: ModelEntry, monkeypatch: pytest.MonkeyPatch, hidden: str
):
    def denied(path: Path, *_: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, hidden, denied)
    problem = describe(small_entry).problem
    assert problem.startswith(small_entry.path)
    assert problem.endswith(" cannot be read: Permission denied.")


def test_an_unreadable_adapter_is_reported(small_entry: ModelEntry, tmp_path: Path):
    long = "x" * 300
    entry = replace(small_entry, adapter=str(tmp_path / long))
    assert describe(entry).problem == f"{tmp_path / long} cannot be read: File name too long."


def test_a_file_that_goes_between_two_looks_is_reported(
    small_entry: ModelEntry, monkeypatch: pytest.MonkeyPatch
):
    def gone(folder: Path) -> int:
        raise FileNotFoundError(2, "No such file or directory", str(folder / "a.safetensors"))

    monkeypatch.setattr(TransformersBackend, "problem", lambda *_: "")
    monkeypatch.setattr(weights, "parameters", gone)
    assert describe(small_entry).problem.endswith(
        "a.safetensors cannot be read: No such file or directory."
    )


def test_an_unknown_backend_spoils_its_own_entry_only():
    state = describe(ModelEntry("m", "abacus"))
    assert state.abilities == frozenset()
    assert state.problem.startswith("Unknown model backend 'abacus'. Known: ")
    with pytest.raises(UnknownName):
        open_model(ModelEntry("m", "abacus"))


def test_parameters_are_counted_where_the_catalog_does_not_state_them(small_entry: ModelEntry):
    assert describe(small_entry).entry.parameters == 2_887_936


def test_the_shipped_catalog_offers_the_demo_models_and_the_baselines():
    shipped = read_catalog(ASSETS / "models.toml")
    assert [name for name, entry in shipped.items() if not entry.baseline] == [
        "demo-late",
        "demo-early",
    ]
    assert {entry.options["rule"] for entry in shipped.values() if entry.baseline} == {
        "always-A",
        "perfect",
        "position-biased",
        "noisy",
        "refusing",
        "malformed",
        "verbose",
        "reference-judge",
        "first-biased-judge",
        "length-biased-judge",
    }
    judges = [name for name, entry in shipped.items() if entry.judges_only]
    assert judges == ["reference-judge", "first-biased-judge", "length-biased-judge"]
    assert all(entry.notes and entry.options["notes_zh"] for entry in shipped.values())


def test_a_model_answers_unless_its_role_is_to_judge():
    assert not ModelEntry("m", "transformers").judges_only
    assert ModelEntry("m", "transformers", options={"role": "judge"}).judges_only


def test_the_name_a_server_gives_its_model_is_never_a_folder_of_ours(tmp_path: Path):
    (tmp_path / "gpt").mkdir()
    text = (
        '[far]\nbackend = "openai"\npath = "gpt"\n[near]\nbackend = "transformers"\npath = "gpt"\n'
    )
    read = read_catalog(catalog(tmp_path, text))
    assert (read["far"].path, read["near"].path) == ("gpt", str(tmp_path / "gpt"))


def test_a_tuned_model_knows_its_base():
    base = ModelEntry("base", "transformers", path="/m")
    coarse = ModelEntry("coarse", "transformers", path="/m", dtype="bfloat16")
    other = ModelEntry("other", "transformers", path="/n")
    tuned = ModelEntry("tuned", "transformers", path="/m", adapter="/a", dtype="bfloat16")
    assert base_of(tuned, [base, other, tuned]) is base
    assert base_of(tuned, [base, coarse, tuned]) is coarse
    assert base_of(tuned, [other, tuned]) is None
    assert base_of(base, [base, tuned]) is None


def test_a_folder_here_shows_nothing_of_a_model_elsewhere(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(BACKENDS["openai"], "problem", lambda _: "")
    monkeypatch.setattr(BACKENDS["openai"], "abilities", lambda _: frozenset())
    monkeypatch.setattr(BACKENDS["openai"], "missing_reasons", lambda _: {})
    monkeypatch.setattr(BACKENDS["openai"], "unavailable_addresses", lambda _: {})
    folder = str(ASSETS / "models" / "demo-late")
    assert describe(ModelEntry("m", "openai", path=folder)).entry.parameters == 0


def behind(server: ToyServer) -> ModelEntry:
    return ModelEntry("far", "openai", path=MODEL, options={"base_url": server.url})


def test_an_endpoint_without_an_answer_is_down_and_a_wrong_one_is_not():
    with ToyServer() as server:
        entry = behind(server)
        assert not describe(entry).problem
        wrong = describe(replace(entry, path="nobody-knows"))
        assert "has no model" in wrong.problem
        assert not wrong.is_endpoint_down
    gone = probed_again(entry)
    assert "cannot be reached" in gone.problem
    assert gone.is_endpoint_down


def probed_again(entry: ModelEntry) -> ModelState:
    """What is known of a model when it has been probed once more."""
    probe_again(entry)
    while (status := statuses([entry], wait_s=0.0)[0]).pending:
        time.sleep(0.001)
    assert status.state
    return status.state


def test_a_probe_at_a_request_finds_what_the_endpoint_can_do_now():
    with ToyServer() as server:
        entry = behind(server)
        assert "loglik" in describe(entry).abilities
        server.behaviour.echo = False
        assert "loglik" in describe(entry).abilities
        assert "loglik" not in probed_again(entry).abilities
        assert "loglik" not in describe(entry).abilities


def test_a_model_in_a_folder_is_not_probed_but_looked_at(tmp_path: Path):
    missing = ModelEntry("m", "transformers", path=str(tmp_path / "gone"))
    probe_again(missing)
    (status,) = statuses([missing], wait_s=0.0)
    assert status == ModelStatus(describe(missing))
    assert status.state
    assert "There is no folder" in status.state.problem
    assert not status.state.is_endpoint_down


def test_an_unknown_backend_is_the_problem_of_its_model():
    entry = ModelEntry("m", "nothing")
    probe_again(entry)
    (status,) = statuses([entry], wait_s=0.0)
    assert status.state
    assert "nothing" in status.state.problem


@pytest.mark.parametrize("name", ["qwen3-0.6b", "qwen2.5-0.5b"])
def test_a_name_with_a_dot_and_no_quotes_is_reported(tmp_path: Path, name: str):
    path = catalog(tmp_path, f'[{name}]\nbackend = "transformers"\n')
    with pytest.raises(ModelError, match=re.escape(f'in quotes, as in ["{name}"].')):
        read_catalog(path)


def test_a_table_under_a_wrong_name_is_no_name_with_a_dot(tmp_path: Path):
    text = '[m]\nbackend = "openai"\noptoins = { base_url = "http://a/v1" }\n'
    with pytest.raises(ModelError, match="unknown field 'optoins'"):
        read_catalog(catalog(tmp_path, text))


def test_the_documented_entries_can_be_read(tmp_path: Path):
    text = (ASSETS.parent / "docs" / "models.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    assert len(blocks) >= 3
    read = [read_catalog(catalog(tmp_path, block)) for block in blocks]
    assert {"qwen3-0.6b", "qwen3-0.6b-mine", "qwen3-gguf"} <= {name for one in read for name in one}
