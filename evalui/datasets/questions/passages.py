"""What is read with a question: a text that stands before it, or an instruction above it."""

from typing import Any, cast

from evalui.datasets.tables.table import cell_text


def passage_text(value: Any) -> str:
    """A passage as one text; the parts of a list (of a dialogue, say) are its lines."""
    if isinstance(value, list):
        return "\n".join(text for item in cast(list[Any], value) if (text := _part_text(item)))
    return cell_text(value).strip()


def with_passage(passage: str, question: str) -> str:
    """The question below the text that is read with it, unless it has that text in it."""
    text = passage.strip()
    return f"{text}\n{question}" if text and question and text not in question else question


def with_instruction(instruction: str, text: str) -> str:
    """The instruction above what it is about."""
    return f"{instruction}\n{text}" if text and instruction else instruction or text


def _part_text(item: Any) -> str:
    if not isinstance(item, dict):
        return cell_text(item).strip()
    part = cast(dict[str, Any], item)
    speaker = cell_text(part.get("speaker") or part.get("role")).strip()
    text = cell_text(part.get("text") or part.get("content") or part.get("utterance")).strip()
    return f"{speaker}: {text}" if speaker and text else text
