"""Official figures: equal to those that lm_eval has printed, see tests/golden/benchmarks."""

import gzip
import json
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from benchmark_examples import GOLDEN, REALDATA, lay_out, published_arc

import evalui
from evalui.benchmarks import harness
from evalui.benchmarks.harness import (
    OfficialResult,
    generation_request,
    harness_index,
    official_figures,
    score_pairs,
    score_texts,
    task_of,
    write_texts,
)
from evalui.benchmarks.preparing import task_data
from evalui.errors import DataError, MissingAbility, ModelError
from evalui.models import open_model
from evalui.models.base import Model, ModelEntry
from evalui.settings import Settings
from evalui.shipped_files import ASSETS
from evalui.types import Ability, Logprob, Request, Response

OFFICIAL = json.loads((GOLDEN / "official.json").read_text(encoding="utf-8"))
MODELS = ("demo-late", "demo-early")
SCORED = ("mmlu_anatomy", "commonsense_qa", "lambada_openai")


@pytest.fixture(scope="module", params=MODELS)
def model(request: pytest.FixtureRequest) -> Iterator[Model]:
    folder = str(ASSETS / "models" / request.param)
    entry = ModelEntry(request.param, "transformers", path=folder, dtype="float32", device="cpu")
    with closing(open_model(entry)) as opened:
        yield opened


class Recorder:
    """A model that scores everything alike, and keeps what it was asked in each call."""

    name = "recorder"
    fingerprint = ""
    abilities: frozenset[Ability] = frozenset({"loglik"})

    def __init__(self, *, truncated: bool = False) -> None:
        self.calls: list[Sequence[Request]] = []
        self._truncated = truncated

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        self.calls.append(requests)
        for place in reversed(range(len(requests))):
            yield place, Logprob(-float(place), 1, False, truncated=self._truncated)

    def close(self) -> None:
        pass


@pytest.mark.parametrize("task", SCORED)
def test_log_probabilities_are_those_of_lm_eval(model: Model, task: str):
    golden = OFFICIAL["models"][model.name]["requests"][task]
    scores = score_pairs(model, [tuple(asked) for asked, _ in golden])
    for (total, greedy), (_, (expected, expected_greedy)) in zip(scores, golden, strict=True):
        assert total == pytest.approx(float(expected), abs=1e-3)
        assert str(greedy) == expected_greedy


def test_written_texts_are_those_of_lm_eval(model: Model):
    golden = OFFICIAL["models"][model.name]["requests"]["gsm8k"]
    assert write_texts(model, [asked for asked, _ in golden]) == [text for _, text in golden]


@pytest.mark.parametrize("task", [*SCORED, "gsm8k"])
def test_figures_are_those_that_lm_eval_prints(model: Model, here: Settings, task: str):
    pytest.importorskip("lm_eval")
    check_official(official_figures(task, model, task_data(here)), model, task)


@pytest.mark.skipif(not (REALDATA / "arc").is_dir(), reason="the published files are not here")
def test_figures_of_arc_are_those_that_lm_eval_prints(model: Model, settings: Settings):
    pytest.importorskip("lm_eval")
    rows = published_arc()
    lay_out(settings, "allenai/ai2_arc/ARC-Challenge/test-00000-of-00001.parquet", rows)
    result = official_figures("arc_challenge", model, task_data(settings))
    check_official(result, model, "arc_challenge")


def check_official(result: OfficialResult, model: Model, task: str) -> None:
    expected = OFFICIAL["models"][model.name]["results"][task]
    assert result.harness_version == OFFICIAL["lm_eval"]
    made: dict[str, float | None] = {}
    for each in result.figures:
        made[f"{each.metric},{each.filter}"] = each.value
        made[f"{each.metric}_stderr,{each.filter}"] = each.stderr
    printed = {key: value for key, value in expected.items() if "," in key}
    if "perplexity,none" in printed:
        # The exponential of a sum of six digits; its spread is drawn anew by each process.
        assert made.pop("perplexity,none") == pytest.approx(
            printed.pop("perplexity,none"), rel=1e-3
        )
        assert made.pop("perplexity_stderr,none")
        assert printed.pop("perplexity_stderr,none")
    assert made == printed
    assert {each.n for each in result.figures} == {expected["sample_len"]}


def test_the_documents_state_the_printed_figures():
    docs = (Path(__file__).parents[3] / "docs" / "benchmarks.md").read_text("utf-8")
    printed = [OFFICIAL["models"][name]["results"] for name in MODELS]

    def row(head: str, task: str, *keys: str) -> str:
        n = printed[0][task]["sample_len"]
        cells = (" / ".join(f"{each[task][key]:.3f}" for key in keys) for each in printed)
        return f"| {head} | {n} | {' | '.join(cells)} |"

    strict, flexible = "exact_match,strict-match", "exact_match,flexible-extract"
    assert row("mmlu_anatomy, `acc`", "mmlu_anatomy", "acc,none") in docs
    assert row("commonsense_qa, `acc`", "commonsense_qa", "acc,none") in docs
    assert row("gsm8k 5-shot, `exact_match` strict / flexible", "gsm8k", strict, flexible) in docs
    arc = "arc_challenge, `acc` / `acc_norm`, on the dev split"
    assert row(arc, "arc_challenge", "acc,none", "acc_norm,none") in docs
    (perplexities,) = re.findall(r"\| lambada_openai, `perplexity` \| 6 \| (.*) \| (.*) \|", docs)
    expected = [f"{each['lambada_openai']['perplexity,none']:.2e}" for each in printed]
    assert list(perplexities) == expected


def test_the_code_of_the_page_gives_official_figures(here: Settings):
    pytest.importorskip("lm_eval")
    page = (Path(__file__).parents[3] / "docs" / "python.md").read_text("utf-8")
    (code,) = re.findall(r"```py\n(.*?)```", page, re.S)
    names: dict[str, Any] = {"sets": evalui.benchmarks, "data": task_data(here)}
    exec(f"from evalui.settings import Settings\n{code}", names)
    assert [(each.metric, each.n) for each in names["official"].figures] == [("acc", 20)]


def test_data_of_a_task_that_are_not_here_are_named(model: Model, settings: Settings):
    pytest.importorskip("lm_eval")
    with pytest.raises(DataError, match=r"needs openai/gsm8k, part main.*copy the files"):
        official_figures("gsm8k", model, task_data(settings))


def test_a_group_of_which_parts_are_missing_names_the_first(model: Model, here: Settings):
    pytest.importorskip("lm_eval")
    with pytest.raises(DataError, match=r"needs cais/mmlu, part \w+"):
        official_figures("mmlu", model, task_data(here))


def test_more_shots_than_there_are_examples_is_one_sentence(model: Model, here: Settings):
    pytest.importorskip("lm_eval")
    with pytest.raises(DataError, match="cannot do the task gsm8k"):
        official_figures("gsm8k", model, task_data(here), shots=9)


def test_files_in_a_zip_are_read_by_lm_eval_too(model: Model, settings: Settings):
    pytest.importorskip("lm_eval")
    place = settings.data_dir / "benchmarks/hub/haonan-li/cmmlu"
    place.mkdir(parents=True)
    row = "{n},天空是什么颜色？,蓝,红,绿,黄,A\n"
    with zipfile.ZipFile(place / "cmmlu_v1.zip", "w") as archive:
        for split in ("dev", "test"):
            rows = "".join(row.format(n=n) for n in range(6))
            archive.writestr(f"{split}/anatomy.csv", f",Question,A,B,C,D,Answer\n{rows}")
    result = official_figures("cmmlu_anatomy", model, task_data(settings), shots=2)
    assert {each.n for each in result.figures} == {6}


def test_all_requests_go_to_the_model_in_one_call_and_come_back_in_order():
    recorder = Recorder()
    scores = score_pairs(recorder, [("a", " b"), ("a", " c"), ("d", " e")])
    assert [total for total, _ in scores] == [0.0, -1.0, -2.0]
    assert [len(call) for call in recorder.calls] == [3]
    assert score_texts(recorder, ["x", "y"]) == [0.0, -1.0]


def test_a_text_that_is_cut_is_no_figure():
    with pytest.raises(ModelError, match="2 of 2 texts are longer"):
        score_texts(Recorder(truncated=True), ["x", "y"])


def test_a_model_that_cannot_write_says_so():
    with pytest.raises(MissingAbility, match="does not write replies"):
        write_texts(Recorder(), [("Q:", {})])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, (256, (), 0.0, ())),
        ({"until": "\n", "max_gen_toks": 8}, (8, ("\n",), 0.0, ())),
        ({"until": ["a", "b"], "do_sample": False, "temperature": 1.0}, (256, ("a", "b"), 0.0, ())),
        ({"do_sample": True, "temperature": 0.7, "top_p": 0.9}, (256, (), 0.7, (("top_p", 0.9),))),
        ({"temperature": 0.0, "num_beams": 1}, (256, (), 0.0, ())),
        ({"do_sample": True}, (256, (), 1.0, ())),
    ],
)
def test_settings_of_generation_are_passed_on(options: dict[str, Any], expected: tuple[Any, ...]):
    made = generation_request("Q", options)
    assert (made.max_tokens, made.stop, made.temperature, made.settings) == expected


@pytest.mark.parametrize("options", [{"num_beams": 4}, {"repetition_penalty": 1.2}])
def test_a_setting_that_cannot_be_passed_on_is_refused(options: dict[str, Any]):
    with pytest.raises(ModelError, match=f"{next(iter(options))} = "):
        generation_request("Q", options)


def test_a_set_and_a_task_of_lm_eval_are_both_names():
    assert task_of("ARC_c").name == "arc_challenge"
    assert task_of("arc_easy").file == "arc/arc_easy.yaml"
    assert task_of("mmlu").kind == "group"
    assert task_of("winogrande").python


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_such_task", "neither a published set"),
        ("afqmc", "neither a published set"),
        ("humaneval", "neither a published set"),
        ("humaneval_instruct", "Python code of its own"),
        ("mbpp_plus", "Python code of its own"),
        ("squadv2", "Python code of its own"),
    ],
)
def test_a_task_that_may_not_run_is_refused_before_anything_is_loaded(name: str, message: str):
    with pytest.raises(DataError, match=message):
        task_of(name)


def test_without_lm_eval_a_sentence_says_which_extra(monkeypatch: pytest.MonkeyPatch):
    def missing(name: str) -> None:
        raise harness.importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", missing)
    with pytest.raises(DataError, match=r"pip install 'evalui\[benchmarks\]'"):
        harness.harness_version()


def test_another_series_of_lm_eval_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("importlib.metadata.version", lambda _: "0.5.0")
    monkeypatch.setattr(harness, "import_module", lambda _: None)
    with pytest.raises(DataError, match=r"0\.5\.0 is installed.*0\.4\.13"):
        harness.harness_version()


def test_the_documents_count_the_tasks_that_may_be_named():
    tasks = harness_index().tasks.values()
    free = sum(not each.python for each in tasks if each.kind == "task")
    every = sum(each.kind in ("task", "py_task") for each in tasks)
    docs = (Path(__file__).parents[3] / "docs" / "benchmarks.md").read_text("utf-8")
    assert f"({free:,} of {every:,} in" in docs


def test_the_index_is_that_of_the_version_that_made_it():
    pytest.importorskip("lm_eval")
    import lm_eval.tasks

    root = Path(lm_eval.tasks.__file__).parent
    files = {each.file for each in harness_index().tasks.values() if each.file}
    assert all((root / file).is_file() for file in files)


def test_the_shipped_index_is_small():
    packed = Path(harness.__file__).with_name("lm_eval_tasks.json.gz").read_bytes()
    assert len(packed) < 300_000
    assert len(gzip.decompress(packed)) > len(packed)
