"""Every string a person sees, in each language, by key.

The sentences live in words/<language>.toml, and those of the larger pages in files of their own,
words/<language>.<page>.toml; figures are put into their {fields}.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_args

from evalui.errors import Sentence
from evalui.types import Language

LANGUAGES: tuple[Language, ...] = get_args(Language)
_FOLDER = Path(__file__).parent / "words"


@dataclass(frozen=True, slots=True)
class Text:
    """The strings of one language."""

    language: Language
    words: dict[str, str]

    def __call__(self, key: str, **values: object) -> str:
        """The string of `key`, its fields filled in; a missing key is our own mistake."""
        return self.words[key].format_map(values)

    def __contains__(self, key: str) -> bool:
        """Whether the key has a string."""
        return key in self.words

    def told(self, sentence: str) -> str:
        """The sentence in this language; one without a translation stays as it is.

        English has none: the sentence is English already.
        """
        if not isinstance(sentence, Sentence) or sentence.key not in self.words:
            return sentence
        values = {
            name: self.told(value) if isinstance(value, str) else value
            for name, value in sentence.values.items()
        }
        try:
            return self.words[sentence.key].format_map(values)
        except (KeyError, ValueError):
            return sentence  # kept with a run by a version whose sentence had other fields

    def count(self, key: str, number: int, **values: object) -> str:
        """The string of `key` for a count: `key`.one for 1 if there is such a string."""
        single = f"{key}.one"
        chosen = single if number == 1 and single in self.words else key
        return self(chosen, n=f"{number:,}", **values)


@cache
def text(language: Language) -> Text:
    """The strings of a language."""
    words: dict[str, str] = {}
    for path in sorted(_FOLDER.glob(f"{language}.*toml")):
        words |= _flat("", tomllib.loads(path.read_text(encoding="utf-8")))
    return Text(language, words)


def language_of(wish: str | None, default: str) -> Language:
    """The language a person asked for, else the server's, else English."""
    known: dict[str | None, Language] = {language: language for language in LANGUAGES}
    return known.get(wish) or known.get(default) or "en"


def _flat(prefix: str, tree: dict[str, Any]) -> list[tuple[str, str]]:
    leaves: list[tuple[str, str]] = []
    for key, value in tree.items():
        if isinstance(value, dict):
            leaves += _flat(f"{prefix}{key}.", value)  # pyright: ignore[reportUnknownArgumentType]
        else:
            leaves.append((prefix + key, value))
    return leaves
