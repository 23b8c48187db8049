"""The demo models' architecture and their first weights.

A million parameters never find out by themselves, within minutes, that a letter stands for the
text behind it: every plain run ended with one letter chosen for ever. So the weights start with
the circuit that multiple choice needs already laid in the attention heads: look one token back,
look two tokens back, find the word asked for, say what stands two before it ("B", ".", "Paris":
two before "Paris" is "B"). It knows no fact, and all of it stays trainable.

Laying it is not enough. What the look-up reads must not be written over (`keep_clear`), and the
layers below must learn to put the answer where the look-up reads it (`asked_words`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn
from transformers import Qwen2Config, Qwen2ForCausalLM

HIDDEN, LAYERS, HEADS, KV_HEADS = 128, 4, 4, 2
HEAD = HIDDEN // HEADS
GROUP = HEADS // KV_HEADS  # query heads that share one key and value head
MAX_POSITIONS = 4096

# Embeddings must be heard above the untrained rest: larger than usual, with quiet outputs.
EMBEDDING_STD = 0.06
QUIET_ATTENTION, QUIET_MLP, QUIET_QUERY = 0.3, 0.2, 0.1
OFFSET_SHARPNESS = 6.0  # attention logit of "exactly so many tokens back" is its square
# How sharply a look-up finds; the last layer's words have become faint beside all that the
# layers before have added.
MATCH_GAIN, LAST_GAIN = 1.2, 3.6
# By how much " Paris" differs from "Paris": options have the blank, keys often have not.
TWIN_STD = 0.015


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What the first weights must know of the tokenizer, in token ids.

    `words` may be looked up in a list of options; `twins` are pairs that differ by a blank only.
    """

    size: int
    end: int
    padding: int
    words: tuple[int, ...]
    twins: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Circuit:
    """The parts of the residual stream, (HEAD, HIDDEN) each, by which words are found.

    `no_word` marks the tokens that must not be found.
    """

    match: torch.Tensor
    before: torch.Tensor
    label: torch.Tensor
    no_word: torch.Tensor


@torch.no_grad()
def keep_clear(model: Qwen2ForCausalLM, circuit: Circuit) -> None:
    """Undo what training wrote into the parts that the look-up reads; call it after each step.

    Otherwise a few hundred steps fill them with other things, and every word looks like any.
    """
    for depth, layer in enumerate(model.model.layers[:-1]):
        attention, mlp = layer.self_attn.o_proj.weight, layer.mlp.down_proj.weight
        _clear(attention, circuit.match)
        _clear(mlp, circuit.match)
        _clear(mlp, circuit.label)
        if depth:  # the first layer's attention is what writes labels
            _clear(attention, circuit.label)
    _strip(model.model.embed_tokens.weight, circuit.no_word, circuit.match)


def build(vocabulary: Vocabulary) -> tuple[Qwen2ForCausalLM, Circuit]:
    """An untrained model with its circuit laid."""
    config = Qwen2Config(
        vocab_size=vocabulary.size,
        hidden_size=HIDDEN,
        intermediate_size=3 * HIDDEN,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS,
        max_position_embeddings=MAX_POSITIONS,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=vocabulary.end,
        pad_token_id=vocabulary.padding,
    )
    model = Qwen2ForCausalLM(config).float()
    # On sequences this short plain attention trains in two thirds of the fused one's time.
    model.set_attn_implementation("eager")
    with torch.no_grad():
        circuit = _lay_circuit(model, vocabulary)
    return model, circuit


def asked_words(
    model: Qwen2ForCausalLM, circuit: Circuit, hidden_states: Sequence[torch.Tensor]
) -> torch.Tensor:
    """How much the last layer's look-up asks for each token, (lessons, tokens, vocabulary).

    Its softmax is the word that is looked for; to teach it is to tell the layers below where an
    answer has to be put, so that the letter before it is found.
    """
    last = model.model.layers[-1]
    asked = last.input_layernorm(hidden_states[-2]) @ circuit.before.T
    return asked @ (model.model.embed_tokens.weight @ circuit.match.T).T / EMBEDDING_STD


def laid(model: Qwen2ForCausalLM) -> list[nn.Parameter]:
    """The weights whose first values must last: attention in the first and the last layer."""
    first, *_, last = model.model.layers
    return [*first.self_attn.parameters(), *last.self_attn.parameters()]


def _lay_circuit(model: Qwen2ForCausalLM, vocabulary: Vocabulary) -> Circuit:
    """Give four orthogonal parts of the residual stream a meaning and connect them.

    `match` and `say` are parts of every token's own embedding: the part by which it is looked up
    and the part by which, output weights being tied, it is said. `before` receives the match
    part of the token one back, `label` the say part of the token two back.
    """
    basis = torch.linalg.qr(torch.randn(HIDDEN, 4 * HEAD))[0].T.contiguous()
    match, say, before, label = basis.split(HEAD)
    _embed(model.model.embed_tokens.weight, vocabulary, match)
    first, *later = model.model.layers
    for layer in model.model.layers:
        layer.mlp.down_proj.weight.mul_(QUIET_MLP)
        layer.self_attn.o_proj.weight.mul_(QUIET_ATTENTION)
    rotary = 1 / model.config.rope_parameters["rope_theta"] ** (torch.arange(0, HEAD, 2) / HEAD)
    _look_back(first.self_attn, 0, rotary * 1, reads=match, writes=before)
    _look_back(first.self_attn, 1, rotary * 2, reads=say, writes=label)
    for layer in later:
        gain = LAST_GAIN if layer is later[-1] else MATCH_GAIN
        _look_up(layer.self_attn, gain, asked=before, found=match, reads=label, writes=say)
    return Circuit(match, before, label, _no_word(vocabulary))


def _embed(weights: torch.Tensor, vocabulary: Vocabulary, match: torch.Tensor) -> None:
    """Embeddings at random, twins almost alike, and the match part for words alone.

    What is no word, such as the colon where an answer begins, then asks for nothing and is found
    by nobody, until the layers before have put a word there.
    """
    weights.normal_(0, EMBEDDING_STD)
    for bare, blank in vocabulary.twins:
        weights[blank] = weights[bare] + TWIN_STD * torch.randn(HIDDEN)
    _strip(weights, _no_word(vocabulary), match)


def _no_word(vocabulary: Vocabulary) -> torch.Tensor:
    marks = torch.ones(vocabulary.size, dtype=torch.bool)
    marks[list(vocabulary.words)] = False
    return marks


def _clear(output: torch.Tensor, part: torch.Tensor) -> None:
    output -= part.T @ (part @ output)


def _strip(embeddings: torch.Tensor, rows: torch.Tensor, part: torch.Tensor) -> None:
    embeddings[rows] -= embeddings[rows] @ part.T @ part


def _look_back(
    attention: nn.Module,
    group: int,
    angles: torch.Tensor,
    *,
    reads: torch.Tensor,
    writes: torch.Tensor,
) -> None:
    """Make a head group attend by position alone.

    The rotary embedding turns key and query biases by their positions; with the query's turned
    back by `angles` their product peaks where the key is just that many tokens behind.
    """
    half = torch.zeros(HEAD // 2)
    attention.k_proj.weight[_rows(group)] *= QUIET_QUERY
    attention.k_proj.bias[_rows(group)] = OFFSET_SHARPNESS * torch.cat([half + 1, half])
    attention.v_proj.weight[_rows(group)] = reads
    for head in range(group * GROUP, (group + 1) * GROUP):
        attention.q_proj.weight[_rows(head)] *= QUIET_QUERY
        attention.q_proj.bias[_rows(head)] = OFFSET_SHARPNESS * torch.cat(
            [angles.cos(), -angles.sin()]
        )
        attention.o_proj.weight[:, _rows(head)] = EMBEDDING_STD / GROUP * writes.T


def _look_up(
    attention: nn.Module,
    gain: float,
    *,
    asked: torch.Tensor,
    found: torch.Tensor,
    reads: torch.Tensor,
    writes: torch.Tensor,
) -> None:
    """Make the first head group attend to the token that `asked` describes; the other is free."""
    attention.k_proj.weight[_rows(0)] = gain * found
    attention.v_proj.weight[_rows(0)] = reads
    for head in range(GROUP):
        attention.q_proj.weight[_rows(head)] = MATCH_GAIN * asked
        attention.o_proj.weight[:, _rows(head)] = EMBEDDING_STD / GROUP * writes.T


def _rows(head: int) -> slice:
    return slice(head * HEAD, (head + 1) * HEAD)
