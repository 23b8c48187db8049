"""Settings of writing are declared once, and everything else is derived from the declaration."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runs_examples import dataset

from evalui.errors import SpecError
from evalui.generation import AS_USUAL, SETTINGS, GenerationSettings, fitting, not_honoured
from evalui.messages import messages
from evalui.modes import MODES, plan_requests
from evalui.modes.base import ModeSettings
from evalui.modes.own_settings import settings_taken
from evalui.pictures import Mark, has_marks
from evalui.runs.signature import labels, signature
from evalui.runs.spec import ModeSpec, with_generation
from evalui.store.codec import request_key
from evalui.types import Generate, Loglik, Message, NextToken, Variant, texts_of

TEXTS = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=30)
BEGINNING = "You are a careful examiner. " * 40  # what two prompts may have in common
# A value for each setting that is not its default, of every kind.
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "temperature": st.floats(0.01, 2),
    "top_p": st.floats(0.01, 1),
    "top_k": st.integers(1, 10**6),
    "min_p": st.floats(0.01, 1),
    "max_tokens": st.integers(1, 10**6).filter(lambda each: each != 64),
    "stop": st.lists(TEXTS, min_size=1, max_size=4).map(tuple),
    "system_prompt": TEXTS.map(lambda text: BEGINNING + text),
    "thinking": st.sampled_from(["on", "off"]),
    "reasoning_effort": st.sampled_from(["minimal", "low", "medium", "high"]),
    "seed": st.integers(1, 10**6),
    "pictures": st.just("none"),
    "picture_side": st.integers(64, 8192),
    "repeats": st.integers(2, 256),
}
ANY = st.fixed_dictionaries({}, optional=VALUES).map(GenerationSettings.model_validate)
TEXT_ONLY = dataset(2)
DATA = replace(
    TEXT_ONLY,
    samples=tuple(
        replace(each, question=f"{Mark('0' * 32)}\n{each.question}") for each in TEXT_ONLY.samples
    ),
)


def signed(settings: GenerationSettings) -> str:
    """The signature of a cell in which replies are written so."""
    mode = ModeSpec(mode="generation", chat=True, **settings.given)
    sample = DATA.samples[0]
    setting = ModeSettings(shots={}, chat=True, generation=settings)
    requests = plan_requests(MODES["generation"], sample, Variant((0, 1, 2, 3)), setting)
    seed = settings.seed or 0
    return signature(DATA, DATA.samples, mode, model="m", seed=seed, limit=None, requests=requests)


def keyed(settings: GenerationSettings) -> bytes:
    """The key under which a reply is kept."""
    length = settings.max_tokens or 64
    setting = ModeSettings(shots={}, chat=True, max_tokens=length, generation=settings)
    (request,) = plan_requests(MODES["generation"], DATA.samples[0], Variant((0, 1, 2, 3)), setting)
    return request_key("m", request)


def test_every_setting_is_among_the_values_that_are_tried() -> None:
    assert VALUES.keys() == SETTINGS.keys() == GenerationSettings.model_fields.keys()
    assert len({each.setting.in_signature for each in SETTINGS.values()}) == len(SETTINGS)


@given(ANY, ANY)
def test_settings_that_differ_never_share_a_signature_nor_a_kept_reply(
    one: GenerationSettings, other: GenerationSettings
) -> None:
    assert (signed(one) == signed(other)) == (one == other)
    # How often a question is asked is nothing to any single reply, without draws the seed, and
    # without pictures their size.
    once, again = (
        each.model_copy(
            update={
                "repeats": 1,
                "seed": each.seed if each.temperature else None,
                "picture_side": None if each.pictures else each.picture_side,
            }
        )
        for each in (one, other)
    )
    assert (keyed(one) == keyed(other)) == (once == again)


@pytest.mark.parametrize("name", SETTINGS)
def test_what_is_as_usual_is_not_in_a_signature(name: str) -> None:
    always = signed(AS_USUAL).replace("|max:64|temp:0|seed:0|", "|")
    assert f"|{SETTINGS[name].setting.in_signature}:" not in always


@pytest.mark.parametrize("name", SETTINGS)
@given(data=st.data())
def test_a_value_goes_through_a_form_unchanged(name: str, data: st.DataObject) -> None:
    value = data.draw(VALUES[name])
    if isinstance(value, float):
        value = round(value, 4)
    assert SETTINGS[name].read(SETTINGS[name].write(value)) == value


@pytest.mark.parametrize(
    ("typed", "stop"),
    [
        (r"a\nb", "a\nb"),
        (r"a\\nb", r"a\nb"),
        (r"\end{document}", r"\end{document}"),
        ("\\\\", "\\"),
        ("\\", "\\"),
    ],
)
def test_a_stop_text_has_line_breaks_and_backslashes(typed: str, stop: str) -> None:
    assert SETTINGS["stop"].read(typed) == (stop,)
    assert SETTINGS["stop"].read(SETTINGS["stop"].write((stop,))) == (stop,)


@pytest.mark.parametrize("name", SETTINGS)
def test_an_untouched_field_is_the_default(name: str) -> None:
    assert SETTINGS[name].read(" ") == SETTINGS[name].default
    assert SETTINGS[name].write(SETTINGS[name].default) == ""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("temperature", "hot"),
        ("temperature", "2.1"),
        ("temperature", "nan"),
        ("top_p", "0"),
        ("top_k", "0"),
        ("top_k", "1.5"),
        ("stop", "\n".join("abcdefghijklmnopq")),
        ("thinking", "maybe"),
    ],
)
def test_what_is_no_value_is_refused_with_the_label(name: str, text: str) -> None:
    with pytest.raises(SpecError, match=f"{SETTINGS[name].label}: "):
        SETTINGS[name].read(text)


def test_a_decimal_comma_is_read() -> None:
    assert SETTINGS["temperature"].read("0,7") == 0.7


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", SETTINGS)
def test_people_read_each_setting_in_their_language(name: str, language: Any) -> None:
    t = messages(language)
    keys = [f"generation.{name}", f"generation.{name}_help"]
    keys += [f"generation.{name}_{choice}" for choice in SETTINGS[name].choices if choice]
    assert all(t(key) for key in keys)


def test_two_modes_that_differ_in_a_setting_are_called_by_it() -> None:
    modes = [
        ModeSpec(mode="generation", chat=True, temperature=temperature)
        for temperature in (0.0, 0.7)
    ]
    assert labels(modes) == ("generation temp:0.0", "generation temp:0.7")


def test_a_mode_that_writes_nothing_refuses_what_only_writing_has() -> None:
    with pytest.raises(ValueError, match="no use for “Temperature”"):
        ModeSpec(mode="multiple_choice", temperature=0.7)
    with pytest.raises(ValueError, match="no use for “System prompt”"):
        ModeSpec(mode="cloze", system_prompt="Be brief.")
    assert ModeSpec(mode="multiple_choice", system_prompt="Be brief.").given


def test_settings_for_all_modes_reach_those_that_they_mean_something_to() -> None:
    from evalui.runs.spec import RunSpec

    spec = RunSpec.model_validate(
        {"datasets": ["a.csv"], "models": ["m"], "mode": ["cloze", "multiple_choice", "generation"]}
    )
    settings = GenerationSettings(temperature=0.7, system_prompt="Be brief.")
    given = [dict(mode.given) for mode in with_generation(spec, settings).modes]
    assert given == [{}, {"system_prompt": "Be brief."}, dict(settings.given)]
    with pytest.raises(SpecError, match="None of the modes has any use for “Temperature”"):
        with_generation(spec.model_copy(update={"modes": spec.modes[:1]}), settings)


def test_what_the_backend_lacks_is_named_and_what_evalui_does_is_not() -> None:
    settings = GenerationSettings(top_k=5, temperature=1, system_prompt="x", stop=("y",))
    assert not_honoured(settings, {"temperature"}) == ("Top k",)
    assert fitting(settings, settings_taken("multiple_choice")) == {"system_prompt": "x"}


def test_every_request_of_a_mode_carries_the_settings() -> None:
    settings = GenerationSettings(temperature=0.5, top_p=0.9, stop=("END",), system_prompt="Brief.")
    setting = ModeSettings(shots={}, chat=True, generation=settings)
    (request,) = plan_requests(MODES["generation"], DATA.samples[0], Variant((0, 1, 2, 3)), setting)
    assert isinstance(request, Generate)
    assert request.prompt[0] == Message("system", "Brief.")
    assert (request.temperature, request.stop, request.settings) == (
        0.5,
        ("END",),
        (("top_p", 0.9),),
    )
    plain = replace(setting, chat=False)
    (letters,) = plan_requests(
        MODES["multiple_choice"], DATA.samples[0], Variant((0, 1, 2, 3)), plain
    )
    assert isinstance(letters, NextToken)
    assert str(letters.context).startswith("Brief.\n\n")


def test_pictures_are_left_out_of_every_prompt_or_have_a_size() -> None:
    def requests(**given: Any) -> list[Any]:
        setting = ModeSettings(shots={}, generation=GenerationSettings(**given))
        order = Variant((0, 1, 2, 3))
        modes = [MODES[name] for name in ("multiple_choice", "generation", "cloze")]
        planned = [plan_requests(mode, DATA.samples[0], order, setting) for mode in modes]
        return [request for some in planned for request in some]

    def with_pictures(planned: list[Any]) -> list[Any]:
        return [each for each in planned if any(map(has_marks, texts_of(each)))]

    assert len(with_pictures(requests())) == 6  # letters, a reply, and four options
    assert {each.picture_side for each in requests()} == {0}
    sized = requests(picture_side=512)
    assert {each.picture_side for each in with_pictures(sized)} == {512}
    blind = requests(pictures="none", picture_side=512)
    assert with_pictures(blind) == []
    assert {each.picture_side for each in blind} == {0}
    first = (planned[0] for planned in (requests(), sized, requests(picture_side=64), blind))
    assert len({request_key("m", each) for each in first}) == 4


def test_the_words_of_the_system_in_a_file_follow_those_of_the_run() -> None:
    class Talk:
        def plan(self, *_: object) -> tuple[Any, ...]:
            turns = (Message("system", "Of the file."), Message("user", "Hello"))
            return Generate(turns, temperature=0.8), Loglik("a", "b")

    mode: Any = Talk()
    settings = GenerationSettings(system_prompt="Of the run.", temperature=0.2)
    setting = ModeSettings(shots={}, generation=settings)
    written, scored = plan_requests(mode, DATA.samples[0], Variant(()), setting)
    assert written.prompt[0] == Message("system", "Of the run.\n\nOf the file.")
    assert written.temperature == 0.8  # what a mode states of its own stays
    assert scored == Loglik("a", "b")
