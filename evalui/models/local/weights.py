"""A folder with a model's files: whether it can be loaded, and the fingerprint of its contents.

Reads files only; nothing of the model is loaded.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from evalui.errors import ModelError
from evalui.messages import Sentence, sentence
from evalui.models.tokenization import THINKING_SWITCH

# How tokens are drawn, beside the temperature: names of settings, of generate() and of vLLM.
SAMPLING = ("top_k", "top_p", "min_p")
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt")
# One of them says how the pictures are prepared that a model sees.
PROCESSOR_FILES = ("processor_config.json", "preprocessor_config.json")
_SETTINGS = ("*.json", "*.jinja", "*.model", "*.txt")
_MAX_HEADER_BYTES = 100 * 2**20  # bytes; the format's own limit
_MAX_HASHED_BYTES = 2**30  # bytes of weights; reading more than this takes too long


def problem(folder: Path) -> str:
    """Why the model in `folder` cannot be loaded, in one sentence; "" if no reason is known."""
    try:
        return _problem(folder)
    except OSError as error:  # no permission, or a download is moving the files
        return unreadable_reason(folder, error)


def unreadable_reason(place: Path, error: OSError) -> Sentence:
    """The sentence for a file that cannot be read: the one the error names, else `place`."""
    return sentence(
        "error.model-unreadable",
        folder=str(error.filename or place),
        reason=error.strerror or str(error),
    )


def _problem(folder: Path) -> str:
    place = str(folder)
    if _is_gguf(folder):
        return sentence("error.gguf", folder=place)
    if not folder.is_dir():
        return sentence("error.no-folder", folder=place)
    if (folder / "adapter_config.json").is_file() and not (folder / "config.json").is_file():
        return sentence("error.adapter-alone", folder=place)
    if not (folder / "config.json").is_file():
        return sentence("error.no-model-config", folder=place)
    if not any(folder.glob("*.safetensors")):
        if any(path for pattern in _PICKLES for path in folder.glob(pattern)):
            return sentence("error.pickles", folder=place)
        return sentence("error.no-weights", folder=place)
    try:
        missing = _missing_parts(folder)
        parameters(folder)
        read_json(folder / "tokenizer_config.json")
    except ModelError as error:
        return error.sentence
    if missing:
        return sentence("error.missing-parts", folder=place, part=missing[0], n=len(missing))
    if not any((folder / name).is_file() for name in _TOKENIZERS):
        return sentence("error.no-tokenizer", folder=place, names=", ".join(_TOKENIZERS))
    return ""


def own_code(folder: Path) -> str:
    """The module with code of the model's own that its files name, "" if there is none.

    Raises:
        ModelError: its config.json is damaged.
    """
    modules = read_json(folder / "config.json").get("auto_map")
    named = cast("dict[str, Any]", modules if isinstance(modules, dict) else {})
    classes = [str(named[key]) for key in named if key.startswith("AutoModel")]
    return f"{classes[0].rpartition('.')[0]}.py" if classes else ""


def sees_pictures(folder: Path) -> bool:
    """Whether the model has a network for pictures, and the files of what prepares them.

    Raises:
        ModelError: its config.json is damaged.
    """
    config = read_json(folder / "config.json")
    return isinstance(config.get("vision_config"), dict) and any(
        (folder / name).is_file() for name in PROCESSOR_FILES
    )


def has_chat_template(folder: Path) -> bool:
    """Whether the folder has a chat template."""
    if any(folder.glob("chat_template.*")) or (folder / "additional_chat_templates").is_dir():
        return True
    return bool(read_json(folder / "tokenizer_config.json").get("chat_template"))


def honoured_settings(path: str) -> frozenset[str]:
    """The settings of writing that a model in a folder or on the hub has."""
    sampling = {"temperature", *SAMPLING}
    return frozenset(sampling | ({"thinking"} if _can_switch_thinking(Path(path)) else set()))


def _can_switch_thinking(folder: Path) -> bool:
    files = [*folder.glob("chat_template.*"), folder / "tokenizer_config.json"]
    return folder.is_absolute() and any(
        THINKING_SWITCH in file.read_text(encoding="utf-8", errors="replace")
        for file in files
        if file.is_file()
    )


def parameters(folder: Path) -> int:
    """How many parameters the weights have, by the headers of the files.

    Raises:
        ModelError: a file of weights is damaged.
    """
    headers = (_header(path) for path in folder.glob("*.safetensors"))
    return sum(math.prod(tensor["shape"]) for header in headers for tensor in header.values())


def text_config(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part of a config.json that describes the text network."""
    inner = config.get("text_config")
    return {**config, **cast("dict[str, Any]", inner)} if isinstance(inner, dict) else config


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in the file, {} if there is no file.

    Raises:
        ModelError: the file has something else.
    """
    if not path.is_file():
        return {}
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError) as error:
        raise ModelError("no-json-object", file=str(path), reason=str(error)) from error


def fingerprint(folder: Path, *settings: str, adapter: Path | None = None) -> str:
    """The identity of the model's answers: equal only if the files and `settings` are.

    `adapter` is the folder of the adapter that is applied. Weights over 1 GiB count by name, size
    and modification time; then the fingerprint begins with "stat:" instead of "sha256:".
    """
    folders = [folder, adapter] if adapter else [folder]
    weights = [path for each in folders for path in sorted(each.glob("*.safetensors"))]
    small = sum(path.stat().st_size for path in weights) <= _MAX_HASHED_BYTES
    total = hashlib.sha256()
    for path in [
        path for each in folders for path in _hashed_files(each, weights if small else ())
    ]:
        with path.open("rb") as file:
            total.update(
                f"{path.name} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode()
            )
    for path in () if small else weights:
        stat = path.stat()
        total.update(f"{path.name} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    total.update(" ".join(settings).encode())
    return f"{'sha256' if small else 'stat'}:{total.hexdigest()}"


def _hashed_files(folder: Path, weights: Sequence[Path]) -> list[Path]:
    """The files of the folder whose contents decide the model's answers."""
    settings = [path for pattern in _SETTINGS for path in folder.glob(pattern)]
    return sorted([*settings, *(path for path in weights if path.parent == folder)])


def _is_gguf(place: Path) -> bool:
    """Whether a file, a folder, or what the hub's cache has of a model is llama.cpp's format."""
    if not place.is_dir():
        return place.suffix.lower() == ".gguf"
    if any(place.glob("*.safetensors")):
        return False
    # Files of the hub that are not used are not downloaded, but the name of the model states it.
    named = not (place / "config.json").is_file() and "gguf" in str(place).lower()
    return named or any(place.glob("*.gguf"))


def _missing_parts(folder: Path) -> list[str]:
    parts = read_json(folder / "model.safetensors.index.json").get("weight_map", {})
    return sorted({name for name in parts.values() if not (folder / name).is_file()})


def _header(path: Path) -> dict[str, Any]:
    """The tensors in a safetensors file: name -> dtype, shape, data_offsets.

    The file is the length of its header in 8 bytes, little-endian; the header as JSON; and the
    tensors (https://huggingface.co/docs/safetensors). An interrupted download, or a git-lfs
    pointer, is shorter than its header states.

    Raises:
        ModelError: the header is invalid, or the file is too short.
    """
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        try:
            header = dict(json.loads(file.read(min(length, _MAX_HEADER_BYTES))))
            header.pop("__metadata__", None)
            end = max((_data_end(tensor) for tensor in header.values()), default=0)
        except (ValueError, TypeError, LookupError) as error:
            raise ModelError("weights-header", file=str(path)) from error
    whole = 8 + length + end
    if path.stat().st_size < whole:
        raise ModelError("weights-cut", file=str(path), n=whole)
    return header


def _data_end(tensor: Any) -> int:
    """Where the data of a tensor ends, by its entry in the header.

    Raises:
        ValueError, TypeError, LookupError: the entry describes no tensor.
    """
    _, end = tensor["data_offsets"]
    if not all(isinstance(number, int) for number in (end, *tensor["shape"])):
        raise TypeError("A length is not an integer.")
    return end
