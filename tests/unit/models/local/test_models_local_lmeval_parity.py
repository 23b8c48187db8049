"""Equal to lm-evaluation-harness 0.4.13 on its own run of the small model in float32."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from evalui.models import Model, ModelEntry, open_model
from evalui.models.local.fp32 import LIBRARIES
from evalui.modes import MODES, ModeSettings
from evalui.modes.prompts.templates import TEMPLATES
from evalui.scoring.choice.options import normalise_scores
from evalui.types import Loglik, Logprob, NextToken, Sample, Variant

pytestmark = pytest.mark.slow  # 400 prompts, half of them with five worked examples

GOLDEN = json.loads(
    (Path(__file__).parents[3] / "golden" / "lmeval" / "cp_mcp.json").read_text(encoding="utf-8")
)
TASKS = ("cp_0", "cp_5", "mcp_0", "mcp_5")
# lm-eval's name -> ours; its mutual information is UN after the empty context.
NAMES = {"acc": "raw", "acc_norm": "ln_char", "acc_bytes": "ln_byte", "acc_mutual_info": "un"}


@pytest.fixture(scope="module", params=LIBRARIES)
def answers(
    small_entry: ModelEntry, request: pytest.FixtureRequest
) -> dict[str, list[tuple[dict[str, Any], list[Logprob]]]]:
    """task -> (lm-eval's document, our responses to its requests), by each library."""
    small = open_model(replace(small_entry, options={"fp32": request.param}))
    found: dict[str, list[tuple[dict[str, Any], list[Logprob]]]] = {}
    for task in TASKS:
        docs = GOLDEN["tasks"][task]["docs"]
        requested = [
            Loglik(r["context"], r["continuation"]) for doc in docs for r in doc["requests"]
        ]
        responses = dict(small.answer(requested))
        keys = iter(range(len(requested)))
        found[task] = [(doc, [responses[next(keys)] for _ in doc["requests"]]) for doc in docs]
    return found


def test_the_model_is_the_one_lm_eval_ran(small_folder: Path):
    for name, digest in GOLDEN["meta"]["sha256"].items():
        assert hashlib.sha256((small_folder / name).read_bytes()).hexdigest() == digest, name


@pytest.mark.parametrize("task", TASKS)
def test_log_probabilities_are_within_1e_4(task: str, answers: dict[str, Any]):
    for doc, responses in answers[task]:
        theirs = [request["ll"] for request in doc["requests"]]
        assert [response.total for response in responses] == pytest.approx(theirs, abs=1e-4)


@pytest.mark.parametrize("task", TASKS)
def test_tokens_and_greedy_flags_are_equal(task: str, answers: dict[str, Any]):
    for doc, responses in answers[task]:
        ours = [(response.greedy, response.n_tokens) for response in responses]
        assert ours == [
            (request["is_greedy"], len(request["continuation_tokens"]))
            for request in doc["requests"]
        ]


@pytest.mark.parametrize("task", TASKS)
def test_choices_are_equal(task: str, answers: dict[str, Any]):
    for doc, responses in answers[task]:
        ours = [response.total for response in responses[:4]]
        theirs = [request["ll"] for request in doc["requests"][:4]]
        assert ours.index(max(ours)) == theirs.index(max(theirs))


@pytest.mark.parametrize("task", ["cp_0", "cp_5"])
@pytest.mark.parametrize("metric", NAMES)
def test_accuracy_is_lm_evals_under_each_normalisation(
    task: str, metric: str, answers: dict[str, Any]
):
    right: list[float] = []
    for doc, responses in answers[task]:
        requested, bare = responses[:4], responses[4:]
        scores = normalise_scores(
            [request["continuation"].removeprefix(" ") for request in doc["requests"][:4]],
            totals=[response.total for response in requested],
            tokens=[response.n_tokens for response in requested],
            unconditional=[response.total for response in bare],
        )[NAMES[metric]]
        right.append(float(scores.index(max(scores)) == doc["target"]))
        assert right[-1] == doc[metric]
    assert mean(right) == pytest.approx(GOLDEN["tasks"][task]["results"][f"{metric},none"])


@pytest.mark.parametrize("task", ["mcp_0", "mcp_5"])
def test_next_token_gives_each_letter_at_least_its_spelling_with_a_space(
    task: str, small: Model, answers: dict[str, Any]
):
    docs = answers[task]
    requested = [NextToken(doc["requests"][0]["context"] + " ", tuple("ABCD")) for doc, _ in docs]
    responses = dict(small.answer(requested))
    for index, (_, spaced) in enumerate(docs):
        for ours, with_space in zip(responses[index].logprobs, spaced, strict=True):
            assert ours >= with_space.total - 1e-4
            assert ours == pytest.approx(with_space.total, abs=0.5)  # the bare letter is rare


def _sample(row: dict[str, Any]) -> Sample:
    choices = tuple(row[letter] for letter in "ABCD")
    return Sample(str(row["id"]), row["question"], choices, "ABCD".index(row["answer"]))


@pytest.mark.parametrize(("task", "shots"), [("mcp_0", 0), ("mcp_5", 5)])
def test_lm_evals_spelling_asks_what_lm_eval_asks_and_chooses_what_it_chooses(
    task: str, shots: int, small: Model
):
    mode, docs = MODES["multiple_choice"], GOLDEN["tasks"][task]["docs"]
    samples = [_sample(row) for row in GOLDEN["meta"]["questions"]]
    dev = tuple(_sample(row) for row in GOLDEN["meta"]["dev"])
    setting = ModeSettings({"": dev[:shots]}, template=TEMPLATES["plain-en.1"], spellings="lm_eval")
    origin = Variant((0, 1, 2, 3))
    planned = [mode.plan(samples[doc["doc_id"]], origin, setting) for doc in docs]
    assert [[(each.context, each.continuation) for each in four] for four in planned] == [
        [(each["context"], each["continuation"]) for each in doc["requests"]] for doc in docs
    ]
    responses = dict(small.answer([request for four in planned for request in four]))
    for place, doc in enumerate(docs):
        four = [responses[4 * place + slot] for slot in range(4)]
        trial = mode.grade(samples[doc["doc_id"]], origin, four, setting)
        theirs = [request["ll"] for request in doc["requests"]]
        assert trial.choice == theirs.index(max(theirs))
        assert trial.correct == bool(doc["acc"])
        greedy = [slot for slot, each in enumerate(doc["requests"]) if each["is_greedy"]]
        assert trial.readings["strict"].choice == (greedy[0] if greedy else None)
