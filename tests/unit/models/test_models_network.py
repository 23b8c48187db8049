import json
import math
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from evalui.errors import ModelError
from evalui.models.batches import Question, plan
from evalui.models.loading import Causal, load
from evalui.models.network import Network
from evalui.models.writer import Writer

ROWS = ((5, 6, 7, 8, 9), (30, 31), (40, 41, 42))


def loaded(folder: Path, dtype: str = "float32", device: str = "cpu") -> Causal:
    return load(folder, dtype=dtype, device=device, threads=1, ends=frozenset())


@pytest.fixture(scope="module")
def network(small_folder: Path) -> Network:
    return Network(loaded(small_folder))


@pytest.fixture(scope="module")
def writer(small_folder: Path) -> Writer:
    return Writer(loaded(small_folder))


def never(_row: int, _ids: tuple[int, ...]) -> bool:
    return False


def test_padded_rows_read_at_chosen_places_are_what_the_whole_network_computes(
    network: Network, small_folder: Path
):
    plain = AutoModelForCausalLM.from_pretrained(small_folder, dtype=torch.float32)
    questions = [Question(key, row, ((2, (1, 500)),)) for key, row in enumerate(ROWS)]
    (batch,) = plan(questions, token_budget=100, place_budget=100)
    readout = network.read(batch)
    for question, own in batch.answers:
        with torch.inference_mode():
            logits = plain(torch.tensor([question.tokens])).logits[0, 1]
        expected = logits.log_softmax(-1)[[1, 500]].tolist()
        assert list(readout.logprobs[own]) == pytest.approx(expected, abs=1e-5)
        assert readout.best[own] == (int(logits.argmax()),) * 2


def test_reading_leaves_no_trace_in_later_reads(network: Network):
    (batch,) = plan([Question(0, ROWS[0], ((5, (1,)),))], token_budget=9, place_budget=9)
    assert network.read(batch) == network.read(batch)


def test_writing_does_not_depend_on_longer_neighbours(writer: Writer):
    def write(*rows: tuple[int, ...]) -> list[tuple[int, ...]]:
        written = writer.write(
            rows, max_tokens=6, temperature=0.0, seeds=[0] * len(rows), enough=never
        )
        return [text.ids for text in written]

    assert write(*ROWS) == [write(row)[0] for row in ROWS]


def test_a_row_that_has_enough_stops_and_is_marked_as_ended(writer: Writer):
    short, long = writer.write(
        ROWS[:2],
        max_tokens=5,
        temperature=0.0,
        seeds=[0, 0],
        enough=lambda row, ids: row == 0 and len(ids) == 2,
    )
    assert (len(short.ids), short.ended) == (2, True)
    assert (len(long.ids), long.ended) == (5, False)


def test_an_end_token_is_cut_off_and_marks_the_end(small_folder: Path, writer: Writer):
    (free,) = writer.write(ROWS[:1], max_tokens=4, temperature=0.0, seeds=[0], enough=never)
    ending = Writer(
        load(small_folder, dtype="float32", device="cpu", threads=1, ends=frozenset({free.ids[1]}))
    )
    (text,) = ending.write(ROWS[:1], max_tokens=4, temperature=0.0, seeds=[0], enough=never)
    assert (text.ids, text.ended) == (free.ids[:1], True)


def test_samples_follow_the_distribution_of_the_next_token(network: Network, writer: Writer):
    """400 draws of one token: the share of the best one is within 4 standard errors."""
    (batch,) = plan([Question(0, ROWS[0], ((5, (0,)),))], token_budget=9, place_budget=9)
    best = network.read(batch).best[0]
    (batch,) = plan([Question(0, ROWS[0], ((5, (best,)),))], token_budget=9, place_budget=9)
    p = math.exp(network.read(batch).logprobs[0])
    drawn = writer.write(
        [ROWS[0]] * 400, max_tokens=1, temperature=1.0, seeds=range(400), enough=never
    )
    share = sum(text.ids == (best,) for text in drawn) / 400
    assert abs(share - p) < 4 * math.sqrt(p * (1 - p) / 400)


def test_the_same_seed_samples_the_same_text_whoever_its_neighbours_are(writer: Writer):
    one = writer.write([ROWS[1]], max_tokens=6, temperature=1.0, seeds=[7], enough=never)
    two = writer.write(ROWS[:2], max_tokens=6, temperature=1.0, seeds=[3, 7], enough=never)
    other = writer.write([ROWS[1]], max_tokens=6, temperature=1.0, seeds=[8], enough=never)
    assert one[0] == two[1] != other[0]


def test_habits_of_writing_in_the_file_are_not_used(
    small_folder: Path, writer: Writer, tmp_path: Path
):
    free = writer.write(ROWS, max_tokens=3, temperature=0.0, seeds=[0] * 3, enough=never)
    folder = Path(shutil.copytree(small_folder, tmp_path / "model"))
    habits = json.loads((folder / "generation_config.json").read_text())
    habits |= {"do_sample": True, "suppress_tokens": [text.ids[0] for text in free]}
    (folder / "generation_config.json").write_text(json.dumps(habits))
    ours = Writer(loaded(folder)).write(
        ROWS, max_tokens=3, temperature=0.0, seeds=[0] * 3, enough=never
    )
    assert ours == free


def test_a_missing_weight_is_an_error_and_not_a_random_number(small_folder: Path, tmp_path: Path):
    folder = Path(shutil.copytree(small_folder, tmp_path / "model"))
    tensors = load_file(folder / "model.safetensors")
    del tensors["model.layers.0.mlp.up_proj.weight"]
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"lacks 1 weights .*layers\.0\.mlp\.up_proj"):
        loaded(folder)


def test_weights_of_another_shape_are_an_error(small_folder: Path, tmp_path: Path):
    folder = Path(shutil.copytree(small_folder, tmp_path / "model"))
    about = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(about | {"intermediate_size": 256}))
    with pytest.raises(ModelError, match="cannot be loaded"):
        loaded(folder)


def test_an_unheard_of_architecture_is_an_error(small_folder: Path, tmp_path: Path):
    folder = Path(shutil.copytree(small_folder, tmp_path / "model"))
    (folder / "config.json").write_text(json.dumps({"model_type": "unheard"}))
    with pytest.raises(ModelError, match=r"cannot be loaded: .*unheard"):
        loaded(folder)


def test_nan_is_an_error_and_not_an_answer(small_folder: Path, tmp_path: Path):
    folder = Path(shutil.copytree(small_folder, tmp_path / "model"))
    tensors = load_file(folder / "model.safetensors")
    tensors["model.norm.weight"] = tensors["model.norm.weight"] * float("nan")
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    (batch,) = plan([Question(0, ROWS[0], ((5, (1,)),))], token_budget=9, place_budget=9)
    broken = loaded(folder)
    with pytest.raises(ModelError, match="NaN"):
        Network(broken).read(batch)
    with pytest.raises(ModelError, match="NaN"):
        Writer(broken).write(ROWS, max_tokens=2, temperature=0.0, seeds=[0] * 3, enough=never)


@pytest.mark.parametrize(
    ("dtype", "kept"), [("auto", "float32"), ("bfloat16", "bfloat16"), ("float16", "float16")]
)
def test_auto_is_float32_on_a_cpu_whatever_the_file_has(small_folder: Path, dtype: str, kept: str):
    assert loaded(small_folder, dtype).dtype == kept


def test_an_unknown_device_is_an_error(small_folder: Path):
    with pytest.raises(ModelError, match="'abacus' is no device"):
        loaded(small_folder, device="abacus")


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
def test_a_gpu_that_is_not_there_is_an_error(small_folder: Path):
    with pytest.raises(ModelError, match="finds no GPU"):
        loaded(small_folder, device="cuda")


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_reads_and_writes_as_the_cpu_does(small_folder: Path, network: Network):
    gpu = loaded(small_folder, device="cuda")
    (batch,) = plan([Question(0, ROWS[0], ((5, (1,)),))], token_budget=9, place_budget=9)
    assert Network(gpu).read(batch).logprobs == pytest.approx(
        network.read(batch).logprobs, abs=1e-3
    )
    written = [
        each.write(ROWS, max_tokens=4, temperature=0.0, seeds=[0] * 3, enough=never)
        for each in (Writer(gpu), writer)
    ]
    assert written[0] == written[1]


def test_threads_are_set_only_if_told(small_folder: Path):
    before = torch.get_num_threads()
    load(small_folder, dtype="float32", device="cpu", threads=0, ends=frozenset())
    assert torch.get_num_threads() == before
    load(small_folder, dtype="float32", device="cpu", threads=2, ends=frozenset())
    assert torch.get_num_threads() == 2
    torch.set_num_threads(before)
