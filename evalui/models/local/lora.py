"""A folder with a LoRA adapter: whether it fits its base model, and the model with it applied."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

from evalui.errors import ModelError
from evalui.messages import sentence
from evalui.models.base import ModelEntry
from evalui.models.local import weights

# Where an adapter's weights are: there is none, added to the model's, or in layers of their own.
AdapterPlacement = Literal["", "merged", "beside"]

_CONFIG = "adapter_config.json"
_WEIGHTS = "adapter_model.safetensors"
# Fields in which a base model must equal the one an adapter was trained on; names vary by age.
_SHAPE_FIELDS = (
    "model_type",
    "hidden_size",
    "num_hidden_layers",
    "intermediate_size",
    "num_attention_heads",
    "num_key_value_heads",
    "vocab_size",
    "n_embd",
    "n_layer",
    "n_head",
)
# peft adds this to the name of each weight of the adapter, to distinguish it from the model's.
_ADAPTER_NAME = "adapter_of_entry"


def problem_of(entry: ModelEntry) -> str:
    """Why the adapter of the entry cannot be loaded; "" if it has none or no reason is known."""
    if not entry.adapter:
        return ""
    merge = entry.options.get("merge")
    if merge is not None and not isinstance(merge, bool):
        return sentence("error.no-merge", found=repr(merge))
    base = Path(entry.path)
    return problem(Path(entry.adapter), base=base if base.is_absolute() else None)


def problem(folder: Path, *, base: Path | None = None) -> str:
    """Why the adapter in `folder` cannot be loaded, in one sentence; "" if no reason is known.

    `base` is the folder of the model it is to be applied to, if it is one. Reads files only.
    """
    place = str(folder)
    if not folder.is_dir():
        return sentence("error.no-folder", folder=place)
    if not (folder / _CONFIG).is_file():
        return sentence("error.no-adapter", folder=place)
    if not (folder / _WEIGHTS).is_file():
        if any(folder.glob("adapter_model.*")):
            return sentence("error.pickles", folder=place)
        return sentence("error.no-adapter-file", folder=place, file=_WEIGHTS)
    try:
        weights.parameters(folder)
        config = weights.read_json(folder / _CONFIG)
        return _type_problem(folder, config) or (
            _base_mismatch(folder, config, base) if base else ""
        )
    except ModelError as error:
        return error.sentence


def attach(
    model: Any, folder: Path, *, base: str, merge: bool | None = None
) -> tuple[Any, AdapterPlacement]:
    """The causal language model with the adapter in `folder`, and where its weights are now.

    It is merged unless `merge` is false: a merged adapter costs no time in a forward pass.
    Rounding the sum of the weights changes log-probabilities by 1e-5 in float32, and in bfloat16
    by no more than computing in bfloat16 does anyway. Where layers share their weights, as the
    output layer with the embedding or replicated ones, an adapter of such a layer stays beside:
    merged, it would change all of them.

    Raises:
        ModelError: it does not fit the model, or its weights are not exactly those needed.
    """
    import peft
    from safetensors import SafetensorError
    from safetensors.torch import load_file  # pyright: ignore[reportUnknownVariableType] - its paths

    if reason := problem(folder):
        raise ModelError(reason)
    try:
        config = cast(Any, peft.PeftConfig).from_pretrained(str(folder))  # typed only in part
        config.inference_mode = True
        # Without autocast the adapter computes in the precision of its base, as in vLLM.
        tuned: Any = peft.PeftModel(
            model, config, adapter_name=_ADAPTER_NAME, autocast_adapter_dtype=False
        )
        taken: Any = cast(Any, peft).set_peft_model_state_dict(
            tuned, load_file(folder / _WEIGHTS), adapter_name=_ADAPTER_NAME
        )
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as error:
        raise ModelError(
            "adapter-unfit", folder=str(folder), base=base, reason=_first_lines(error)
        ) from error
    _check_complete(folder, _missing_weights(tuned, taken, config))
    _check_unexpected(folder, base, taken)
    shared = _has_shared_weights(tuned)
    if merge is False or (shared and merge is None):
        return tuned.get_base_model(), "beside"
    if shared:
        raise ModelError("adapter-shared", folder=str(folder), base=base)
    return tuned.merge_and_unload(), "merged"


def _type_problem(folder: Path, config: Mapping[str, Any]) -> str:
    kind, task = config.get("peft_type"), config.get("task_type")
    if kind != "LORA":
        return sentence("error.adapter-kind", folder=str(folder), kind=str(kind))
    if task not in (None, "CAUSAL_LM"):
        return sentence("error.adapter-task", folder=str(folder), task=str(task))
    return ""


def _base_mismatch(folder: Path, config: Mapping[str, Any], base: Path) -> str:
    """The first difference of `base` from the model the adapter names, if that is on this disk."""
    made_for = Path(str(config.get("base_model_name_or_path") or ""))
    if not made_for.is_absolute():
        return ""  # a hub id; loading compares the shapes
    try:
        theirs = weights.read_json(made_for / "config.json")
    except OSError:  # a folder of another machine, or without permission to read it
        return ""
    ours = weights.read_json(base / "config.json")
    for name in _SHAPE_FIELDS:
        if name in theirs and name in ours and theirs[name] != ours[name]:
            return sentence(
                "error.adapter-other-base",
                folder=str(folder),
                model=str(made_for),
                name=name,
                theirs=str(theirs[name]),
                base=str(base),
                ours=str(ours[name]),
            )
    return ""


def _first_lines(error: Exception) -> str:
    """The first two lines: torch lists every weight that does not fit, a line each."""
    return " ".join(line.strip() for line in str(error).splitlines()[:2])


def _has_shared_weights(tuned: Any) -> bool:
    """Whether a weight that the adapter changes is that of another layer, too.

    Compares the tensors themselves: peft recognises tied embeddings by the names that some
    architectures give them, and does not report layers that it has replicated.
    """
    from peft.tuners.lora import LoraLayer

    layers = [layer for layer in tuned.modules() if isinstance(layer, LoraLayer)]
    own = {
        id(each) for layer in layers for each in _own_parameters(cast(Any, layer).get_base_layer())
    }
    uses = Counter(id(each) for layer in tuned.modules() for each in _own_parameters(layer))
    return any(uses[each] > 1 for each in own)


def _own_parameters(layer: Any) -> list[Any]:
    """The layer's own parameters, without those of the layers in it."""
    return list(layer.parameters(recurse=False))


def _missing_weights(tuned: Any, taken: Any, config: Any) -> list[str]:
    """The weights of the adapter that its file lacks, which peft would initialise itself."""
    state = tuned.state_dict(keep_vars=True)
    absent = set(taken.missing_keys)
    # One tensor may have two names, of which the file has one.
    present = {id(each) for name, each in state.items() if name not in absent}
    return sorted(
        name
        for name in absent
        if (f".{_ADAPTER_NAME}" in name or _is_adapter_bias(name, config.bias))
        and id(state.get(name)) not in present
    )


def _is_adapter_bias(name: str, bias: str) -> bool:
    """Whether a weight is a bias that an adapter with this setting includes."""
    if bias == "all":
        return name.endswith(".bias")
    return bias == "lora_only" and name.endswith(".base_layer.bias")


def _check_complete(folder: Path, gaps: Sequence[str]) -> None:
    if gaps:
        raise ModelError(
            "adapter-gaps",
            folder=str(folder),
            n=len(gaps),
            name=gaps[0].replace(f".{_ADAPTER_NAME}", ""),
        )


def _check_unexpected(folder: Path, base: str, taken: Any) -> None:
    """Raise for weights of no layer, which peft ignores."""
    if spare := sorted(taken.unexpected_keys):
        raise ModelError(
            "adapter-spare",
            folder=str(folder),
            n=len(spare),
            base=base,
            name=spare[0].replace(f".{_ADAPTER_NAME}", ""),
        )
