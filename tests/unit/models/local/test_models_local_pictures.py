"""Networks that see pictures compute as plain transformers does."""

import importlib.util
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import wraps
from operator import sub
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig, PeftModel
from picture_models import (
    COMPUTED,
    PLACES,
    REFUSED,
    copied,
    mark,
    picture,
    save_seeing,
    without_processor,
)
from picture_oracle import picture_oracle
from transformers import AutoModelForImageTextToText, LlavaForConditionalGeneration

from evalui.errors import MissingAbility, ModelError, RequestRejected
from evalui.models import Model, ModelEntry, describe, open_model
from evalui.models.memory_estimate import footprint
from evalui.pictures import Picture
from evalui.types import (
    Generate,
    GeneratedText,
    LabelProbs,
    Loglik,
    Logprob,
    Message,
    NextToken,
    Request,
    Response,
)

# What the processors of GLM-4V and PaliGemma do to numpy.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")

RED, TEAL = picture("red"), picture("teal", (60, 80))
LETTERS = ("A", "B", "C", "D")
QUESTION = "Question: Which one is it?\nA. ice\nB. fire\nC. sand\nD. wood\nAnswer:"
SHOWN = {
    1: (f"{mark(RED)}\n{QUESTION}", (RED,)),
    0: (QUESTION, ()),  # after one, of which nothing may be left
    2: (f"Before {mark(RED)} and after {mark(TEAL)}\n{QUESTION}", (RED, TEAL)),
}
OPTIONS = (" ice", " fire and sand", " wood")
MAX_TOKENS = 5
DOCS = (Path(__file__).parents[4] / "docs" / "models.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("seeing")


@pytest.fixture(scope="module")
def llava_entry(folders: Path) -> ModelEntry:
    return save_seeing("llava", folders / "first")


@pytest.fixture(scope="module")
def llava(llava_entry: ModelEntry) -> Iterator[Model]:
    model = open_model(llava_entry)
    yield model
    model.close()


def answered(model: Model, requests: Sequence[Request]) -> list[Response]:
    responses = dict(model.answer(requests))
    assert sorted(responses) == list(range(len(requests)))
    return [responses[at] for at in range(len(requests))]


def letters(model: Model, prompt: str, pictures: tuple[Picture, ...] = ()) -> LabelProbs:
    (response,) = answered(model, [NextToken(prompt, LETTERS, pictures)])
    assert isinstance(response, LabelProbs)
    return response


@pytest.mark.parametrize("kind", COMPUTED)
def test_an_architecture_computes_as_plain_transformers(kind: str, folders: Path):
    entry = save_seeing(kind, folders / kind)
    assert describe(entry).sees_pictures
    plain, model = picture_oracle(folders / kind, PLACES[kind]), open_model(entry)
    assert documented(kind) == ways(model)
    checked = model._generator._checked  # type: ignore[attr-defined]
    assert bool(checked.trees) == (kind == "qwen3_5"), "texts are scored as fast as ever"
    said = " ".join(model.notes)  # type: ignore[attr-defined]
    assert ("Each text with pictures is scored by itself" in said) == bool(checked.picture_prefix)
    replies: set[str] = set()
    for in_chat in (False, True):
        requests: list[Request] = []
        expected: list[object] = []
        for text, pictures in SHOWN.values():
            prompt = (Message("user", text),) if in_chat else text
            plainly = plain.rendered(prompt) if isinstance(prompt, tuple) else prompt
            options = () if in_chat else OPTIONS
            requests += [
                NextToken(prompt, LETTERS, pictures),
                *(Loglik(prompt, option, pictures) for option in options),
                Generate(prompt, MAX_TOKENS, pictures=pictures),
            ]
            replies.add(plain.reply(plainly, pictures, MAX_TOKENS))
            expected += [
                pytest.approx(plain.letters(plainly, pictures, LETTERS), abs=1e-3),
                *(
                    pytest.approx(plain.option(plainly, option, pictures), abs=1e-3)
                    for option in options
                ),
                plain.reply(plainly, pictures, MAX_TOKENS),
            ]
        assert values(answered(model, requests)) == expected
    assert len(replies) > 2, "the network tells the prompts apart"
    model.close()


def documented(kind: str) -> str:
    """What docs/models.md says of how a type is computed with pictures."""
    (row,) = [line for line in DOCS.splitlines() if line.startswith("|") and f"`{kind}`" in line]
    return row.split("|", 2)[2].strip(" |")


def ways(model: Any) -> str:
    checked = model._generator._checked
    scoring = "text by text" if checked.picture_prefix else "pictures seen once"
    writing = "together"
    if checked.picture_rows:
        writing = "one reply at a time" + (", without a cache" if checked.picture_cache else "")
    return f"{scoring} | {writing}"


def values(responses: Sequence[Response]) -> list[object]:
    """What a response says: log-probabilities, or a text."""
    return [
        each.logprobs
        if isinstance(each, LabelProbs)
        else each.total
        if isinstance(each, Logprob)
        else each.text
        for each in responses
    ]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("paligemma", "paligemma is not a causal language model"),
        ("pixtral", "needs a package that is not installed: torchvision"),
    ],
)
def test_what_cannot_be_shown_pictures_is_refused_with_the_reason(
    kind: str, said: str, folders: Path
):
    if kind == "pixtral" and importlib.util.find_spec("torchvision"):
        pytest.skip("with torchvision its processor is loaded")
    entry = save_seeing(kind, folders / kind)
    with pytest.raises(ModelError, match=said):
        letters(open_model(entry), *SHOWN[1])


def test_texts_without_pictures_are_answered_where_pictures_cannot_be(folders: Path):
    entry = save_seeing("llava", folders / "text")
    about = folders / "text" / "processor_config.json"
    about.write_text(json.dumps({"processor_class": "UnheardOfProcessor"}))
    model = open_model(entry)
    assert "UnheardOfProcessor" in " ".join(model.notes)  # type: ignore[attr-defined]
    assert letters(model, QUESTION).mass > 0
    with pytest.raises(ModelError, match="What prepares the pictures for tiny cannot be loaded"):
        letters(model, *SHOWN[1])


def test_a_folder_without_the_processors_files_sees_nothing_and_is_refused(
    llava_entry: ModelEntry, tmp_path: Path
):
    folder = copied(Path(llava_entry.path), tmp_path / "bare")
    without_processor(folder)
    entry = replace(llava_entry, path=str(folder))
    assert not describe(entry).sees_pictures
    with pytest.raises(ModelError, match="which say how a llava model is shown pictures"):
        open_model(entry)


def test_a_model_of_texts_is_shown_none(small: Model):
    with pytest.raises(ModelError, match="small sees no pictures"):
        letters(small, *SHOWN[1])


def test_a_model_of_texts_a_hub_id_and_a_damaged_folder_see_nothing(
    small_entry: ModelEntry, llava_entry: ModelEntry, tmp_path: Path
):
    folder = copied(Path(llava_entry.path), tmp_path / "damaged")
    (folder / "config.json").write_text("{")
    entries = (small_entry, replace(small_entry, path="llava-hf/llava-1.5-7b-hf"))
    for entry in (*entries, replace(llava_entry, path=str(folder))):
        assert not describe(entry).sees_pictures


@pytest.mark.parametrize("kind", ["llava", "mllama"])
def test_another_picture_and_another_order_change_the_letters(kind: str, folders: Path):
    model = open_model(save_seeing(kind, folders / f"{kind}-order"))
    ask = f"{{}} then {{}}\n{QUESTION}".format
    red, teal = mark(RED), mark(TEAL)
    asked = [(red, red), (teal, teal), (red, teal), (teal, red)]
    found = [letters(model, ask(*each), (RED, TEAL)).logprobs for each in asked]
    pairs = [(one, other) for at, one in enumerate(found) for other in found[:at]]
    assert all(max(map(abs, map(sub, *pair))) > 0.01 for pair in pairs)


def test_the_pictures_of_a_request_are_found_by_their_marks(llava: Model):
    text, pictures = SHOWN[2]
    assert letters(llava, text, pictures) == letters(llava, text, pictures[::-1])


def test_what_shares_its_beginning_is_the_same_as_alone(llava: Model):
    """All options, and all orders of the options, share the picture."""
    text, pictures = SHOWN[1]
    orders = [text, text.replace("A. ice\nB. fire", "A. fire\nB. ice")]
    requests: list[Request] = [NextToken(each, LETTERS, pictures) for each in orders]
    requests += [Loglik(each, option, pictures) for each in orders for option in OPTIONS]
    together = values(answered(llava, requests))
    alone = [values(answered(llava, [request]))[0] for request in requests]
    assert together == [pytest.approx(each, abs=1e-4) for each in alone]


def test_a_question_with_its_orders_and_options_is_prepared_and_seen_once(
    llava: Any, monkeypatch: pytest.MonkeyPatch
):
    prepared, seen = counted(llava, monkeypatch)
    text, pictures = SHOWN[2]
    orders = [text, text.replace("A. ice", "A. sand")]
    requests: list[Request] = [NextToken(each, LETTERS, pictures) for each in orders]
    answered(llava, requests + [Loglik(text, option, pictures) for option in OPTIONS])
    assert (len(prepared), len(seen)) == (1, 1)


def counted(model: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[list[int], list[int]]:
    """One entry for each time that pictures are prepared, and that the network sees some."""
    prepared, seen = list[int](), list[int]()
    processor = model._seeing._processor.image_processor._inner
    tower = model._picture_network._model.model.vision_tower
    for of, name, calls in ((type(processor), "__call__", prepared), (tower, "forward", seen)):
        inner = getattr(of, name)

        def call(*args: Any, inner: Any = inner, calls: Any = calls, **named: Any) -> Any:
            calls.append(1)
            return inner(*args, **named)

        monkeypatch.setattr(of, name, call)
    return prepared, seen


def test_the_letters_that_a_blank_precedes_are_summed_as_without_pictures(llava: Model):
    text, pictures = SHOWN[1]
    assert letters(llava, text, pictures) == letters(llava, text + " ", pictures)


def test_blanks_at_the_end_of_a_context_belong_to_the_option(llava: Model):
    text, pictures = SHOWN[1]
    requests = [Loglik(text, " ice", pictures), Loglik(text + " ", "ice", pictures)]
    assert len(set(map(str, answered(llava, requests)))) == 1


def test_a_sample_is_the_same_in_any_company_and_another_under_another_seed(llava: Model):
    text, pictures = SHOWN[1]
    asked = Generate(text, 8, temperature=1.5, pictures=pictures)
    other = replace(asked, prompt=SHOWN[2][0], pictures=SHOWN[2][1])
    (alone,) = answered(llava, [asked])
    assert answered(llava, [other, asked])[1] == alone
    assert answered(llava, [replace(asked, seed=1)])[0] != alone
    assert len({str(each) for each in answered(llava, [asked, replace(asked, repeat=1)])}) == 2


def test_a_reply_ends_before_the_stop(llava: Model):
    text, pictures = SHOWN[1]
    (free,) = answered(llava, [Generate(text, 12, pictures=pictures)])
    assert isinstance(free, GeneratedText)
    stop = free.text[4:7]
    (reply,) = answered(llava, [Generate(text, 12, stop=("§§", stop), pictures=pictures)])
    assert isinstance(reply, GeneratedText)
    assert (reply.text, reply.finish_reason) == (free.text[: free.text.index(stop)], "stop")


def test_the_switch_of_thinking_reaches_the_processors_template(llava: Model):
    text, pictures = SHOWN[1]
    chat = (Message("user", text),)
    asked = Generate(chat, 3, pictures=pictures)
    thinking = replace(asked, settings=(("thinking", "on"),))
    plain, opened = answered(llava, [asked, thinking])
    assert isinstance(plain, GeneratedText)
    assert isinstance(opened, GeneratedText)
    assert opened.text.startswith("<think>\n")
    assert not plain.text.startswith("<think>")


def test_letters_after_an_opened_thought_are_refused(llava_entry: ModelEntry):
    extra = {"chat_template_kwargs": {"enable_thinking": True}}
    model = open_model(replace(llava_entry, options={"extra_body": extra}))
    text, pictures = SHOWN[1]
    with pytest.raises(MissingAbility, match="opens a thought"):
        answered(model, [NextToken((Message("user", text),), LETTERS, pictures)])


def test_a_question_that_does_not_fit_is_refused_after_the_others(llava_entry: ModelEntry):
    model = open_model(replace(llava_entry, max_length=60))
    text, pictures = SHOWN[1]
    long = "word " * 60 + text
    requests = [
        NextToken(long, LETTERS, pictures),
        NextToken(text, LETTERS, pictures),
        Loglik(long, " ice", pictures),
        Generate(long, 4, pictures=pictures),
    ]
    found: dict[int, Response] = {}
    answers = model.answer(requests)
    with pytest.raises(RequestRejected, match=r"3 questions with pictures .* reads at most 60"):
        found.update(answers)
    assert list(found) == [1]


def test_a_text_that_has_the_place_of_a_picture_is_refused_with_what_is_wrong(llava: Model):
    text, pictures = SHOWN[1]
    with pytest.raises(RequestRejected, match="2 <image> tokens and 1 images"):
        letters(llava, f"<image> {text}", pictures)


def test_the_way_pictures_are_prepared_is_in_the_fingerprint(
    llava: Model, llava_entry: ModelEntry, tmp_path: Path
):
    folder = copied(Path(llava_entry.path), tmp_path / "other")
    about = json.loads((folder / "preprocessor_config.json").read_text())
    (folder / "preprocessor_config.json").write_text(json.dumps(about | {"image_mean": [0.4] * 3}))
    other = open_model(replace(llava_entry, path=str(folder)))
    assert other.fingerprint != llava.fingerprint
    assert letters(other, *SHOWN[1]) != letters(llava, *SHOWN[1])


def test_the_version_of_what_prepares_pictures_is_in_the_fingerprint(
    llava: Model, llava_entry: ModelEntry, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("evalui.models.local.pictures.PIL.__version__", "99.0")
    assert open_model(llava_entry).fingerprint != llava.fingerprint


def test_the_memory_of_its_text_network_is_estimated(llava_entry: ModelEntry):
    it = footprint(llava_entry, parameters=10, token_budget=100, gpu=False)
    assert it
    assert it.cache == 2 * 2 * 2 * 8 * 100 * 4
    assert describe(llava_entry).problem == ""


@pytest.mark.parametrize("library", ["onednn", "blas"])
def test_each_library_that_multiplies_gives_the_same(
    library: str, llava: Model, llava_entry: ModelEntry
):
    model = open_model(replace(llava_entry, options={"fp32": library}))
    assert letters(model, *SHOWN[1]).logprobs == pytest.approx(
        letters(llava, *SHOWN[1]).logprobs, abs=1e-4
    )


def with_forward(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[Any, int, dict[str, Any]], None]
) -> None:
    """Have Llava's results changed, given how much was in its cache before and the arguments."""
    forward = LlavaForConditionalGeneration.forward

    @wraps(forward)
    def changed(self: Any, **named: Any) -> Any:
        cache = named.get("cache", named.get("past_key_values"))
        before = cache.get_seq_length() if cache is not None else 0
        out = forward(self, **named)
        change(out.logits, before, named)
        return out

    monkeypatch.setattr(LlavaForConditionalGeneration, "forward", changed)
    monkeypatch.setenv("EVALUI_SELF_CHECKS", "repeated")


def test_a_network_that_computes_something_else_with_a_cache_is_computed_row_by_row(
    llava: Model, llava_entry: ModelEntry, monkeypatch: pytest.MonkeyPatch
):
    text, pictures = SHOWN[2]
    requests: list[Request] = [Loglik(text, option, pictures) for option in OPTIONS]
    requests += [NextToken(text, LETTERS, pictures), Generate(text, 6, pictures=pictures)]
    right = values(answered(llava, requests))

    def shift(logits: torch.Tensor, before: int, _: object) -> None:
        if before:
            logits.copy_(logits.roll(1, -1))

    with_forward(monkeypatch, shift)
    model = open_model(llava_entry)
    said = " ".join(model.notes)  # type: ignore[attr-defined]
    assert "Each text with pictures is scored by itself" in said
    assert "Replies are written one at a time and without a cache" in said
    assert model.fingerprint != llava.fingerprint
    assert values(answered(model, requests)) == [
        each if isinstance(each, str) else pytest.approx(each, abs=1e-4) for each in right
    ]


def test_a_network_that_looks_ahead_of_pictures_answers_without_them(
    llava: Model, llava_entry: ModelEntry, monkeypatch: pytest.MonkeyPatch
):
    def look_ahead(logits: torch.Tensor, _: int, named: dict[str, Any]) -> None:
        if "pixel_values" in named:
            logits.mul_(1 + float(named["input_ids"][0, -1]) / 1000)

    with_forward(monkeypatch, look_ahead)
    model = open_model(llava_entry)
    assert letters(model, QUESTION) == letters(llava, QUESTION)
    with pytest.raises(ModelError, match="what follows them changes the probabilities"):
        letters(model, *SHOWN[1])


def test_a_network_that_fails_with_pictures_says_why(
    llava_entry: ModelEntry, monkeypatch: pytest.MonkeyPatch
):
    def fail(_: torch.Tensor, __: int, named: dict[str, Any]) -> None:
        if "pixel_values" in named:
            raise ValueError("no such pixels")

    with_forward(monkeypatch, fail)
    with pytest.raises(ModelError, match=r"cannot compute this llava network.*no such pixels"):
        letters(open_model(llava_entry), *SHOWN[1])


def test_a_chat_template_of_texts_alone_is_used_for_texts_alone(
    llava_entry: ModelEntry, llava: Model, tmp_path: Path
):
    folder = copied(Path(llava_entry.path), tmp_path / "texts")
    (folder / "chat_template.jinja").write_text(
        "{% for message in messages %}{{ message['content'] + '\n' }}{% endfor %}"
    )
    model = open_model(replace(llava_entry, path=str(folder)))
    text, pictures = SHOWN[1]
    assert letters(model, text, pictures) == letters(llava, text, pictures)
    asked = NextToken((Message("user", QUESTION),), LETTERS)
    assert answered(model, [asked]) == answered(model, [NextToken(QUESTION + "\n", LETTERS)])
    with pytest.raises(ModelError, match="knows no pictures"):
        answered(model, [NextToken((Message("user", text),), LETTERS, pictures)])


@pytest.mark.parametrize("merge", [True, False])
def test_an_adapter_computes_as_peft(
    merge: bool, llava_entry: ModelEntry, llava: Model, tmp_path: Path
):
    base = AutoModelForImageTextToText.from_pretrained(llava_entry.path)
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(7)
        targets = r".*language_model.*[qv]_proj"
        tuned = PeftModel(base, LoraConfig(r=4, target_modules=targets, task_type="CAUSAL_LM"))
        for name, weight in tuned.named_parameters():
            if "lora_B" in name:
                torch.nn.init.normal_(weight, std=0.3)
    tuned.save_pretrained(str(tmp_path))
    plain = replace(picture_oracle(Path(llava_entry.path), PLACES["llava"]), model=tuned.eval())
    model = open_model(replace(llava_entry, adapter=str(tmp_path), options={"merge": merge}))
    text, pictures = SHOWN[2]
    right = plain.letters(text, pictures, LETTERS)
    assert letters(model, text, pictures).logprobs == pytest.approx(right, abs=1e-3)
    assert letters(llava, text, pictures).logprobs != pytest.approx(right, abs=1e-2)


@pytest.mark.parametrize("kind", REFUSED)
def test_the_documentation_says_what_is_refused(kind: str):
    assert documented(kind).startswith("refused")
