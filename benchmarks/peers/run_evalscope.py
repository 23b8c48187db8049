"""EvalScope's figures of written answers: its Rouge and its BLEU, pair after pair."""

import shutil
import tempfile
from importlib.metadata import version
from pathlib import Path

import nltk
from evalscope.benchmarks.general_qa_vqa_metrics import calculate_metric_score
from rounds import Prepared, serve, work

given = work()
# What nltk would download is there already.
folder = Path(tempfile.mkdtemp())
shutil.copytree(given["punkt"], folder / "tokenizers" / "punkt_tab" / "english")
nltk.data.path.insert(0, str(folder))


def prepare(job: str) -> Prepared:
    pairs = given["jobs"][job]
    _score(pairs[:2])  # loads the dictionaries
    return lambda: _score(pairs)


def _score(pairs: list[list[str]]) -> list[dict[str, float]]:
    return [
        {
            **calculate_metric_score("Rouge", reply, reference),
            **calculate_metric_score("BLEU", reply, reference),
        }
        for reply, reference in pairs
    ]


serve(f"EvalScope {version('evalscope')}", ("nltk", "jieba", "rouge-chinese"), prepare)
