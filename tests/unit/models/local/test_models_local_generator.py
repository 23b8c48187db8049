import json
import math
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    AutoModelForCausalLM,
    BloomConfig,
    Gemma3TextConfig,
    GenerationConfig,
    GPT2Config,
    LlamaConfig,
    MambaConfig,
    MistralConfig,
    Phi3Config,
    PreTrainedConfig,
)

from evalui.errors import ModelError
from evalui.models import Model
from evalui.models.local import generator as writing
from evalui.models.local.generator import Generated, TokenGenerator
from evalui.models.local.loading import LoadedModel, load
from evalui.models.local.self_check import check_paths
from evalui.types import Generate
from tests.unit.models.checked_models import generator

pytestmark = pytest.mark.slow  # it loads a model

ROWS = ((5, 6, 7, 8, 9), (30, 31), (40, 41, 42))
SHARED = tuple(range(100, 140))
SHARING = tuple((*SHARED, *row) for row in (*ROWS, (5, 6, 7, 60, 61, 62, 63), (70,)))
SIZES = {"vocab_size": 200, "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4}
WIDE = {"intermediate_size": 64, "num_key_value_heads": 2, "initializer_range": 0.3}
ARCHITECTURES = {
    "llama": LlamaConfig(**SIZES, **WIDE),
    "absolute positions": GPT2Config(**SIZES, initializer_range=0.3),
    "a window of 6": MistralConfig(**SIZES, **WIDE, sliding_window=6),
    "windows of 6 in turn with none": Gemma3TextConfig(
        **SIZES,
        **WIDE,
        head_dim=8,
        sliding_window=6,
        layer_types=["sliding_attention", "full_attention", "sliding_attention"],
    ),
    "alibi": BloomConfig(vocab_size=200, hidden_size=32, n_layer=3, n_head=4),
    "no attention": MambaConfig(vocab_size=200, hidden_size=32, num_hidden_layers=3),
}


def loaded(folder: Path, dtype: str = "float32", device: str = "cpu") -> LoadedModel:
    return load(folder, dtype=dtype, device=device, threads=1, eos_ids=frozenset())


@pytest.fixture(scope="module")
def causal(small_folder: Path) -> LoadedModel:
    return loaded(small_folder)


@pytest.fixture
def writer(causal: LoadedModel) -> TokenGenerator:
    return generator(causal)


def never(_row: int, _ids: Sequence[int]) -> bool:
    return False


def stream(writer: TokenGenerator, rows: Sequence[tuple[int, ...]], **how: Any) -> Iterator[Any]:
    usual = {"max_tokens": 6, "temperature": 0.0, "seeds": range(len(rows)), "stop_check": never}
    return writer.generate(rows, **(usual | how))


def write(writer: TokenGenerator, rows: Sequence[tuple[int, ...]], **how: Any) -> list[Generated]:
    written = dict(stream(writer, rows, **how))
    assert sorted(written) == list(range(len(rows)))
    return [written[index] for index in range(len(rows))]


def by_transformers(model: Any, row: tuple[int, ...], tokens: int) -> tuple[int, ...]:
    """What generate() of transformers writes greedily, one prompt at a time."""
    ids = torch.tensor([row])
    out = model.generate(
        input_ids=ids,
        attention_mask=torch.ones_like(ids),
        max_new_tokens=tokens,
        do_sample=False,
        eos_token_id=None,
        pad_token_id=0,
    )
    return tuple(out[0, len(row) :].tolist())


def network_of(config: PreTrainedConfig) -> LoadedModel:
    torch.manual_seed(1)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    for weight in model.parameters():
        if weight.dim() > 1:  # far from zero, so that no two tokens are nearly as probable
            torch.nn.init.normal_(weight, std=0.3)
    model.generation_config = GenerationConfig()  # as `load` does
    return LoadedModel(model, torch.device("cpu"), frozenset())


@pytest.mark.parametrize(
    "rows", [ROWS, SHARING, (*SHARING, *ROWS)], ids=["apart", "shared", "mixed"]
)
def test_what_is_written_is_what_transformers_writes(
    small_folder: Path, writer: TokenGenerator, rows: Sequence[tuple[int, ...]]
):
    plain = AutoModelForCausalLM.from_pretrained(small_folder, dtype=torch.float32)
    expected = [by_transformers(plain, row, 12) for row in rows]
    assert [text.ids for text in write(writer, rows, max_tokens=12)] == expected


@pytest.mark.parametrize("name", ARCHITECTURES)
@pytest.mark.parametrize("cells", [10_000, 4 * 57], ids=["together", "four at a time"])
def test_every_architecture_writes_as_transformers_does(
    name: str, cells: int, monkeypatch: pytest.MonkeyPatch
):
    """Rows end at different times, the longest prompts among the first, and others move up."""
    causal = network_of(ARCHITECTURES[name])
    monkeypatch.setattr(LoadedModel, "kv_cache_tokens", cells)
    rows, ends = (*SHARING, *ROWS), (10, 2, 9, 1, 10, 4, 8, 3)
    expected = [
        by_transformers(causal.model, row, end) for row, end in zip(rows, ends, strict=True)
    ]
    written = write(
        generator(causal),
        rows,
        max_tokens=10,
        stop_check=lambda row, ids: len(ids) == ends[row],
    )
    assert [text.ids for text in written] == expected
    assert len({text.ids[:3] for text in written}) > 3, "the network tells the prompts apart"


STRETCHED = {
    "longrope": Phi3Config(
        **SIZES,
        intermediate_size=64,
        pad_token_id=0,
        max_position_embeddings=128,
        original_max_position_embeddings=32,
        rope_parameters={
            "rope_type": "longrope",
            "rope_theta": 100.0,
            "original_max_position_embeddings": 32,
            "short_factor": [1.0] * 4,
            "long_factor": [1.0, 4.0, 8.0, 16.0],
        },
    ),
    "dynamic": LlamaConfig(
        **SIZES,
        **WIDE,
        max_position_embeddings=32,
        rope_parameters={"rope_type": "dynamic", "rope_theta": 100.0, "factor": 8.0},
    ),
}


@pytest.mark.parametrize("name", STRETCHED)
def test_a_long_row_does_not_change_what_its_neighbours_write(name: str):
    """Beyond 32 tokens the angles of all rows of a batch follow the longest of them."""
    causal = network_of(STRETCHED[name])
    assert causal.rope_safe_length == 31
    long, passing = tuple(range(100, 150)), tuple(range(60, 86))
    rows = (*ROWS, passing, long, long[:40])
    expected = [by_transformers(network_of(STRETCHED[name]).model, row, 12) for row in rows]
    for _ in range(2):
        assert [text.ids for text in write(generator(causal), rows, max_tokens=12)] == expected


def test_positions_that_are_not_stretched_are_steady(causal: LoadedModel):
    assert causal.rope_safe_length > 10**6


def test_samples_are_drawn_a_few_rows_at_a_time(
    writer: TokenGenerator, monkeypatch: pytest.MonkeyPatch
):
    """A vocabulary is large, and no row needs the numbers of another."""
    expected = write(writer, SHARING, temperature=1.0)
    drawn: list[int] = []
    noisy = writing._add_gumbel_noise

    def counted(scores: torch.Tensor, temperature: float, rng: Any) -> torch.Tensor:
        drawn.append(scores.shape[0])
        return noisy(scores, temperature, rng)

    monkeypatch.setattr(writing, "_add_gumbel_noise", counted)
    monkeypatch.setattr(writing, "_MAX_RANDOM_NUMBERS", 2 * writer._loaded.model.config.vocab_size)
    assert write(writer, SHARING, temperature=1.0) == expected
    assert set(drawn) == {1, 2}


def test_writing_does_not_depend_on_longer_neighbours(writer: TokenGenerator):
    assert write(writer, ROWS) == [write(writer, [row])[0] for row in ROWS]


def test_a_common_beginning_is_read_once(writer: TokenGenerator, causal: LoadedModel):
    read: list[int] = []
    hook = causal.model.get_input_embeddings().register_forward_pre_hook(
        lambda _, inputs: read.append(inputs[0].numel())
    )
    write(writer, SHARING, max_tokens=1)
    hook.remove()
    own = len(SHARING) * (max(map(len, SHARING)) - len(SHARED))
    assert read == [len(SHARED), own]


def test_columns_that_no_row_needs_are_forgotten(
    writer: TokenGenerator, causal: LoadedModel, monkeypatch: pytest.MonkeyPatch
):
    widths: list[int] = []
    plain = causal.model.forward

    def forward(*, attention_mask: torch.Tensor, **more: Any) -> Any:
        widths.append(attention_mask.shape[1])
        return plain(attention_mask=attention_mask, **more)

    monkeypatch.setattr(causal.model, "forward", forward)
    write(writer, ROWS[:2], max_tokens=4, stop_check=lambda row, _: row == 0)
    assert widths == [5, 3, 4, 5]


def test_a_row_is_reported_as_soon_as_it_is_finished(writer: TokenGenerator):
    """The short one comes out before the long one is written to its end."""
    seen: list[int] = []

    def enough(row: int, ids: Sequence[int]) -> bool:
        seen.append(len(ids))
        return row == 1 and len(ids) == 2

    index, text = next(stream(writer, ROWS[:2], max_tokens=50, stop_check=enough))
    assert (index, len(text.ids)) == (1, 2)
    assert max(seen) == 2


def test_waiting_prompts_take_the_places_of_finished_ones(
    writer: TokenGenerator, monkeypatch: pytest.MonkeyPatch
):
    """Two places; the second row ends early and the third begins while the first still runs."""
    monkeypatch.setattr(LoadedModel, "kv_cache_tokens", 2 * (5 + 20))
    order: list[int] = []

    def enough(row: int, ids: Sequence[int]) -> bool:
        order.append(row)
        return row == 2 and len(ids) == 3  # the second longest, so the second to be taken in

    texts = write(writer, ROWS, max_tokens=20, stop_check=enough)
    first_of_third = order.index(1)
    assert 0 in order[first_of_third + 1 :]
    assert [len(text.ids) for text in texts] == [20, 20, 3]
    assert texts[:2] == write(writer, ROWS[:2], max_tokens=20)


def test_a_row_that_has_enough_stops_and_is_marked_as_ended(writer: TokenGenerator):
    short, long = write(
        writer, ROWS[:2], max_tokens=5, stop_check=lambda row, ids: row == 0 and len(ids) == 2
    )
    assert (len(short.ids), short.is_complete) == (2, True)
    assert (len(long.ids), long.is_complete) == (5, False)


@pytest.mark.parametrize("name", ["llama", "no attention"])
def test_an_end_token_is_cut_off_and_marks_the_end(name: str):
    causal = network_of(ARCHITECTURES[name])
    free = write(generator(causal), ROWS, max_tokens=6)
    ending = LoadedModel(causal.model, causal.device, frozenset({free[0].ids[1]}))
    texts = write(generator(ending), ROWS, max_tokens=6)
    assert texts[0] == Generated(free[0].ids[: free[0].ids.index(free[0].ids[1])], is_complete=True)
    assert all(text.is_complete == (len(text.ids) < 6) for text in texts)


def test_samples_follow_the_distribution_of_the_next_token(
    writer: TokenGenerator, causal: LoadedModel
):
    """400 draws of one token: the share of the best one is within 4 standard errors."""
    with torch.inference_mode():
        probabilities = causal.model(torch.tensor([ROWS[0]])).logits[0, -1].softmax(-1)
    p, best = float(probabilities.max()), int(probabilities.argmax())
    drawn = write(writer, [ROWS[0]] * 400, max_tokens=1, temperature=1.0)
    share = sum(text.ids == (best,) for text in drawn) / 400
    assert abs(share - p) < 4 * math.sqrt(p * (1 - p) / 400)


def test_the_same_seed_samples_the_same_text_whatever_its_neighbours_are(writer: TokenGenerator):
    one = write(writer, [ROWS[1]], temperature=1.0, seeds=[7])
    two = write(writer, ROWS[:2], temperature=1.0, seeds=[3, 7])
    other = write(writer, [ROWS[1]], temperature=1.0, seeds=[8])
    assert one[0] == two[1] != other[0]


@pytest.mark.parametrize("sampling", [{"top_k": 1}, {"top_p": 1e-6}, {"min_p": 1.0}])
@pytest.mark.parametrize("cached", [True, False], ids=["cached", "plain"])
def test_sampling_from_the_most_probable_token_alone_takes_it(
    causal: LoadedModel, sampling: dict[str, Any], cached: bool
):
    checked = check_paths(causal)
    writer = TokenGenerator(causal, checked if cached else replace(checked, cached="differs"))
    drawn = write(writer, ROWS, temperature=2.0, sampling=sampling)
    assert drawn == write(writer, ROWS)
    assert write(writer, ROWS, temperature=2.0) != drawn


def test_top_k_draws_from_so_many_tokens(writer: TokenGenerator, causal: LoadedModel):
    with torch.inference_mode():
        best = causal.model(torch.tensor([ROWS[0]])).logits[0, -1].topk(2).indices.tolist()
    drawn = write(writer, [ROWS[0]] * 60, max_tokens=1, temperature=2.0, sampling={"top_k": 2})
    assert {token for text in drawn for token in text.ids} == set(best)


def test_generation_defaults_in_the_file_are_not_used(
    small_folder: Path, writer: TokenGenerator, tmp_path: Path
):
    free = write(writer, ROWS, max_tokens=3)
    folder = Path(shutil.copytree(small_folder, tmp_path / "model"))
    defaults = json.loads((folder / "generation_config.json").read_text())
    defaults |= {"do_sample": True, "suppress_tokens": [text.ids[0] for text in free]}
    (folder / "generation_config.json").write_text(json.dumps(defaults))
    assert write(generator(loaded(folder)), ROWS, max_tokens=3) == free


def test_nan_is_an_error_and_not_a_text(small_folder: Path, tmp_path: Path):
    folder = Path(shutil.copytree(small_folder, tmp_path / "model"))
    tensors = load_file(folder / "model.safetensors")
    tensors["model.norm.weight"] = tensors["model.norm.weight"] * float("nan")
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match="NaN"):
        write(generator(loaded(folder)), ROWS, max_tokens=2)


def short_of_memory(
    causal: LoadedModel, monkeypatch: pytest.MonkeyPatch, *, most: int
) -> list[int]:
    """Let the network fail on more than `most` rows; the row numbers it is given."""
    plain, requested = causal.model.forward, list[int]()

    def forward(*, input_ids: torch.Tensor, **more: Any) -> Any:
        requested.append(len(input_ids))
        if len(input_ids) > most:
            raise torch.OutOfMemoryError
        return plain(input_ids=input_ids, **more)

    monkeypatch.setattr(causal.model, "forward", forward)
    return requested


def test_a_device_without_memory_for_all_rows_writes_fewer_at_once(
    writer: TokenGenerator, causal: LoadedModel, monkeypatch: pytest.MonkeyPatch
):
    expected = write(writer, SHARING, temperature=1.0)
    requested = short_of_memory(causal, monkeypatch, most=2)
    assert write(writer, SHARING, temperature=1.0) == expected
    requested.clear()
    assert write(writer, SHARING, temperature=1.0) == expected
    assert max(requested) <= 2, "what did not fit once is tried again"


def test_rows_that_lose_their_memory_are_written_anew(
    writer: TokenGenerator, causal: LoadedModel, monkeypatch: pytest.MonkeyPatch
):
    expected = write(writer, SHARING, temperature=1.0)
    plain, calls = causal.model.forward, list[int]()

    def forward(**inputs: Any) -> Any:
        calls.append(len(inputs["input_ids"]))
        if len(calls) == 5:
            raise torch.OutOfMemoryError
        return plain(**inputs)

    monkeypatch.setattr(causal.model, "forward", forward)
    assert write(writer, SHARING, temperature=1.0) == expected
    assert max(calls[5:]) == 2


def test_a_network_with_a_memory_of_its_own_kind_writes_fewer_at_once_too(
    monkeypatch: pytest.MonkeyPatch,
):
    causal = network_of(ARCHITECTURES["no attention"])
    expected = write(generator(causal), SHARING)
    writer = generator(causal)
    plain, calls = causal.model.generate, list[int]()

    def generate(**inputs: Any) -> Any:
        calls.append(len(inputs["input_ids"]))
        if calls[-1] > 2:
            raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory")
        return plain(**inputs)

    monkeypatch.setattr(causal.model, "generate", generate)
    assert write(writer, SHARING) == expected
    assert calls == [5, 2, 3, 1, 2]


@pytest.mark.parametrize("name", ["llama", "no attention"])
def test_a_device_without_memory_for_one_row_is_an_error(
    name: str, monkeypatch: pytest.MonkeyPatch
):
    causal = network_of(ARCHITECTURES[name])
    writer = generator(causal)
    short_of_memory(causal, monkeypatch, most=0)
    with pytest.raises(ModelError, match="ran out of memory"):
        write(writer, ROWS)


def test_equal_prompts_are_written_once_and_answered_each(
    small: Model, monkeypatch: pytest.MonkeyPatch
):
    requested = [Generate("Which one?", 4), Generate("Which?", 4), Generate("Which one?", 4)]
    given: list[int] = []
    plain = TokenGenerator.generate

    def counted(writer: TokenGenerator, prompts: Sequence[tuple[int, ...]], **how: Any) -> Any:
        given.append(len(prompts))
        return plain(writer, prompts, **how)

    monkeypatch.setattr(TokenGenerator, "generate", counted)
    answers = dict(small.answer(requested))
    assert given == [2]
    assert answers[0] == answers[2] != answers[1]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_writes_as_the_cpu_does(small_folder: Path, writer: TokenGenerator):
    gpu = generator(loaded(small_folder, device="cuda"))
    assert write(gpu, SHARING, max_tokens=4) == write(writer, SHARING, max_tokens=4)
