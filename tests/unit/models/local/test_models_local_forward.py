import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from evalui.errors import ModelError
from evalui.models.local.forward import PaddedNetwork
from evalui.models.local.loading import LoadedModel, load
from evalui.models.scoring_requests import LogprobQuery, plan_batches

ROWS = ((5, 6, 7, 8, 9), (30, 31), (40, 41, 42))


def loaded(folder: Path, dtype: str = "float32", device: str = "cpu") -> LoadedModel:
    return load(folder, dtype=dtype, device=device, threads=1, eos_ids=frozenset())


@pytest.fixture(scope="module")
def network(small_folder: Path) -> PaddedNetwork:
    return PaddedNetwork(loaded(small_folder))


def test_padded_rows_read_at_chosen_places_are_what_the_whole_network_computes(
    network: PaddedNetwork, small_folder: Path
):
    plain = AutoModelForCausalLM.from_pretrained(small_folder, dtype=torch.float32)
    questions = [LogprobQuery(key, row, ((2, (1, 500)),)) for key, row in enumerate(ROWS)]
    (batch,) = plan_batches(questions, token_budget=100, max_logit_rows=100)
    readout = network.compute_logprobs(batch)
    for question, own in batch.query_slices:
        with torch.inference_mode():
            logits = plain(torch.tensor([question.tokens])).logits[0, 1]
        expected = logits.log_softmax(-1)[[1, 500]].tolist()
        assert list(readout.logprobs[own]) == pytest.approx(expected, abs=1e-5)
        assert readout.best[own] == (int(logits.argmax()),) * 2


def test_reading_leaves_no_trace_in_later_reads(network: PaddedNetwork):
    (batch,) = plan_batches(
        [LogprobQuery(0, ROWS[0], ((5, (1,)),))], token_budget=9, max_logit_rows=9
    )
    assert network.compute_logprobs(batch) == network.compute_logprobs(batch)


def test_nan_is_an_error_and_not_an_answer(small_folder: Path, tmp_path: Path):
    folder = Path(shutil.copytree(small_folder, tmp_path / "model"))
    tensors = load_file(folder / "model.safetensors")
    tensors["model.norm.weight"] = tensors["model.norm.weight"] * float("nan")
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    (batch,) = plan_batches(
        [LogprobQuery(0, ROWS[0], ((5, (1,)),))], token_budget=9, max_logit_rows=9
    )
    with pytest.raises(ModelError, match="NaN"):
        PaddedNetwork(loaded(folder)).compute_logprobs(batch)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_reads_as_the_cpu_does(small_folder: Path, network: PaddedNetwork):
    gpu = loaded(small_folder, device="cuda")
    (batch,) = plan_batches(
        [LogprobQuery(0, ROWS[0], ((5, (1,)),))], token_budget=9, max_logit_rows=9
    )
    assert PaddedNetwork(gpu).compute_logprobs(batch).logprobs == pytest.approx(
        network.compute_logprobs(batch).logprobs, abs=1e-3
    )
