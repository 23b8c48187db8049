"""The demo models' tokenizer: byte-level BPE that keeps every word of the world whole."""

import random
import re
from collections.abc import Iterable

import lessons
import network
import world
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

SIZE = 1792
PADDING = "<|endoftext|>"
N_LESSONS = 4000
# How often each word is shown to the BPE trainer; enough to be merged before rare phrases are.
WORD_WEIGHT = 800
CHAT_TEMPLATE = (
    "{%- for message in messages -%}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\n' }}{%- endif -%}"
)


def learn(seed: int, max_length: int) -> PreTrainedTokenizerFast:
    """A tokenizer fitted to the lessons.

    A word that falls into two tokens could not be found by one look-up, so each must be one,
    with a blank before it and without.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=SIZE,
        special_tokens=[PADDING, lessons.TURN_START, lessons.TURN_END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_corpus(seed), trainer)
    for form in whole_words():
        assert len(tokenizer.encode(form).ids) == 1, f"{form!r} is more than one token"
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token=lessons.TURN_END,
        pad_token=PADDING,
        clean_up_tokenization_spaces=False,
        model_max_length=max_length,
        chat_template=CHAT_TEMPLATE,
    )


def describe(tokenizer: PreTrainedTokenizerFast) -> network.Vocabulary:
    """What the network's first weights depend on."""
    ids = tokenizer.get_vocab()
    blank = "Ġ"  # how byte-level BPE writes the blank
    return network.Vocabulary(
        size=len(tokenizer),
        end=ids[lessons.TURN_END],
        padding=ids[PADDING],
        words=tuple(tokenizer(form).input_ids[0] for form in whole_words()),
        twins=tuple(
            (ids[token.removeprefix(blank)], index)
            for token, index in sorted(ids.items(), key=lambda item: item[1])
            if token.startswith(blank) and token.removeprefix(blank) in ids
        ),
    )


def whole_words() -> list[str]:
    """Each word and number of the world, with a blank before it and without."""
    every = (*world.words("en"), *world.words("zh"), *world.NUMBERS)
    return [form for word in every for form in (word, f" {word}")]


def _corpus(seed: int) -> Iterable[str]:
    rng = random.Random(seed)
    for _ in range(N_LESSONS):
        kind = rng.choice((lessons.choices_lesson, lessons.cloze_lesson))
        text = "".join(piece.text for piece in kind(rng, lessons.ALL_SUBJECTS))
        # Special tokens are no text: their spelling must not become merges.
        yield from re.split(r"<\|im_(?:start|end)\|>", text)
    yield from (form for form in whole_words() for _ in range(WORD_WEIGHT))
