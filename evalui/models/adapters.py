"""A folder with a LoRA adapter: whether it fits its base model.

Looks at files only; nothing is loaded.
"""

from pathlib import Path

from evalui.errors import sentence


def problem(folder: Path) -> str:
    """Why the adapter in `folder` cannot be loaded, in one sentence; "" if nothing is seen."""
    if not (folder / "adapter_config.json").is_file():
        return sentence(
            "{folder} has no adapter_config.json, so it holds no adapter.",
            "no-adapter",
            folder=str(folder),
        )
    return ""
