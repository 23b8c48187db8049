"""A mode of another package declares settings of its own, and everything is derived from them."""

import argparse
import json
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from endpoint_server_examples import MODEL, ToyServer
from hypothesis import given
from hypothesis import strategies as st
from open_run_examples import capitals
from pydantic import Field
from runs_examples import dataset
from settings_examples import table_of
from starlette.testclient import TestClient
from store_examples import open_database

import evalui
from evalui.api.application import create_api
from evalui.app.run_labels import setting_labels
from evalui.app.service import AppService
from evalui.cli.main import main
from evalui.cli.run import add_run_command
from evalui.cli.run_fields import add_field_options, option, read_settings
from evalui.errors import SpecError, UnknownName
from evalui.generation import (
    RESERVED_NAMES,
    SETTINGS,
    GenerationSettings,
    Setting,
    check_declaration,
    declared_settings,
)
from evalui.messages import messages
from evalui.models.base import BACKENDS, ModelEntry, sampling_seed
from evalui.models.scripted import ScriptedBackend
from evalui.modes import MODES, ModeSettings, plan_requests, usual_max_tokens
from evalui.modes.own_settings import all_settings, settings_of
from evalui.registry import PLUGINS
from evalui.runs.plan import plan_run
from evalui.runs.signature import labels, signature
from evalui.runs.spec import ModeSpec, RunSpec, read_spec, with_generation, write_spec
from evalui.runs.worker.worker import Worker
from evalui.settings import Settings
from evalui.store.codec import request_key
from evalui.types import (
    Ability,
    DatasetKind,
    Generate,
    GeneratedText,
    Gives,
    Reading,
    Request,
    Response,
    Sample,
    Trial,
    Variant,
)
from evalui.ui.pages.evaluate.fields import Fields
from evalui.ui.pages.evaluate.mode_list import offered_settings
from evalui.ui.pages.evaluate.spec import form_to_spec, spec_to_form

_QUESTIONS = [{"query": f"What is {n} plus {n}?", "response": f"{2 * n}"} for n in (1, 2)]
_PLACE = Variant(())


class ToneSettings(GenerationSettings):
    """One setting of each kind that a form has."""

    tone: Annotated[
        Literal["", "formal", "rude"],
        Setting(
            "tone",
            honoured_by="mode",
            label={"en": "Tone", "zh": "语气"},
            help={"en": "How a reply is to sound.", "zh": "回答的语气。"},
        ),
    ] = ""
    words: Annotated[
        int | None,
        Field(ge=1, le=500),
        Setting(
            "words", honoured_by="mode", label={"en": "Words"}, help={"en": "At most so many."}
        ),
    ] = None
    weight: Annotated[
        float,
        Field(gt=0, le=9),
        Setting("w", honoured_by="mode", label={"en": "Weight"}, help={"en": "Of tone."}),
    ] = 1.0
    never: Annotated[
        tuple[str, ...],
        Setting("never", honoured_by="mode", label={"en": "Never"}, help={"en": "Not these."}),
    ] = ()
    opening: Annotated[
        str, Setting("opening", honoured_by="mode", label={"en": "Opening"}, help={"en": "First."})
    ] = ""


class Toned:
    """Written answers in a tone; the settings stand in its prompt."""

    abilities_needed: Ability = "generate"
    gives: Gives = "answers"
    kinds: tuple[DatasetKind, ...] = ("general_qa", "subjective")
    shows_options = False
    readings: tuple[str, ...] = ("answer",)
    headline = "answer"
    settings: type[GenerationSettings] = ToneSettings

    def plan(self, sample: Sample, variant: Variant, setting: ModeSettings) -> tuple[Request, ...]:
        del variant
        own = setting.own(ToneSettings)
        told = json.dumps([own.tone, own.words, own.weight, own.never, own.opening])
        return (Generate(f"{told} {sample.question}", max_tokens=setting.max_tokens),)

    def grade(
        self, sample: Sample, variant: Variant, responses: Sequence[Response], setting: ModeSettings
    ) -> Trial:
        del setting
        (response,) = responses
        assert isinstance(response, GeneratedText)
        return Trial(
            sample_id=sample.id,
            variant=variant,
            target=0,
            headline="answer",
            readings={"answer": Reading(0, 1.0, "answered")},
            reply=response.text,
        )


def remove(name: str) -> None:
    """Take a mode out of the registry again, which the product never does."""
    MODES._entries.pop(name, None)


@pytest.fixture(autouse=True, scope="module")
def _toned() -> Iterator[None]:
    assert "toned" not in MODES
    MODES.register("toned")(Toned())
    MODES._add_labels(PLUGINS["mode"])
    yield
    remove("toned")


_OWN = tuple(name for name in ToneSettings.model_fields if name not in SETTINGS)
_TEXTS = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=30)
_BEGINNING = "Speak as if to an old friend. " * 40
_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "tone": st.sampled_from(["formal", "rude"]),
    "words": st.integers(1, 500),
    "weight": st.floats(0.01, 9).filter(lambda each: each != 1),
    "never": st.lists(_TEXTS, min_size=1, max_size=4).map(tuple),
    "opening": _TEXTS.map(lambda text: _BEGINNING + text),
    # Some of those that all modes have, which the mode's own could be mistaken for.
    "temperature": st.floats(0.01, 2),
    "stop": st.lists(_TEXTS, min_size=1, max_size=4).map(tuple),
    "system_prompt": _TEXTS.map(lambda text: _BEGINNING + text),
}
_ANY = st.fixed_dictionaries({}, optional=_VALUES).map(ToneSettings.model_validate)
_GIVEN: dict[str, Any] = {
    "tone": "rude",
    "words": 7,
    "weight": 2.5,
    "never": ["well", "so"],
    "opening": "Hear",
}
_TOLD = '["rude", 7, 2.5, ["well", "so"], "Hear"] '


def spec_of(**fields: Any) -> RunSpec:
    """A run in the mode."""
    return RunSpec.model_validate({"datasets": ["qa.jsonl"], "models": ["m"], **fields})


def test_every_setting_of_its_own_is_tried() -> None:
    assert {*_VALUES} >= {*_OWN}
    assert {*_GIVEN} == {*_OWN}


def test_they_are_fields_of_a_specification_beside_the_mode_or_at_its_top() -> None:
    (mode,) = spec_of(modes=[{"mode": "toned", "temperature": 0.5, **_GIVEN}]).modes
    assert dict(mode.given) == {"temperature": 0.5, **_GIVEN, "never": ("well", "so")}
    assert isinstance(mode.generation, ToneSettings)
    both = spec_of(mode=["question_answer", "toned"], tone="rude", words=7)
    assert [dict(mode.given) for mode in both.modes] == [{}, {"tone": "rude", "words": 7}]
    assert read_spec(write_spec(both)) == both
    assert '"tone":' not in write_spec(spec_of(modes=[{"mode": "toned", "tone": ""}]))


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        ({"modes": [{"mode": "toned", "words": 0}]}, "modes[0].words: Input should be greater"),
        ({"modes": [{"mode": "toned", "tone": "kind"}]}, "modes[0].tone: Input should be"),
        ({"modes": [{"mode": "toned", "tune": "rude"}]}, "modes[0].tune: there is no such field"),
        (
            {"modes": [{"mode": "question_answer", "tone": "rude"}]},
            "modes[0].tone: there is no such field",
        ),
        ({"mode": "question_answer", "tone": "rude"}, "tone: there is no such field"),
    ],
)
def test_what_the_mode_does_not_declare_is_refused_at_its_place(
    fields: dict[str, Any], refusal: str
) -> None:
    with pytest.raises(SpecError) as caught:
        read_spec(json.dumps({"datasets": ["a"], "models": ["m"], **fields}))
    assert str(caught.value).startswith(f"Run specification, {refusal}")


def test_what_is_misspelt_is_told_with_the_settings_of_modes() -> None:
    with pytest.raises(SpecError, match=r"Known: .*\btone\b.*\btemperature\b"):
        read_spec('{"datasets": ["a"], "models": ["m"], "modes": [{"mode": "toned", "tune": 1}]}')


def test_they_stand_in_the_schema_of_a_specification_and_of_the_interface(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, models=tmp_path / "models.toml")
    api = TestClient(create_api(AppService(settings, open_database(settings.database))))
    for schemas in (
        RunSpec.model_json_schema()["$defs"],
        api.get("/openapi.json").json()["components"]["schemas"],
    ):
        fields = schemas["ModeSpec"]["properties"]
        assert {*_OWN, *SETTINGS} <= {*fields}
        assert fields["tone"]["enum"] == ["", "formal", "rude"]
        assert fields["tone"]["description"] == "How a reply is to sound."
        assert schemas["ModeSpec"]["additionalProperties"] is False


def test_they_are_options_of_the_command() -> None:
    parser = argparse.ArgumentParser()
    add_field_options(parser, in_full=True)
    options = ["--tone", "rude", "--words", "7", "--weight", "2,5", "--opening", "Hear"]
    given = read_settings(parser.parse_args([*options, "--never", "well", "--never", "so"]))
    modes = with_generation(spec_of(mode=["question_answer", "toned"]), given).modes
    assert [dict(mode.given) for mode in modes] == [{}, {**_GIVEN, "never": ("well", "so")}]
    assert isinstance(modes[1].generation, ToneSettings)
    with pytest.raises(SpecError, match="None of the modes has any use for “--tone”"):
        with_generation(spec_of(mode="question_answer"), given, named=option)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_they_are_fields_of_the_page_where_the_mode_is_chosen(language: Any) -> None:
    offered = offered_settings({"modes": ["question_answer", "toned"]})
    labels = {each.name: each.label for each in Fields(messages(language), {}).writing(offered)}
    assert {*_OWN} <= labels.keys()
    assert labels["tone"] == {"en": "Tone", "zh": "语气"}[language]
    assert not {*_OWN} & {*offered_settings({"modes": ["question_answer"]})}


def test_a_form_is_read_and_written_again() -> None:
    form: Any = {"uploads": ["u"], "models": ["m"], "modes": ["question_answer", "toned"]}
    form |= {"tone": "rude", "words": "7", "weight": "2,5", "never": "well\nso"}
    form |= {"opening": "Hear"}
    read = form_to_spec(form)
    plain, toned = read.modes
    assert (plain.given, toned.given) == ({}, {**_GIVEN, "never": ("well", "so")})
    assert form_to_spec(spec_to_form(read)) == read


def test_a_form_goes_to_the_process_that_reads_files() -> None:
    drawn = all_settings().model_validate({"temperature": 0.7})
    again = pickle.loads(pickle.dumps(drawn))
    assert (type(again), again, again.given) == (type(drawn), drawn, drawn.given)


def test_labels_and_names_of_modes_say_what_differs() -> None:
    modes = [ModeSpec(mode="toned", tone="rude"), ModeSpec(mode="toned", tone="formal", words=7)]
    assert labels(modes) == ('toned tone:"rude" words:-', 'toned tone:"formal" words:7')
    shown = setting_labels(messages("en"), spec_of(modes=modes))
    assert shown == ["Tone rude", "Tone formal", "Words 7"]
    assert "语气 rude" in setting_labels(messages("zh"), spec_of(modes=modes))


def test_the_table_of_settings_has_them() -> None:
    table = table_of(declared_settings(all_settings()).values())
    assert "| `tone` | `--tone` | How a reply is to sound. | `formal`, `rude` |" in table
    assert "| `words` | `--words` | At most so many. | 1 to 500 |" in table
    assert "| `weight` | `--weight` | Of tone. | above 0 to 9 |" in table


def signed(settings: GenerationSettings) -> str:
    """The signature of a cell in which replies are written so."""
    data = dataset(2)
    mode = ModeSpec(mode="toned", chat=True, **settings.given)
    setting = ModeSettings(shots={}, chat=True, generation=settings)
    requests = plan_requests(MODES["toned"], data.samples[0], _PLACE, setting)
    return signature(data, data.samples, mode, model="m", seed=0, limit=None, requests=requests)


def keyed(settings: GenerationSettings) -> bytes:
    """The key under which a reply is kept."""
    setting = ModeSettings(shots={}, chat=True, generation=settings)
    (request,) = plan_requests(MODES["toned"], dataset(1).samples[0], _PLACE, setting)
    return request_key("m", request)


@given(_ANY, _ANY)
def test_settings_that_differ_never_share_a_signature_nor_a_kept_reply(
    one: GenerationSettings, other: GenerationSettings
) -> None:
    assert (signed(one) == signed(other)) == (one == other)
    assert (keyed(one) == keyed(other)) == (one == other)


def test_what_is_as_usual_is_not_in_a_signature() -> None:
    usual = signed(ToneSettings())
    assert not [name for name in (*_OWN, "w") if f"|{name}:" in usual]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, ToyServer]]:
    """A file of questions, and a model at a server that keeps what it is asked."""
    lines = "".join(json.dumps(each) + "\n" for each in _QUESTIONS)
    (tmp_path / "qa.jsonl").write_text(lines)
    with ToyServer() as server:
        (tmp_path / "models.toml").write_text(
            f'[toy]\nbackend = "openai"\npath = "{MODEL}"\nchat = true\n'
            f'options = {{base_url = "{server.url}", api = "chat"}}\n'
        )
        monkeypatch.setenv("EVALUI_MODELS", str(tmp_path / "models.toml"))
        monkeypatch.chdir(tmp_path)
        yield tmp_path, server


def asked(server: ToyServer) -> list[str]:
    """The questions of the run that the server got."""
    prompts = [str(body["messages"][-1]["content"]) for body in server.posts("chat/completions")]
    return [prompt for prompt in prompts if "What is" in prompt]


_WAYS = ("specification", "options", "library")


@pytest.mark.parametrize("way", _WAYS)
def test_their_values_are_in_the_requests_that_a_server_gets(
    desk: tuple[Path, ToyServer], way: str
) -> None:
    folder, server = desk
    spec: dict[str, Any] = {"version": 3, "datasets": ["qa.jsonl"], "models": ["toy"]}
    if way == "library":
        with evalui.evaluate(
            "qa.jsonl", models="toy", mode="toned", progress=False, out="out", **_GIVEN
        ):
            pass
    else:
        own = _GIVEN if way == "specification" else {}
        (folder / "spec.json").write_text(json.dumps(spec | {"modes": [{"mode": "toned", **own}]}))
        options = ["--tone", "rude", "--words", "7", "--weight", "2.5", "--opening", "Hear"]
        options += ["--never", "well", "--never", "so"]
        arguments = ["run", "spec.json", "--out", "out"]
        assert main([*arguments, *options] if way == "options" else arguments) == 0
    assert sorted(asked(server)) == [_TOLD + each["query"] for each in _QUESTIONS]
    whole = json.loads((folder / "out" / "report.json").read_text())
    assert (
        '|tone:"rude"|words:7|w:2.5|never:["well","so"]|opening:"Hear"|'
        in (whole["answers"][0]["signature"])
    )
    with evalui.open(folder / "out") as run:
        assert len(run.trials()) == len(_QUESTIONS)


def test_a_run_is_read_where_the_mode_is_no_longer_installed() -> None:
    spec = spec_of(modes=[{"mode": "toned", **_GIVEN}])
    text = write_spec(spec)
    remove("toned")
    try:
        (mode,) = read_spec(text).modes
        assert mode.given == {}
        assert json.loads(write_spec(read_spec(text))) == json.loads(text)
        with pytest.raises(UnknownName):
            with_generation(read_spec(text), GenerationSettings(temperature=1))
    finally:
        MODES.register("toned")(Toned())


class TakenName(GenerationSettings):
    limit: Annotated[int | None, Setting("limit_", honoured_by="mode")] = None


class TakenSignature(GenerationSettings):
    another: Annotated[int | None, Setting("top_p", honoured_by="mode")] = None


class NoSetting(GenerationSettings):
    another: int | None = None


class NoForm(GenerationSettings):
    another: Annotated[dict[str, int], Setting("another", honoured_by="mode")] = Field(default={})


class Required(GenerationSettings):
    another: Annotated[int, Setting("another", honoured_by="mode")]


class OwnTone(GenerationSettings):
    tone: Annotated[str, Setting("tone", honoured_by="mode")] = ""


class NoDefaultChoice(GenerationSettings):
    another: Annotated[Literal["a", "b"], Setting("another", honoured_by="mode")] = "a"


class ByEvalui(GenerationSettings):
    another: Annotated[int | None, Setting("another", honoured_by="evalui")] = None


class BadSignature(GenerationSettings):
    another: Annotated[int | None, Setting("an|other", honoured_by="mode")] = None


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (TakenName, "limit is taken"),
        (TakenSignature, "another is taken"),
        (OwnTone, "tone is taken"),
        (NoSetting, "not declared as Setting"),
        (NoForm, "another is a number, a text"),
        (Required, "another is a number, a text"),
        (NoDefaultChoice, "first choice of another"),
        (ByEvalui, "honoured by the mode"),
        (BadSignature, "no name for signatures"),
    ],
)
def test_a_mode_whose_settings_cannot_be_told_apart_or_shown_is_refused(
    kind: type[GenerationSettings], reason: str
) -> None:
    class Other(Toned):
        settings = kind

    with pytest.raises((TypeError, ValueError), match=reason):
        MODES.register("other")(Other())
    assert "other" not in MODES


def test_two_modes_may_share_a_class_of_settings() -> None:
    class Loud(ToneSettings):
        loud: Annotated[Literal["", "yes"], Setting("loud", honoured_by="mode")] = ""

    class Other(Toned):
        settings = Loud

    MODES.register("other")(Other())
    try:
        modes = spec_of(mode=["toned", "other"], tone="rude", loud="yes").modes
        assert [{*mode.given} for mode in modes] == [{"tone"}, {"tone", "loud"}]
    finally:
        remove("other")


def test_no_name_that_means_something_else_is_left_to_modes() -> None:
    commands = argparse.ArgumentParser().add_subparsers()
    add_run_command(commands, in_full=False)
    options = {action.dest for action in commands.choices["run"]._actions}
    fields = {*RunSpec.model_fields, *ModeSpec.model_fields} - {*SETTINGS}
    assert (options | fields) - RESERVED_NAMES == set()


def test_their_values_reach_the_server_through_the_interface(
    desk: tuple[Path, ToyServer], tmp_path: Path
) -> None:
    folder, server = desk
    settings = Settings(data_dir=tmp_path / "data", models=folder / "models.toml")
    service = AppService(settings, open_database(settings.database))
    api = TestClient(create_api(service))
    questions = (folder / "qa.jsonl").read_bytes()
    sent = api.post("/datasets", files=[("files", ("qa.jsonl", questions))])
    spec = {
        "version": 3,
        "datasets": [{"upload": sent.json()["id"]}],
        "models": ["toy"],
        "modes": [{"mode": "toned", "temperature": 0.5, "max_tokens": 77, **_GIVEN}],
        "seed": 9,
    }
    started = api.post("/runs", json=spec)
    assert started.status_code == 201, started.text
    assert Worker(service.database, service.models.catalog).run_once()
    assert sorted(asked(server)) == [_TOLD + each["query"] for each in _QUESTIONS]
    bodies = [body for body in server.posts("chat/completions") if "What is" in str(body)]
    assert {(body["temperature"], body["max_tokens"]) for body in bodies} == {(0.5, 77)}
    seeds = [
        sampling_seed(0, Generate(_TOLD + each["query"], temperature=0.5, seed=9), bits=31)
        for each in _QUESTIONS
    ]
    assert sorted(body["seed"] for body in bodies) == sorted(seeds)


class PenaltySettings(GenerationSettings):
    """A setting that a backend must have."""

    penalty: Annotated[
        float | None, Field(ge=0, le=2), Setting("penalty", label={"en": "Penalty"})
    ] = None


class Penal(Toned):
    settings: type[GenerationSettings] = PenaltySettings


class HonouringBackend(ScriptedBackend):
    """A backend that has the setting."""

    def honours(self, entry: ModelEntry) -> frozenset[str]:
        """Those of a rule, and the penalty."""
        return super().honours(entry) | {"penalty"}


@pytest.fixture
def _penal() -> Iterator[None]:
    MODES.register("penal")(Penal())
    BACKENDS.register("honouring")(HonouringBackend())
    yield
    remove("penal")
    BACKENDS._entries.pop("honouring")


@pytest.mark.usefixtures("_penal")
def test_a_setting_of_the_backend_is_in_requests_where_that_has_it_and_refused_elsewhere() -> None:
    data = replace(dataset(2), kind="general_qa", samples=capitals().samples, shots=())
    options = {"rule": "perfect"}
    catalog = {
        name: ModelEntry(name, backend, options=options)
        for name, backend in (("has", "honouring"), ("lacks", "scripted"))
    }
    spec = RunSpec.model_validate(
        {
            "datasets": [{"path": "sums.csv"}],
            "models": ["has", "lacks"],
            "modes": [{"mode": "penal", "penalty": 0.5}],
        }
    )
    has, lacks = plan_run(spec, {"sums.csv": data}, catalog)
    (request,) = plan_requests(MODES["penal"], data.samples[0], _PLACE, has.setting)
    assert isinstance(request, Generate)
    assert request.settings == (("penalty", 0.5),)
    assert "|penalty:0.5|" in has.cell.signature
    assert has.impossible == ""
    assert "Penalty" in lacks.impossible
    assert keyed_of(request) != keyed_of(replace(request, settings=(("penalty", 0.6),)))


def keyed_of(request: Generate) -> bytes:
    """The key under which the reply is kept."""
    return request_key("m", request)


@pytest.mark.parametrize("mode", [name for name in MODES if not MODES.package_of(name)])
def test_what_modes_of_ours_declare_holds_what_is_asked_of_packages(mode: str) -> None:
    others = [settings_of(name) for name in MODES if name != mode]
    check_declaration(settings_of(mode), others)


@pytest.mark.parametrize("mode", ["multiple_choice", "generation", "question_answer", "cloze"])
def test_plans_and_specifications_of_earlier_versions_may_state_what_only_one_mode_uses(
    mode: str,
) -> None:
    old = {"mode": mode, "unconditional": None, "max_tokens": usual_max_tokens(mode)}
    assert dict(ModeSpec.model_validate(old).given) == {}
    stated = ModeSpec.model_validate(old | {"unconditional": ""})
    assert dict(stated.given) == ({"unconditional": ""} if mode == "cloze" else {})


def test_the_empty_text_goes_through_a_form_where_it_is_not_the_default() -> None:
    declared = declared_settings(settings_of("cloze"))["unconditional"]
    assert (declared.write(None), declared.write(""), declared.write("x")) == ("", '""', "x")
    assert [declared.read(text) for text in ("", '""', "x")] == [None, "", "x"]
