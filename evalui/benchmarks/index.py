"""The shipped index of published sets: what each is, where its data lies, how a row is read."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast

from evalui.errors import UnknownName

_ALIKE = 0.75  # of two names; below, one of pictures is like one of texts (coco_val, ceval)
_INDEX = Path(__file__).with_name("index.toml")

# "text" has references, "choice" has options.
Kind = Literal["choice", "text"]
# What the answer's field holds: the place of the right option counted from 0 or one of
# `answer_names`, the same counted from 1, its letter, its label, its text, a 1 among 0s for each
# option, or a solution whose last \boxed{} is the reference.
AnswerForm = Literal["place", "index1", "letter", "label", "text", "marks", "boxed"]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One published set.

    `hub` is its id on the hub; one that is not there has the `folder` in which its files are
    expected, and the `source` they are from. `configs` are the parts of a hub dataset that belong
    to it, ("*",) for all. `split` is scored, `shots` gives the worked examples; `questions` counts
    the scored split as published, 0 where that is not known. `lm_eval` is the harness's task or
    group. `stands_for` names the set that its other names mean elsewhere, "" if that is this one.
    `unsupported` says why no model is asked its questions as a dataset, "" if it can be.
    """

    name: str
    title: str
    topic: str
    languages: tuple[str, ...]
    licence: str
    split: str
    names: tuple[str, ...] = ()
    hub: str = ""
    folder: str = ""
    source: str = ""
    configs: tuple[str, ...] = ()
    layouts: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    shots: str = ""
    questions: int = 0
    kind: Kind = "choice"
    subject: str = ""
    question: str = ""
    options: str | tuple[str, ...] = ()
    option_columns: tuple[str, ...] = ()
    answer: str = ""
    answer_as: AnswerForm = "place"
    answer_names: tuple[str, ...] = ()
    answer_pattern: str = ""
    labels: str = ""
    lm_eval: str = ""
    lm_eval_hub: str = ""
    stands_for: str = ""
    unsupported: str = ""

    @property
    def place(self) -> str:
        """The folder of its files, as the hub lays them out."""
        return self.hub or self.folder


@cache
def read_index() -> Mapping[str, Benchmark]:
    """Every set by its name, in the order of the names."""
    tables = tomllib.loads(_INDEX.read_text(encoding="utf-8"))
    return {
        name: Benchmark(name=name, **_fields(cast("dict[str, Any]", tables[name])))
        for name in sorted(tables)
    }


def find(name: str) -> Benchmark:
    """The set of a name, which may be one of its other names, in any letter case.

    Raises:
        UnknownName: there is none; the message lists those whose names are like it.
    """
    if benchmark := _by_name().get(_folded(name)):
        return benchmark
    near = [each.name for each in search(name)] or get_close_matches(
        name.lower(), read_index(), cutoff=_ALIKE
    )
    if not near:
        raise UnknownName("benchmark-unlike", name=name)
    raise UnknownName("benchmark-unknown", name=name, known=", ".join(near))


def is_name(name: str) -> bool:
    """Whether a set has this name."""
    return _folded(name) in _by_name()


def search(text: str) -> tuple[Benchmark, ...]:
    """The sets of whose names, titles, topics and languages each word of the text is a part."""
    words = text.lower().split()
    return tuple(each for each in read_index().values() if all(w in _words(each) for w in words))


@cache
def _by_name() -> Mapping[str, Benchmark]:
    return {
        _folded(name): each
        for each in read_index().values()
        for name in (*each.names, each.name)  # its own name wins
    }


def _folded(name: str) -> str:
    return name.strip().lower().replace("-", "_")


def _words(benchmark: Benchmark) -> str:
    own = (benchmark.name, benchmark.title, benchmark.topic, benchmark.hub)
    return " ".join((*own, *benchmark.names, *benchmark.languages)).lower()


def _fields(table: Mapping[str, Any]) -> dict[str, Any]:
    lists = cast(
        "dict[str, Any]",
        {k: tuple(cast("list[str]", v)) for k, v in table.items() if isinstance(v, list)},
    )
    return {**table, **lists}
