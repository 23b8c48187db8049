"""Eight architectures of the whole matrix (`make test-models`), one for each way of computing."""

from pathlib import Path

import pytest
import torch

from evalui.models import open_model
from tests.models_matrix.matrix_models import ARCHITECTURES
from tests.models_matrix.matrix_oracle import assert_equal, oracle
from tests.models_matrix.test_models_matrix import made

CASES = {
    "llama": "bytes",
    "glm": "prefixed",
    "gpt2": "wordpiece",
    "gemma3_text": "unigram",
    "gpt_neo": "bytes",
    "bart": "unigram",
    "bloom": "bytes",
    "lfm2": "prefixed",
}


@pytest.mark.parametrize("name", CASES)
def test_it_computes_as_plain_transformers(name: str, tmp_path: Path):
    entry = made(ARCHITECTURES[name], CASES[name], torch.float32, tmp_path)
    assert_equal(open_model(entry), oracle(tmp_path))
