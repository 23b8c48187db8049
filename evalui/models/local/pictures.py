"""Texts with pictures become what a network that sees pictures takes, by its own processor.

Knows files, texts and token ids, but no network.
"""

import copy
import io
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

import PIL
import torch
from jinja2 import TemplateError
from PIL import Image
from transformers import image_utils
from transformers.models.auto import processing_auto
from transformers.models.auto.image_processing_auto import AutoImageProcessor

from evalui.errors import ModelError, RequestRejected
from evalui.models.local.weights import PROCESSOR_FILES, read_json
from evalui.models.tokenization import THINKING_SWITCH, HFTokenizer, TokenIds
from evalui.pictures import Mark, Picture, has_marks, parts
from evalui.types import Message

# What a processor gives for each token of a text.
_PER_TOKEN = ("attention_mask", "token_type_ids", "mm_token_type_ids", "cross_attention_mask")
# Which tiles of the pictures a token sees: of the tokens after the last picture, all the same.
_SEEN = "cross_attention_mask"
_BEFORE, _BEHIND = "before", "behind"  # texts around a picture
_ANY = Mark("0" * 32)
_EXAMPLES = (((96, 64), "red"), ((64, 96), "teal"))  # pictures that every model is checked with


@dataclass(frozen=True, slots=True)
class PictureInputs:
    """A text with its pictures: its tokens, and what else the network takes, by argument."""

    ids: TokenIds
    tensors: Mapping[str, torch.Tensor]

    @property
    def n_bytes(self) -> int:
        """The memory of the tensors."""
        return sum(each.numel() * each.element_size() for each in self.tensors.values())

    def arguments(self, device: torch.device, dtype: torch.dtype) -> dict[str, torch.Tensor]:
        """All that the network takes, on its device, pixels in its precision."""
        ids = torch.tensor([self.ids], device=device)
        return {"input_ids": ids, **on_device(self.tensors, device, dtype)}

    def beginning(self, length: int) -> "PictureInputs":
        """The first `length` tokens, all pictures among them."""
        tensors = {
            name: value[:, :length] if name in _PER_TOKEN else value
            for name, value in self.tensors.items()
        }
        return PictureInputs(self.ids[:length], tensors)

    def after(self, rows: int, width: int) -> Mapping[str, torch.Tensor]:
        """What else the network takes for texts of `width` tokens that continue this one."""
        if _SEEN not in self.tensors:
            return {}
        return {_SEEN: self.tensors[_SEEN][:, -1:].expand(rows, width, -1, -1)}


def on_device(
    tensors: Mapping[str, torch.Tensor], device: torch.device, dtype: torch.dtype
) -> dict[str, torch.Tensor]:
    """The tensors on the device, those of real numbers in the precision."""
    return {
        name: value.to(device, dtype if value.is_floating_point() else None)
        for name, value in tensors.items()
    }


class SeeingTokenizer(HFTokenizer):
    """The tokenizer of a model that sees pictures, with the processor that prepares them.

    Conversations go through the processor's chat template, whether they have pictures or not.
    `parts_of_identity` are what a fingerprint must state of the processor. `examples` are short
    texts with one picture and with two; the first two begin alike.

    Raises:
        ModelError: one of both cannot be loaded.
    """

    def __init__(
        self, name: str, folder: Path, template: Mapping[str, Any] = MappingProxyType({})
    ) -> None:
        super().__init__(name, folder, template)
        self._processor = _load_processor(name, folder, self._tokenizer)
        self._chat_template = self._processor.chat_template or self._tokenizer.chat_template
        self._token = str(self._processor.image_token)
        between = self._between_texts()
        self._shows_in_turns = between is not None
        # Some templates show all pictures of a turn before its text.
        self._place = between if between and self._token in between else self._token
        processor = type(self._processor).__name__
        self.parts_of_identity = (f"pictures:{processor}:{PIL.__version__}",)
        self.examples = self._examples()

    def render(self, messages: Sequence[Message], thinking: str = "") -> str:
        """The conversation up to where the model's turn begins, with the place of each picture.

        Raises:
            ModelError: the model has no chat template, or one that knows no pictures.
        """
        if not self._shows_in_turns:
            if any(has_marks(each.content) for each in messages):
                raise ModelError("template-without-pictures", model=self.name)
            return super().render(messages, thinking)
        return self._rendered(messages, thinking)

    def _rendered(self, messages: Sequence[Message], thinking: str = "") -> str:
        turns = [
            {"role": each.role, "content": list(map(_content, parts(each.content) or [""]))}
            for each in messages
        ]
        switch = {THINKING_SWITCH: thinking == "on"} if thinking else {}
        text = str(
            self._processor.apply_chat_template(
                turns,
                chat_template=self._chat_template,
                tokenize=False,
                add_generation_prompt=True,
                **{**self._template, **switch},
            )
        )
        # As the processor has it, whose template may leave this to the tokenizer.
        start = "".join(self.spell(self.bos_ids))
        return text if text.startswith(start) else start + text

    def with_pictures(
        self, shown: Sequence[str], pictures: Sequence[Picture]
    ) -> "PictureTokenizer":
        """The tokenizer of texts that show these of the pictures, by their ids, in this order."""
        by_id = {each.id: _image(each) for each in pictures}
        images = [by_id[each] for each in shown]
        return PictureTokenizer(self, images, self.name, self.empty_context_id, self.size)

    def inputs(self, text: str, images: Sequence[Image.Image]) -> PictureInputs:
        """What the network takes for a text with marks of pictures, or with places for them.

        Raises:
            RequestRejected: the processor does not take them.
        """
        placed = self.placed(text)
        bos = self._tokenizer.bos_token
        begun = {"add_special_tokens": False} if bos and placed.startswith(bos) else {}
        try:
            features: Any = self._processor(
                text=[placed], images=[list(images)], return_tensors="pt", **begun
            )
        except (ValueError, TypeError, IndexError, StopIteration) as error:
            raise RequestRejected(
                "pictures-not-taken", model=self.name, reason=str(error)
            ) from error
        ids = features.pop("input_ids")[0].tolist()
        return PictureInputs(tuple(ids), dict(features))

    def placed(self, text: str) -> str:
        """The text with what the processor knows as the place of a picture, for each mark."""
        return "".join(self._place if isinstance(each, Mark) else each for each in parts(text))

    def _examples(self) -> tuple[PictureInputs, ...]:
        one, other = (Image.new("RGB", size, colour) for size, colour in _EXAMPLES)
        begin = f"{_ANY}1 + 2 = 3. Question: which one is it?"
        return (
            self.inputs(f"{begin} A, B, C, D, E, F or G", [one]),
            self.inputs(f"{begin} The answer is that they are not", [one]),
            self.inputs(f"First {_ANY} and then {_ANY}: is it A, B, C or D?", [one, other]),
        )

    def _between_texts(self) -> str | None:
        """What the chat template has for a picture between two texts; None if it knows none."""
        if not self._chat_template:
            return None
        try:
            text = self._rendered([Message("user", f"{_BEFORE}{_ANY}{_BEHIND}")])
        except (TypeError, TemplateError):  # a turn in parts is not what it is made for
            return None
        if self._token not in text:
            return None
        return text.partition(_BEFORE)[2].partition(_BEHIND)[0].strip()


@dataclass(slots=True)
class PictureTokenizer:
    """A tokenizer of texts that all show the same pictures in the same order; see `Tokenizer`.

    What begins a text is not in `bos_ids`, since the processor adds it by itself.
    """

    inner: SeeingTokenizer
    images: Sequence[Image.Image]
    name: str
    empty_context_id: int | None
    size: int
    bos_ids: tuple[int, ...] = ()
    known: dict[str, PictureInputs] = field(default_factory=dict[str, PictureInputs])

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of each text, those of its pictures and of its beginning included."""
        for text in texts:
            if text not in self.known:
                self.known[text] = self.inner.inputs(text, self.images)
        return [list(self.known[text].ids) for text in texts]

    def inputs(self, tokens: TokenIds) -> PictureInputs:
        """The text that was encoded and begins with these tokens."""
        return next(each for each in self.known.values() if each.ids[: len(tokens)] == tokens)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of the tokens, special ones left out."""
        return self.inner.decode(ids)

    def spell(self, ids: Sequence[int]) -> list[str]:
        """The text of each token by itself, special ones included."""
        return self.inner.spell(ids)

    def render(self, messages: Sequence[Message], thinking: str = "") -> str:
        """The conversation up to where the model's turn begins."""
        return self.inner.render(messages, thinking)


def _content(part: str | Mark) -> dict[str, str]:
    """A part of a turn as chat templates know it."""
    return {"type": "image"} if isinstance(part, Mark) else {"type": "text", "text": part}


def _image(picture: Picture) -> Image.Image:
    with Image.open(io.BytesIO(picture.body)) as image:
        return image.convert("RGB")


def _load_processor(name: str, folder: Path, tokenizer: Any) -> Any:
    """The processor of the folder as AutoProcessor loads it, without its part for videos.

    That part, and a faster way to prepare pictures which gives other numbers, need torchvision:
    pictures are prepared by Pillow whether it is installed or not.
    """
    kind = _processor_class(name, folder)
    loading: dict[str, Any] = {"local_files_only": True}
    try:
        settings: dict[str, Any] = kind.get_processor_dict(folder, **loading)[0]
        images: Any = cast(Any, AutoImageProcessor).from_pretrained(
            folder, backend="pil", trust_remote_code=False, **loading
        )
        known = {"tokenizer": tokenizer, "image_processor": images}
        processor: Any = _without_videos(kind).from_args_and_dict(
            [known.get(part) for part in kind.get_attributes()], settings
        )
    except (OSError, ValueError, KeyError, TypeError, ImportError, AttributeError) as error:
        raise ModelError("processor-unloadable", model=name, reason=str(error).strip()) from error
    if not getattr(processor, "image_token", None):
        raise ModelError("processor-unloadable", model=name, reason=f"{kind.__name__}.image_token")
    processor.image_processor = _LastPictures(processor.image_processor)
    return processor


class _LastPictures:
    """An image processor that prepares the same pictures once: all options of a question, and all
    orders of them, show the same.
    """

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._last: tuple[list[Any], str] = [], ""
        self._prepared: Any = None

    def __getattr__(self, name: str) -> Any:
        if name == "_inner":  # of a copy that is being made
            raise AttributeError(name)
        return getattr(self._inner, name)

    def __call__(self, images: Any, **settings: Any) -> Any:
        flat = cast(Any, image_utils).make_flat_list_of_images(images)  # typed only in part
        last, same = self._last[0], self._last[1] == repr(settings)
        if not (same and len(last) == len(flat) and all(map(operator.is_, last, flat))):
            self._prepared = self._inner(images, **settings)
            self._last = flat, repr(settings)
        return copy.copy(self._prepared)  # of which processors take parts away


def _processor_class(name: str, folder: Path) -> Any:
    """The class that the files name, else that of the model's type."""
    kinds = [read_json(folder / file).get("processor_class") for file in PROCESSOR_FILES]
    kinds.append(read_json(folder / "tokenizer_config.json").get("processor_class"))
    auto = cast(Any, processing_auto)  # typed only in part
    kinds.append(auto.PROCESSOR_MAPPING_NAMES.get(read_json(folder / "config.json")["model_type"]))
    named = next((str(each) for each in kinds if each), "")
    kind: Any = auto.processor_class_from_name(named) if named else None
    if kind is None:
        raise ModelError("processor-unloadable", model=name, reason=named or "no processor_class")
    if missing := getattr(kind, "_backends", ()):
        raise ModelError("processor-needs", model=name, packages=", ".join(missing))
    return kind


def _without_videos(kind: Any) -> Any:
    """The class of a processor, with parts that may be None."""

    def check(self: Any, name: str, part: Any) -> Any:
        return None if part is None else kind.check_argument_for_proper_class(self, name, part)

    return type(kind.__name__, (kind,), {"check_argument_for_proper_class": check})
