"""The tokenizer saved in a model's folder."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from evalui.errors import ModelError
from evalui.types import Message


class HFTokenizer:
    """The tokenizer saved with a model; see `tokens.Tokenizer`."""

    def __init__(self, name: str, folder: Path) -> None:
        from transformers import AutoTokenizer

        self.name = name
        try:
            # Tokenizers come as one of several classes with the same methods.
            self._tokenizer = cast(Any, AutoTokenizer).from_pretrained(
                folder, local_files_only=True, trust_remote_code=False
            )
        except (OSError, ValueError, KeyError, ImportError) as error:
            raise ModelError(
                "tokenizer-unloadable",
                model=name,
                reason=str(error),
            ) from error
        bos: int | None = self._tokenizer.bos_token_id
        eos: int | None = self._tokenizer.eos_token_id
        self.empty_context_id = eos if bos is None else bos
        self.eos_ids: frozenset[int] = frozenset() if eos is None else frozenset({eos})
        self.size = len(self._tokenizer)
        self.max_length = int(self._tokenizer.model_max_length)
        begun: list[int] = self._tokenizer("a")["input_ids"]
        self.bos_ids: tuple[int, ...] = (bos,) if bos is not None and begun[0] == bos else ()

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of each text, nothing added."""
        if not texts:
            return []
        return self._tokenizer(list(texts), add_special_tokens=False)["input_ids"]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of the tokens, special ones left out."""
        return self._tokenizer.decode(
            list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
        )

    def spell(self, ids: Sequence[int]) -> list[str]:
        """The text of each token by itself, special ones included."""
        return self._tokenizer.batch_decode(
            [[token] for token in ids], clean_up_tokenization_spaces=False
        )

    def render(self, messages: Sequence[Message]) -> str:
        """The conversation up to where the model's turn begins."""
        if not self._tokenizer.chat_template:
            raise ModelError(
                "no-chat-template",
                model=self.name,
            )
        turns = [{"role": message.role, "content": message.content} for message in messages]
        return self._tokenizer.apply_chat_template(
            turns, tokenize=False, add_generation_prompt=True
        )
