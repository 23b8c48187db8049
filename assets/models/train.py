"""Train the two demo models, from nothing, in minutes on one CPU core.

    OMP_NUM_THREADS=1 python assets/models/train.py

writes demo-early/ and demo-late/ beside this file: two moments of one run. See README.md for the
recipe and for the figures reached.
"""

import argparse
import copy
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import batches
import lessons
import network
import torch
import vocabulary
from batches import IGNORED
from torch.nn.functional import cross_entropy
from transformers import PreTrainedTokenizerFast, Qwen2ForCausalLM
from transformers.utils import logging

HERE = Path(__file__).parent
SEED = 0

# Steps: easy questions up to the first, all from there on. The early model is taken where it has
# just begun to use its options.
EASY_UNTIL, STEPS = 400, 1200
EARLY = 200

# AdamW for attention and embeddings, Muon for the MLPs: with AdamW alone facts come too slowly.
ADAM_RATE, MUON_RATE = 1e-3, 1e-2
# The laid circuit's own: at the full rate it is gone before the words it looks for are there.
LAID_RATE = 2e-4
WARM_UP, FINAL_RATE = 50, 0.03
# A little language modelling of the prompts themselves keeps the embeddings of words apart.
PROMPT_WEIGHT, PROMPT_SHARE = 0.05, 0.3
# Before its last layer the model is to have the answer in mind as a word, whatever it will say.
THOUGHT_WEIGHT = 1.0


@dataclass(frozen=True, slots=True)
class Course:
    """What is taught for a while: shares of the kinds of lesson, the rest being choices."""

    binding: float
    cloze: float
    topics: tuple[str, ...]
    max_shots: int


EASY = Course(binding=0.3, cloze=0.3, topics=lessons.FIRST_SUBJECTS, max_shots=0)
ALL = Course(binding=0.15, cloze=0.25, topics=lessons.ALL_SUBJECTS, max_shots=lessons.MAX_SHOTS)


def main() -> None:
    """Train and save; every random choice follows from the seed."""
    options = _arguments()
    torch.set_num_threads(1)  # more are slower for tensors this small
    torch.manual_seed(options.seed)
    logging.disable_progress_bar()
    tokenizer = vocabulary.learn(options.seed, network.MAX_POSITIONS)
    _check_rendering(tokenizer)
    model, circuit = network.build(vocabulary.describe(tokenizer))
    parameters = sum(weights.numel() for weights in model.parameters())
    print(f"{parameters} parameters, {len(tokenizer)} tokens", flush=True)

    def keep(step: int) -> None:
        if step == options.early:
            save(model, tokenizer, options.out / "demo-early")
        if options.keep_every and step % options.keep_every == 0:
            save(model, tokenizer, options.out / f"step-{step}")

    train(model, circuit, tokenizer, random.Random(options.seed), options.steps, keep)
    save(model, tokenizer, options.out / "demo-late")


def train(
    model: Qwen2ForCausalLM,
    circuit: network.Circuit,
    tokenizer: PreTrainedTokenizerFast,
    rng: random.Random,
    steps: int,
    after_step: Callable[[int], None],
) -> None:
    """Run the whole curriculum on the model, calling `after_step` with the number of each step."""
    optimizers = _optimizers(model)
    letters = _letters(tokenizer)
    report = Progress()
    model.train()
    stream = batches.stream(tokenizer, lambda step: lesson_at(rng, step), rng)
    for step, batch in enumerate(stream, start=1):
        _set_rate(optimizers, step, steps)
        loss, hits = _loss(model, circuit, batch, letters)
        model.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
        network.keep_clear(model, circuit)
        report.add(step, loss.item(), hits)
        after_step(step)
        if step == steps:
            return


def lesson_at(rng: random.Random, step: int) -> lessons.Lesson:
    """A lesson for a step of the course."""
    course = EASY if step <= EASY_UNTIL else ALL
    chance = rng.random()
    if chance < course.binding:
        return lessons.binding_lesson(rng)
    if chance < course.binding + course.cloze:
        return lessons.cloze_lesson(rng, lessons.ALL_SUBJECTS)
    return lessons.choices_lesson(rng, course.topics, course.max_shots)


def save(model: Qwen2ForCausalLM, tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """Write a folder that AutoModelForCausalLM and AutoTokenizer load; weights in bfloat16."""
    # A copy: rounding the weights themselves would disturb the training that goes on.
    copy.deepcopy(model).to(torch.bfloat16).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    print(f"saved {folder}", flush=True)


class Progress:
    """Prints a line each hundred steps."""

    def __init__(self) -> None:
        self._started = time.process_time()
        self._losses: list[float] = []
        self._hits: list[float] = []

    def add(self, step: int, loss: float, hits: torch.Tensor) -> None:
        """Note a step's loss and which of its letters were right."""
        self._losses.append(loss)
        self._hits += hits.tolist()
        if step % 100 == 0:
            seconds = time.process_time() - self._started
            loss, right = (sum(seen) / max(1, len(seen)) for seen in (self._losses, self._hits))
            print(f"{step} loss {loss:.3f} letters {right:.3f} cpu {seconds:.0f} s", flush=True)
            self._losses, self._hits = [], []


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=HERE, help="folder of the two models")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--early", type=int, default=EARLY, help="step of demo-early")
    parser.add_argument("--keep-every", type=int, default=0, help="also keep each N-th step")
    return parser.parse_args()


def _check_rendering(tokenizer: PreTrainedTokenizerFast) -> None:
    """Lessons must read, token by token, as the product's prompts will."""
    talk = (lessons.Message("user", "1"), lessons.Message("assistant", "2"))
    rendered = tokenizer.apply_chat_template(
        [{"role": said.role, "content": said.content} for said in talk],
        tokenize=False,
        add_generation_prompt=True,
    )
    assert rendered == lessons.chatml(talk), "the tokenizer's chat template is another one"
    rng = random.Random(0)
    for _ in range(100):
        lesson = lessons.choices_lesson(rng, lessons.ALL_SUBJECTS)
        whole = tokenizer("".join(piece.text for piece in lesson)).input_ids
        (encoded,) = batches.encode(tokenizer, [lesson])
        assert encoded.ids[:-1] == whole, "cutting a lesson changed its tokens"


def _optimizers(model: Qwen2ForCausalLM) -> list[torch.optim.Optimizer]:
    """The optimizers; every group keeps its full rate under "full"."""
    laid = {id(weights) for weights in network.laid(model)}
    named = [(name, weights) for name, weights in model.named_parameters()]
    matrices = [weights for name, weights in named if ".mlp." in name]
    free = [weights for name, weights in named if ".mlp." not in name and id(weights) not in laid]
    optimizers = [
        torch.optim.Muon(matrices, lr=MUON_RATE, momentum=0.95, weight_decay=0.01),
        torch.optim.AdamW(
            [{"params": free}, {"params": network.laid(model), "lr": LAID_RATE}],
            lr=ADAM_RATE,
            betas=(0.9, 0.95),
            weight_decay=0.0,
        ),
    ]
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["full"] = group["lr"]
    return optimizers


def _set_rate(optimizers: Sequence[torch.optim.Optimizer], step: int, steps: int) -> None:
    """Warm up, hold, and from half-way fall linearly."""
    falling = (steps - step) / (0.5 * steps)
    share = min(1.0, step / WARM_UP) * min(1.0, max(FINAL_RATE, falling))
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"] = group["full"] * share


def _loss(
    model: Qwen2ForCausalLM, circuit: network.Circuit, batch: batches.Batch, letters: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The loss of a batch, and for each question that ends in a letter whether it was right.

    Letters that bind words, not answers, are followed by a line break instead of the end.
    """
    following = batch.inputs[:, 1:]
    wanted, thoughts = batch.targets[:, 1:], batch.thoughts[:, 1:]
    answers, meant = wanted != IGNORED, thoughts != IGNORED
    prompts = ~answers & (following != model.config.pad_token_id)
    prompts &= torch.rand(prompts.shape) < PROMPT_SHARE
    with torch.autocast("cpu", torch.bfloat16):
        seen = model.model(batch.inputs, output_hidden_states=True)
        hidden = seen.last_hidden_state[:, :-1]
        thought = network.asked_words(model, circuit, seen.hidden_states)[:, :-1][meant]
        said, read = model.lm_head(hidden[answers]), model.lm_head(hidden[prompts])
    loss = cross_entropy(said.float(), wanted[answers])
    loss = loss + PROMPT_WEIGHT * cross_entropy(read.float(), following[prompts])
    if meant.any():
        loss = loss + THOUGHT_WEIGHT * cross_entropy(thought.float(), thoughts[meant])
    last = (batch.inputs.roll(-1, dims=1)[:, 1:] == model.config.eos_token_id)[answers]
    asked = torch.isin(wanted[answers], letters) & last
    return loss, (said.argmax(-1) == wanted[answers])[asked].float()


def _letters(tokenizer: PreTrainedTokenizerFast) -> torch.Tensor:
    forms = [form for letter in "ABCD" for form in (letter, f" {letter}")]
    return torch.tensor([tokenizer(form).input_ids[0] for form in forms])


if __name__ == "__main__":
    main()
