"""Every sentence a user reads, in each language, by key: pages, reports, errors, faults and notes.

They stand in `<language>/*.toml`, the same keys in each language; those of an analysis in one file
beside it, with a table for each language (`add_messages`). Values fill their {fields}. A key ending
in `.one` is the English singular; where a sentence has several counts, `{n:vote|votes}` is the noun
that goes with `{n}`. Names of models and datasets are never translated.
"""

import string
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import RLock
from typing import Any, get_args

from evalui.types import Language

Value = str | int | float

LANGUAGES: tuple[Language, ...] = get_args(Language)
_PLACES = frozenset({"file", "folder", "path"})  # fields of sentences that may hold a path
_FOLDER = Path(__file__).parent
_ADDING = RLock()  # threads that import modules add their sentences to the same catalogue


class Sentence(str):
    """An English sentence that can be translated later, after it was stored for instance.

    `key` is that of the catalogue ("" for a text that has no translation), `values` fill its
    {fields}; a value may be a sentence itself. Everywhere else it is a plain text.
    """

    key: str
    values: Mapping[str, Value]

    def __new__(cls, text: str, key: str = "", values: Mapping[str, Value] | None = None):
        """The finished English text, which can be copied and pickled."""
        made = super().__new__(cls, text)
        made.key = key
        made.values = values or {}
        return made


def sentence(key: str, /, **values: Value) -> Sentence:
    """The English sentence of `key`, its fields filled in.

    Raises:
        KeyError: the catalogue lacks the key, or a field has no value.
    """
    return Sentence(messages("en")(key, **values), key, values)


class _Nouns(string.Formatter):
    """Fills in fields, of which `{n:vote|votes}` becomes the noun for the count `n`."""

    def format_field(self, value: Any, format_spec: str) -> str:
        one, bar, many = format_spec.partition("|")
        if not bar:
            return str(super().format_field(value, format_spec))
        return one if str(value) == "1" else many


_NOUNS = _Nouns()


@dataclass(frozen=True, slots=True)
class Messages:
    """The sentences of one language."""

    language: Language
    by_key: dict[str, str]

    def __call__(self, key: str, /, **values: object) -> str:
        """The sentence of `key`, its fields filled in.

        Raises:
            KeyError: the catalogue lacks the key, or a field has no value.
        """
        text = self.by_key[key]
        return _NOUNS.vformat(text, (), values) if "|" in text else text.format_map(values)

    def __contains__(self, key: str) -> bool:
        """Whether the key has a sentence."""
        return key in self.by_key

    def translate(self, text: str) -> str:
        """The sentence in this language; a text without a translation stays as it is.

        Of a place in the file system it has the name only: pages and reports are read elsewhere.
        """
        if not isinstance(text, Sentence) or text.key not in self.by_key:
            return text
        values = {name: self._translated(name, value) for name, value in text.values.items()}
        try:
            return self(text.key, **values)
        except (KeyError, ValueError):
            return text  # stored by a version whose sentence had other fields

    def _translated(self, name: str, value: Value) -> Value:
        if name in _PLACES and isinstance(value, str) and value.startswith("/"):
            return "…/" + value.rpartition("/")[2]
        return self.translate(value) if isinstance(value, str) else value

    def count(self, key: str, number: int, /, **values: object) -> str:
        """The sentence of `key` for a count `n`; of `key`.one for 1 where there is one."""
        single = f"{key}.one"
        chosen = single if number == 1 and single in self.by_key else key
        return self(chosen, n=f"{number:,}", **values)


@cache
def messages(language: Language) -> Messages:
    """The sentences of a language, read once."""
    with _ADDING:
        return _catalogue(language)


@cache
def _catalogue(language: Language) -> Messages:
    by_key: dict[str, str] = {}
    for path in sorted((_FOLDER / language).glob("*.toml")):
        by_key |= _flat("", tomllib.loads(path.read_text(encoding="utf-8")))
    return Messages(language, by_key)


def add_messages(path: Path) -> None:
    """Add the sentences of a module or of another package: a TOML file, a table for each language.

    A sentence that is given in one language only serves in all. Keys are as in the catalogue:
    `[en.mode]` with `echo = "Echo"` is the English label of the mode `echo`.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is not valid TOML, or another sentence has one of its keys; nothing is added.
    """
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    stated = {language: dict(_flat("", tables.get(language, {}))) for language in LANGUAGES}
    in_any: dict[str, str] = {}
    for texts in reversed(stated.values()):
        in_any |= texts
    with _ADDING:
        known = {language: messages(language).by_key for language in LANGUAGES}
        # Where a language states a sentence without a singular, it needs none.
        added = {
            language: texts
            | {key: in_any[key] for key in in_any if key.removesuffix(".one") not in texts}
            for language, texts in stated.items()
        }
        for language, texts in added.items():
            for key in texts.keys() & known[language].keys():
                if texts[key] != known[language][key]:
                    raise ValueError(f"{path.name}: the key {key} is taken by another sentence")
        for language, texts in added.items():
            known[language].update(texts)


def add_label(key: str, label: Mapping[Language, str], name: str) -> None:
    """Add a label where the catalogue has none: the other language's, or `name`, if need be."""
    for language in LANGUAGES:
        text = label.get(language) or next(iter(label.values()), name)
        # Nothing is put into a label, so its braces stay as they are.
        messages(language).by_key.setdefault(key, text.replace("{", "{{").replace("}", "}}"))


def localized(key: str, language: Language, /, **values: object) -> str:
    """The sentence of `key` in a language, its fields filled in.

    Raises:
        KeyError: the catalogue lacks the key, or a field has no value.
    """
    return messages(language)(key, **values)


def language_of(requested: str | None, default: str) -> Language:
    """The requested language, else the server's, else English."""
    known: dict[str | None, Language] = {language: language for language in LANGUAGES}
    return known.get(requested) or known.get(default) or "en"


def preferred_language(accepted: str) -> Language | None:
    """Our language that a browser prefers, by its Accept-Language; None if it takes neither.

    >>> preferred_language("fr, zh-CN;q=0.8, en;q=0.5")
    'zh'
    """
    wishes: list[tuple[float, str]] = []
    for part in accepted.split(","):
        tag, _, parameter = part.partition(";")
        weight = parameter.strip().removeprefix("q=")
        try:
            quality = float(weight) if weight else 1.0
        except ValueError:
            continue
        wishes.append((quality, tag.strip().lower().partition("-")[0]))
    known: dict[str, Language] = {language: language for language in LANGUAGES}
    wanted = [tag for quality, tag in sorted(wishes, key=lambda each: -each[0]) if quality > 0]
    return next((known[tag] for tag in wanted if tag in known), None)


def _flat(prefix: str, tree: dict[str, Any]) -> list[tuple[str, str]]:
    leaves: list[tuple[str, str]] = []
    for key, value in tree.items():
        if isinstance(value, dict):
            leaves += _flat(f"{prefix}{key}.", value)  # pyright: ignore[reportUnknownArgumentType]
        else:
            leaves.append((prefix + key, value))
    return leaves
