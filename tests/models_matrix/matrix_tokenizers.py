"""Four small tokenizers of the kinds that models have, trained on a few lines."""

from collections.abc import Callable, Mapping
from pathlib import Path

from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import PreTrainedTokenizerFast

LINES = (
    "Question: Which city is the capital of France?",
    "Question: Which of these is a prime number?",
    "Question: What does water become when it is heated to a hundred degrees?",
    "A. Oslo B. Paris C. Rome D. Bern",
    "A. steam B. ice C. sand D. glass",
    "Answer: A Answer: B Answer: C Answer: D",
    "the of and to in is it that was for on are with as his they be at one have this from",
    "问题：下列哪个城市是法国的首都？答案：A 答案：B",
    "0 1 2 3 4 5 6 7 8 9 10 11 12 13 17 19 20",
)
SIZE = 360
_SPECIAL = ("<pad>", "<s>", "</s>", "<unk>")


def save_tokenizer(kind: str, folder: Path) -> int:
    """Save the tokenizer of this kind in the folder; the number of its tokens."""
    tokenizer, special = TOKENIZERS[kind]()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)
    fast.save_pretrained(folder)
    return len(fast)


def _byte_level(special: tuple[str, ...]) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=SIZE,
        special_tokens=list(special),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(LINES, trainer)
    return tokenizer


def _bpe() -> tuple[Tokenizer, dict[str, str]]:
    """Bytes, nothing added, as GPT-2 and Qwen have it."""
    return _byte_level(_SPECIAL), {"eos_token": "</s>", "pad_token": "<pad>"}


def _prefixed() -> tuple[Tokenizer, dict[str, str]]:
    """Bytes after two tokens that a post-processor adds, as GLM has it."""
    special = (*_SPECIAL, "[gMASK]", "<sop>")
    tokenizer = _byte_level(special)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[gMASK] <sop> $A",
        special_tokens=[(each, special.index(each)) for each in ("[gMASK]", "<sop>")],
    )
    return tokenizer, {"eos_token": "</s>", "pad_token": "<pad>"}


def _unigram() -> tuple[Tokenizer, dict[str, str]]:
    """Pieces that begin with a mark for a blank, as SentencePiece makes them, after <s>."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="first")
    alphabet = sorted({char for line in LINES for char in line.replace(" ", "")} | {"▁", "\n"})
    trainer = trainers.UnigramTrainer(
        vocab_size=SIZE,
        special_tokens=list(_SPECIAL),
        unk_token="<unk>",
        initial_alphabet=alphabet,
        show_progress=False,
    )
    tokenizer.train_from_iterator([*LINES, "▁A ▁B ▁C ▁D"], trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 1)]
    )
    special = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
    return tokenizer, special


def _wordpiece() -> tuple[Tokenizer, dict[str, str]]:
    """Words and their parts between [CLS] and [SEP], as BERT has it and Chinese GPT-2 models."""
    special = ("[PAD]", "[CLS]", "[SEP]", "[UNK]")
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(
        vocab_size=SIZE, special_tokens=list(special), show_progress=False
    )
    tokenizer.train_from_iterator(LINES, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    return tokenizer, {"eos_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]"}


TOKENIZERS: Mapping[str, Callable[[], tuple[Tokenizer, dict[str, str]]]] = {
    "bytes": _bpe,
    "unigram": _unigram,
    "wordpiece": _wordpiece,
    "prefixed": _prefixed,
}
