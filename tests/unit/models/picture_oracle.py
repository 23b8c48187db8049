"""What plain transformers computes of texts with pictures: its processor, one row at a time."""

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from transformers import (
    AutoImageProcessor,
    AutoModelForImageTextToText,
    AutoProcessor,
    AutoTokenizer,
)
from transformers.models.auto.processing_auto import processor_class_from_name

from evalui.models.local.weights import read_json
from evalui.models.tokenization import strip_marks
from evalui.pictures import Mark, Picture, parts
from evalui.types import Message


@dataclass(frozen=True, slots=True)
class PictureOracle:
    """A network with its processor; `place` stands for a picture in a text without a template."""

    model: Any
    processor: Any
    place: str

    def letters(self, text: str, pictures: Sequence[Picture], labels: Sequence[str]) -> list[float]:
        """The log-probability of each label, its spellings summed."""
        logprobs = self._logprobs(text, pictures)[-1]
        tokenizer = self.processor.tokenizer
        texts = tokenizer.batch_decode([[token] for token in range(len(tokenizer))])
        spellings = {
            label: [at for at, each in enumerate(texts) if strip_marks(each) == label]
            for label in labels
        }
        assert len(set(map(len, spellings.values()))) == 1
        return [
            math.log(sum(math.exp(logprobs[token]) for token in spellings[label]))
            for label in labels
        ]

    def option(self, context: str, continuation: str, pictures: Sequence[Picture]) -> float:
        """The log-probability of a continuation that shares no token with its context."""
        before = self._inputs(context, pictures)["input_ids"][0].tolist()
        whole = self._inputs(context + continuation, pictures)["input_ids"][0].tolist()
        assert whole[: len(before)] == before
        logprobs = self._logprobs(context + continuation, pictures)
        return sum(float(logprobs[at - 1, whole[at]]) for at in range(len(before), len(whole)))

    def reply(self, text: str, pictures: Sequence[Picture], max_tokens: int) -> str:
        """What is most probable, as generate() writes it."""
        inputs = self._inputs(text, pictures)
        ids = self.model.generate(**inputs, max_new_tokens=max_tokens, do_sample=False)
        return self.processor.tokenizer.decode(
            ids[0, inputs["input_ids"].shape[1] :],
            skip_special_tokens=True,
            clean_up_tokenization_spaces=False,
        )

    def rendered(self, turns: Sequence[Message]) -> str:
        """A conversation by the processor's chat template."""
        conversation = [
            {
                "role": turn.role,
                "content": [
                    {"type": "image"} if isinstance(each, Mark) else {"type": "text", "text": each}
                    for each in parts(turn.content)
                ],
            }
            for turn in turns
        ]
        return self.processor.apply_chat_template(conversation, add_generation_prompt=True)

    def _inputs(self, text: str, pictures: Sequence[Picture]) -> Any:
        if not pictures:
            return self.processor.tokenizer(text, return_tensors="pt")
        placed = "".join(self.place if isinstance(each, Mark) else each for each in parts(text))
        images = [Image.open(io.BytesIO(each.body)) for each in pictures]
        return self.processor(text=[placed], images=[images], return_tensors="pt")

    def _logprobs(self, text: str, pictures: Sequence[Picture]) -> torch.Tensor:
        with torch.inference_mode():
            logits = self.model(**self._inputs(text, pictures), use_cache=False).logits
        return logits[0].float().log_softmax(-1)


def picture_oracle(folder: Path, place: str) -> PictureOracle:
    """The oracle of the folder's files."""
    model = AutoModelForImageTextToText.from_pretrained(folder).eval()
    return PictureOracle(model, _processor(folder), place)


def _processor(folder: Path) -> Any:
    """As AutoProcessor gives it, without the part for videos, which needs torchvision."""
    kind: Any = processor_class_from_name(
        read_json(folder / "processor_config.json")["processor_class"]
    )
    if kind.get_attributes() == ["image_processor", "tokenizer"]:
        return AutoProcessor.from_pretrained(folder)

    class Still(kind):  # type: ignore[misc]
        def check_argument_for_proper_class(self, *_: Any) -> None: ...

    settings, _ = kind.get_processor_dict(folder)
    images = AutoImageProcessor.from_pretrained(folder, backend="pil")
    return Still.from_args_and_dict([images, AutoTokenizer.from_pretrained(folder), None], settings)
